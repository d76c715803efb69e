"""The inner loops of all neighbour searches: distances, heaps, and exact search.

Rows are float32 and padded with zero columns to a multiple of eight, so that no kernel has a remainder loop. A
"distance" in here is the squared Euclidean one, summed over differences rather than through scalar products: copies
are at exactly zero, and near points far from the origin lose nothing. With `manhattan` it is the sum of absolute
differences.

The neighbours of a row are kept in a heap with the farthest at the root: two rows of `Heaps`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.core.simd import LANES, sum_absolutes, sum_squares

FAR = np.float32(np.inf)
BLOCK, BLOCK_CELLS = 512, 1 << 17  # candidates compared at once with a pair of rows, and numbers in these: half a MiB
_QUERIES = 64  # rows that a thread searches for at once


class Heaps(NamedTuple):
    """Distances (n, k; infinite where empty) and row numbers (n, k; -1 where empty) of the best found so far."""

    distances: np.ndarray
    ids: np.ndarray


def empty_heaps(n: int, k: int) -> Heaps:
    """Heaps of k places for n rows."""
    return Heaps(np.full((n, k), FAR, np.float32), np.full((n, k), -1, np.int32))


# ------------------------------------------------------------------------------------------------------------- heaps


@kernel
def push(distances: Any, ids: Any, distance: Any, j: Any) -> None:
    """Put j in the place of the farthest in the heap; the caller has seen that it is nearer, and new."""
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
def holds(ids: Any, j: Any) -> Any:
    """Whether j is in the heap."""
    found = 0
    for place in range(ids.size):
        found |= ids[place] == j
    return found != 0


@kernel
def sort_heap(distances: Any, ids: Any) -> None:
    """Sort a heap from far to near, ties by larger number first: still a heap, and its end holds the nearest."""
    k = distances.size
    for place in range(1, k):
        distance, j = distances[place], ids[place]
        before = place - 1
        while before >= 0 and (distances[before] < distance or (distances[before] == distance and ids[before] < j)):
            distances[before + 1] = distances[before]
            ids[before + 1] = ids[before]
            before -= 1
        distances[before + 1] = distance
        ids[before + 1] = j


# --------------------------------------------------------------------------------------------------------- distances


@kernel(fused=True)
def pair_distance(x: Any, y: Any, manhattan: Any) -> Any:
    """The distance of two rows."""
    return sum_absolutes(x, y) if manhattan else sum_squares(x, y)


@kernel(fused=True)
def _add_squares(c0: Any, c1: Any, x0: Any, x1: Any, T: Any, first: Any) -> None:
    """Squared distances of two rows to the columns of T from `first` on: a load of T serves two rows, four terms."""
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
def two_rows(c0: Any, c1: Any, x0: Any, x1: Any, T: Any, first: Any, manhattan: Any) -> None:
    """The distances of two rows to the columns of T from number `first` on."""
    if manhattan:
        _add_absolutes(c0, c1, x0, x1, T, first)
    else:
        _add_squares(c0, c1, x0, x1, T, first)


# ------------------------------------------------------------------------------------------------------ exact search


@kernel
def offer(distances: Any, ids: Any, found: Any, first: Any, itself: Any) -> None:
    """Push the rows first, first + 1, ... at the distances found, except the row itself."""
    worst = distances[0]
    for j in range(found.size):
        if found[j] < worst and first + j != itself:
            push(distances, ids, found[j], first + j)
            worst = distances[0]


@kernel(fused=True)
def _exact_rows(X: Any, queries: Any, heaps: Any, manhattan: Any) -> None:
    """Compare each row in `queries` with all others; a heap per query, sorted from far to near at the end."""
    n, d = X.shape
    block = min(BLOCK, max(LANES, BLOCK_CELLS // d))
    T = np.empty((d, block), np.float32)
    c = np.empty((2, block), np.float32)
    for first in range(0, n, block):
        size = min(block, n - first)
        for j in range(size):
            for k in range(d):
                T[k, j] = X[first + j, k]
        for q in range(0, queries.size, 2):
            r = min(q + 1, queries.size - 1)
            two_rows(c[0, :size], c[1, :size], X[queries[q]], X[queries[r]], T, 0, manhattan)
            offer(heaps.distances[q], heaps.ids[q], c[0, :size], first, queries[q])
            if r != q:
                offer(heaps.distances[r], heaps.ids[r], c[1, :size], first, queries[r])
    for q in range(queries.size):
        sort_heap(heaps.distances[q], heaps.ids[q])


def exact_neighbors(X: np.ndarray, queries: np.ndarray, k: int, manhattan: bool, team: Team) -> Heaps:
    """The k rows nearest to each of some rows, nearest first, by comparing them with all rows.

    Parameters
    ----------
    X : float32 array of shape (n, d), d a multiple of eight
    queries : int64 array of row numbers
    k : int, at most n - 1
    manhattan : bool
    team : Team

    Examples
    --------
    >>> X = np.zeros((4, 8), np.float32)
    >>> X[:, 0] = [0, 1, 3, 7]
    >>> exact_neighbors(X, np.array([0]), 2, False, Team(1))
    Heaps(distances=array([[1., 9.]], dtype=float32), ids=array([[1, 2]], dtype=int32))
    """
    heaps = empty_heaps(len(queries), k)

    def work(start: int, stop: int) -> None:
        part = Heaps(heaps.distances[start:stop], heaps.ids[start:stop])
        _exact_rows(X, queries[start:stop], part, manhattan)

    share = -(-len(queries) // (2 * team.n_jobs)) * 2  # even: they are compared two at a time
    team.sweep(work, len(queries), min(_QUERIES, share))
    return Heaps(np.ascontiguousarray(heaps.distances[:, ::-1]), np.ascontiguousarray(heaps.ids[:, ::-1]))


def pad_columns(d: int) -> int:
    """The least multiple of eight that is not below d."""
    return -(-d // LANES) * LANES
