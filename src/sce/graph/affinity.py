"""The similarity graph P from nearest neighbours: symmetric, zero diagonal, sums to 1."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.errors import InputError
from sce.graph.index import Neighbors

_GRAIN = 1024
_MOST_STEPS = 100
TINY = np.finfo(np.float32).tiny


class _Lists(NamedTuple):
    """For each row, in `starts[i] : starts[i + 1]`, row numbers (-1 for none) and weights; no weights if all are 1."""

    starts: np.ndarray
    ids: np.ndarray
    weights: np.ndarray


# ------------------------------------------------------------------------------------------------------------ symmetry


@kernel
def _count(ids: Any, counts: Any) -> None:
    """Add to counts[j + 1] how often j is listed."""
    for j in ids:
        if j >= 0:
            counts[j + 1] += 1


@kernel
def _fill(lists: Any, reverse: Any, low: Any, high: Any) -> None:
    """Write the reverse lists of the rows low to high; each is ascending, because the lists are read in order."""
    position = reverse.starts[low:high].copy()
    for i in range(lists.starts.size - 1):
        for p in range(lists.starts[i], lists.starts[i + 1]):
            j = lists.ids[p]
            if low <= j < high:
                q = position[j - low]
                reverse.ids[q] = i
                if lists.weights.size:
                    reverse.weights[q] = lists.weights[p]
                position[j - low] = q + 1


def _transpose(lists: _Lists, team: Team) -> _Lists:
    """For each row the rows that list it, ascending; -1 is left out."""
    n = len(lists.starts) - 1
    starts = np.zeros(n + 1, np.int64)
    _count(lists.ids, starts)
    np.cumsum(starts, out=starts)
    weights = np.empty(starts[-1] if lists.weights.size else 0, np.float32)
    reverse = _Lists(starts, np.empty(starts[-1], np.int32), weights)
    # Each thread reads all lists and writes its own rows: the writing is what takes the time.
    team.split(lambda low, high: _fill(lists, reverse, low, high), n)
    return reverse


@kernel
def _merge(own: Any, other: Any, start: Any, stop: Any, unit: Any, starts: Any, ids: Any, values: Any) -> None:
    """Merge two ascending lists of rows start to stop: one entry per neighbour, of weight (own + other) x unit.

    Entries below the range of float32 are left out. With an empty `values` they are only counted, into starts[i + 1].
    """
    last = np.int32(2147483647)
    weighted = own.weights.size > 0
    for i in range(start, stop):
        a, a_stop, b, b_stop = own.starts[i], own.starts[i + 1], other.starts[i], other.starts[i + 1]
        first = starts[i]
        count = 0
        while a < a_stop or b < b_stop:
            j_own = own.ids[a] if a < a_stop else last
            j_other = other.ids[b] if b < b_stop else last
            weight = 0.0  # the sum of two terms at most, so it is the same seen from the other end
            if j_own <= j_other:
                weight += own.weights[a] if weighted else 1.0
                a += 1
            if j_other <= j_own:
                weight += other.weights[b] if weighted else 1.0
                b += 1
            value = np.float32(weight * unit)
            if value >= TINY:
                if values.size:
                    ids[first + count] = min(j_own, j_other)
                    values[first + count] = value
                count += 1
        if not values.size:
            starts[i + 1] = count


def _symmetrize(indices: np.ndarray, weights: np.ndarray, unit: float, team: Team) -> sparse.csr_matrix:
    """The matrix (W + W') x unit, where row i of W has the weights (all 1 if none are given) in the columns indices[i]."""
    n, k = indices.shape
    ids = indices.astype(np.int32, copy=False).ravel()
    other = _transpose(_Lists(k * np.arange(n + 1), ids, weights.ravel()), team)
    del ids, weights
    own = _transpose(other, team)  # the lists themselves again, now ascending
    starts = np.zeros(n + 1, np.int64)
    none = np.empty(0, np.int32), np.empty(0, np.float32)
    team.sweep(lambda start, stop: _merge(own, other, start, stop, unit, starts, *none), n, _GRAIN)
    np.cumsum(starts, out=starts)
    ids, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
    if values.size:
        team.sweep(lambda start, stop: _merge(own, other, start, stop, unit, starts, ids, values), n, _GRAIN)
    P = sparse.csr_matrix((values, ids, starts), shape=(n, n), copy=False)
    P.has_sorted_indices = True
    return P


def knn_affinity(neighbors: Neighbors, team: Team | None = None) -> sparse.csr_matrix:
    """P with equal weights for all pairs of which one is among the other's k nearest.

    Examples
    --------
    >>> near = Neighbors(np.array([[1], [0], [1]], np.int32), np.ones((3, 1)), "", 1.0)
    >>> knn_affinity(near).toarray()
    array([[0.  , 0.25, 0.  ],
           [0.25, 0.  , 0.25],
           [0.  , 0.25, 0.  ]], dtype=float32)
    """
    P = _symmetrize(neighbors.indices, np.empty(0, np.float32), 1.0, team or Team(1))
    P.data[:] = 1.0 / max(1, P.nnz)
    return P


# --------------------------------------------------------------------------------------------------- entropic weights


@kernel
def _moments(excess: Any, m: Any, beta: Any, p: Any) -> Any:
    """Set p to exp(-beta excess), normalised over the first m; returns its entropy (nats) and the excess's variance."""
    total = mean = square = 0.0
    for a in range(m):
        p[a] = np.exp(-beta * excess[a])
        total += p[a]
        mean += p[a] * excess[a]
    mean /= total
    for a in range(m):
        p[a] /= total
        square += p[a] * (excess[a] - mean) ** 2
    return np.log(total) + beta * mean, square


@kernel
def _fit_row(excess: Any, m: Any, target: Any, p: Any) -> None:
    """Find the beta at which p = exp(-beta excess) has the target entropy; the least excess is 0, the largest about 1.

    Newton's method on log(beta), kept within a bracket that every step narrows, so that it ends whatever the numbers;
    where the entropy hardly changes the steps grow from a small one.
    """
    ties = 0
    for a in range(m):
        ties += excess[a] == 0.0
    if np.log(m) <= target or ties == m:
        for a in range(m):
            p[a] = 1.0 / m  # even an infinite bandwidth spreads over no more than all of them
        return
    if np.log(ties) >= target:
        for a in range(m):
            p[a] = 1.0 / ties if excess[a] == 0.0 else 0.0  # no bandwidth is narrow enough to tell ties apart
        return
    low, high, x, longest = -700.0, 700.0, 1.0, 1.5
    for _ in range(_MOST_STEPS):
        beta = np.exp(x)
        entropy, square = _moments(excess, m, beta, p)
        if abs(entropy - target) < 1e-9:
            return
        if entropy > target:
            low = x
        else:
            high = x
        slope = beta * beta * square
        step = (entropy - target) / max(slope, 1e-12)
        if abs(step) > longest:
            step = longest if step > 0 else -longest
            longest *= 2.0
        x = x + step if low < x + step < high else 0.5 * (low + high)


@kernel
def _entropic_rows(ids: Any, distances: Any, target: Any, weights: Any, start: Any, stop: Any) -> None:
    """The conditional probabilities of rows start to stop; 0 where the index is -1."""
    k = ids.shape[1]
    excess, p = np.empty(k), np.empty(k)
    for i in range(start, stop):
        m = 0
        nearest, farthest = np.inf, 0.0
        for a in range(k):
            if ids[i, a] >= 0:
                excess[m] = np.float64(distances[i, a])
                nearest, farthest = min(nearest, excess[m]), max(farthest, excess[m])
                m += 1
        if m == 0:
            continue
        size = farthest if farthest > 0 else 1.0  # relative distances: squares of those given may overflow
        for a in range(m):
            excess[a] = (excess[a] / size - nearest / size) * (excess[a] / size + nearest / size)
        _fit_row(excess, m, target, p)
        m = 0
        for a in range(k):
            if ids[i, a] >= 0:
                weights[i, a] = p[m]
                m += 1


def conditional_probabilities(neighbors: Neighbors, perplexity: float, team: Team) -> np.ndarray:
    """Row i: the Gaussian weights p_j|i of its neighbours, with the bandwidth that gives them the perplexity asked for.

    Where none does, the weights are uniform: over all neighbours if there are no more of them than `perplexity`, over
    the nearest if more than that are at the same least distance.

    Examples
    --------
    >>> near = Neighbors(np.array([[1, 2], [0, 2], [1, 0]]), np.array([[1.0, 2], [1, 1], [1, 2]]), "", 1.0)
    >>> conditional_probabilities(near, 1.5, Team(1)).round(3)
    array([[0.86, 0.14],
           [0.5 , 0.5 ],
           [0.86, 0.14]], dtype=float32)
    """
    weights = np.zeros(neighbors.indices.shape, np.float32)
    indices, distances = neighbors.indices, neighbors.distances
    target = float(np.log(perplexity))
    team.sweep(
        lambda start, stop: _entropic_rows(indices, distances, target, weights, start, stop),
        len(weights),
        _GRAIN,
    )
    return weights


def entropic_affinity(neighbors: Neighbors, perplexity: float, team: Team) -> sparse.csr_matrix:
    """P = (p_j|i + p_i|j) / 2N from Gaussian weights of the given perplexity, as in t-SNE.

    Examples
    --------
    >>> near = Neighbors(np.array([[1], [0]], np.int32), np.ones((2, 1)), "", 1.0)
    >>> entropic_affinity(near, 5.0, Team(1)).toarray()
    array([[0. , 0.5],
           [0.5, 0. ]], dtype=float32)
    """
    with_neighbors = int((neighbors.indices >= 0).any(axis=1).sum())
    if with_neighbors == 0:
        raise InputError("No row has a neighbour, so there is no graph to draw.")
    weights = conditional_probabilities(neighbors, perplexity, team)
    return _symmetrize(neighbors.indices, weights, 0.5 / with_neighbors, team)
