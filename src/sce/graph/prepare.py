"""Rows made ready for a search: one copy, centred or of unit length, of a size that no square overflows or vanishes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.compiled import kernel
from sce.linalg import power_of_two, sample_rows
from sce.mapped import releasing, take
from sce.parallel import Team
from sce.random import GOLDEN, bits, stream

_CELLS = 1 << 17  # numbers converted at once by a thread
_COLUMNS = 4096  # of which medians are taken at once
_HEADROOM = (
    50  # the farthest value becomes 2^50: its square fits float32, and so does that of a value 10^-33 times as large
)


class Rows(NamedTuple):
    """Rows ready for a search, and what their distances are to be multiplied by to be those of the data."""

    values: np.ndarray
    unit: float


def _grain(d: int) -> int:
    return max(1, _CELLS // max(1, d))


def centred_rows(X: np.ndarray, columns: int, dtype: type, team: Team) -> Rows:
    """X minus a central value of each column, over one scale for all, with zero columns up to `columns`.

    The subtraction is done in float64: data like 10^9 + noise keep their noise. The central value is the median of a
    sample of rows, which neither far values nor huge ones can spoil.
    """
    n, d = X.shape
    centre = 0.5 * _medians(X, sample_rows(n, 1023, stream(0, "centre")))
    grain = _grain(d)
    peaks = np.zeros(-(-n // grain))

    def halves(start: int, stop: int) -> np.ndarray:
        half: np.ndarray = 0.5 * np.asarray(X[start:stop], np.float64)  # a difference of huge values may overflow
        half -= centre
        return half

    def measure(start: int, stop: int) -> None:
        part = halves(start, stop)
        peaks[start // grain] = max(part.max(initial=0.0), -part.min(initial=0.0))

    team.sweep(releasing(X, measure), n, grain)
    scale = power_of_two(float(peaks.max()))
    values: np.ndarray = np.zeros((n, columns), dtype)

    def write(start: int, stop: int) -> None:
        part = halves(start, stop)
        part *= scale
        part *= 2.0**_HEADROOM
        values[start:stop, :d] = part

    team.sweep(releasing(X, write), n, grain)
    return Rows(values, 2.0 * 2.0**-_HEADROOM / scale)


def _medians(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The (lower) median of each column in some rows, in float64, some columns at a time."""
    medians = np.empty(X.shape[1])
    for start in range(0, X.shape[1], _COLUMNS):
        part = take(X[:, start : start + _COLUMNS], rows, np.float64)
        part.sort(axis=0)
        medians[start : start + _COLUMNS] = part[(len(rows) - 1) // 2]
    return medians


def unit_rows(X: np.ndarray, columns: int, dtype: type, centre: bool, team: Team) -> Rows:
    """Each row over its length, for the cosine distance; with `centre`, minus its mean before, for the correlation.

    A row of zeros has no direction. Column d is 1 for such rows and 0 for all others, so they are copies of one another
    and at right angles to everything else. `columns` is at least d + 1.
    """
    n, d = X.shape
    values: np.ndarray = np.zeros((n, columns), dtype)

    def write(start: int, stop: int) -> None:
        part = np.asarray(X[start:stop], np.float64)
        peak = np.abs(part).max(axis=1, keepdims=True, initial=0.0)
        part = part / np.where(peak > 0, peak, 1.0)
        if centre:
            part = part - part.mean(axis=1, keepdims=True)
            part[np.abs(part).max(axis=1, initial=0.0) <= 1e-14] = 0.0  # what rounding leaves of a constant row
        length = np.sqrt((part * part).sum(axis=1))
        values[start:stop, :d] = part / np.where(length > 0, length, 1.0)[:, None]
        values[start:stop, d] = length == 0

    team.sweep(releasing(X, write), n, _grain(d))
    return Rows(values, 1.0)


# -------------------------------------------------------------------------------------------------------------- copies


class Copies(NamedTuple):
    """Rows grouped by content: `order` lists them group by group, `group` and `rank` give a row's group and place."""

    order: np.ndarray
    starts: np.ndarray
    group: np.ndarray
    rank: np.ndarray

    def sizes(self) -> np.ndarray:
        """The number of rows in each row's group."""
        return np.asarray(np.diff(self.starts)[self.group])


@kernel
def _hash_rows(words: Any, hashes: Any) -> None:
    """A 64-bit hash of each row of 32-bit words."""
    for i in range(words.shape[0]):
        h = np.uint64(0)
        for c in range(words.shape[1]):
            h = bits(h ^ np.uint64(words[i, c]), GOLDEN)
        hashes[i] = h


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
    """Group equal rows.

    Examples
    --------
    >>> find_copies(np.array([[1.0], [2.0], [1.0]]), Team(1)).sizes()
    array([2, 1, 2])
    """
    n = len(values)
    hashes = np.empty(n, np.uint64)

    def work(start: int, stop: int) -> None:
        part = values[start:stop] + values.dtype.type(0)  # -0.0 becomes 0.0
        _hash_rows(part.view(np.uint32), hashes[start:stop])

    team.sweep(work, n, _grain(values.shape[1]))
    order = np.argsort(hashes, kind="stable").astype(np.int32)
    new = np.ones(n, np.bool_)
    _mark_new(values, hashes, order, new)
    starts = np.flatnonzero(new)
    group, rank = np.empty(n, np.int32), np.empty(n, np.int32)
    group[order] = np.cumsum(new, dtype=np.int32) - 1
    rank[order] = np.arange(n, dtype=np.int32) - starts[group[order]]
    return Copies(order, np.append(starts, n), group, rank)
