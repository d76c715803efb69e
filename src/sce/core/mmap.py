"""Passes over a memory-mapped file that leave nothing of it in memory.

Pages of a mapped file that were read count as memory of the process until the system reclaims them. Here they are released
while reading; the system keeps them in its cache as long as it likes, so the next pass costs no more.
"""

from __future__ import annotations

import mmap
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

_RELEASED_FROM_BYTES = 1 << 26  # bytes: smaller maps are left alone
_RELEASE_EVERY_BYTES = 1 << 24  # bytes read between two releases
_ROWS_TAKEN_AT_ONCE = 128  # taken at once from here and there: the system maps some 64 KB around each


def release(X: Any) -> None:
    """Release the pages of a large file that is mapped read-only; do nothing for anything else.

    Writable and copy-on-write maps are not touched: what was written to the latter would be lost.

    Examples
    --------
    >>> release(np.zeros(3))
    """
    pages = _read_only_map(X)
    if pages is not None:
        pages.madvise(mmap.MADV_DONTNEED)


def releasing(X: Any, work: Callable[[int, int], Any]) -> Callable[[int, int], Any]:
    """Wrap work(start, stop), which reads these rows of X, so that X is released now and then and after the last row.

    Examples
    --------
    >>> releasing(np.zeros(3), print)(0, 3)
    0 3
    """
    if _read_only_map(X) is None:
        return work
    lock, row = threading.Lock(), max(1, X.nbytes // max(1, len(X)))
    unreleased = 0

    def work_and_release(start: int, stop: int) -> Any:
        nonlocal unreleased
        result = work(start, stop)
        with lock:
            unreleased += (stop - start) * row
            due = unreleased >= _RELEASE_EVERY_BYTES or stop == len(X)
            unreleased = 0 if due else unreleased
        if due:
            release(X)
        return result

    return work_and_release


def take(X: np.ndarray, rows: np.ndarray, dtype: Any) -> np.ndarray:
    """Some rows of X as an array of their own.

    Examples
    --------
    >>> take(np.arange(4), np.array([0, 2]), float)
    array([0., 2.])
    """
    if _read_only_map(X) is None:
        return np.asarray(X[rows], dtype)
    taken = np.empty((len(rows), *X.shape[1:]), dtype)
    if X.flags.f_contiguous and X.ndim == 2:  # a row is all over the file
        step = max(1, _RELEASE_EVERY_BYTES // (len(X) * X.itemsize))
        for start in range(0, X.shape[1], step):
            taken[:, start : start + step] = X[:, start : start + step][rows]
            release(X)
    else:
        for start in range(0, len(rows), _ROWS_TAKEN_AT_ONCE):
            taken[start : start + _ROWS_TAKEN_AT_ONCE] = X[rows[start : start + _ROWS_TAKEN_AT_ONCE]]
            release(X)
    return taken


def _read_only_map(X: Any) -> mmap.mmap | None:
    """The large read-only map that X is a view of, if there is one and the system supports releasing pages."""
    if not hasattr(mmap, "MADV_DONTNEED"):
        return None
    mapped = _mapped(X)
    if mapped is None:
        return None
    pages: mmap.mmap = mapped._mmap  # noqa: SLF001
    return pages if getattr(mapped, "mode", None) == "r" and len(pages) >= _RELEASED_FROM_BYTES else None


def is_mapped(X: Any) -> bool:
    """Whether X is a view of a mapped file.

    Examples
    --------
    >>> is_mapped(np.zeros(3))
    False
    """
    return _mapped(X) is not None


def _mapped(X: Any) -> Any:
    """The mapped array that X is a view of, or None."""
    while isinstance(X, np.ndarray):
        if isinstance(getattr(X, "_mmap", None), mmap.mmap):
            return X
        X = X.base
    return None
