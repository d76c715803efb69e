"""Approximate nearest neighbours by a forest of random-projection trees.

1. Trees split the rows at the median along the direction of a random pair, down to leaves of some hundred rows.
2. In a leaf every row is compared with every other; each comparison serves both.
3. Rows meet the neighbours of their nearest neighbours.
4. In high dimension steps 1 to 3 work on a PCA sketch, and the candidates are ranked again on the full rows.

The trees of a forest may be grown in any order, the leaves of a tree share no row, and step 3 reads a snapshot, so the
result does not depend on the number of threads. New rows descend the same trees (:mod:`sce.graph.routing`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sce.core.parallel import Team
from sce.core.principal import principal_axes, project
from sce.graph.brute import BruteForce
from sce.graph.candidates import join_neighbors, search_leaves
from sce.graph.copies import RowTable, content_keys
from sce.graph.found import POOR_RECALL, Found
from sce.graph.inplace import permute_rows
from sce.graph.kernels import Heaps, empty_heaps, exact_neighbors, exact_neighbors_of, ties_key
from sce.graph.metrics import SQUARES
from sce.graph.ranking import Probe, probe, rank, rank_for, recall_of, sampled_recall, share_found
from sce.graph.routing import Marks, Network, Spaces, candidates_of, grow_routes
from sce.graph.sketch import SKETCH_ABOVE_COLUMNS, Directions, sketch
from sce.graph.trees import Tree, grow_trees

GUIDE_COLUMNS = 32  # principal directions by which trees split rows of more than twice as many columns
TREES_PER_BATCH = 8  # grown at a time
MAX_BATCHES = 3
MIN_LEAF_ROWS = 384  # the size down to which nodes are split, or more for long lists
JOIN_REACH = 12  # nearest neighbours whose neighbours a row meets
MIN_LIST_LENGTH = 10  # near rows that are kept during the search: neighbours of fewer lead nowhere
MAX_JOINS = 3
JOIN_FROM_RECALL = 0.75  # from here on, joining is cheaper than another batch of trees
STOP_AT_RECALL = 0.95
ROUTE_TREES = 16  # that new rows descend: more but smaller leaves than the search itself has, because links lead on
ROUTE_LEAF_ROWS = 64
# What the parts of a search take of its time, for the progress bar; what comes after them is the rest.
_PROBE_TIME, _SKETCH_TIME = 0.1, 0.55
_CANDIDATES_TIME, _SKETCHED_CANDIDATES_TIME = 0.85, 0.4
_TREES_TIME, _LEAVES_TIME, _JOIN_TIME = (
    0.12,
    0.055,
    0.15,
)  # of that of the candidates: all trees, a tree's leaves, one join
LINKS = 15  # indexed neighbours of an indexed row that lead new rows on
BRUTE_FORCE_INSTEAD_UP_TO_TERMS = 5e11  # n n d: some ten seconds, which is better than a poor result


# ---------------------------------------------------------------------------------------------------------- the search


def forest_neighbors(
    X: np.ndarray, k: int, *, terms: int, seed: int, team: Team, own: bool = True
) -> tuple[Heaps, float]:
    """Nearly all of the k nearest neighbours of every row, nearest first, and their recall on a sample.

    Parameters
    ----------
    X : float32 or float64 array of shape (n, d), d a multiple of eight
        During the search its rows may be in another order.
    k : int
    terms : int
        What is summed over the columns: see :class:`sce.graph.metrics.Metric`.
    seed : int
    team : Team
    own : bool, default=True
        Whether X may be changed during the search; otherwise it is copied where necessary.
    """
    width = _sketch_list_length(k)
    with team.meter.part(_SKETCH_TIME if _may_sketch(X, terms) else _PROBE_TIME):
        with team.meter.part(0.4):
            truth = probe(X, k, terms, seed, team)
        sketched = sketch(X, truth, width, seed, team) if _may_sketch(X, terms) else None
    Z = None if sketched is None else sketched.values
    del sketched
    moved = Z is None
    if moved and not own:
        X = X.copy()
    with team.meter.part(_CANDIDATES_TIME if moved else _SKETCHED_CANDIDATES_TIME):
        heaps, order, place = _candidates(
            X if Z is None else Z, not moved, max(k, MIN_LIST_LENGTH) if moved else width, truth, terms, seed, team
        )
    del Z
    near = rank(X, heaps, k, order, terms, seed, team, moved=moved)
    del heaps
    for rows in (X, near.distances, near.ids) if moved else (near.distances, near.ids):
        permute_rows(rows, place, team)
    _complete(X, near, terms, seed, team)
    return near, sampled_recall(truth, near)


def _may_sketch(X: np.ndarray, terms: int) -> bool:
    """Whether a sketch can stand for the rows: it is float32, and rows are float64 where that is too coarse."""
    return terms == SQUARES and X.dtype == np.float32 and X.shape[1] > SKETCH_ABOVE_COLUMNS


def _sketch_list_length(k: int) -> int:
    """The number of candidates kept on a sketch for k neighbours: some of the true k nearest are farther away there."""
    return k + max(8, k // 2)


def _candidates(
    Z: np.ndarray, sketched: bool, k: int, truth: Probe, terms: int, seed: int, team: Team
) -> tuple[Heaps, np.ndarray, np.ndarray]:
    """Heaps of k near rows on Z, whose rows are put into an order in which near ones are near in memory.

    Also returns the order and the place of each row in it. Trees and joins are added until enough true neighbours of the sample
    are found: how many it takes depends on the data.
    """
    guide = _guide(Z, sketched, seed, team)
    with team.meter.part(_TREES_TIME):
        trees = grow_trees(guide(), range(TREES_PER_BATCH), _leaf_rows(k), seed, team)
    order = trees[0].order
    place = np.empty(len(Z), np.int32)
    place[order] = np.arange(len(Z), dtype=np.int32)
    permute_rows(Z, order, team)
    heaps = empty_heaps(len(Z), k, Z.dtype)
    for batch in range(MAX_BATCHES):
        if batch > 0:  # these grow on the rows in their new order
            numbers = range(batch * TREES_PER_BATCH, (batch + 1) * TREES_PER_BATCH)
            trees = grow_trees(guide(), numbers, _leaf_rows(k), seed, team)
        while trees:
            tree = trees.pop(0)
            leaves = Tree(place[tree.order], tree.starts) if batch == 0 else tree
            with team.meter.part(_LEAVES_TIME if batch == 0 else 0.0):
                search_leaves(Z, leaves, heaps, terms, ties_key(seed), team)
        if _share_held(truth, heaps, order, place) >= JOIN_FROM_RECALL:
            break
    del tree, leaves
    for _ in range(MAX_JOINS):
        with team.meter.part(_JOIN_TIME):
            join_neighbors(Z, heaps, JOIN_REACH, terms, ties_key(seed), team)
        if _share_held(truth, heaps, order, place) >= STOP_AT_RECALL:
            break
    return heaps, order, place


def _guide(Z: np.ndarray, sketched: bool, seed: int, team: Team) -> Callable[[], np.ndarray]:
    """A function that makes the columns that decide the splits, from the rows in their present order.

    They are made anew each time: kept, they might take a third of the memory of Z.
    """
    directions = None if sketched or _guides_itself(Z) else _guide_directions(Z, seed, team)
    return lambda: _guide_columns(Z, directions, team)


def _guide_columns(Z: np.ndarray, directions: Directions | None, team: Team) -> np.ndarray:
    """The columns that decide the splits: all if they are few, else those along some directions, or the first of a sketch."""
    if _guides_itself(Z):
        return Z
    if directions is None:
        return np.ascontiguousarray(Z[:, :GUIDE_COLUMNS])
    return project(Z, *directions, team, out=np.empty((len(Z), GUIDE_COLUMNS), np.float32))


def _guides_itself(Z: np.ndarray) -> bool:
    """Whether all columns decide the splits: they are few, or float32, which projections have, is too coarse."""
    return Z.shape[1] <= 2 * GUIDE_COLUMNS or Z.dtype != np.float32


def _guide_directions(Z: np.ndarray, seed: int, team: Team) -> Directions:
    """The leading principal directions: unless the rows are a sketch, single columns may be uninformative."""
    mean, axes, _ = principal_axes(Z, GUIDE_COLUMNS, seed, team, n_sample=4096, n_iter=2)
    return Directions(mean, axes)


def _leaf_rows(k: int) -> int:
    """The most rows of a leaf: enough that one alone fills a heap."""
    return max(MIN_LEAF_ROWS, 5 * k // 2)


def _share_held(truth: Probe, heaps: Heaps, order: np.ndarray, place: np.ndarray) -> float:
    """The share of the sample's true neighbours that the heaps hold."""
    return share_found(truth.ids, order[heaps.ids[place[truth.rows]]])


def _complete(X: np.ndarray, near: Heaps, terms: int, seed: int, team: Team) -> None:
    """Search exactly for the neighbours of rows that have fewer than k."""
    short = np.flatnonzero(near.ids[:, -1] < 0)
    if short.size:
        exact = exact_neighbors(X, short, near.ids.shape[1], terms, seed, team)
        near.distances[short], near.ids[short] = exact


# ------------------------------------------------------------------------------------------------------------ as a way


class _Paths(NamedTuple):
    """What new rows need: indexed rows with trees and links, directions of either space, and a table of the rows."""

    network: Network
    spaces: Spaces
    table: RowTable


class Forest:
    """Search by a forest: approximate, or by brute force where the trees fail and that is affordable.

    Parameters
    ----------
    values : float32 or float64 array of shape (n, d), d a multiple of eight
        Prepared rows; for queries no two of them are equal.
    terms : int
        What is summed over the columns: see :class:`sce.graph.metrics.Metric`.
    seed : int
    own : bool, default=True
        Whether the rows may be in another order during a search.
    links : int32 array of shape (n, LINKS), optional
        What `self_neighbors(LINKS)` has found before.
    """

    def __init__(
        self, values: np.ndarray, terms: int, seed: int, *, own: bool = True, links: np.ndarray | None = None
    ) -> None:
        self._values, self._terms, self._seed, self._own, self._links = values, terms, seed, own, links
        self._paths: _Paths | None = None
        self._recalls: dict[int, float] = {}  # of queries, by their number of neighbours

    def self_neighbors(self, k: int, team: Team) -> Found:
        """The k nearest other rows of each row."""
        near, recall = forest_neighbors(self._values, k, terms=self._terms, seed=self._seed, team=team, own=self._own)
        if self._is_poor(recall):  # only data without structure defeat the trees
            return BruteForce(self._values, self._terms, self._seed).self_neighbors(k, team)
        return Found(near.ids, near.distances, self._terms == SQUARES, "forest", recall)

    def query(self, rows: np.ndarray, k: int, team: Team) -> Found:
        """The k nearest of the indexed rows for each prepared new row.

        The first query takes as long as a search among the indexed rows, or some seconds less if their links are known.
        `recall` is measured on a sample of indexed rows, each searched for as if it were new.
        """
        paths = self._opened(team)
        if k not in self._recalls:
            truth = probe(self._values, k, self._terms, self._seed, team)
            absent = truth.rows.astype(np.int32)
            found = self._find(paths, self._values[truth.rows], k, absent, team)
            self._recalls[k] = recall_of(truth, found.distances)
        recall = self._recalls[k]
        if self._is_poor(recall):
            return BruteForce(self._values, self._terms, self._seed).query(rows, k, team)
        near = self._find(paths, rows, k, np.full(len(rows), -1, np.int32), team)
        return Found(near.ids, near.distances, self._terms == SQUARES, "forest", recall)

    def _is_poor(self, recall: float) -> bool:
        """Whether brute force is the better choice."""
        pairs = float(len(self._values)) * self._values.size
        return recall < POOR_RECALL and pairs <= BRUTE_FORCE_INSTEAD_UP_TO_TERMS

    def _opened(self, team: Team) -> _Paths:
        """Grow the trees that new rows descend, and find the links, unless that has been done."""
        if self._paths is None:
            X = self._values
            links = self.self_neighbors(LINKS, team).ids if self._links is None else self._links
            truth = probe(X, LINKS, self._terms, self._seed, team)
            length = _sketch_list_length(LINKS)
            sketched = sketch(X, truth, length, self._seed, team) if _may_sketch(X, self._terms) else None
            Z, to_sketch = (X, None) if sketched is None else sketched
            needs_guide = sketched is None and not _guides_itself(Z)
            to_guide = _guide_directions(Z, self._seed, team) if needs_guide else None
            guides = _guide_columns(Z, to_guide, team)
            routes = grow_routes(guides, ROUTE_TREES, ROUTE_LEAF_ROWS, self._seed, team)
            self._paths = _Paths(Network(Z, routes, links), Spaces(to_sketch, to_guide), RowTable(X, team))
        return self._paths

    def _find(self, paths: _Paths, rows: np.ndarray, k: int, absent: np.ndarray, team: Team) -> Heaps:
        """The k nearest of the indexed rows for each row, without the one in `absent` (-1: all count)."""
        twins = np.where(absent < 0, paths.table.find(rows, team), -1).astype(np.int32)
        width = _sketch_list_length(k)
        keys = content_keys(rows, self._seed, team)
        marks = Marks(twins, absent, keys)
        found = candidates_of(rows, paths.network, paths.spaces, marks, width, self._terms, team)
        near = rank_for(rows, self._values, found, k, self._terms, keys, team)
        short = np.flatnonzero(near.ids[:, -1] < 0)
        if short.size:
            near.distances[short], near.ids[short] = exact_neighbors_of(
                rows[short], self._values, k, self._terms, keys[short], team
            )
        return near
