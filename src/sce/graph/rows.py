"""Rows made ready for a search: centred or of unit length, of a size that no square overflows or vanishes.

That is one copy of them, or none where they are ready as they are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.linalg import power_of_two, sample_rows
from sce.core.mmap import is_mapped, releasing, take
from sce.core.parallel import Team
from sce.core.random import GOLDEN, bits, stream

_CELLS = 1 << 17  # numbers converted at once by a thread
_COLUMNS = 4096  # of which medians are taken at once
_HEADROOM = (
    50  # the farthest value becomes 2^50: its square fits float32, and so does that of a value 10^-33 times as large
)


_PLAIN = 2.0**-10, 2.0**50  # how far from the centre the farthest value may be where rows are taken as they are
_OFF_CENTRE = 4.0  # times that, at most, may the centre be from zero


class Rows(NamedTuple):
    """Rows ready for a search, what their distances are to be multiplied by to be those of the data, and whose they are."""

    values: np.ndarray
    unit: float
    own: bool  # a copy, which may be changed


def _grain(d: int) -> int:
    return max(1, _CELLS // max(1, d))


def can_borrow(X: np.ndarray, columns: int) -> bool:
    """Whether a search could read the rows where they are: float32, without gaps, not in a file, of so many columns."""
    plain = X.dtype == np.float32 and X.flags.c_contiguous and X.flags.aligned and X.flags.writeable
    return plain and X.shape[1] == columns and not is_mapped(X)


def centred_rows(X: np.ndarray, columns: int, dtype: type, team: Team, *, plainly: bool = False) -> Rows:
    """X minus a central value of each column, over one scale for all, with zero columns up to `columns`.

    The subtraction is done in float64: data like 10^9 + noise keep their noise. The central value is the median of a
    sample of rows, which neither far values nor huge ones can spoil. With `plainly`, X as it is where its values are about as
    near to zero as to their centre, so that centring would save no digits; and then X itself, if a search can read it.
    """
    n, d = X.shape
    centre = 0.5 * _medians(X, sample_rows(n, 1023, stream(0, "centre")))
    grain = _grain(d)
    peaks = np.zeros(-(-n // grain))

    def measure(start: int, stop: int) -> None:
        peaks[start // grain] = _farthest(_plain(X[start:stop]), centre)

    team.sweep(releasing(X, measure), n, grain)
    peak = float(peaks.max())
    scale, headroom = power_of_two(peak), 2.0**_HEADROOM
    if plainly and _PLAIN[0] <= peak <= _PLAIN[1] and float(np.abs(centre).max(initial=0.0)) <= _OFF_CENTRE * peak:
        if can_borrow(X, columns):
            return Rows(X, 1.0, own=False)
        centre, scale, headroom = np.zeros(d), 1.0, 2.0
    values: np.ndarray = np.zeros((n, columns), dtype)

    def write(start: int, stop: int) -> None:
        _write_centred(_plain(X[start:stop]), centre, scale, headroom, values[start:stop])

    team.sweep(releasing(X, write), n, grain)
    return Rows(values, 2.0 / headroom / scale, own=True)


def _plain(part: np.ndarray) -> np.ndarray:
    """A small piece of X as a kernel knows it: a copy in float32, if that is its type, or float64, row by row."""
    return np.array(part, np.float32 if part.dtype == np.float32 else np.float64, order="C")


@kernel
def _farthest(part: Any, centre: Any) -> Any:
    """The largest |x / 2 - centre|: halves, because a difference of huge values may overflow."""
    peaks = np.zeros(part.shape[1])
    for i in range(part.shape[0]):
        for c in range(part.shape[1]):
            half = abs(0.5 * np.float64(part[i, c]) - centre[c])
            peaks[c] = max(peaks[c], half)
    return peaks.max()


@kernel
def _write_centred(part: Any, centre: Any, scale: Any, headroom: Any, out: Any) -> None:
    """Write (x / 2 - centre) scale headroom to the first columns of `out`."""
    for i in range(part.shape[0]):
        for c in range(part.shape[1]):
            out[i, c] = (0.5 * np.float64(part[i, c]) - centre[c]) * scale * headroom


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
    return Rows(values, 1.0, own=True)


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
    """A 64-bit hash of each row of 32-bit words, made of four that are computed side by side."""
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
