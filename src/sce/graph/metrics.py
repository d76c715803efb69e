"""The metrics that a search takes, by name."""

from __future__ import annotations

import difflib

OWN_METRICS = ("euclidean", "sqeuclidean", "manhattan", "cosine", "correlation")  # the others are left to scikit-learn
ANGULAR_METRICS = ("cosine", "correlation")  # Euclidean distances of rows of unit length, squared and halved
METRIC_ALIASES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}
_METRICS_WITH_ARGUMENTS = {"precomputed", "pyfunc", "mahalanobis", "seuclidean"}  # no name alone is enough for these


def metric_names() -> list[str]:
    """The names that `metric` may have, apart from "precomputed"."""
    from sklearn.neighbors import VALID_METRICS

    names = {name for group in VALID_METRICS.values() for name in group if isinstance(name, str)}
    return sorted((names | set(OWN_METRICS)) - _METRICS_WITH_ARGUMENTS)


def is_metric(value: object) -> bool:
    """Whether `value` is a function or the name of a metric."""
    known = ("precomputed", *OWN_METRICS, *METRIC_ALIASES)
    return callable(value) or (isinstance(value, str) and (value in known or value in metric_names()))


def metric_sentence(value: object) -> str:
    """What to say about a value that is no metric."""
    names = metric_names()
    near = difflib.get_close_matches(str(value), names, 3, 0.5)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"it can be one of {', '.join(names)}."
    return f"metric={value!r} is not known; {hint}"
