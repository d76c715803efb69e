"""Rows moved within their own memory, because the rows of a search may be most of what the machine can hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team

_STRIPE_COLUMNS = 16  # a thread takes whole stripes, a cache line wide, so that no two threads share a line


@kernel
def _permute(X: Any, order: Any, start: Any, stop: Any) -> None:
    """Put row order[i] in the place of row i, along the cycles of the order, in columns start to stop."""
    done = np.zeros(order.size, np.bool_)
    first_row = np.empty(stop - start, X.dtype)
    for first in range(order.size):
        if done[first]:
            continue
        first_row[:] = X[first, start:stop]
        i = np.int64(first)
        while order[i] != first:
            for c in range(start, stop):
                X[i, c] = X[order[i], c]
            done[i] = True
            i = np.int64(order[i])
        X[i, start:stop] = first_row
        done[i] = True


@kernel
def _keep(X: Any, numbers: Any, start: Any, stop: Any) -> None:
    """Put row numbers[i] in the place of row i; the numbers are ascending."""
    for i in range(numbers.size):
        for c in range(start, stop):
            X[i, c] = X[numbers[i], c]


@kernel
def _widen(memory: Any, n: Any, narrow: Any, wide: Any) -> None:
    """Move n rows of `narrow` columns to where the first columns of n rows of `wide` columns are."""
    for i in range(n - 1, -1, -1):
        for c in range(narrow - 1, -1, -1):
            memory[i * wide + c] = memory[i * narrow + c]


def permute_rows(X: np.ndarray, order: np.ndarray, team: Team) -> None:
    """X = X[order], without a second X.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0], [3.0]])
    >>> permute_rows(X, np.array([2, 0, 1]), Team(1))
    >>> X.ravel()
    array([3., 1., 2.])
    """
    _by_stripes(lambda start, stop: _permute(X, order, start, stop), X.shape[1], team)


def keep_rows(X: np.ndarray, numbers: np.ndarray, team: Team) -> np.ndarray:
    """X[numbers] for ascending numbers, in the memory of X; the other rows are overwritten.

    Examples
    --------
    >>> keep_rows(np.array([[1.0], [2.0], [3.0]]), np.array([1, 2]), Team(1)).ravel()
    array([2., 3.])
    """
    _by_stripes(lambda start, stop: _keep(X, numbers, start, stop), X.shape[1], team)
    return X[: len(numbers)]


def widen_rows(memory: np.ndarray, X: np.ndarray, columns: int) -> np.ndarray:
    """X with room for more columns, in the same memory, in which X comes first; the new columns are not initialised.

    Examples
    --------
    >>> memory = np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0])
    >>> widen_rows(memory, memory[:3].reshape(3, 1), 2)[:, 0]
    array([1., 2., 3.])
    """
    n, narrow = X.shape
    _widen(memory, n, narrow, columns)
    return memory[: n * columns].reshape(n, columns)


def _by_stripes(work: Callable[[int, int], Any], columns: int, team: Team) -> None:
    """Call work(start, stop) on parts of the columns, side by side."""
    team.split(
        lambda first, last: work(first * _STRIPE_COLUMNS, min(columns, last * _STRIPE_COLUMNS)),
        -(-columns // _STRIPE_COLUMNS),
    )
