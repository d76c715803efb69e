"""Rows prepared for a search: centred or of unit length, and scaled so that no square overflows or vanishes.

This takes one copy of the rows, or none where they can be searched as they are. New rows are prepared like the indexed ones.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.linalg import power_of_two, sample_rows
from sce.core.mmap import is_mapped, releasing, take
from sce.core.parallel import Team
from sce.core.random import stream
from sce.core.simd import sum_squares
from sce.graph.precision import ROUNDING

_TASK_CELLS = 1 << 17  # numbers a thread converts at once
_MEDIAN_COLUMNS = 4096  # of which medians are taken at once
_HEADROOM = 50  # the farthest value becomes 2^50: float32 holds its square and that of a value 10^-33 times as large
_PLAIN_PEAK = (
    2.0**-10,
    2.0**50,
)  # rows are searched as they are if their farthest value from the centre is in this range
_PLAIN_OFFSET = 4.0  # and the centre from zero no more than this many times as far
_EXACT_TYPES = frozenset("?bBhH")  # differences of these are exact in float32
_FAR_PEAK = 2.0**54  # a new row with larger values is scaled down: sums of squares might overflow


class Centring(NamedTuple):
    """How rows are prepared: x becomes (x / 2 - centre) scale headroom."""

    centre: np.ndarray
    scale: float
    headroom: float

    @property
    def unit(self) -> float:
        """What distances of prepared rows are multiplied by to be those of the data."""
        return 2.0 / self.headroom / self.scale


class Rows(NamedTuple):
    """Prepared rows, what their distances are multiplied by to be those of the data, and whether they are a copy.

    A copy may be changed. `centring` is how they were made, unless they have unit length. `errors` bounds the rounding error
    of each row of the data; None where there is none, or where rows are float64.
    """

    values: np.ndarray
    unit: float
    own: bool
    centring: Centring | None = None
    errors: np.ndarray | None = None


def rows_per_task(d: int) -> int:
    """Rows of d columns that a thread converts at once."""
    return max(1, _TASK_CELLS // max(1, d))


def can_borrow(X: np.ndarray, columns: int) -> bool:
    """Whether a search can read the rows where they are: float32, contiguous, not in a file, with this many columns."""
    plain = X.dtype == np.float32 and X.flags.c_contiguous and X.flags.aligned and X.flags.writeable
    return plain and X.shape[1] == columns and not is_mapped(X)


def centred_rows(X: np.ndarray, columns: int, dtype: type, team: Team, *, plainly: bool = False) -> Rows:
    """X minus a central value of each column, over one scale for all, with zero columns up to `columns`.

    The subtraction is done in float64: data like 10^9 + noise keep their noise. The central value is the median of a
    sample of rows, which is robust to outliers. With `plainly`, X is taken as it is if its values are about as near to zero
    as to their centre, so that centring would save no digits; it is not even copied if a search can read it.
    """
    n, d = X.shape
    centring, plain = _choose_centring(X, team, plainly=plainly)
    if plain and can_borrow(X, columns):
        return Rows(X, centring.unit, own=False, centring=centring)
    values: np.ndarray = np.zeros((n, columns), dtype)
    grain = rows_per_task(d)
    may_round = dtype == np.float32 and X.dtype.char not in _EXACT_TYPES
    errors = np.empty(n if may_round else 0, np.float32)
    rounded = np.zeros(-(-n // grain), np.bool_)

    def write(start: int, stop: int) -> None:
        part, out = _plain(X[start:stop]), values[start:stop]
        if may_round:
            rounded[start // grain] = _round_centred(part, *centring, out, errors[start:stop])
        else:
            _write_centred(part, *centring, out)

    team.sweep(releasing(X, write), n, grain)
    return Rows(values, centring.unit, own=True, centring=centring, errors=errors if rounded.any() else None)


def _choose_centring(X: np.ndarray, team: Team, *, plainly: bool) -> tuple[Centring, bool]:
    """How to prepare X, and whether its values stay as they are."""
    n, d = X.shape
    centre = 0.5 * _medians(X, sample_rows(n, 1023, stream(0, "centre")))
    grain = rows_per_task(d)
    peaks = np.zeros(-(-n // grain))

    def measure(start: int, stop: int) -> None:
        peaks[start // grain] = _farthest(_plain(X[start:stop]), centre)

    team.sweep(releasing(X, measure), n, grain)
    peak, offset = float(peaks.max()), float(np.abs(centre).max(initial=0.0))
    if plainly and _PLAIN_PEAK[0] <= peak <= _PLAIN_PEAK[1] and offset <= _PLAIN_OFFSET * peak:
        return Centring(np.zeros(d), 1.0, 2.0), True
    return Centring(centre, power_of_two(peak), 2.0**_HEADROOM), False


class NewRows(NamedTuple):
    """New rows prepared like those indexed, for each a factor, and what its distances are multiplied by.

    The factor is 1, or less for a row that is very far from those indexed: such a row has been multiplied by it, so that the
    squares of its values do not overflow, and the rows that it is compared with must be multiplied by it, too.
    """

    values: np.ndarray
    factors: np.ndarray
    units: np.ndarray


def new_centred_rows(X: np.ndarray, centring: Centring, columns: int, dtype: type, team: Team) -> NewRows:
    """Prepare new rows, each on its own."""
    m, d = X.shape
    new = NewRows(np.zeros((m, columns), dtype), np.ones(m), np.full(m, centring.unit))

    def write(start: int, stop: int) -> None:
        part = np.array(X[start:stop], np.float64, order="C")
        _write_centred(part, *centring, new.values[start:stop])
        half = 0.5 * part - centring.centre
        peaks = np.abs(half).max(axis=1, initial=0.0)
        with np.errstate(over="ignore", under="ignore"):
            for i in np.flatnonzero(peaks * centring.scale * centring.headroom > _FAR_PEAK):
                exponent = _HEADROOM - int(np.frexp(peaks[i])[1])
                new.values[start + i, :d] = np.ldexp(half[i], exponent)
                new.factors[start + i] = np.ldexp(1.0 / centring.headroom / centring.scale, exponent)
                new.units[start + i] = np.ldexp(2.0, -exponent)

    team.sweep(write, m, rows_per_task(d))
    return new


def _plain(part: np.ndarray) -> np.ndarray:
    """A small piece of X as a kernel takes it: a copy, row by row, in float32 if that is its type, else in float64."""
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


@kernel
def _round_centred(part: Any, centre: Any, scale: Any, headroom: Any, out: Any, errors: Any) -> Any:
    """Write centred rows in float32, with a bound on the rounding error of each; whether any number was rounded."""
    zero = np.zeros(out.shape[1], np.float32)
    rounded = False
    for i in range(part.shape[0]):
        for c in range(part.shape[1]):
            exact = (0.5 * np.float64(part[i, c]) - centre[c]) * scale * headroom
            out[i, c] = exact
            rounded |= np.float64(out[i, c]) != exact
        errors[i] = ROUNDING * np.sqrt(sum_squares(out[i], zero))
    return rounded


def _medians(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The (lower) median of each column over some rows, in float64, some columns at a time."""
    medians = np.empty(X.shape[1])
    for start in range(0, X.shape[1], _MEDIAN_COLUMNS):
        part = take(X[:, start : start + _MEDIAN_COLUMNS], rows, np.float64)
        part.sort(axis=0)
        medians[start : start + _MEDIAN_COLUMNS] = part[(len(rows) - 1) // 2]
    return medians


def unit_rows(
    X: np.ndarray, columns: int, dtype: type, centre: bool, team: Team, *, order: Literal["K", "C"] = "K"
) -> Rows:
    """Each row over its length, for the cosine distance; with `centre`, minus its mean before that, for the correlation.

    A row of zeros has no direction. Column d is 1 for such rows and 0 for all others, so they are copies of one another
    and at right angles to everything else. `columns` is at least d + 1. Sums over a row run in the order of memory; with
    order="C" they do not depend on that of X.
    """
    n, d = X.shape
    values: np.ndarray = np.zeros((n, columns), dtype)

    def write(start: int, stop: int) -> None:
        part = np.asarray(X[start:stop], np.float64, order=order)
        peak = np.abs(part).max(axis=1, keepdims=True, initial=0.0)
        part = part / np.where(peak > 0, peak, 1.0)
        if centre:
            part = part - part.mean(axis=1, keepdims=True)
            part[np.abs(part).max(axis=1, initial=0.0) <= 1e-14] = 0.0  # rounding error of a constant row
        length = np.sqrt((part * part).sum(axis=1))
        values[start:stop, :d] = part / np.where(length > 0, length, 1.0)[:, None]
        values[start:stop, d] = length == 0

    team.sweep(releasing(X, write), n, rows_per_task(d))
    return Rows(values, 1.0, own=True, errors=np.full(n, ROUNDING, np.float32) if dtype == np.float32 else None)
