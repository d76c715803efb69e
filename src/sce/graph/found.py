"""What a search finds: the neighbours of each row, and their distances in the metric asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sce.core.parallel import Team
from sce.core.random import bits
from sce.errors import InputError
from sce.graph.metrics import Metric

POOR_RECALL = 0.9  # a search that finds a smaller share of the true neighbours is repeated by brute force, or announced
_CONVERT_TASK_ROWS = 4096  # rows a thread takes at once
_FLOAT32_FROM, _FLOAT32_TO = 1e-30, 1e30  # distances in this range are kept in float32


class Neighbors(NamedTuple):
    """The nearest rows of every row.

    `indices` (n, k), nearest first and never the row itself; -1 where a given distance matrix holds fewer than k. For new
    rows they are the numbers of indexed rows. `distances` (n, k), infinite where the index is -1. `method`: how they were
    found. `recall`: the share of the true neighbours among them, from a sample of rows; 1 for the exact methods.
    """

    indices: np.ndarray
    distances: np.ndarray
    method: str
    recall: float


def first(neighbors: Neighbors, k: int) -> Neighbors:
    """The k nearest of each row's neighbours."""
    if neighbors.indices.shape[1] <= k:
        return neighbors
    ids, distances = (np.ascontiguousarray(part[:, :k]) for part in (neighbors.indices, neighbors.distances))
    return neighbors._replace(indices=ids, distances=distances)


class Found(NamedTuple):
    """Neighbours among prepared rows, with the distances between prepared rows, or their squares."""

    ids: np.ndarray
    distances: np.ndarray
    squared: bool
    method: str
    recall: float


def metric_distances(found: Found, unit: float, metric: Metric, team: Team) -> np.ndarray:
    """Distances in a metric from those between prepared rows times `unit`; these may be overwritten."""
    return compact(found.distances, lambda part: convert(part, found.squared, unit, metric), team)


def convert(distances: np.ndarray, squared: bool, unit: float | np.ndarray, metric: Metric) -> np.ndarray:
    """Distances in a metric, in float64, from those between prepared rows times `unit`, or from the squares of these."""
    wide = np.sqrt(distances, dtype=np.float64) if squared else distances.astype(np.float64)
    return np.asarray(metric.from_rows(wide, unit))


def compact(distances: np.ndarray, change: Callable[[np.ndarray], np.ndarray], team: Team) -> np.ndarray:
    """Distances changed in float64, some rows at a time, and kept in float32 if none of them overflows or vanishes there.

    The given distances may be overwritten with the result. Raises InputError if even float64 cannot hold them.
    """
    n = len(distances)
    least, most = (np.full(-(-n // _CONVERT_TASK_ROWS), value) for value in (np.inf, 0.0))

    def measure(start: int, stop: int) -> None:
        with np.errstate(over="ignore", under="ignore"):
            part = change(distances[start:stop])
        refuse_overflow(part, distances[start:stop])
        least[start // _CONVERT_TASK_ROWS] = part[part > 0].min(initial=np.inf)
        most[start // _CONVERT_TASK_ROWS] = part.max(initial=0.0)

    team.sweep(measure, n, _CONVERT_TASK_ROWS)
    narrow = least.min(initial=np.inf) > _FLOAT32_FROM and most.max(initial=0.0) < _FLOAT32_TO
    dtype = np.float32 if narrow else np.float64
    result = distances if distances.dtype == dtype else np.empty(distances.shape, dtype)

    def write(start: int, stop: int) -> None:
        with np.errstate(over="ignore", under="ignore"):
            result[start:stop] = change(distances[start:stop])

    team.sweep(write, n, _CONVERT_TASK_ROWS)
    return result


def refuse_overflow(converted: np.ndarray, distances: np.ndarray) -> None:
    """Raise InputError if distances have become infinite, or zero, by a conversion."""
    if not np.isfinite(converted).all() or ((converted == 0) & (distances > 0)).any():
        raise InputError(
            "The distances between rows of X are too large or too small for float64: multiply X by a constant that "
            "brings its values near 1."
        )


def without_self(ids: np.ndarray, distances: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Drop each row itself from its k + 1 nearest, or the last where copies have pushed it out.

    Examples
    --------
    >>> without_self(np.array([[0, 2], [0, 2]]), np.array([[0.0, 3.0], [1.0, 2.0]]), np.array([0, 1]))
    (array([[2],
           [0]]), array([[3.],
           [1.]]))
    """
    itself = ids == rows[:, None]
    itself[~itself.any(axis=1), -1] = True
    n, k = ids.shape
    return ids[~itself].reshape(n, k - 1), distances[~itself].reshape(n, k - 1)


def tie_draws(keys: Any, ids: np.ndarray) -> np.ndarray:
    """The random numbers by which neighbours at the same distance are sorted: those of `kernels.comes_before`."""
    with np.errstate(over="ignore"):
        return np.asarray(bits.py_func(keys, ids.astype(np.int64).astype(np.uint64)))


def nearest_listed(ids: np.ndarray, distances: np.ndarray, k: int, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first k of each row by distance; ties in an order that the row's key decides."""
    order = np.lexsort((tie_draws(keys[:, None], ids), distances), axis=1)[:, :k]
    return np.take_along_axis(ids, order, 1), np.take_along_axis(distances, order, 1)


def drawn(ids: np.ndarray, k: int, key: np.uint64) -> np.ndarray:
    """k of the rows that are equally far from the row with this key.

    Examples
    --------
    >>> len(drawn(np.array([4, 7, 9]), 2, np.uint64(5)))
    2
    """
    return ids[np.argsort(tie_draws(key, ids), kind="stable")[:k]]


def sort_ties(ids: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each row by distance, ties by number.

    Examples
    --------
    >>> sort_ties(np.array([[2, 7, 4]]), np.array([[1.0, 3.0, 1.0]]))[0]
    array([[2, 4, 7]])
    """
    order = np.lexsort((ids, distances), axis=1)
    return np.take_along_axis(ids, order, 1), np.take_along_axis(distances, order, 1)
