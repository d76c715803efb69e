"""Approximate nearest neighbours by a forest of random-projection trees.

1. Trees split the rows at the median along the direction of a random pair, down to leaves of some hundred rows.
2. In a leaf every row is compared with every other; each comparison serves both.
3. Rows meet the neighbours of their nearest neighbours.
4. In high dimension steps 1 to 3 work on a PCA sketch, and the candidates are ranked again on the full rows.

The trees of a forest may be built in any order, the leaves of a tree share no row, and step 3 reads a snapshot: so the
result does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.linalg import sample_rows
from sce.core.parallel import Team
from sce.core.principal import principal_axes, project
from sce.core.random import stream
from sce.core.simd import LANES
from sce.graph.inplace import permute_rows, widen_rows
from sce.graph.kernels import (
    Heaps,
    empty_heaps,
    exact_neighbors,
    holds,
    pad_columns,
    pair_distance,
    push,
    sort_heap,
    two_rows,
)
from sce.graph.trees import Tree, grow_trees

_GRAIN = 1024  # rows that a thread takes at once
_LEADING = 32  # principal directions by which trees split rows of many columns
SKETCH_ABOVE = 160  # columns; below, a sketch saves less than it costs
_SKETCH_HOLDS = 0.985
SKETCH_MOST = 256
_TREES = 8  # grown at a time
_MOST_BATCHES = 3
_LEAF = 384
_REACH = 12  # nearest neighbours whose neighbours a row meets
FEWEST = 10  # near rows that are kept while searching: neighbours of fewer lead nowhere
_MOST_PASSES = 3
_ENOUGH_TO_JOIN = 0.75  # of the true neighbours, from where on joining is cheaper than another batch of trees
_ENOUGH = 0.95


# --------------------------------------------------------------------------------------------------------------- leaves


@kernel
def _meet(heaps: Any, rows: Any, worst: Any, a: Any, found: Any, first: Any) -> None:
    """Offer row `a` of a leaf and each of those from `first` on to one another."""
    i = rows[a]
    for offset in range(found.size):
        distance = found[offset]
        b = first + offset
        j = rows[b]
        if distance < worst[a] and not holds(heaps.ids[i], j):
            push(heaps.distances[i], heaps.ids[i], distance, j)
            worst[a] = heaps.distances[i, 0]
        if distance < worst[b] and not holds(heaps.ids[j], i):
            push(heaps.distances[j], heaps.ids[j], distance, i)
            worst[b] = heaps.distances[j, 0]


@kernel(fused=True)
def _search_leaves(Z: Any, order: Any, starts: Any, heaps: Any, manhattan: Any) -> None:
    """Compare all pairs within each leaf; starts holds the first row of each leaf and the end of the last."""
    d = Z.shape[1]
    most = 0
    for t in range(starts.size - 1):
        most = max(most, starts[t + 1] - starts[t])
    T, c, worst = np.empty((d, most), np.float32), np.empty((2, most), np.float32), np.empty(most, np.float32)
    for t in range(starts.size - 1):
        rows = order[starts[t] : starts[t + 1]]
        m = rows.size
        for a in range(m):
            worst[a] = heaps.distances[rows[a], 0]
            for column in range(d):
                T[column, a] = Z[rows[a], column]
        for a in range(0, m - 1, 2):
            two_rows(c[0, : m - a - 1], c[1, : m - a - 1], Z[rows[a]], Z[rows[a + 1]], T, a + 1, manhattan)
            _meet(heaps, rows, worst, a, c[0, : m - a - 1], a + 1)
            _meet(heaps, rows, worst, a + 1, c[1, 1 : m - a - 1], a + 2)


def search_leaves(Z: np.ndarray, tree: Tree, heaps: Heaps, manhattan: bool, team: Team) -> None:
    """Update the heaps with all pairs that share a leaf."""

    def work(start: int, stop: int) -> None:
        _search_leaves(Z, tree.order, tree.starts[start : stop + 1], heaps, manhattan)

    team.sweep(work, len(tree.starts) - 1, 8)


# --------------------------------------------------------------------------------------------- neighbours of neighbours


@kernel
def _insert(table: Any, j: Any) -> Any:
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
def _nearer(x: Any, y: Any, worst: Any, manhattan: Any) -> Any:
    """The distance of two rows, or infinity as soon as the first 64 columns say that it is not below `worst`."""
    if x.size <= 96:
        return pair_distance(x, y, manhattan)
    part = pair_distance(x[:64], y[:64], manhattan)
    return part + pair_distance(x[64:], y[64:], manhattan) if part < worst else np.float32(np.inf)


@kernel(fused=True)
def _join_rows(Z: Any, start: Any, stop: Any, near: Any, reach: Any, heaps: Any, manhattan: Any) -> None:
    """Offer rows start to stop the neighbours (columns of `near`) of their `reach` nearest ones."""
    width = near.shape[1]
    size = 64
    while size < 2 * (reach * width + width + 1):
        size *= 2
    table = np.empty(size, np.int32)
    for i in range(start, stop):
        distances, ids = heaps.distances[i], heaps.ids[i]
        table[:] = -1
        _insert(table, i)
        for place in range(ids.size):
            if ids[place] >= 0:
                _insert(table, ids[place])
        for a in range(reach):
            if near[i, a] >= 0:
                for j in near[near[i, a]]:
                    if j >= 0 and _insert(table, j):
                        distance = _nearer(Z[i], Z[j], distances[0], manhattan)
                        if distance < distances[0]:
                            push(distances, ids, distance, j)


@kernel
def _sort_rows(heaps: Any, start: Any, stop: Any, near: Any) -> None:
    """Sort heaps start to stop from far to near, and copy the nearest row numbers, nearest first."""
    k = heaps.ids.shape[1]
    for i in range(start, stop):
        sort_heap(heaps.distances[i], heaps.ids[i])
        for a in range(near.shape[1]):
            near[i, a] = heaps.ids[i, k - 1 - a]


def join_neighbors(Z: np.ndarray, heaps: Heaps, reach: int, manhattan: bool, team: Team) -> None:
    """Offer every row the neighbours of its `reach` nearest neighbours."""
    n, k = heaps.ids.shape
    near = np.empty((n, k), np.int32)
    team.sweep(lambda start, stop: _sort_rows(heaps, start, stop, near), n, _GRAIN)
    reach = min(reach, k)
    team.sweep(lambda start, stop: _join_rows(Z, start, stop, near, reach, heaps, manhattan), n, _GRAIN)


# ------------------------------------------------------------------------------------------------- ranking on full rows


@kernel(fused=True)
def _rank_rows(X: Any, rows: Any, candidates: Any, names: Any, moved: Any, ranked: Any, manhattan: Any) -> None:
    """Sort the candidates of each row by their distance on X and write the nearest, nearest first, by their names.

    The row of candidate j is number j of X if its rows were moved, else number names[j].
    """
    k = ranked.ids.shape[1]
    distances, ids = np.empty(candidates.shape[1], np.float32), np.empty(candidates.shape[1], np.int32)
    for i in range(rows.size):
        x = X[rows[i]]
        for a in range(ids.size):
            j = candidates[i, a]
            ids[a], distances[a] = np.int32(-1), np.float32(np.inf)
            if j >= 0:
                ids[a] = names[j]
                distances[a] = pair_distance(x, X[j if moved else names[j]], manhattan)
        sort_heap(distances, ids)
        for a in range(k):
            ranked.distances[i, a] = distances[ids.size - 1 - a]
            ranked.ids[i, a] = ids[ids.size - 1 - a]


def rank(
    X: np.ndarray, heaps: Heaps, k: int, names: np.ndarray, manhattan: bool, team: Team, *, moved: bool = True
) -> Heaps:
    """The k nearest of the rows in each heap by their distances on X, nearest first, row j of the heaps called names[j].

    Row j of the heaps is row j of X, or with moved=False row names[j]. Ties go to the lesser name. Where the heaps have k
    places, they are what is returned, overwritten.
    """
    ranked = heaps if heaps.ids.shape[1] == k else empty_heaps(len(X), k)

    def work(start: int, stop: int) -> None:
        part = Heaps(ranked.distances[start:stop], ranked.ids[start:stop])
        rows = np.arange(start, stop, dtype=np.int32) if moved else names[start:stop]
        _rank_rows(X, rows, heaps.ids[start:stop], names, moved, part, manhattan)

    team.sweep(work, len(X), _GRAIN)
    return ranked


# ------------------------------------------------------------------------------------------------ a sample of the truth


class Probe(NamedTuple):
    """Some rows, their true k nearest, and the distance of the farthest of these (one column)."""

    rows: np.ndarray
    ids: np.ndarray
    farthest: np.ndarray


def probe(X: np.ndarray, k: int, manhattan: bool, seed: int, team: Team) -> Probe:
    """Search exactly for the neighbours of a sample of rows."""
    size = int(np.clip(4e9 / X.size, 64, 1024))
    rows = sample_rows(len(X), size, stream(seed, "probe"))
    found = exact_neighbors(X, rows, k, manhattan, team)
    # The distances are summed again in the order of `rank`: a neighbour is not to be missed for a rounding error.
    ranked = empty_heaps(len(rows), k)
    numbers = np.arange(len(X), dtype=np.int32)
    _rank_rows(X, numbers[rows], found.ids, numbers, True, ranked, manhattan)
    return Probe(rows, ranked.ids, ranked.distances[:, -1:])


def sampled_recall(truth: Probe, near: Heaps) -> float:
    """The share of the true k nearest that was found; a neighbour as near as the true k-th counts."""
    return float((near.distances[truth.rows] <= truth.farthest * np.float32(1 + 1e-6)).mean())


def _held(truth: Probe, Z: np.ndarray, width: int, team: Team) -> float:
    """The share of the true neighbours among the `width` nearest on a sketch Z."""
    return _share(truth.ids, exact_neighbors(Z, truth.rows, width, False, team).ids)


def sketch(X: np.ndarray, truth: Probe, width: int, seed: int, team: Team) -> np.ndarray | None:
    """X in as few principal directions as keep the true neighbours among the `width` nearest; None if these are many.

    The share of the variance would be a bad guide: where clusters are far apart, a few directions hold nearly all of it
    and say nothing about who is near whom within a cluster.
    """
    n, d = X.shape
    if d <= SKETCH_ABOVE:
        return None
    most = min(SKETCH_MOST, d // 2 // LANES * LANES)
    memory = np.empty(n * most, np.float32)  # the system provides what is used of it
    for half in (1, 2):  # twice as many axes take four times as long to find
        columns = pad_columns(half * most // 2)
        mean, axes, _ = principal_axes(X, columns, seed, team, n_sample=2048, n_iter=3)
        Z = memory[:0].reshape(n, 0)
        for quarters in (2 * half - 1, 2 * half):
            have, wanted = Z.shape[1], min(columns, pad_columns(quarters * most // 4))
            Z = widen_rows(memory, Z, wanted)
            project(X, mean, axes[:, have:wanted], team, out=Z[:, have:])
            if _held(truth, Z, width, team) >= _SKETCH_HOLDS - (0.03 if quarters == 4 else 0.0):
                return Z
    return None


# --------------------------------------------------------------------------------------------------------- whole search


def forest_neighbors(
    X: np.ndarray, k: int, *, manhattan: bool, seed: int, team: Team, own: bool = True
) -> tuple[Heaps, float]:
    """Nearly all of the k nearest neighbours of every row, nearest first, and the share found of a sample's true ones.

    Parameters
    ----------
    X : float32 array of shape (n, d), d a multiple of eight
        Its rows may be put into another order meanwhile, and back.
    k : int
    manhattan : bool
        Manhattan instead of (squared) Euclidean distances.
    seed : int
    team : Team
    own : bool, default=True
        Whether X may be changed; otherwise it is copied where it would be.
    """
    truth = probe(X, k, manhattan, seed, team)
    width = k + max(8, k // 2)
    Z = None if manhattan else sketch(X, truth, width, seed, team)
    sketched = Z is not None
    if not (sketched or own):
        X = X.copy()
    heaps, order, place = _candidates(
        X if Z is None else Z, sketched, width if sketched else max(k, FEWEST), truth, manhattan, seed, team
    )
    del Z
    near = rank(X, heaps, k, order, manhattan, team, moved=not sketched)
    del heaps
    for rows in (near.distances, near.ids) if sketched else (X, near.distances, near.ids):
        permute_rows(rows, place, team)
    _complete(X, near, manhattan, team)
    return near, sampled_recall(truth, near)


def _candidates(
    Z: np.ndarray, sketched: bool, k: int, truth: Probe, manhattan: bool, seed: int, team: Team
) -> tuple[Heaps, np.ndarray, np.ndarray]:
    """Heaps of k near rows on Z, whose rows are put into an order in which near ones are near in memory.

    The order comes back, too, and the place of each row in it. Trees and passes are added until the sample has its
    neighbours: how many are needed, only the data can tell.
    """
    guide = _guide(Z, sketched, seed, team)
    trees = grow_trees(guide(), range(_TREES), _leaf(k), seed, team)
    order = trees[0].order
    place = np.empty(len(Z), np.int32)
    place[order] = np.arange(len(Z), dtype=np.int32)
    permute_rows(Z, order, team)
    heaps = empty_heaps(len(Z), k)
    for batch in range(_MOST_BATCHES):
        if batch > 0:  # these grow on the rows in their new order
            trees = grow_trees(guide(), range(batch * _TREES, (batch + 1) * _TREES), _leaf(k), seed, team)
        while trees:
            tree = trees.pop(0)
            search_leaves(Z, Tree(place[tree.order], tree.starts) if batch == 0 else tree, heaps, manhattan, team)
        if _found(truth, heaps, order, place) >= _ENOUGH_TO_JOIN:
            break
    del tree
    for _ in range(_MOST_PASSES):
        join_neighbors(Z, heaps, _REACH, manhattan, team)
        if _found(truth, heaps, order, place) >= _ENOUGH:
            break
    return heaps, order, place


def _guide(Z: np.ndarray, sketched: bool, seed: int, team: Team) -> Callable[[], np.ndarray]:
    """Makes the columns that decide the splits: the leading principal directions where there are many columns.

    Those of a sketch come first; of other rows any single columns may say nothing, so that they are searched for. They
    are made of the rows in their present order, each time anew: kept, they might take a third of the memory of Z.
    """
    if Z.shape[1] <= 2 * _LEADING:
        return lambda: Z
    if sketched:
        return lambda: np.ascontiguousarray(Z[:, :_LEADING])
    mean, axes, _ = principal_axes(Z, _LEADING, seed, team, n_sample=4096, n_iter=2)
    return lambda: project(Z, mean, axes, team, out=np.empty((len(Z), _LEADING), np.float32))


def _leaf(k: int) -> int:
    """The size of a leaf: enough that one alone fills a heap."""
    return max(_LEAF, 5 * k // 2)


def _found(truth: Probe, heaps: Heaps, order: np.ndarray, place: np.ndarray) -> float:
    """The share of the sample's true neighbours that the heaps hold."""
    return _share(truth.ids, order[heaps.ids[place[truth.rows]]])


def _share(wanted: np.ndarray, found: np.ndarray) -> float:
    """The share of the numbers in each row of `wanted` that are in the same row of `found`."""
    hits = sum(int(np.isin(a, b).sum()) for a, b in zip(wanted, found, strict=True))
    return hits / wanted.size


def _complete(X: np.ndarray, near: Heaps, manhattan: bool, team: Team) -> None:
    """Search exactly for the rows with fewer than k neighbours."""
    short = np.flatnonzero(near.ids[:, -1] < 0)
    if short.size:
        exact = exact_neighbors(X, short, near.ids.shape[1], manhattan, team)
        near.distances[short], near.ids[short] = exact
