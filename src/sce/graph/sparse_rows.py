"""An index of sparse rows under a metric of our own: exact, by the columns that rows share, and never made dense."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from sce.core.compiled import kernel
from sce.core.linalg import power_of_two
from sce.core.parallel import Team
from sce.core.warn import warn
from sce.errors import DataWarning
from sce.graph.checks import check_list_length, check_new_rows
from sce.graph.copies import Copies, first_copies, group_copies, list_copies, with_copies
from sce.graph.found import Found, Neighbors, convert, metric_distances, refuse_overflow
from sce.graph.kernels import row_keys, ties_key
from sce.graph.metrics import ABSOLUTES, SQUARES, Metric
from sce.graph.postings import Postings, SparseRows, Wanted, hash_sparse, mark_new_sparse, nearest_sparse

_FAR_VALUE = 2.0**400  # new rows with larger values, in units of those indexed, are scaled down: squares might overflow
_NO_DIRECTION = 1e-14  # values of a row less its mean that are no larger, in units of its largest, are rounding errors
_SLOW_ABOVE_PAIRS = 2e11  # sums of two numbers, above which a search takes minutes, which is announced
_SPARSE_METHOD = "inverted index"


class _Opened(NamedTuple):
    """What queries need: the distinct rows, also by column, the groups that they stand for, and the rows of these."""

    rows: SparseRows
    postings: Postings
    groups: np.ndarray
    copies: Copies


class SparseIndex:
    """Sparse rows under a metric of our own.

    Parameters
    ----------
    X : scipy sparse matrix of shape (n, d)
        Finite numbers in any sparse format; never changed here, and not to be changed while the index is in use.
    metric : Metric
    seed : int
        Decides ties.
    """

    def __init__(self, X: Any, metric: Metric, seed: int) -> None:
        self._X, self._metric, self._seed = X, metric, seed
        self._scale = 1.0 if metric.unit_rows else power_of_two(_peak(X))
        self._opened: _Opened | None = None

    @property
    def n_rows(self) -> int:
        """The number of indexed rows."""
        return int(self._X.shape[0])

    def self_neighbors(self, k: int, team: Team) -> Neighbors:
        """The k nearest other rows of every indexed row."""
        check_list_length(k, self.n_rows - 1, "the number of rows less one")
        rows = prepare(self._X, self._metric, self._scale)
        copies = _copies_among(rows)
        keep = first_copies(copies, k)
        found = self._search(_selected(rows, keep), k, team)
        if len(keep) < self.n_rows:
            found = with_copies(found, copies, keep, k, self._seed, team)
        return Neighbors(
            found.ids, metric_distances(found, 1.0 / self._scale, self._metric, team), found.method, found.recall
        )

    def _search(self, rows: SparseRows, k: int, team: Team) -> Found:
        """The k nearest other rows of each of some rows."""
        numbers = np.arange(len(rows.lengths))
        wanted = Wanted(rows, numbers, numbers, row_keys(self._seed, numbers), np.ones(len(numbers)))
        postings = by_column(rows)
        _announce(postings, len(numbers))
        near = nearest_sparse(wanted, rows, postings, k, self._metric.terms, team)
        return Found(near.ids, near.distances, self._metric.terms == SQUARES, _SPARSE_METHOD, 1.0)

    def query(self, rows: Any, k: int, team: Team) -> Neighbors:
        """The k nearest of the indexed rows for each new row, independent of the other new rows.

        A copy of an indexed row has that row first, at distance 0. Distances are float64.
        """
        new = check_new_rows(rows, self._X.shape[1], as_sparse=True)
        check_list_length(k, self.n_rows, "the number of indexed rows")
        searched, postings, groups, copies = self._open()
        factors = np.ones(new.shape[0]) if self._metric.unit_rows else _factors(new, self._scale)
        prepared = prepare(new, self._metric, self._scale, factors)
        keys = _hashes(prepared) ^ ties_key(self._seed)
        nobody = np.full(len(keys), -1)
        wanted = Wanted(prepared, np.arange(len(keys)), nobody, keys, factors)
        count = min(k, len(groups))
        near = nearest_sparse(wanted, searched, postings, count, self._metric.terms, team)
        ids, distances = list_copies(copies, groups[near.ids], self._converted(near.distances, factors), k)
        return Neighbors(ids, distances, _SPARSE_METHOD, 1.0)

    def _converted(self, distances: np.ndarray, factors: np.ndarray) -> np.ndarray:
        """Distances in the metric; always float64, because the type must not depend on the other rows."""
        units = 1.0 / self._scale / factors[:, None]
        with np.errstate(over="ignore", under="ignore"):
            converted = convert(distances, self._metric.terms == SQUARES, units, self._metric)
        refuse_overflow(converted, distances)
        return converted

    def _open(self) -> _Opened:
        """Prepare the rows for queries, unless that has been done."""
        if self._opened is None:
            rows = prepare(self._X, self._metric, self._scale)
            copies = _copies_among(rows)
            firsts = np.sort(copies.order[copies.starts[:-1]])
            kept = _selected(rows, firsts)
            self._opened = _Opened(kept, by_column(kept), copies.group[firsts], copies)
        return self._opened


def _announce(postings: Postings, n: int) -> None:
    """Warn of a search that takes minutes: every two rows that share a column meet there."""
    pairs = float(np.square(np.diff(postings.starts), dtype=np.float64).sum()) + float(n) * n
    if pairs > _SLOW_ABOVE_PAIRS:
        warn(
            f"The neighbours of {n} sparse rows are searched exactly, which takes minutes: leave out columns that most rows "
            "have, or reduce the rows to some principal components, whose neighbours are found quickly.",
            DataWarning,
        )


# --------------------------------------------------------------------------------------------------------- preparation


def prepare(X: Any, metric: Metric, scale: float = 1.0, factors: np.ndarray | None = None) -> SparseRows:
    """Rows in the form in which they are searched, in a copy.

    For the cosine distance and the correlation they are brought to length 1. A row without a direction has a 1 in a column of
    its own, number d, so that such rows are copies of one another and at right angles to all others. For the other metrics
    they are multiplied by `scale`, and by a factor for each row.
    """
    rows = _canonical(X)
    n, d = rows.shape
    shifts = np.zeros(n)
    if metric.unit_rows:
        no_direction = np.zeros(n, np.bool_)
        _make_unit(rows.indptr, rows.data, d, metric.less_mean, shifts, no_direction)
        rows = sparse.hstack([rows, sparse.csr_matrix(no_direction[:, None], dtype=np.float64)], format="csr")
        rows.eliminate_zeros()
    else:
        with np.errstate(under="ignore"):
            rows.data *= scale
            if factors is not None:
                rows.data *= np.repeat(factors, np.diff(rows.indptr))
    wide = np.int32 if rows.shape[1] < np.iinfo(np.int32).max else np.int64
    starts, columns = rows.indptr.astype(np.int64), rows.indices.astype(wide, copy=False)
    sizes = np.empty(n)
    _sum_terms(starts, rows.data, metric.terms, sizes)
    lengths = np.ones(n) if metric.unit_rows else sizes
    return SparseRows(starts, columns, rows.data, lengths, sizes, shifts, d)


def by_column(rows: SparseRows) -> Postings:
    """The numbers of prepared rows by column, with the rows of each column in ascending order."""
    shape = len(rows.lengths), rows.width + 1
    turned = sparse.csr_matrix((rows.values, rows.columns, rows.starts), shape).tocsc()
    return Postings(turned.indptr.astype(np.int64), turned.indices.astype(np.int32, copy=False), turned.data)


def _selected(rows: SparseRows, keep: np.ndarray) -> SparseRows:
    """Some of the rows."""
    if len(keep) == len(rows.lengths):
        return rows
    shape = len(rows.lengths), rows.width + 1
    part = sparse.csr_matrix((rows.values, rows.columns, rows.starts), shape)[keep]
    starts, columns = part.indptr.astype(np.int64), part.indices.astype(rows.columns.dtype, copy=False)
    return SparseRows(starts, columns, part.data, rows.lengths[keep], rows.sizes[keep], rows.shifts[keep], rows.width)


def _canonical(X: Any) -> Any:
    """A copy with float64 numbers other than zero, one for each place, in order."""
    rows = sparse.csr_matrix(X, dtype=np.float64, copy=True)
    rows.sum_duplicates()  # also sorts the columns
    rows.eliminate_zeros()
    return rows


def _peak(X: Any) -> float:
    """The largest absolute value."""
    plain = X.format == "csr" and X.has_canonical_format
    return float(np.abs(X.data if plain else _canonical(X).data).max(initial=0.0))


def _factors(new: Any, scale: float) -> np.ndarray:
    """What each new row is multiplied by: 1, or less where its values are far larger than those of the indexed rows."""
    factors = np.ones(new.shape[0])
    data = np.abs(new.data.astype(np.float64))
    for i in np.flatnonzero(np.diff(new.indptr)):
        peak = data[new.indptr[i] : new.indptr[i + 1]].max()
        if peak * scale > _FAR_VALUE:
            factors[i] = power_of_two(peak) / scale
    return factors


def _hashes(rows: SparseRows) -> np.ndarray:
    """A hash of each row."""
    hashes = np.empty(len(rows.lengths), np.uint64)
    hash_sparse(rows, rows.values.view(np.uint64), hashes)
    return hashes


def _copies_among(rows: SparseRows) -> Copies:
    """Equal rows."""
    hashes = _hashes(rows)
    return group_copies(hashes, lambda order, new: mark_new_sparse(rows, hashes, order, new))


@kernel
def _sum_terms(starts: Any, values: Any, terms: Any, sizes: Any) -> None:
    """The sum of the squares or the absolute values of each row."""
    for i in range(sizes.size):
        total = 0.0
        for e in range(starts[i], starts[i + 1]):
            total += abs(values[e]) if terms == ABSOLUTES else values[e] * values[e]
        sizes[i] = total


@kernel
def _make_unit(starts: Any, values: Any, width: Any, less_mean: Any, shifts: Any, no_direction: Any) -> None:
    """Divide each row by its length, which is taken after its mean was subtracted if less_mean; that goes into `shifts`.

    The values of rows without a direction become zero.
    """
    for i in range(shifts.size):
        row = values[starts[i] : starts[i + 1]]
        peak = 0.0
        for value in row:
            peak = max(peak, abs(value))
        total = 0.0
        for e in range(row.size):
            row[e] = row[e] / peak
            total += row[e]
        mean = total / width if less_mean else 0.0
        largest = abs(mean) if row.size < width else 0.0
        square = (width - row.size) * mean * mean
        for value in row:
            largest = max(largest, abs(value - mean))
            square += (value - mean) * (value - mean)
        no_direction[i] = row.size == 0 or largest <= _NO_DIRECTION
        length = np.sqrt(square)
        for e in range(row.size):
            row[e] = 0.0 if no_direction[i] else row[e] / length
        shifts[i] = 0.0 if no_direction[i] else -mean / length
