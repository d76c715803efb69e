"""Equal rows: found by hashes, set aside before a search where there are many, and found again for new rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.core.random import GOLDEN, below, bits
from sce.graph.found import Found, sort_ties
from sce.graph.inplace import keep_rows
from sce.graph.kernels import row_key, ties_key
from sce.graph.rows import Rows, rows_per_task

_COPIES_TASK_ROWS = 4096  # rows with many copies that a thread takes at once


class Copies(NamedTuple):
    """Rows grouped by content: `order` lists them group by group, `group` and `rank` give a row's group and place in it.

    Group g has the rows order[starts[g] : starts[g + 1]].
    """

    order: np.ndarray
    starts: np.ndarray
    group: np.ndarray
    rank: np.ndarray

    def sizes(self) -> np.ndarray:
        """The number of rows in each row's group."""
        return np.asarray(np.diff(self.starts)[self.group])


@kernel
def _hash_rows(words: Any, hashes: Any) -> None:
    """A 64-bit hash of each row of 32-bit words, combined from four that are computed side by side."""
    whole = words.shape[1] // 4 * 4
    for i in range(words.shape[0]):
        row = words[i]
        h0 = h1 = h2 = h3 = np.uint64(0)
        for c in range(0, whole, 4):
            h0, h1 = bits(h0 ^ np.uint64(row[c]), GOLDEN), bits(h1 ^ np.uint64(row[c + 1]), GOLDEN)
            h2, h3 = bits(h2 ^ np.uint64(row[c + 2]), GOLDEN), bits(h3 ^ np.uint64(row[c + 3]), GOLDEN)
        for c in range(whole, row.size):
            h0 = bits(h0 ^ np.uint64(row[c]), GOLDEN)
        hashes[i] = bits(bits(h0, h1), bits(h2, h3))


def _hashes(values: np.ndarray, team: Team) -> np.ndarray:
    """A hash of each row."""
    hashes = np.empty(len(values), np.uint64)

    def work(start: int, stop: int) -> None:
        part = values[start:stop] + values.dtype.type(0)  # -0.0 becomes 0.0
        _hash_rows(part.view(np.uint32), hashes[start:stop])

    team.sweep(work, len(values), rows_per_task(values.shape[1]))
    return hashes


def content_keys(values: np.ndarray, seed: int, team: Team) -> np.ndarray:
    """A key for the ties of each new row: a function of its content, because it must not depend on other new rows."""
    with np.errstate(over="ignore"):
        return np.asarray(bits.py_func(ties_key(seed), _hashes(values, team)))


@kernel
def _mark_new(values: Any, hashes: Any, order: Any, new: Any) -> None:
    """Whether each row, in the given order, differs from the one before it; equal rows have equal hashes."""
    for p in range(1, order.size):
        if hashes[order[p - 1]] == hashes[order[p]]:
            a, b = values[order[p - 1]], values[order[p]]
            differ = False
            for c in range(a.size):
                differ |= a[c] != b[c]
            new[p] = differ


def find_copies(values: np.ndarray, team: Team) -> Copies:
    """Group equal rows; the rows of a group are in ascending order.

    Examples
    --------
    >>> find_copies(np.array([[1.0], [2.0], [1.0]]), Team(1)).sizes()
    array([2, 1, 2])
    """
    hashes = _hashes(values, team)
    return group_copies(hashes, lambda order, new: _mark_new(values, hashes, order, new))


def group_copies(hashes: np.ndarray, mark_new: Callable[[np.ndarray, np.ndarray], None]) -> Copies:
    """Group equal rows by their hashes; mark_new(order, new) says which rows, in an order, differ from the one before."""
    n = len(hashes)
    order = np.argsort(hashes, kind="stable").astype(np.int32)
    new = np.ones(n, np.bool_)
    mark_new(order, new)
    starts = np.flatnonzero(new)
    group, rank = np.empty(n, np.int32), np.empty(n, np.int32)
    group[order] = np.cumsum(new, dtype=np.int32) - 1
    rank[order] = np.arange(n, dtype=np.int32) - starts[group[order]]
    return Copies(order, np.append(starts, n), group, rank)


# ------------------------------------------------------------------------------------------------ among indexed rows


def search_among_copies(rows: Rows, k: int, search: Callable[[Rows], Found], seed: int, team: Team) -> Found:
    """Search among at most k + 1 copies of each row; a row with more copies than that gets copies as neighbours.

    More copies can change no distance, and thousands of equal rows would fill whole leaves of any tree. Where some of many
    copies are neighbours of another row, the seed decides which. Afterwards `rows`, where they are a copy of the data, hold
    only those that were searched.
    """
    copies = find_copies(rows.values, team)
    n = len(copies.rank)
    keep = first_copies(copies, k)
    if len(keep) == n:
        del copies, keep
        return search(rows)
    kept = keep_rows(rows.values, keep, team) if rows.own else rows.values[keep]
    part = search(rows._replace(values=kept, own=True))
    return with_copies(part, copies, keep, k, seed, team)


def first_copies(copies: Copies, k: int) -> np.ndarray:
    """The rows to be searched for k neighbours: at most k + 1 of each group."""
    return np.flatnonzero(copies.rank <= k).astype(np.int32)


def with_copies(part: Found, copies: Copies, keep: np.ndarray, k: int, seed: int, team: Team) -> Found:
    """The neighbours of all rows from those that were found for, and among, the rows to `keep`."""
    n = len(copies.rank)
    ids = np.empty((n, k), np.int32)
    distances = np.zeros((n, k), part.distances.dtype)
    ids[keep] = keep[part.ids]
    distances[keep] = part.distances
    sizes = copies.sizes()
    many, others = np.flatnonzero(sizes > k), np.flatnonzero(sizes <= k)
    del sizes

    def spread(start: int, stop: int) -> None:
        _spread_copies(copies, others[start:stop], ids, ties_key(seed))

    team.sweep(spread, len(others), _COPIES_TASK_ROWS)

    def work(start: int, stop: int) -> None:
        ids[many[start:stop]] = _next_copies(copies, many[start:stop], k)
        distances[many[start:stop]] = 0

    team.sweep(work, len(many), _COPIES_TASK_ROWS)
    return part._replace(ids=ids, distances=distances)


@kernel
def _spread_copies(copies: Any, rows: Any, ids: Any, ties: Any) -> None:
    """Replace those in the lists of some rows that have more than k + 1 copies: by copies in a ring, from a random one on.

    The search knows only the first of them, which would be neighbours of all rows near by.
    """
    k = ids.shape[1]
    for i in rows:
        key = row_key(ties, np.uint64(i))
        for a in range(k):
            group = copies.group[ids[i, a]]
            first, size = copies.starts[group], copies.starts[group + 1] - copies.starts[group]
            if size > k + 1:
                place = below(bits(key, np.uint64(group)), size)
                for b in range(a):
                    place += copies.group[ids[i, b]] == group
                ids[i, a] = copies.order[first + place % size]


def _next_copies(copies: Copies, rows: np.ndarray, k: int) -> np.ndarray:
    """The k copies after each row in its group, in a ring: no copy is the neighbour of more than k others."""
    group = copies.group[rows]
    first, size = copies.starts[group], copies.starts[group + 1] - copies.starts[group]
    place = (copies.rank[rows][:, None] + np.arange(1, k + 1)) % size[:, None]
    return np.asarray(copies.order[first[:, None] + place])


# ------------------------------------------------------------------------------------------------------ for new rows


class DistinctRows(NamedTuple):
    """One row of each group of copies, the first, and which group each of these stands for."""

    rows: Rows
    groups: np.ndarray
    copies: Copies


def distinct_rows(rows: Rows, team: Team) -> DistinctRows:
    """Leave out all copies but the first; in place where `rows` are a copy of the data."""
    copies = find_copies(rows.values, team)
    firsts = np.sort(copies.order[copies.starts[:-1]])
    groups = copies.group[firsts]
    if len(firsts) < len(rows.values):
        kept = keep_rows(rows.values, firsts, team) if rows.own else rows.values[firsts]
        rows = rows._replace(values=kept, own=True)
    return DistinctRows(rows, groups, copies)


def list_copies(copies: Copies, groups: np.ndarray, distances: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest rows from the nearest groups: each of these stands for all its copies; ties go by number."""
    listed, theirs = np.empty((len(groups), k), np.int32), np.empty((len(groups), k), distances.dtype)
    _list_copies(copies, groups, distances, listed, theirs)
    return sort_ties(listed, theirs)


@kernel
def _list_copies(copies: Any, groups: Any, distances: Any, listed: Any, theirs: Any) -> None:
    k = listed.shape[1]
    for i in range(groups.shape[0]):
        filled = 0
        for a in range(groups.shape[1]):
            g = groups[i, a]
            for p in range(copies.starts[g], min(copies.starts[g + 1], copies.starts[g] + k - filled)):
                listed[i, filled] = copies.order[p]
                theirs[i, filled] = distances[i, a]
                filled += 1


class RowTable:
    """Finds rows by their content.

    Examples
    --------
    >>> table = RowTable(np.array([[1.0], [2.0]]), Team(1))
    >>> table.find(np.array([[2.0], [5.0]]), Team(1))
    array([ 1, -1], dtype=int32)
    """

    def __init__(self, values: np.ndarray, team: Team) -> None:
        hashes = _hashes(values, team)
        self._values, self._order = values, np.argsort(hashes, kind="stable").astype(np.int32)
        self._hashes = hashes[self._order]

    def find(self, rows: np.ndarray, team: Team) -> np.ndarray:
        """The number of a row that equals each of these, or -1."""
        wanted = _hashes(rows, team)
        place = np.minimum(np.searchsorted(self._hashes, wanted), len(self._hashes) - 1)
        numbers = np.full(len(rows), -1, np.int32)
        maybe = np.flatnonzero(self._hashes[place] == wanted)
        same = self._order[place[maybe]]
        equal = (self._values[same] == rows[maybe]).all(axis=1)
        numbers[maybe[equal]] = same[equal]
        return numbers
