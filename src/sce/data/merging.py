"""Rows of a table and points of a map: which row became which point, where rows were left out or copies merged."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np

from sce.core.dataframes import as_matrix
from sce.core.missing import is_missing
from sce.errors import InputError


class Merged(NamedTuple):
    """The different rows of a matrix."""

    X: Any  # each of them once, in the order in which they first occur
    counts: np.ndarray  # how often each occurs, to be given as sample_weight
    point_of_row: np.ndarray  # the place in X of each of the rows that were given


def merge_copies(X: Any) -> Merged:
    """Merge equal rows, for maps in which each of them is one point.

    Parameters
    ----------
    X : array, CSR matrix or data frame of shape (n, d)

    Returns
    -------
    X : array or CSR matrix
        The different rows.
    counts : ndarray
        How often each occurs.
    point_of_row : ndarray of shape (n,)
        The place among them of each row, so that ``model.embedding_[point_of_row]`` has a point for every row that was given.

    Examples
    --------
    >>> from sce import merge_copies
    >>> X, counts, point_of_row = merge_copies(np.array([[1, 2], [5, 5], [1, 2]]))
    >>> X.tolist(), counts.tolist(), point_of_row.tolist()
    ([[1, 2], [5, 5]], [2, 1], [0, 1, 0])
    """
    frame = as_matrix(X)
    matrix = X if frame is None else frame.X
    if hasattr(matrix, "tocsr"):
        matrix = matrix.tocsr()
    elif np.ndim(matrix) == 2:
        matrix = np.asarray(matrix)
    else:
        raise InputError(f"X must be 2-D, a row for each point; its shape is {np.shape(matrix)}.")
    point_of_row = group_copies(matrix)
    rows = first_rows(point_of_row)
    return Merged(matrix[rows], np.bincount(point_of_row), point_of_row)


def group_copies(X: Any) -> np.ndarray:
    """The number of each row's content: 0 for the first row and all that are equal to it, 1 for the next, and so on."""
    known: dict[bytes, int] = {}
    numbers = np.empty(X.shape[0], np.int64)
    if hasattr(X, "tocsr"):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    for row in range(X.shape[0]):
        numbers[row] = known.setdefault(_digest(X, row), len(known))
    return numbers


def _digest(X: Any, row: int) -> bytes:
    """A hash of the content of a row; -0.0 is 0.0."""
    if not hasattr(X, "tocsr"):
        return hashlib.blake2b((X[row] + X.dtype.type(0)).tobytes(), digest_size=16).digest()
    start, stop = X.indptr[row], X.indptr[row + 1]
    return hashlib.blake2b(X.indices[start:stop].tobytes() + X.data[start:stop].tobytes(), digest_size=16).digest()


# ---------------------------------------------------------------------------------------------------- rows and points


def first_rows(point_of_row: np.ndarray) -> np.ndarray:
    """The first row of each point.

    >>> first_rows(np.array([-1, 0, 1, 0])).tolist()
    [1, 2]
    """
    points, rows = np.unique(point_of_row, return_index=True)
    return np.asarray(rows[points >= 0])


def values_of_points(values: np.ndarray, point_of_row: np.ndarray) -> np.ndarray:
    """One value for each point, of one for each row: the most frequent of its rows, and of several the first.

    >>> values_of_points(np.array(["a", "b", "c", "b", "b"]), np.array([0, 1, -1, 0, 0])).tolist()
    ['b', 'b']
    """
    there = np.flatnonzero(point_of_row >= 0)
    order = there[np.argsort(point_of_row[there], kind="stable")]
    starts = np.flatnonzero(np.diff(point_of_row[order], prepend=-1))
    chosen = values[order[starts]]
    stops = np.append(starts[1:], len(order))
    for point in np.flatnonzero(stops - starts > 1).tolist():
        chosen[point] = _most_frequent(values[order[starts[point] : stops[point]]])
    return np.asarray(chosen)


def _most_frequent(values: np.ndarray) -> Any:
    counts: dict[Any, int] = {}
    for value in values:
        if not is_missing(value):
            counts[value] = counts.get(value, 0) + 1
    return max(counts, key=lambda value: counts[value]) if counts else values[0]
