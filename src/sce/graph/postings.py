"""The inner loops of the search among sparse rows: sums over the columns that two rows share.

The rows that are searched are kept by column (`Postings`). For a query, the rows of each of its columns are visited, and what
they share with it is added up: the scalar product for terms=SQUARES, |x - y| - |x| - |y| for ABSOLUTES. With what each row
contributes on its own (`SparseRows.lengths`) this gives the distances to all rows, in float64. Those of the nearest are then
summed again over the differences, column by column, so that copies are at exactly zero. Where the nearest are so near that the
first sums cancel, all rows are compared in this way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.core.random import GOLDEN, bits
from sce.graph.kernels import Heaps, admit, empty_heaps, offer, sort_heap
from sce.graph.metrics import ABSOLUTES

_SUMMED_ROWS = 1 << 16  # whose sums stay in the second-level cache
_SEARCH_TASK_ROWS = 64  # rows a thread searches for at once
_CANCELLED = 2.0**-30  # distances smaller than this share of the terms they are made of may be rounding errors


class SparseRows(NamedTuple):
    """Prepared rows: row i has values[e] in column columns[e] for starts[i] <= e < starts[i + 1], in ascending order.

    To each number of row i in the first `width` columns, stored or not, shifts[i] is added (for the correlation; it is zero
    otherwise). `lengths` has the sum of the terms of each row against zero, `sizes` the same without the shift: rounding errors
    of scalar products are proportional to it.
    """

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    lengths: np.ndarray
    sizes: np.ndarray
    shifts: np.ndarray
    width: int


class Postings(NamedTuple):
    """The same numbers by column: column c has values[e] in row rows[e] for starts[c] <= e < starts[c + 1]."""

    starts: np.ndarray
    rows: np.ndarray
    values: np.ndarray


class Wanted(NamedTuple):
    """Rows to search for: row numbers[q] of `rows`, for which row skip[q] of those searched is no neighbour (-1: all may be).

    keys[q] decides ties. The rows that are searched are multiplied by factors[q] first.
    """

    rows: SparseRows
    numbers: np.ndarray
    skip: np.ndarray
    keys: np.ndarray
    factors: np.ndarray


# ---------------------------------------------------------------------------------------------------------------- a pair


@kernel(fused=True)
def _term(a: Any, b: Any, terms: Any) -> Any:
    difference = a - b
    return abs(difference) if terms == ABSOLUTES else difference * difference


@kernel(fused=True)
def pair_sum(A: Any, i: Any, B: Any, j: Any, factor: Any, terms: Any) -> Any:
    """The sum of the terms of row i of A and row j of B times a factor, over their differences."""
    e, e_end = A.starts[i], A.starts[i + 1]
    f, f_end = B.starts[j], B.starts[j + 1]
    a_shift, b_shift = A.shifts[i], B.shifts[j] * factor
    total, met = 0.0, 0
    while e < e_end or f < f_end:
        first = A.columns[e] if e < e_end else np.int64(A.width + 1)
        second = B.columns[f] if f < f_end else np.int64(A.width + 1)
        column = min(first, second)
        inside = column < A.width
        a, b = (a_shift, b_shift) if inside else (0.0, 0.0)
        if first == column:
            a += A.values[e]
            e += 1
        if second == column:
            b += B.values[f] * factor
            f += 1
        met += inside
        total += _term(a, b, terms)
    return total + (A.width - met) * _term(a_shift, b_shift, terms)


# --------------------------------------------------------------------------------------------------------------- search


@kernel(fused=True)
def _add_shared(sums: Any, wanted: Any, q: Any, places: Any, postings: Any, end: Any, terms: Any) -> None:
    """Add what query q shares with each row up to number `end`; places[e] is how far the column of its e-th number was read.

    `sums` begins with the first row of the block.
    """
    rows, i, factor = wanted.rows, wanted.numbers[q], wanted.factors[q]
    first = end - sums.size
    start = rows.starts[i]
    for e in range(places.size):
        column, x = rows.columns[start + e], rows.values[start + e]
        stop, p = postings.starts[column + 1], places[e]
        if terms == ABSOLUTES:
            while p < stop and postings.rows[p] < end:
                y = postings.values[p] * factor
                sums[np.uint64(postings.rows[p] - first)] += abs(x - y) - abs(x) - abs(y)
                p += 1
        else:
            while p < stop and postings.rows[p] < end:
                sums[np.uint64(postings.rows[p] - first)] += x * postings.values[p]
                p += 1
        places[e] = p


@kernel(fused=True)
def _to_distances(sums: Any, wanted: Any, q: Any, searched: Any, first: Any, terms: Any) -> None:
    """Turn what a query shares with the rows from number `first` on into distances."""
    i, factor = wanted.numbers[q], wanted.factors[q]
    own, shift = wanted.rows.lengths[i], wanted.rows.shifts[i] * wanted.rows.width
    lengths, shifts = searched.lengths[first : first + sums.size], searched.shifts[first : first + sums.size]
    if terms == ABSOLUTES:
        for j in range(sums.size):
            sums[j] = max(0.0, own + lengths[j] * factor + sums[j])
    else:
        for j in range(sums.size):
            shared = sums[j] - shift * shifts[j]
            sums[j] = max(0.0, own + lengths[j] * factor * factor - 2.0 * factor * shared)


@kernel(fused=True)
def _search_rows(wanted: Any, searched: Any, postings: Any, block: Any, heaps: Any, terms: Any) -> None:
    """Compare each query with all rows; a heap per query."""
    n, count = searched.lengths.size, wanted.numbers.size
    before = np.zeros(count + 1, np.int64)
    for q in range(count):
        i = wanted.numbers[q]
        before[q + 1] = before[q] + wanted.rows.starts[i + 1] - wanted.rows.starts[i]
    places = np.empty(before[count], np.int64)
    for q in range(count):
        start = wanted.rows.starts[wanted.numbers[q]]
        for e in range(before[q + 1] - before[q]):
            places[before[q] + e] = postings.starts[wanted.rows.columns[start + e]]
    sums = np.empty(min(n, block))
    for first in range(0, n, block):
        end = min(n, first + block)
        part = sums[: end - first]
        for q in range(count):
            part[:] = 0.0
            _add_shared(part, wanted, q, places[before[q] : before[q + 1]], postings, end, terms)
            _to_distances(part, wanted, q, searched, first, terms)
            offer(heaps.distances[q], heaps.ids[q], part, first, wanted.skip[q], wanted.keys[q])


@kernel(fused=True)
def _compare_all(wanted: Any, q: Any, searched: Any, distances: Any, ids: Any, terms: Any) -> None:
    """The nearest of all rows to a query, by the differences; rows whose length alone puts them too far are left out."""
    i, factor, key = wanted.numbers[q], wanted.factors[q], wanted.keys[q]
    length = wanted.rows.lengths[i]
    own = length if terms == ABSOLUTES else np.sqrt(length)
    distances[:], ids[:] = np.inf, -1
    worst = np.inf
    for j in range(searched.lengths.size):
        if j == wanted.skip[q]:
            continue
        other = searched.lengths[j]
        gap = abs(own - (other if terms == ABSOLUTES else np.sqrt(other)) * factor)
        least = gap if terms == ABSOLUTES else gap * gap
        if least - 1e-9 * gap * own <= worst:
            distance = pair_sum(wanted.rows, i, searched, j, factor, terms)
            if distance <= worst:
                worst = admit(distances, ids, distance, j, key)


@kernel(fused=True)
def _settle_rows(wanted: Any, searched: Any, heaps: Any, terms: Any) -> None:
    """Sum the distances of the rows found over the differences, and sort them from far to near.

    Where they are so small that the sums by which they were found may be rounding errors, all rows are compared.
    """
    for q in range(wanted.numbers.size):
        i, factor = wanted.numbers[q], wanted.factors[q]
        distances, ids = heaps.distances[q], heaps.ids[q]
        scale, farthest = wanted.rows.sizes[i], 0.0
        for a in range(ids.size):
            j = ids[a]
            size = searched.sizes[j] * factor
            scale = max(scale, size if terms == ABSOLUTES else size * factor)
            distances[a] = pair_sum(wanted.rows, i, searched, j, factor, terms)
            farthest = max(farthest, distances[a])
        if 0.0 < farthest < _CANCELLED * scale:
            _compare_all(wanted, q, searched, distances, ids, terms)
        sort_heap(distances, ids, wanted.keys[q])


def nearest_sparse(wanted: Wanted, searched: SparseRows, postings: Postings, k: int, terms: int, team: Team) -> Heaps:
    """The k of the searched rows nearest to each query, nearest first, by comparing all pairs.

    Parameters
    ----------
    wanted : Wanted
        The queries.
    searched : SparseRows
    postings : Postings
        The searched rows by column.
    k : int
        At most the number of searched rows, less one where queries skip a row.
    terms : int
        What is summed over the columns: see :class:`sce.graph.metrics.Metric`.
    team : Team
    """
    m = len(wanted.numbers)
    heaps = empty_heaps(m, k, np.float64)

    def work(start: int, stop: int) -> None:
        part = Heaps(heaps.distances[start:stop], heaps.ids[start:stop])
        asked = Wanted(wanted.rows, *(each[start:stop] for each in wanted[1:]))
        _search_rows(asked, searched, postings, _SUMMED_ROWS, part, terms)
        _settle_rows(asked, searched, part, terms)

    team.sweep(work, m, max(1, min(_SEARCH_TASK_ROWS, -(-m // team.n_jobs))))
    return Heaps(np.ascontiguousarray(heaps.distances[:, ::-1]), np.ascontiguousarray(heaps.ids[:, ::-1]))


# --------------------------------------------------------------------------------------------------------------- copies


@kernel
def hash_sparse(rows: Any, words: Any, hashes: Any) -> None:
    """A 64-bit hash of each row; `words` are its values as whole numbers."""
    for i in range(hashes.size):
        h = GOLDEN
        for e in range(rows.starts[i], rows.starts[i + 1]):
            h = bits(h ^ words[e], np.uint64(rows.columns[e]))
        hashes[i] = h


@kernel
def mark_new_sparse(rows: Any, hashes: Any, order: Any, new: Any) -> None:
    """Whether each row, in the given order, differs from the one before it; equal rows have equal hashes."""
    for p in range(1, order.size):
        i, j = order[p - 1], order[p]
        if hashes[i] == hashes[j]:
            e, f = rows.starts[i], rows.starts[j]
            count = rows.starts[i + 1] - e
            differ = rows.starts[j + 1] - f != count or rows.shifts[i] != rows.shifts[j]
            for c in range(0 if differ else count):
                differ |= rows.columns[e + c] != rows.columns[f + c] or rows.values[e + c] != rows.values[f + c]
            new[p] = differ
