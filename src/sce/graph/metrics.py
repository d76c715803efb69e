"""The metrics that a search takes, by name, and how our own metrics are computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sce.core.hints import nearest_words

# What the kernels `pair_distance` and `two_rows` sum over the columns: the squares or the absolute values of differences.
SQUARES, ABSOLUTES = 0, 1
_MINKOWSKI_POWERS = {SQUARES: 2, ABSOLUTES: 1}


class Metric(NamedTuple):
    """A metric of our own: a function of a sum over the columns of two prepared rows.

    `from_rows(distance, unit)` turns the sum for two prepared rows, or its square root where `terms` is SQUARES, into their
    distance in this metric; differences of prepared rows times `unit` are differences of the data. `terms`: what is summed.
    `unit_rows`: whether rows are brought to length 1, rather than centred and scaled all together; `less_mean`: whether the
    mean of each row is subtracted before that.
    """

    from_rows: Callable[[Any, Any], Any]
    terms: int = SQUARES
    unit_rows: bool = False
    less_mean: bool = False

    @property
    def power(self) -> int | None:
        """Minkowski's p of the distances between prepared rows, for a k-d tree; None if they have none."""
        return _MINKOWSKI_POWERS.get(self.terms)


def _in_units(distance: Any, unit: Any) -> Any:  # functions with names, so that an index can be pickled
    return distance * unit


def _squared(distance: Any, unit: Any) -> Any:
    return (distance * unit) ** 2


def _half_square(distance: Any, _: Any) -> Any:
    return distance * distance / 2


OWN_METRICS = {  # the others are left to scikit-learn
    "euclidean": Metric(_in_units),
    "sqeuclidean": Metric(_squared),
    "manhattan": Metric(_in_units, terms=ABSOLUTES),
    "cosine": Metric(_half_square, unit_rows=True),
    "correlation": Metric(_half_square, unit_rows=True, less_mean=True),
}
METRIC_ALIASES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}
_METRICS_WITH_ARGUMENTS = {"precomputed", "pyfunc", "mahalanobis", "seuclidean"}  # no name alone is enough for these


def own_metric(metric: object) -> Metric | None:
    """Our own metric with this name; None for other metrics.

    Examples
    --------
    >>> own_metric("l1") is OWN_METRICS["manhattan"], own_metric("chebyshev")
    (True, None)
    """
    return OWN_METRICS.get(METRIC_ALIASES.get(metric, metric)) if isinstance(metric, str) else None


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
    """The error message for a value that is not a metric."""
    names = metric_names()
    near = nearest_words(value, names, 3)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"it can be one of {', '.join(names)}."
    return f"metric={value!r} is not known; {hint}"
