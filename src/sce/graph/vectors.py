"""An index of dense rows under a metric of our own: prepared once, searched by brute force, a k-d tree or a forest.

Brute force and the forest work on float32 rows, and on float64 rows where float32 is too coarse (:mod:`sce.graph.precision`).
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from sce.core.linalg import sample_rows
from sce.core.mmap import take
from sce.core.parallel import Team
from sce.core.random import stream
from sce.graph.brute import BruteForce, Products
from sce.graph.checks import check_list_length, check_new_rows
from sce.graph.copies import Copies, DistinctRows, distinct_rows, list_copies, search_among_copies
from sce.graph.forest import LINKS, Forest
from sce.graph.found import Found, Neighbors, convert, metric_distances, sort_ties
from sce.graph.kdtree import KDTree
from sce.graph.kernels import exact_neighbors, pad_columns
from sce.graph.metrics import SQUARES, Metric
from sce.graph.precision import ALL_COPIES, BLURRED, FINE, ROUNDING, judge
from sce.graph.rows import NewRows, Rows, centred_rows, new_centred_rows, rows_per_task, unit_rows
from sce.graph.sketch import SKETCH_ABOVE_COLUMNS

BRUTE_FORCE_UP_TO_TERMS = 2e10  # n n d: comparing all pairs takes less than a second
PRODUCTS_UP_TO_TERMS = (
    5e11  # n n d: comparing all pairs of wide rows by scalar products takes a few seconds, as a forest does
)
BRUTE_FORCE_FROM_SHARE = 16  # brute force where the neighbours wanted are more than one row in this many
KD_TREE_UP_TO_COLUMNS = 4  # up to which a k-d tree is quicker than the forest, whatever the data
_PRECISION_SAMPLE_ROWS = 4  # rows that show whether float32 is fine enough for most
_BLURRED_SHARE = 0.25  # of these rows, above which all are searched in float64
_BLURRED_UP_TO_TERMS = 1e11  # m n d: up to which m rows that float32 blurs are searched for exactly
_SAME_DIRECTION = 1e-14  # unit rows of float64 that differ by less differ by rounding


class Way(Protocol):
    """A method of searching prepared rows."""

    def self_neighbors(self, k: int, team: Team) -> Found:
        """The k nearest other rows of each row."""

    def query(self, rows: np.ndarray, k: int, team: Team) -> Found:
        """The k nearest of the indexed rows for each prepared new row."""


class _Opened(NamedTuple):
    """What queries need: the distinct rows, prepared, and the search methods used so far ("float64" is one of all rows)."""

    distinct: DistinctRows
    ways: dict[str, Way]


class _Links(NamedTuple):
    """What self_neighbors(LINKS) has found, the caller's array, and the type of the rows that were searched."""

    ids: np.ndarray
    dtype: type


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
        self._links: _Links | None = None
        self._opened: _Opened | None = None

    @property
    def n_rows(self) -> int:
        """The number of indexed rows."""
        return len(self._X)

    def self_neighbors(self, k: int, team: Team) -> Neighbors:
        """The k nearest other rows of every indexed row."""
        check_list_length(k, self.n_rows - 1, "the number of rows less one")
        found, unit, dtype = self._search(k, team)  # the prepared rows are gone from here on
        if k == LINKS and dtype is not None:
            self._links = _Links(found.ids, dtype)
        return Neighbors(found.ids, metric_distances(found, unit, self._metric, team), found.method, found.recall)

    def _search(self, k: int, team: Team) -> tuple[Found, float, type | None]:
        """Prepare the rows, set rows with many copies aside, and search.

        Also returns the unit of the distances and the type of the rows, None if some were searched for in another one.
        """
        way = self._choose_way(k)
        rows = self._prepared(way, team)
        if way in ("forest", "products") and self._is_coarse(rows, k, team):
            rows = self._prepared(way, team, fine=True)
        errors, unit, dtype = rows.errors, rows.unit, rows.values.dtype.type
        found = self._search_rows(way, rows, k, team)
        del rows
        blurred = self._blurred(found, np.arange(self.n_rows), errors, team)
        if not blurred.size:
            return found, unit, dtype
        return self._search_again(way, found, blurred, k, team), unit, None

    def _search_rows(self, way: str, rows: Rows, k: int, team: Team) -> Found:
        def search(rows: Rows) -> Found:
            return self._make_way(_unless_few(way, k, rows), rows).self_neighbors(k, team)

        return search_among_copies(rows, k, search, self._seed, team)

    def _search_again(self, way: str, found: Found, blurred: np.ndarray, k: int, team: Team) -> Found:
        """Search in float64: exactly for the blurred rows if they are few, else for all rows."""
        rows = self._prepared(way, team, fine=True)
        if float(len(blurred)) * rows.values.size > _BLURRED_UP_TO_TERMS:
            return self._search_rows(way, rows, k, team)
        distances = found.distances.astype(np.float64)
        exact = exact_neighbors(rows.values, blurred, k, self._metric.terms, self._seed, team)
        distances[blurred], found.ids[blurred] = exact
        return found._replace(distances=distances)

    # ------------------------------------------------------------------------------------------------------ precision

    def _is_coarse(self, rows: Rows, k: int, team: Team) -> bool:
        """Whether float32 blurs many rows of a sample."""
        if rows.errors is None:
            return False
        sample = sample_rows(self.n_rows, _PRECISION_SAMPLE_ROWS, stream(self._seed, "precision"))
        near = exact_neighbors(rows.values, sample, k, self._metric.terms, self._seed, team)
        found = Found(near.ids, near.distances, self._metric.terms == SQUARES, "", 1.0)
        blurred = self._blurred(found, sample, rows.errors[sample], team)
        return len(blurred) > _BLURRED_SHARE * len(sample)

    def _blurred(self, found: Found, numbers: np.ndarray, errors: np.ndarray | None, team: Team) -> np.ndarray:
        """Those of the rows with these numbers whose neighbours float32 may have mixed up."""
        if errors is None:
            return np.empty(0, np.int64)
        verdicts = judge(found, errors, team)
        copies = verdicts == ALL_COPIES
        if copies.any() and not self._are_copies(numbers[copies], found.ids[copies, 0]):
            return numbers[verdicts != FINE]
        return numbers[verdicts == BLURRED]

    def _are_copies(self, rows: np.ndarray, others: np.ndarray) -> bool:
        """Whether each of these rows equals another one in the data as given."""
        step = rows_per_task(self._X.shape[1])
        return all(
            self._equal(rows[start : start + step], others[start : start + step]) for start in range(0, len(rows), step)
        )

    def _equal(self, rows: np.ndarray, others: np.ndarray) -> bool:
        a, b = (take(self._X, numbers, self._X.dtype) for numbers in (rows, others))
        if not self._metric.unit_rows:
            return bool((a == b).all())
        width = a.shape[1] + 1
        a, b = (self._unit_rows(part, width, np.float64, Team(1), "C").values for part in (a, b))
        return bool(np.abs(a - b).max(initial=0.0) <= _SAME_DIRECTION)

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
        ids, distances = list_copies(distinct.copies, distinct.groups[ids], distances, k)
        if distinct.rows.errors is not None:
            norms = np.sqrt(np.square(prepared.values[near], dtype=np.float64).sum(axis=1))
            verdicts = judge(found, ROUNDING * norms, team)
            blurred = np.flatnonzero(near)[verdicts == BLURRED]
            if blurred.size:
                ids[blurred], distances[blurred] = self._query_again(new[blurred], k, team)
        return Neighbors(ids, distances, found.method, found.recall)

    def _query_again(self, new: np.ndarray, k: int, team: Team) -> tuple[np.ndarray, np.ndarray]:
        """Search exactly in float64 for new rows near which float32 is too coarse."""
        assert self._opened is not None
        rows, ways = self._opened.distinct.rows, self._opened.ways
        if "float64" not in ways:
            fine = self._prepared("brute force", team, order="C", fine=True)
            ways["float64"] = BruteForce(fine.values, self._metric.terms, self._seed)
        prepared = self._prepare_new(new, rows._replace(values=np.empty((0, rows.values.shape[1]))), team)
        found = ways["float64"].query(prepared.values, k, team)
        return sort_ties(found.ids, self._converted(found, prepared.units))

    def _converted(self, found: Found, units: np.ndarray) -> np.ndarray:
        """Distances in the metric; always float64, because the type must not depend on the other rows."""
        with np.errstate(over="ignore", under="ignore"):
            return convert(found.distances, found.squared, units[:, None], self._metric)

    def _open(self, team: Team) -> _Opened:
        """Prepare the rows for queries, unless that has been done."""
        if self._opened is None:
            way = self._choose_way(1)
            rows = self._prepared(way, team, order="C")
            if self.n_rows > 1 and self._is_coarse(rows, min(LINKS, self.n_rows - 1), team):
                rows = self._prepared(way, team, order="C", fine=True)
            distinct = distinct_rows(rows, team)
            if rows.errors is not None and not self._are_groups(distinct.copies):
                distinct = distinct_rows(self._prepared(way, team, order="C", fine=True), team)
            self._opened = _Opened(distinct, {})
        return self._opened

    def _are_groups(self, copies: Copies) -> bool:
        """Whether rows that are equal in float32 are equal in the data."""
        later = np.flatnonzero(copies.rank > 0)
        return self._are_copies(later, copies.order[copies.starts[copies.group[later]]])

    def _way_of_queries(self, name: str) -> Way:
        """A search method for the distinct rows, kept for later queries."""
        assert self._opened is not None
        distinct, ways = self._opened
        if name not in ways:
            links = self._links
            same_rows = (
                links is not None
                and links.dtype == distinct.rows.values.dtype
                and len(distinct.groups) == self.n_rows
                and (self._X.flags.c_contiguous or not self._metric.unit_rows)
            )
            ways[name] = self._make_way(name, distinct.rows, links.ids if links and same_rows else None)
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
        if (
            d > SKETCH_ABOVE_COLUMNS
            and self._metric.terms == SQUARES
            and float(n) * n * columns <= PRODUCTS_UP_TO_TERMS
        ):
            return "products"
        return "k-d tree" if d <= KD_TREE_UP_TO_COLUMNS and self._metric.power is not None else "forest"

    def _make_way(self, name: str, rows: Rows, links: np.ndarray | None = None) -> Way:
        if name == "brute force":
            return BruteForce(rows.values, self._metric.terms, self._seed)
        if name == "k-d tree":
            assert self._metric.power is not None
            return KDTree(rows.values, self._metric.power, self._seed)
        if name == "products" and rows.values.dtype == np.float32:
            return Products(rows.values, self._seed)
        return Forest(rows.values, self._metric.terms, self._seed, own=rows.own, links=links)

    def _prepared(self, way: str, team: Team, order: Literal["K", "C"] = "K", *, fine: bool = False) -> Rows:
        """The indexed rows in the form that a search method takes; with `fine`, in float64."""
        d = self._X.shape[1]
        width = d + 1 if self._metric.unit_rows else d
        columns = width if way == "k-d tree" else pad_columns(width)
        dtype = np.float64 if fine or way == "k-d tree" else np.float32
        if self._metric.unit_rows:
            return self._unit_rows(self._X, columns, dtype, team, order)
        return centred_rows(self._X, columns, dtype, team, plainly=d > SKETCH_ABOVE_COLUMNS)

    def _unit_rows(self, X: np.ndarray, columns: int, dtype: type, team: Team, order: Literal["K", "C"]) -> Rows:
        return unit_rows(X, columns, dtype, self._metric.less_mean, team, order=order)


def _unless_few(way: str, k: int, rows: Rows) -> str:
    """The search method, or brute force where few rows are left without their copies."""
    return "brute force" if k > len(rows.values) // BRUTE_FORCE_FROM_SHARE else way
