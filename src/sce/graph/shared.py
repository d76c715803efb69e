"""The default affinity: entropic weights that take account of how dense it is around a neighbour, and of shared neighbours.

Distances are relative to how spread out the points are: a neighbour in a dense place, which has many points nearer to it,
counts as farther than one whose own neighbours are as far away. And two points of a cluster have neighbours in common, two that
chance brought together have none: weights are multiplied by a root of the share of neighbours in common.

Both at half their strength: the fourth root of the ratio instead of the square root (local scaling), and the square root of
the share (Jaccard's index). On images and measurements this keeps more neighbours than entropic weights alone and confuses
fewer classes, with clusters as clear; at full strength it joins clusters. Choosing the neighbours themselves by scaled
distance, out of the 20 to 60 nearest, gains little beyond these weights (docs/defaults.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.graph.affinity import conditional_probabilities, symmetrized
from sce.graph.found import Neighbors

_SPREAD_FROM, _SPREAD_TO = 3, 6  # the 4th to 6th neighbour
_MOST_SPREAD_OUT = 100.0  # the ratio of spreads beyond which it counts no more; that of copies is infinite
_SHARING = 0.5  # the power of the share of neighbours in common, where weights are steepest
_SHARED_BY_CHANCE = 1e-3  # so that no edge vanishes
_TASK_ROWS = 1024  # rows a thread takes at once


# ------------------------------------------------------------------------------------------------- scaled distances


@kernel
def _spread_rows(ids: Any, distances: Any, spreads: Any, start: Any, stop: Any) -> None:
    """The mean distance to the 4th to 6th neighbour, or to the last where there are fewer than four; 0 without any."""
    for i in range(start, stop):
        present = 0
        while present < ids.shape[1] and ids[i, present] >= 0:
            present += 1
        if present == 0:
            spreads[i] = 0.0
            continue
        first, end = min(_SPREAD_FROM, present - 1), min(_SPREAD_TO, present)
        total = 0.0
        for a in range(first, end):
            total += distances[i, a]
        spreads[i] = total / (end - first)


@kernel
def _scale_rows(ids: Any, distances: Any, spreads: Any, scaled: Any, start: Any, stop: Any) -> None:
    """Distances times the fourth root of the ratio of the two rows' spreads."""
    for i in range(start, stop):
        for a in range(ids.shape[1]):
            j = ids[i, a]
            ratio = 1.0
            if j >= 0 and spreads[i] != spreads[j]:
                ratio = spreads[i] / spreads[j] if spreads[j] > 0.0 else _MOST_SPREAD_OUT
                ratio = min(max(ratio, 1.0 / _MOST_SPREAD_OUT), _MOST_SPREAD_OUT)
            scaled[i, a] = distances[i, a] * np.sqrt(np.sqrt(ratio))


def scaled_distances(neighbors: Neighbors, team: Team) -> np.ndarray:
    """d_ij (spread_i / spread_j)^(1/4), the spread of a row being the mean distance to its 4th to 6th neighbour.

    Examples
    --------
    >>> ids, distances = np.array([[1, 2], [2, 0], [1, 0]], np.int32), np.array([[4.0, 5.0], [1.0, 4.0], [1.0, 5.0]])
    >>> scaled_distances(Neighbors(ids, distances, "", 1.0), Team(1)).round(2)
    array([[4.23, 5.  ],
           [0.95, 3.78],
           [1.06, 5.  ]])
    """
    ids, distances = neighbors.indices, neighbors.distances
    n = len(ids)
    spreads, scaled = np.empty(n), np.empty_like(distances)
    team.sweep(lambda start, stop: _spread_rows(ids, distances, spreads, start, stop), n, _TASK_ROWS)
    team.sweep(lambda start, stop: _scale_rows(ids, distances, spreads, scaled, start, stop), n, _TASK_ROWS)
    return scaled


# ------------------------------------------------------------------------------------------------- shared neighbours


@kernel
def _share_rows(ids: Any, ascending: Any, factors: Any, weights: Any, start: Any, stop: Any) -> None:
    """Multiply each weight by the factor for the number of neighbours that the two rows share."""
    k = ids.shape[1]
    for i in range(start, stop):
        for a in range(k):
            j = ids[i, a]
            if j < 0:
                continue
            common = p = q = 0
            while p < k and q < k:
                one, other = ascending[i, p], ascending[j, q]
                common += one == other and one >= 0
                p += one <= other
                q += other <= one
            weights[i, a] *= factors[common]


def share_weights(weights: np.ndarray, ids: np.ndarray, power: float, team: Team) -> None:
    """Multiply the weights by (J + 0.001)^power, J being the share of neighbours in common, c of 2k - c for lists of k.

    Examples
    --------
    >>> ids = np.array([[1, 2], [0, 2], [0, 1], [0, 1]], np.int32)
    >>> weights = np.ones((4, 2), np.float32)
    >>> share_weights(weights, ids, 0.5, Team(1))
    >>> weights[3].round(2)
    array([0.58, 0.58], dtype=float32)
    """
    n, k = ids.shape
    ascending = np.empty_like(ids)

    def sort(start: int, stop: int) -> None:
        ascending[start:stop] = np.sort(ids[start:stop], axis=1)

    team.sweep(sort, n, _TASK_ROWS)
    common = np.arange(k + 1)
    factors = (common / (2 * k - common) + _SHARED_BY_CHANCE) ** power
    team.sweep(lambda start, stop: _share_rows(ids, ascending, factors, weights, start, stop), n, _TASK_ROWS)


def sharing_power(k: int, perplexity: float) -> float:
    """1/2 where weights are steep, a perplexity of a third of the neighbours; 0 where all neighbours count the same.

    In few dimensions it is chance that decides who shares neighbours.

    Examples
    --------
    >>> sharing_power(15, 5.0), sharing_power(15, 10.0), sharing_power(15, 15.0)
    (0.5, 0.25, 0.0)
    """
    return _SHARING * min(1.0, max(0.0, 1.5 * (1.0 - perplexity / k)))


def shared_affinity(neighbors: Neighbors, perplexity: float, team: Team) -> sparse.csr_matrix:
    """P from Gaussian weights of scaled distances, of the given perplexity, times a root of the share of common neighbours.

    Examples
    --------
    >>> ids = np.array([[1, 2], [0, 2], [0, 1]], np.int32)
    >>> shared_affinity(Neighbors(ids, np.ones((3, 2)), "", 1.0), 2.0, Team(1)).toarray().round(3)
    array([[0.   , 0.167, 0.167],
           [0.167, 0.   , 0.167],
           [0.167, 0.167, 0.   ]], dtype=float32)
    """
    scaled = neighbors._replace(distances=scaled_distances(neighbors, team))
    weights = conditional_probabilities(scaled, perplexity, team)
    power = sharing_power(neighbors.indices.shape[1], perplexity)
    if power > 0:
        share_weights(weights, neighbors.indices, power, team)
    return symmetrized(neighbors.indices, weights, 0.5 / weights.sum(dtype=np.float64), team)
