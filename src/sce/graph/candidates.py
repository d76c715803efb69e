"""Candidates for the neighbours of each row: rows that share a leaf with it, and the neighbours of its neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.graph.kernels import Heaps, admit, holds, pair_distance, row_key, sort_heap, two_rows
from sce.graph.trees import Tree

_JOIN_TASK_ROWS = 1024  # rows a thread takes at once
_TASK_LEAVES = 8  # leaves a thread takes at once


# --------------------------------------------------------------------------------------------------------------- leaves


@kernel
def _meet(heaps: Any, rows: Any, worst: Any, a: Any, found: Any, first: Any, ties: Any) -> None:
    """Offer row `a` of a leaf and each of those from `first` on to one another."""
    i = rows[a]
    key = row_key(ties, np.uint64(i))
    for offset in range(found.size):
        distance = found[offset]
        b = first + offset
        j = rows[b]
        if distance <= worst[a] and not holds(heaps.ids[i], j):
            worst[a] = admit(heaps.distances[i], heaps.ids[i], distance, j, key)
        if distance <= worst[b] and not holds(heaps.ids[j], i):
            worst[b] = admit(heaps.distances[j], heaps.ids[j], distance, i, row_key(ties, np.uint64(j)))


@kernel(fused=True)
def _search_leaves(Z: Any, order: Any, starts: Any, heaps: Any, terms: Any, ties: Any) -> None:
    """Compare all pairs within each leaf; starts holds the first row of each leaf and the end of the last."""
    d = Z.shape[1]
    most = 0
    for t in range(starts.size - 1):
        most = max(most, starts[t + 1] - starts[t])
    T, c, worst = np.empty((d, most), Z.dtype), np.empty((2, most), Z.dtype), np.empty(most, Z.dtype)
    for t in range(starts.size - 1):
        rows = order[starts[t] : starts[t + 1]]
        m = rows.size
        for a in range(m):
            worst[a] = heaps.distances[rows[a], 0]
            for column in range(d):
                T[column, a] = Z[rows[a], column]
        for a in range(0, m - 1, 2):
            two_rows(c[0, : m - a - 1], c[1, : m - a - 1], Z[rows[a]], Z[rows[a + 1]], T, a + 1, terms)
            _meet(heaps, rows, worst, a, c[0, : m - a - 1], a + 1, ties)
            _meet(heaps, rows, worst, a + 1, c[1, 1 : m - a - 1], a + 2, ties)


def search_leaves(Z: np.ndarray, tree: Tree, heaps: Heaps, terms: int, ties: np.uint64, team: Team) -> None:
    """Update the heaps with all pairs that share a leaf; `ties` is the stream that decides ties."""

    def work(start: int, stop: int) -> None:
        _search_leaves(Z, tree.order, tree.starts[start : stop + 1], heaps, terms, ties)

    team.sweep(work, len(tree.starts) - 1, _TASK_LEAVES, share=1.0)


# --------------------------------------------------------------------------------------------- neighbours of neighbours


@kernel
def add_number(table: Any, j: Any) -> Any:
    """Put j into a hash table of row numbers (-1 is empty); False if it was there."""
    mask = np.uint32(table.size - 1)
    place = (np.uint32(j) * np.uint32(2654435769)) >> np.uint32(7) & mask
    while table[place] >= 0:
        if table[place] == j:
            return False
        place = (place + np.uint32(1)) & mask
    table[place] = j
    return True


@kernel(fused=True)
def distance_within(x: Any, y: Any, worst: Any, terms: Any) -> Any:
    """The distance of two rows, or infinity as soon as the first 64 columns show that it is above `worst`."""
    if x.size <= 96:
        return pair_distance(x, y, terms)
    part = pair_distance(x[:64], y[:64], terms)
    return part + pair_distance(x[64:], y[64:], terms) if part <= worst else np.float32(np.inf)


@kernel(fused=True)
def _join_rows(Z: Any, start: Any, stop: Any, near: Any, reach: Any, heaps: Any, terms: Any, ties: Any) -> None:
    """Offer rows start to stop the neighbours (columns of `near`) of their `reach` nearest ones."""
    width = near.shape[1]
    size = 64
    while size < 2 * (reach * width + width + 1):
        size *= 2
    table = np.empty(size, np.int32)
    for i in range(start, stop):
        distances, ids, key = heaps.distances[i], heaps.ids[i], row_key(ties, np.uint64(i))
        table[:] = -1
        add_number(table, i)
        for place in range(ids.size):
            if ids[place] >= 0:
                add_number(table, ids[place])
        for a in range(reach):
            if near[i, a] >= 0:
                for j in near[near[i, a]]:
                    if j >= 0 and add_number(table, j):
                        distance = distance_within(Z[i], Z[j], distances[0], terms)
                        if distance <= distances[0]:
                            admit(distances, ids, distance, j, key)


@kernel
def _sort_rows(heaps: Any, start: Any, stop: Any, near: Any, ties: Any) -> None:
    """Sort heaps start to stop from far to near, and copy the row numbers, nearest first."""
    k = heaps.ids.shape[1]
    for i in range(start, stop):
        sort_heap(heaps.distances[i], heaps.ids[i], row_key(ties, np.uint64(i)))
        for a in range(near.shape[1]):
            near[i, a] = heaps.ids[i, k - 1 - a]


def join_neighbors(Z: np.ndarray, heaps: Heaps, reach: int, terms: int, ties: np.uint64, team: Team) -> None:
    """Offer every row the neighbours of its `reach` nearest neighbours; `ties` is the stream that decides ties."""
    n, k = heaps.ids.shape
    near = np.empty((n, k), np.int32)
    team.sweep(lambda start, stop: _sort_rows(heaps, start, stop, near, ties), n, _JOIN_TASK_ROWS)
    reach = min(reach, k)

    def join(start: int, stop: int) -> None:
        _join_rows(Z, start, stop, near, reach, heaps, terms, ties)

    team.sweep(join, n, _JOIN_TASK_ROWS, share=1.0)
