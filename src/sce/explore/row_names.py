"""How the rows of an operation are written in a file: by ranges of their numbers, or by their ids."""

from __future__ import annotations

import hashlib
import re
from functools import cached_property
from typing import Any

import numpy as np

from sce.core.missing import as_text
from sce.explore.operations import NamingError

_RANGES = re.compile(r"[0-9]{1,12}(-[0-9]{1,12})?(,[0-9]{1,12}(-[0-9]{1,12})?)*")


class RowNames:
    """The ids of the points, and how rows are written by them.

    Where the ids are 0, 1, 2, ..., or do not tell all rows apart, rows are written as ranges of their numbers.

    Examples
    --------
    >>> RowNames(np.arange(50)).write(np.array([0, 1, 2, 9, 12, 13]))
    '0-2,9,12-13'
    >>> RowNames(np.array(["a", "b", "c"])).write(np.array([0, 2]))
    ['a', 'c']
    """

    def __init__(self, ids: np.ndarray) -> None:
        self._ids = ids if ids.dtype.kind in "iu" else as_text(ids)
        is_counted = ids.dtype.kind in "iu" and np.array_equal(ids, np.arange(len(ids)))
        self.by_number = is_counted or len(set(self._ids.tolist())) < len(ids)

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self._ids)

    @cached_property
    def digest(self) -> str:
        """A hash of the ids in their order: two maps with the same hash are of the same rows."""
        found = hashlib.sha256()
        for start in range(0, self.n, 100_000):
            part = self._ids[start : start + 100_000].tolist()
            found.update("".join(f"{len(str(each))}:{each}," for each in part).encode("utf-8", "surrogatepass"))
        return found.hexdigest()

    @cached_property
    def _place(self) -> dict[Any, int]:
        return {name: row for row, name in enumerate(self._ids.tolist())}

    def write(self, rows: np.ndarray) -> Any:
        """Rows, ascending, as JSON can hold them."""
        return self._ids[rows].tolist() if not self.by_number else ranges_of(rows)

    def read(self, written: Any) -> np.ndarray:
        """The rows that :meth:`write` wrote."""
        if self.by_number:
            return rows_of_ranges(written, self.n)
        if not isinstance(written, list):
            raise NamingError("rows must be a list of ids")
        try:
            return np.array([self._place[name] for name in written], np.int64)
        except (KeyError, TypeError) as error:
            raise NamingError(f"there is no row of id {str(error)[:50]}") from None


def ranges_of(rows: np.ndarray) -> str:
    """Ascending numbers as ranges.

    Examples
    --------
    >>> ranges_of(np.array([4])), ranges_of(np.array([0, 1, 5]))
    ('4', '0-1,5')
    """
    breaks = np.flatnonzero(np.diff(rows) != 1) + 1
    starts, stops = rows[np.append(0, breaks)], rows[np.append(breaks, len(rows)) - 1]
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in zip(starts.tolist(), stops.tolist(), strict=True))


def rows_of_ranges(text: Any, n: int) -> np.ndarray:
    """The numbers in ranges, ascending and below n.

    Examples
    --------
    >>> rows_of_ranges("0-2,9", 10).tolist()
    [0, 1, 2, 9]
    """
    if not isinstance(text, str) or not _RANGES.fullmatch(text):
        raise NamingError("rows must be ranges as 0-5,9")
    ends = np.array([[int(part.split("-")[0]), int(part.split("-")[-1])] for part in text.split(",")])
    following = np.append(ends[1:, 0], n)
    if (ends[:, 0] > ends[:, 1]).any() or (ends[:, 1] >= following).any():
        raise NamingError(f"rows must be ascending ranges of numbers below {n}")
    return np.concatenate([np.arange(a, b + 1) for a, b in ends.tolist()])
