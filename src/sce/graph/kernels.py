"""The inner loops of all neighbour searches: distances, heaps, and exact search.

Rows are float32 (or float64, where float32 cannot tell them apart: :mod:`sce.graph.precision`) and padded with zero columns to
a multiple of eight, so no kernel needs a remainder loop. Distances have the type of the rows. Here a
"distance" is a sum over the columns: with terms=SQUARES the squared Euclidean one, with ABSOLUTES the Manhattan one. It is
summed over differences rather than computed from scalar products: copies are at exactly zero, and points close together but
far from the origin lose no digits. All terms are non-negative, so the sum over some columns is a lower bound.

The neighbours of a row are kept in a heap with the farthest at the root: one row of each array of `Heaps`. Rows at the same
distance are in a random order, a different one for each row whose neighbours they are (`comes_before`): by number, the first
of many equally distant rows would be a neighbour of all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.core.random import bits, stream
from sce.core.simd import LANES, sum_absolutes, sum_squares
from sce.graph.metrics import ABSOLUTES

BLOCK_ROWS = 512  # candidates compared at once with a pair of rows
BLOCK_CELLS = 1 << 17  # numbers in such a block at most: half a MiB
_EXACT_TASK_ROWS = 64  # rows a thread searches for at once
_ROW_FACTOR = np.uint64(0xD1342543DE82EF95)  # any odd number with bits all over


class Heaps(NamedTuple):
    """Distances (n, k; infinite where empty) and row numbers (n, k; -1 where empty) of the nearest found so far."""

    distances: np.ndarray
    ids: np.ndarray


def empty_heaps(n: int, k: int, dtype: Any = np.float32) -> Heaps:
    """Heaps of k places for n rows."""
    return Heaps(np.full((n, k), np.inf, dtype), np.full((n, k), -1, np.int32))


# -------------------------------------------------------------------------------------------------------------- ties


def ties_key(seed: int) -> np.uint64:
    """The stream of random numbers that decides ties."""
    return stream(seed, "ties")


@kernel
def row_key(ties: Any, i: Any) -> Any:
    """The key of row i (uint64) for `comes_before`: a single multiplication, because few rows ever need it."""
    return ties ^ (i * _ROW_FACTOR)


def row_keys(seed: int, numbers: np.ndarray) -> np.ndarray:
    """The key of each of the rows with these numbers."""
    with np.errstate(over="ignore"):
        return np.asarray(row_key.py_func(ties_key(seed), numbers.astype(np.uint64)))


@kernel
def comes_before(key: Any, a: Any, b: Any) -> Any:
    """Whether row a comes before row b among the neighbours of the row with this key if both are equally far from it."""
    return bits(key, np.uint64(a)) < bits(key, np.uint64(b))


# ------------------------------------------------------------------------------------------------------------- heaps


@kernel
def admit(distances: Any, ids: Any, distance: Any, j: Any, key: Any) -> Any:
    """Replace the farthest row in the heap of the row with this key by j, unless j comes after it; the farthest distance then.

    The caller has checked that j is no farther and not in the heap. Only distances make the heap, so that rows without ties
    cost no more; but of rows as far as the root, the one that comes last is the root.
    """
    if distance < distances[0]:
        _push(distances, ids, distance, j)
    elif comes_before(key, j, ids[0]):
        ids[0] = j
    else:
        return distances[0]
    worst = distances[0]
    k = distances.size
    if k > 1 and (distances[1] == worst or distances[min(2, k - 1)] == worst) and worst < np.inf:
        _last_to_root(distances, ids, key)
    return worst


@kernel
def _push(distances: Any, ids: Any, distance: Any, j: Any) -> None:
    """Replace the root of the heap by j, which is nearer."""
    k = distances.size
    place = 0
    while True:
        child = 2 * place + 1
        if child >= k:
            break
        if child + 1 < k and distances[child + 1] > distances[child]:
            child += 1
        if distances[child] <= distance:
            break
        distances[place] = distances[child]
        ids[place] = ids[child]
        place = child
    distances[place] = distance
    ids[place] = j


@kernel
def _last_to_root(distances: Any, ids: Any, key: Any) -> None:
    """Exchange the root with the last of the rows at the same distance."""
    last = 0
    for place in range(1, distances.size):
        if distances[place] == distances[0] and comes_before(key, ids[last], ids[place]):
            last = place
    ids[0], ids[last] = ids[last], ids[0]


@kernel
def holds(ids: Any, j: Any) -> Any:
    """Whether j is in the heap."""
    found = 0
    for place in range(ids.size):
        found |= ids[place] == j
    return found != 0


@kernel
def sort_heap(distances: Any, ids: Any, key: Any) -> None:
    """Sort the heap of the row with this key from far to near: still a heap, with the nearest at its end."""
    k = distances.size
    for place in range(1, k):
        distance, j = distances[place], ids[place]
        before = place - 1
        while before >= 0 and distances[before] <= distance:
            if distances[before] == distance and not comes_before(key, ids[before], j):
                break
            distances[before + 1] = distances[before]
            ids[before + 1] = ids[before]
            before -= 1
        distances[before + 1] = distance
        ids[before + 1] = j


# --------------------------------------------------------------------------------------------------------- distances


@kernel(fused=True)
def pair_distance(x: Any, y: Any, terms: Any) -> Any:
    """The distance of two rows."""
    return sum_absolutes(x, y) if terms == ABSOLUTES else sum_squares(x, y)


@kernel(fused=True)
def _add_squares(c0: Any, c1: Any, x0: Any, x1: Any, T: Any, first: Any) -> None:
    """Squared distances of two rows to the columns of T from `first` on; each load of T serves both rows."""
    c0[:] = 0
    c1[:] = 0
    for k in range(0, x0.size, 4):
        t0, t1, t2, t3 = T[k, first:], T[k + 1, first:], T[k + 2, first:], T[k + 3, first:]
        a0, a1, a2, a3 = x0[k], x0[k + 1], x0[k + 2], x0[k + 3]
        b0, b1, b2, b3 = x1[k], x1[k + 1], x1[k + 2], x1[k + 3]
        for j in range(c0.size):
            y0, y1, y2, y3 = t0[j], t1[j], t2[j], t3[j]
            p0, p1, p2, p3 = a0 - y0, a1 - y1, a2 - y2, a3 - y3
            q0, q1, q2, q3 = b0 - y0, b1 - y1, b2 - y2, b3 - y3
            c0[j] = c0[j] + p0 * p0 + p1 * p1 + p2 * p2 + p3 * p3
            c1[j] = c1[j] + q0 * q0 + q1 * q1 + q2 * q2 + q3 * q3


@kernel(fused=True)
def _add_absolutes(c0: Any, c1: Any, x0: Any, x1: Any, T: Any, first: Any) -> None:
    """Manhattan distances of two rows to the columns of T from `first` on."""
    c0[:] = 0
    c1[:] = 0
    for k in range(0, x0.size, 2):
        t0, t1 = T[k, first:], T[k + 1, first:]
        a0, a1, b0, b1 = x0[k], x0[k + 1], x1[k], x1[k + 1]
        for j in range(c0.size):
            c0[j] = c0[j] + abs(a0 - t0[j]) + abs(a1 - t1[j])
            c1[j] = c1[j] + abs(b0 - t0[j]) + abs(b1 - t1[j])


@kernel(fused=True)
def two_rows(c0: Any, c1: Any, x0: Any, x1: Any, T: Any, first: Any, terms: Any) -> None:
    """The distances of two rows to the columns of T from number `first` on."""
    if terms == ABSOLUTES:
        _add_absolutes(c0, c1, x0, x1, T, first)
    else:
        _add_squares(c0, c1, x0, x1, T, first)


# ------------------------------------------------------------------------------------------------------ exact search


class _Queries(NamedTuple):
    """Rows to search for: rows[numbers[q]], for which row skip[q] of those searched is no neighbour (-1: all may be).

    keys[q] decides ties.
    """

    rows: np.ndarray
    numbers: np.ndarray
    skip: np.ndarray
    keys: np.ndarray


@kernel
def offer(distances: Any, ids: Any, found: Any, first: Any, itself: Any, key: Any) -> None:
    """Offer the rows first, first + 1, ... at the distances found, except the row itself, whose key is given."""
    worst = distances[0]
    for j in range(found.size):
        if found[j] <= worst and first + j != itself:
            worst = admit(distances, ids, found[j], first + j, key)


@kernel(fused=True)
def _exact_rows(X: Any, queries: Any, factor: Any, heaps: Any, terms: Any) -> None:
    """Compare each query with all rows of X, times a factor; a heap per query, sorted from far to near at the end."""
    n, d = X.shape
    block = min(BLOCK_ROWS, max(LANES, BLOCK_CELLS // d))
    T = np.empty((d, block), X.dtype)
    c = np.empty((2, block), X.dtype)
    count = queries.numbers.size
    for first in range(0, n, block):
        size = min(block, n - first)
        for j in range(size):
            for k in range(d):
                T[k, j] = X[first + j, k] * factor
        for q in range(0, count, 2):
            r = min(q + 1, count - 1)
            x0, x1 = queries.rows[queries.numbers[q]], queries.rows[queries.numbers[r]]
            two_rows(c[0, :size], c[1, :size], x0, x1, T, 0, terms)
            offer(heaps.distances[q], heaps.ids[q], c[0, :size], first, queries.skip[q], queries.keys[q])
            if r != q:
                offer(heaps.distances[r], heaps.ids[r], c[1, :size], first, queries.skip[r], queries.keys[r])
    for q in range(count):
        sort_heap(heaps.distances[q], heaps.ids[q], queries.keys[q])


def exact_neighbors(
    X: np.ndarray, numbers: np.ndarray, k: int, terms: int, seed: int, team: Team, share: float = 0.0
) -> Heaps:
    """The k rows nearest to each of some rows of X, nearest first, by comparing these with all rows.

    Parameters
    ----------
    X : float32 or float64 array of shape (n, d), d a multiple of eight
    numbers : int64 array
        The numbers of the rows to search for; no row is its own neighbour.
    k : int, at most n - 1
    terms : int
        What is summed over the columns: see :class:`sce.graph.metrics.Metric`.
    seed : int
        Decides ties.
    team : Team
    share : float, default=0.0
        Of the meter, as in :meth:`sce.core.parallel.Team.sweep`.

    Examples
    --------
    >>> from sce.graph.metrics import SQUARES
    >>> X = np.zeros((4, 8), np.float32)
    >>> X[:, 0] = [0, 1, 3, 7]
    >>> exact_neighbors(X, np.array([0]), 2, SQUARES, 0, Team(1))
    Heaps(distances=array([[1., 9.]], dtype=float32), ids=array([[1, 2]], dtype=int32))
    """
    return _exact(X, _Queries(X, numbers, numbers, row_keys(seed, numbers)), 1.0, k, terms, team, share)


def exact_neighbors_of(
    rows: np.ndarray,
    X: np.ndarray,
    k: int,
    terms: int,
    keys: np.ndarray,
    team: Team,
    *,
    factor: float = 1.0,
    skip: np.ndarray | None = None,
) -> Heaps:
    """The k rows of X nearest to each of some other rows, nearest first, by comparing all pairs.

    Parameters
    ----------
    rows, X : float32 or float64 arrays of shapes (m, d) and (n, d), d a multiple of eight
    k : int, at most n
    terms : int
        What is summed over the columns: see :class:`sce.graph.metrics.Metric`.
    keys : uint64 array of shape (m,)
        Decide ties.
    team : Team
    factor : float, default=1.0
        X is multiplied by it, without a copy.
    skip : int64 array of shape (m,), optional
        A row of X that is not a neighbour of each row, -1 for none.

    Examples
    --------
    >>> from sce.graph.metrics import SQUARES
    >>> X = np.zeros((4, 8), np.float32)
    >>> X[:, 0] = [0, 1, 3, 7]
    >>> exact_neighbors_of(X[1:2] + 0.4, X, 2, SQUARES, np.zeros(1, np.uint64), Team(1)).ids
    array([[1, 0]], dtype=int32)
    """
    skip = np.full(len(rows), -1) if skip is None else skip
    return _exact(X, _Queries(rows, np.arange(len(rows)), skip, keys), factor, k, terms, team)


def _exact(
    X: np.ndarray, queries: _Queries, factor: float, k: int, terms: int, team: Team, share: float = 0.0
) -> Heaps:
    n = len(queries.numbers)
    heaps = empty_heaps(n, k, X.dtype)

    def work(start: int, stop: int) -> None:
        part = Heaps(heaps.distances[start:stop], heaps.ids[start:stop])
        asked = _Queries(queries.rows, *(part[start:stop] for part in queries[1:]))
        _exact_rows(X, asked, np.float32(factor), part, terms)

    part = -(-n // (2 * team.n_jobs)) * 2  # even, because rows are compared two at a time
    team.sweep(work, n, max(2, min(_EXACT_TASK_ROWS, part)), share=share)
    return Heaps(np.ascontiguousarray(heaps.distances[:, ::-1]), np.ascontiguousarray(heaps.ids[:, ::-1]))


def pad_columns(d: int) -> int:
    """The smallest multiple of eight that is at least d."""
    return -(-d // LANES) * LANES
