"""Similarities from nearest neighbours: the graph P among the indexed rows, and those of new rows to indexed ones.

P is symmetric with zero diagonal, and sums to 1. The matrix of new rows has a row for each of them and a column for each
indexed row; a row holds the conditional probabilities p_j|i, which sum to 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.errors import InputError
from sce.graph.csr import CSR, transpose
from sce.graph.found import Neighbors

_AFFINITY_TASK_ROWS = 1024  # rows a thread takes at once
_MAX_BANDWIDTH_STEPS = 100
_ENTROPY_TOLERANCE = 1e-9  # nats
_MIN_SIMILARITY = np.finfo(np.float32).tiny  # smaller ones are left out


# ------------------------------------------------------------------------------------------------------------ symmetry


@kernel
def _merge(own: Any, other: Any, part: Any, unit: Any, merged: Any) -> None:
    """Merge two ascending lists of each row in `part`: one entry per neighbour, of weight (own + other) x unit.

    Entries below the range of float32 are left out. If `merged` has no room for data, they are only counted, into
    merged.indptr[i + 1].
    """
    last = np.int32(2147483647)
    weighted = own.data.size > 0
    for i in range(part[0], part[1]):
        a, a_stop, b, b_stop = own.indptr[i], own.indptr[i + 1], other.indptr[i], other.indptr[i + 1]
        first = merged.indptr[i]
        count = 0
        while a < a_stop or b < b_stop:
            j_own = own.indices[a] if a < a_stop else last
            j_other = other.indices[b] if b < b_stop else last
            weight = 0.0  # the sum of at most two terms, so it is the same seen from the other end
            if j_own <= j_other:
                weight += own.data[a] if weighted else 1.0
                a += 1
            if j_other <= j_own:
                weight += other.data[b] if weighted else 1.0
                b += 1
            value = np.float32(weight * unit)
            if value >= _MIN_SIMILARITY:
                if merged.data.size:
                    merged.indices[first + count] = min(j_own, j_other)
                    merged.data[first + count] = value
                count += 1
        if not merged.data.size:
            merged.indptr[i + 1] = count


def symmetrized(indices: np.ndarray, weights: np.ndarray, unit: float, team: Team) -> sparse.csr_matrix:
    """The matrix (W + W') x unit; row i of W has these weights (all 1 if none are given) in the columns indices[i]."""
    n, k = indices.shape
    ids = indices.astype(np.int32, copy=False).ravel()
    other = transpose(CSR(k * np.arange(n + 1), ids, weights.ravel()), n, team)
    del ids, weights
    own = transpose(other, n, team)  # the lists themselves again, now ascending
    starts = np.zeros(n + 1, np.int64)
    merged = CSR(starts, np.empty(0, np.int32), np.empty(0, np.float32))
    team.sweep(lambda *part: _merge(own, other, part, unit, merged), n, _AFFINITY_TASK_ROWS)
    np.cumsum(starts, out=starts)
    merged = CSR(starts, np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32))
    if merged.data.size:
        team.sweep(lambda *part: _merge(own, other, part, unit, merged), n, _AFFINITY_TASK_ROWS)
    return _as_matrix(merged, (n, n))


def _as_matrix(entries: CSR, shape: tuple[int, int]) -> sparse.csr_matrix:
    """A matrix of these arrays, whose rows are ascending."""
    P = sparse.csr_matrix((entries.data, entries.indices, entries.indptr), shape=shape, copy=False)
    P.has_sorted_indices = True
    return P


def knn_affinity(neighbors: Neighbors, team: Team | None = None) -> sparse.csr_matrix:
    """P with equal weights for all pairs in which one point is among the other's k nearest.

    Examples
    --------
    >>> near = Neighbors(np.array([[1], [0], [1]], np.int32), np.ones((3, 1)), "", 1.0)
    >>> knn_affinity(near).toarray()
    array([[0.  , 0.25, 0.  ],
           [0.25, 0.  , 0.25],
           [0.  , 0.25, 0.  ]], dtype=float32)
    """
    P = symmetrized(neighbors.indices, np.empty(0, np.float32), 1.0, team or Team(1))
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
    """Find the beta at which p = exp(-beta excess) has the target entropy; the smallest excess is 0, the largest about 1.

    Newton's method on log(beta), kept within a bracket that every step narrows, so that it ends for any input.
    Where the entropy hardly changes, the steps start small and grow.
    """
    ties = 0
    for a in range(m):
        ties += excess[a] == 0.0
    if np.log(m) <= target or ties == m:
        for a in range(m):
            p[a] = 1.0 / m  # even an infinite bandwidth reaches no more than all of them
        return
    if np.log(ties) >= target:
        for a in range(m):
            p[a] = 1.0 / ties if excess[a] == 0.0 else 0.0  # no bandwidth is narrow enough to tell ties apart
        return
    low, high, x, longest = -700.0, 700.0, 1.0, 1.5
    for _ in range(_MAX_BANDWIDTH_STEPS):
        beta = np.exp(x)
        entropy, square = _moments(excess, m, beta, p)
        if abs(entropy - target) < _ENTROPY_TOLERANCE:
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
        size = farthest if farthest > 0 else 1.0  # distances relative to it, because squares may overflow
        for a in range(m):
            excess[a] = (excess[a] / size - nearest / size) * (excess[a] / size + nearest / size)
        _fit_row(excess, m, target, p)
        m = 0
        for a in range(k):
            if ids[i, a] >= 0:
                weights[i, a] = p[m]
                m += 1


def conditional_probabilities(neighbors: Neighbors, perplexity: float, team: Team) -> np.ndarray:
    """Row i: the Gaussian weights p_j|i of its neighbours, with the bandwidth that gives them this perplexity.

    If no bandwidth does, the weights are uniform: over all neighbours if there are no more than `perplexity` of them, over
    the nearest ones if more than that are tied for the smallest distance.

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
        _AFFINITY_TASK_ROWS,
        share=0.4,
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
    return symmetrized(
        neighbors.indices, conditional_probabilities(neighbors, perplexity, team), 0.5 / with_neighbors, team
    )


# ------------------------------------------------------------------------------------------- new rows to indexed ones


def knn_cross_affinity(neighbors: Neighbors, n_indexed: int) -> sparse.csr_matrix:
    """The conditional probabilities p_j|i of new rows i: equal for all their neighbours j among the indexed rows.

    Parameters
    ----------
    neighbors : Neighbors
        Of the new rows; -1 for none.
    n_indexed : int
        The number of indexed rows.

    Returns
    -------
    scipy.sparse.csr_matrix of shape (n_new, n_indexed), float32
        Each row sums to 1, or is empty if it has no neighbour.

    Examples
    --------
    >>> near = Neighbors(np.array([[2, 0]], np.int32), np.array([[1.0, 3.0]]), "", 1.0)
    >>> knn_cross_affinity(near, 4).toarray()
    array([[0.5, 0. , 0.5, 0. ]], dtype=float32)
    """
    present = neighbors.indices >= 0
    counts = present.sum(axis=1, keepdims=True)
    return _cross_matrix(neighbors.indices, np.where(present, 1.0 / np.maximum(counts, 1), 0.0), n_indexed)


def entropic_cross_affinity(neighbors: Neighbors, n_indexed: int, perplexity: float, team: Team) -> sparse.csr_matrix:
    """The conditional probabilities p_j|i of new rows i: Gaussian weights of the given perplexity, as in t-SNE.

    Parameters
    ----------
    neighbors : Neighbors
        Of the new rows; -1 for none.
    n_indexed : int
        The number of indexed rows.
    perplexity : float
        The bandwidth is found as in :func:`conditional_probabilities`.
    team : Team

    Returns
    -------
    scipy.sparse.csr_matrix of shape (n_new, n_indexed), float32
        Each row sums to 1, or is empty if it has no neighbour. Weights too small for float32 are left out.

    Examples
    --------
    >>> near = Neighbors(np.array([[2, 0]], np.int32), np.array([[1.0, 2.0]]), "", 1.0)
    >>> entropic_cross_affinity(near, 4, 1.5, Team(1)).toarray().round(2)
    array([[0.14, 0.  , 0.86, 0.  ]], dtype=float32)
    """
    return _cross_matrix(neighbors.indices, conditional_probabilities(neighbors, perplexity, team), n_indexed)


def _cross_matrix(indices: np.ndarray, weights: np.ndarray, n_indexed: int) -> sparse.csr_matrix:
    """The matrix with these weights in the columns indices[i] of row i, ascending; weights of almost zero are left out."""
    order = np.argsort(indices, axis=1, kind="stable")
    ids, sorted_weights = (np.take_along_axis(part, order, 1) for part in (indices, weights))
    keep = (ids >= 0) & (sorted_weights >= _MIN_SIMILARITY)
    starts = np.append(0, np.cumsum(keep.sum(axis=1)))
    entries = CSR(starts, ids[keep].astype(np.int32), sorted_weights[keep].astype(np.float32))
    return _as_matrix(entries, (len(indices), n_indexed))
