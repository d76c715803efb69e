"""An index of dense rows under a metric of our own: prepared once, searched by brute force, a k-d tree or a forest."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from sce.core.parallel import Team
from sce.graph.brute import BruteForce
from sce.graph.checks import check_list_length, check_new_rows
from sce.graph.copies import DistinctRows, distinct_rows, list_copies, search_among_copies
from sce.graph.forest import LINKS, Forest
from sce.graph.found import Found, Neighbors, convert, metric_distances
from sce.graph.kdtree import KDTree
from sce.graph.kernels import pad_columns
from sce.graph.metrics import Metric
from sce.graph.rows import NewRows, Rows, centred_rows, new_centred_rows, unit_rows
from sce.graph.sketch import SKETCH_ABOVE_COLUMNS

BRUTE_FORCE_UP_TO_TERMS = 2e10  # n n d: comparing all pairs takes less than a second
BRUTE_FORCE_FROM_SHARE = 16  # brute force where the neighbours wanted are more than one row in this many
KD_TREE_UP_TO_COLUMNS = 4  # up to which a k-d tree is quicker than the forest, whatever the data


class Way(Protocol):
    """A method of searching prepared rows."""

    def self_neighbors(self, k: int, team: Team) -> Found:
        """The k nearest other rows of each row."""

    def query(self, rows: np.ndarray, k: int, team: Team) -> Found:
        """The k nearest of the indexed rows for each prepared new row."""


class _Opened(NamedTuple):
    """What queries need: the distinct rows, prepared, and the search methods used so far."""

    distinct: DistinctRows
    ways: dict[str, Way]


class VectorIndex:
    """Dense rows under a metric of our own.

    Rows are prepared for each call of `self_neighbors` and dropped after it, because they may be most of what memory can hold;
    the first query prepares them once more and keeps them, with what else queries need.

    Parameters
    ----------
    X : array of shape (n, d)
        Finite numbers; never changed here, and not to be changed while the index is in use.
    metric : Metric
    seed : int
        Of the forest's randomness and of ties.
    """

    def __init__(self, X: np.ndarray, metric: Metric, seed: int) -> None:
        self._X, self._metric, self._seed = X, metric, seed
        self._links: np.ndarray | None = None  # what self_neighbors(LINKS) has found: the caller's array
        self._opened: _Opened | None = None

    @property
    def n_rows(self) -> int:
        """The number of indexed rows."""
        return len(self._X)

    def self_neighbors(self, k: int, team: Team) -> Neighbors:
        """The k nearest other rows of every indexed row."""
        check_list_length(k, self.n_rows - 1, "the number of rows less one")
        found, unit = self._search(k, team)  # the prepared rows are gone from here on
        if k == LINKS:
            self._links = found.ids
        return Neighbors(found.ids, metric_distances(found, unit, self._metric, team), found.method, found.recall)

    def _search(self, k: int, team: Team) -> tuple[Found, float]:
        """Prepare the rows, set rows with many copies aside, and search; also returns the unit of the distances."""
        way = self._choose_way(k)
        rows = self._prepared(way, team)

        def search(rows: Rows) -> Found:
            return self._make_way(_unless_few(way, k, rows), rows).self_neighbors(k, team)

        return search_among_copies(rows, k, search, self._seed, team), rows.unit

    # ------------------------------------------------------------------------------------------------------- new rows

    def query(self, rows: Any, k: int, team: Team) -> Neighbors:
        """The k nearest of the indexed rows for each new row, independent of the other new rows.

        A copy of an indexed row has that row first, at distance 0. Distances are float64.
        """
        new = check_new_rows(rows, self._X.shape[1])
        check_list_length(k, self.n_rows, "the number of indexed rows")
        distinct = self._open(team).distinct
        count = min(k, len(distinct.groups))
        prepared = self._prepare_new(new, distinct.rows, team)
        way = self._way_of_queries(_unless_few(self._choose_way(k), k, distinct.rows))
        near = prepared.factors == 1.0
        found = way.query(prepared.values[near], count, team)
        ids, distances = np.empty((len(new), count), np.int32), np.empty((len(new), count))
        ids[near], distances[near] = found.ids, self._converted(found, prepared.units[near])
        for factor in np.unique(prepared.factors[~near]):
            where = prepared.factors == factor
            brute = BruteForce(distinct.rows.values, self._metric.terms, self._seed)
            far = brute.query_far(prepared.values[where], factor, count, team)
            ids[where], distances[where] = far.ids, self._converted(far, prepared.units[where])
        return Neighbors(*list_copies(distinct, ids, distances, k), found.method, found.recall)

    def _converted(self, found: Found, units: np.ndarray) -> np.ndarray:
        """Distances in the metric; always float64, because the type must not depend on the other rows."""
        with np.errstate(over="ignore", under="ignore"):
            return convert(found.distances, found.squared, units[:, None], self._metric)

    def _open(self, team: Team) -> _Opened:
        """Prepare the rows for queries, unless that has been done."""
        if self._opened is None:
            rows = self._prepared(self._choose_way(1), team, order="C")
            self._opened = _Opened(distinct_rows(rows, team), {})
        return self._opened

    def _way_of_queries(self, name: str) -> Way:
        """A search method for the distinct rows, kept for later queries."""
        assert self._opened is not None
        distinct, ways = self._opened
        if name not in ways:
            same_rows = len(distinct.groups) == self.n_rows and (
                self._X.flags.c_contiguous or not self._metric.unit_rows
            )
            ways[name] = self._make_way(name, distinct.rows, self._links if same_rows else None)
        return ways[name]

    def _prepare_new(self, new: np.ndarray, rows: Rows, team: Team) -> NewRows:
        """New rows prepared like those indexed."""
        columns, dtype = rows.values.shape[1], rows.values.dtype.type
        if rows.centring is not None:
            return new_centred_rows(new, rows.centring, columns, dtype, team)
        return NewRows(self._unit_rows(new, columns, dtype, team, "C").values, *np.ones((2, len(new))))

    # ---------------------------------------------------------------------------------------------- ways and their rows

    def _choose_way(self, k: int) -> str:
        """The fastest search method that finds k neighbours well."""
        n, d = self._X.shape
        columns = pad_columns(d + 1 if self._metric.unit_rows else d)
        if float(n) * n * columns <= BRUTE_FORCE_UP_TO_TERMS or k > n // BRUTE_FORCE_FROM_SHARE:
            return "brute force"
        return "k-d tree" if d <= KD_TREE_UP_TO_COLUMNS and self._metric.power is not None else "forest"

    def _make_way(self, name: str, rows: Rows, links: np.ndarray | None = None) -> Way:
        if name == "brute force":
            return BruteForce(rows.values, self._metric.terms, self._seed)
        if name == "k-d tree":
            assert self._metric.power is not None
            return KDTree(rows.values, self._metric.power, self._seed)
        return Forest(rows.values, self._metric.terms, self._seed, own=rows.own, links=links)

    def _prepared(self, way: str, team: Team, order: Literal["K", "C"] = "K") -> Rows:
        """The indexed rows in the form that a search method takes."""
        d = self._X.shape[1]
        width = d + 1 if self._metric.unit_rows else d
        dtype, columns = (np.float64, width) if way == "k-d tree" else (np.float32, pad_columns(width))
        if self._metric.unit_rows:
            return self._unit_rows(self._X, columns, dtype, team, order)
        return centred_rows(self._X, columns, dtype, team, plainly=d > SKETCH_ABOVE_COLUMNS)

    def _unit_rows(self, X: np.ndarray, columns: int, dtype: type, team: Team, order: Literal["K", "C"]) -> Rows:
        return unit_rows(X, columns, dtype, self._metric.less_mean, team, order=order)


def _unless_few(way: str, k: int, rows: Rows) -> str:
    """The search method, or brute force where few rows are left without their copies."""
    return "brute force" if k > len(rows.values) // BRUTE_FORCE_FROM_SHARE else way
