"""Points of almost no weight under t-SNE's rule, which has no minimum there.

With r = 1 / (beta E_U[q]) the layout minimises -E_P[ln q] + ln(E_U[q]) / beta. Points of weight zero are pulled but not
pushed, so those with a share m of P come together at no cost, and the rest expands: a map larger by a factor t has a first term
larger by (1 - m) ln t^2, and a second one smaller by ln t^2 / beta. If beta (1 - m) < 1 the map grows for ever. With small
weights it grows until E_U[q] is down to the share of these points in all pairs, e: to r = (1 / beta - (1 - m)) / e. (With beta
below 1 there is no minimum whatever the weights; beta = 1 tells what the weights add to that.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sce.errors import InputError
from sce.graph.csr import entry_rows
from sce.layout.scale import ScaleRule, SCEScale, SNEScale

if TYPE_CHECKING:
    from scipy import sparse

_LIGHTEST, _LIGHT = -12, -1  # powers of ten: weights, relative to their mean, that may count as light
_LARGEST_R = 1e8  # pictures have long stopped changing there
_LEAST_SHARE = 0.01  # of P at light points: with less, the map hardly grows before J stops changing


def refuse_light_points(rule: ScaleRule, P: sparse.csr_matrix, weights: np.ndarray | None) -> None:
    """Raise InputError if points of no weight, or almost none, would let the map grow without end.

    Parameters
    ----------
    rule : ScaleRule
    P : csr_matrix of shape (n, n)
    weights : array of shape (n,) or None
        Of mean 1, or None where all are equal.
    """
    beta = _exaggeration(rule)
    if beta is None or weights is None:
        return
    for light, r in expected_weights(P, weights, beta):
        if r > _LARGEST_R:
            count = int((weights <= light).sum())
            what = "zero" if light == 0 else f"at most {light:g} of its mean"
            raise InputError(
                f"sample_weight is {what} in {count} rows: with t-SNE's choice of r nothing keeps them apart, and the map "
                "would grow without end; drop these rows, raise their weights, or take scale='sce' with an alpha above 0."
            )


def expected_weights(P: sparse.csr_matrix, weights: np.ndarray, beta: float) -> list[tuple[float, float]]:
    """Weights up to which points may count as light, and the r to which t-SNE's rule would go on their account.

    Examples
    --------
    >>> from scipy import sparse
    >>> P = sparse.csr_matrix(np.array([[0, 0.25, 0.0], [0.25, 0, 0.25], [0.0, 0.25, 0]]))
    >>> expected_weights(P, np.array([0.0, 1.5, 1.5]), 1.0)[0]
    (0.0, inf)
    """
    limits = [0.0, *(10.0**power for power in range(_LIGHTEST, _LIGHT + 1))]
    heavier = np.maximum(weights[entry_rows(P.indptr)], weights[P.indices])
    lighter = np.minimum(weights[entry_rows(P.indptr)], weights[P.indices])
    found = []
    for limit in limits:
        end = lighter if limit == 0 else heavier  # a point of no weight also joins a heavy one at no cost
        share = float(P.data[end <= limit].sum(dtype=np.float64))
        pairs = float(weights[weights <= limit].sum() / weights.sum()) ** 2
        drive = min(1.0, 1.0 / beta) - (1.0 - share)
        found.append((limit, 0.0 if share < _LEAST_SHARE or drive <= 0 else np.inf if pairs == 0 else drive / pairs))
    return found


def _exaggeration(rule: ScaleRule) -> float | None:
    """The beta of a rule that is t-SNE's; None for others, whose r is bounded."""
    if isinstance(rule, SNEScale):
        return rule.exaggeration
    return 1.0 if isinstance(rule, SCEScale) and rule.alpha == 0 else None
