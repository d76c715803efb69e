"""Nearest neighbours of a sample of points among all points, and the rank of any other point.

Distances are computed in tiles and dropped after use: no full row of distances is ever stored, and only a tile of a
memory-mapped file is in memory. What is asked about the same rows is therefore found in one pass over them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.errors import InputError, ParameterError
from sce.graph.kernels import offer, pad_columns, row_keys, two_rows
from sce.graph.metrics import Metric, own_metric
from sce.graph.rows import unit_rows

_QUERIES_PER_TASK = 128  # that a thread takes at a time
_TILE_CELLS = 1 << 18  # numbers in a tile of the data
_MAX_TILE_ROWS, _MIN_TILE_ROWS = 4096, 64  # in a tile of the data
_TIE_TOLERANCE = 1e-12  # distances with a smaller relative difference are equal


def nearest(X: Any, metric: Any, queries: np.ndarray, k: int, team: Team) -> np.ndarray:
    """The k nearest rows of each query row, in no particular order; never the row itself. Ties are broken at random.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> sorted(nearest(X, "euclidean", np.array([0]), 2, Team(1))[0].tolist())
    [1, 2]
    """
    nothing = [np.empty(0, np.int64)] * len(queries)
    return nearest_and_ranks(X, metric, queries, k, nothing, team)[0]


def ranks(
    X: Any, metric: Any, queries: np.ndarray, ids: Sequence[np.ndarray] | np.ndarray, team: Team
) -> list[np.ndarray]:
    """The rank of each id among the nearest rows of its query, from 1 on; rows that are equally far share the best rank.

    Parameters
    ----------
    X, metric
        As in :func:`between`.
    queries : array of row numbers
    ids : sequence of arrays
        For each query an array of row numbers, never its own.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> ranks(X, "euclidean", np.array([0]), [np.array([3, 1])], Team(1))
    [array([3, 1])]
    """
    return [best for best, _ in rank_ranges(X, metric, queries, ids, team)]


def rank_ranges(
    X: Any, metric: Any, queries: np.ndarray, ids: Sequence[np.ndarray] | np.ndarray, team: Team
) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each query the best and the worst rank that each id can have, as rows that are equally far are ordered.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [-1.0], [7.0]])
    >>> rank_ranges(X, "euclidean", np.array([0]), [np.array([3, 1])], Team(1))
    [(array([3, 1]), array([3, 2]))]
    """
    return nearest_and_ranks(X, metric, queries, 0, ids, team)[1]


def nearest_and_ranks(
    X: Any, metric: Any, queries: np.ndarray, k: int, ids: Sequence[np.ndarray] | np.ndarray, team: Team
) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """:func:`nearest` and :func:`rank_ranges` at once: the distances, which take nearly all of the time, are computed once.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> near, found = nearest_and_ranks(X, "euclidean", np.array([0]), 1, [np.array([3, 1])], Team(1))
    >>> near, found
    (array([[1]]), [(array([3, 1]), array([3, 1]))])
    """
    distances = np.full((len(queries), k), np.inf)
    near = np.full((len(queries), k), -1)
    keys = row_keys(0, queries)
    found: list[tuple[np.ndarray, np.ndarray]] = [(np.empty(0, np.int64), np.empty(0, np.int64))] * len(queries)

    def look(start: int, stop: int) -> None:
        rows = queries[start:stop]
        limits = [_limits(X, metric, rows[q], np.asarray(ids[start + q])) for q in range(len(rows))]
        orders = [np.argsort(row, kind="stable") for row in limits]
        ascending = np.concatenate([row[order] for row, order in zip(limits, orders, strict=True)])
        starts = np.cumsum([0, *map(len, limits)])
        counts = np.zeros(len(ascending), np.int64)
        for first, tile in _tiles(X, metric, rows):
            if k:
                _offer_tile(distances[start:stop], near[start:stop], tile, first, rows, keys[start:stop])
            if len(counts):
                _count_tile(counts, ascending, starts, tile, first, rows)
        for q, order in enumerate(orders):
            below = np.empty(len(order), np.int64)
            below[order] = counts[starts[q] : starts[q + 1]]
            best, worst = 1 + below[: len(order) // 2], below[len(order) // 2 :]
            found[start + q] = best, np.maximum(best, worst)

    team.sweep(look, len(queries), _QUERIES_PER_TASK)
    return near, found


def _limits(X: Any, metric: Any, query: int, ids: np.ndarray) -> np.ndarray:
    """Just below, and just above, the distance from a query to each id: rows between the two are equally far."""
    if not len(ids):
        return np.empty(0)
    exact = between(X, metric, np.array([query]), ids)[0]
    above = np.maximum(exact * (1 + _TIE_TOLERANCE), np.finfo(np.float64).tiny)
    return np.append(exact * (1 - _TIE_TOLERANCE), above)


def between(X: Any, metric: str | Callable[..., float], rows: np.ndarray, columns: Any) -> np.ndarray:
    """Distances between rows; for our own metrics on dense data, sums that increase with the distances.

    Parameters
    ----------
    X : array or sparse matrix in rows
    metric : str or callable
        Any that a search takes, or "precomputed".
    rows : array of row numbers
    columns : array of row numbers, or slice
    """
    if isinstance(metric, str) and metric == "precomputed":
        part = X[rows, columns] if isinstance(columns, slice) else X[np.ix_(rows, columns)]
        return np.asarray(part, np.float64)
    own = None if sp.issparse(X) else own_metric(metric)
    if own is not None:
        found = _sums(np.asarray(X[rows]), np.asarray(X[columns]), own)
    else:
        found = _by_scikit_learn(X[rows], X[columns], metric)
    if not np.isfinite(found).all():
        raise InputError(
            f"The metric {metric!r} gives distances that are not finite on these data; choose another one."
        )
    return found


def _by_scikit_learn(A: Any, B: Any, metric: Any) -> np.ndarray:
    """All distances from the rows of A to the rows of B."""
    from sklearn.metrics import pairwise_distances

    try:
        return np.asarray(pairwise_distances(A, B, metric=metric, n_jobs=1), np.float64)
    except (ValueError, TypeError) as error:
        raise ParameterError(f"scikit-learn cannot measure these data with metric {metric!r}: {error}") from error


def _sums(A: np.ndarray, B: np.ndarray, metric: Metric) -> np.ndarray:
    """The metric's sums from all rows of A to all of B, over differences in float64, so that copies are at distance 0."""
    if metric.unit_rows:
        A, B = (_unit_rows(part, metric) for part in (A, B))
    columns = pad_columns(A.shape[1])
    rows = np.zeros((len(A) + len(A) % 2, columns))
    rows[: len(A), : A.shape[1]] = A
    turned = np.zeros((columns, len(B)))
    turned[: A.shape[1]] = B.T
    found = np.empty((len(rows), len(B)))
    _sum_tile(found, rows, turned, metric.terms)
    return found[: len(A)]


def _unit_rows(part: np.ndarray, metric: Metric) -> np.ndarray:
    """Some rows, brought to length 1 as a search does, in float64."""
    return unit_rows(part, part.shape[1] + 1, np.float64, metric.less_mean, Team(1), order="C").values


def _tiles(X: Any, metric: Any, rows: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The distances from the given rows to all rows, one tile at a time, with the number of its first row."""
    n, d = X.shape
    size = min(_MAX_TILE_ROWS, max(_MIN_TILE_ROWS, _TILE_CELLS // max(1, d)))
    for first in range(0, n, size):
        yield first, between(X, metric, rows, slice(first, min(n, first + size)))


# ------------------------------------------------------------------------------------------------------------- kernels


@kernel(fused=True)
def _sum_tile(found: Any, rows: Any, turned: Any, terms: Any) -> None:
    """found[q, j]: the sum of the terms of row q and column j of `turned`; the number of rows is even."""
    for q in range(0, len(rows), 2):
        two_rows(found[q], found[q + 1], rows[q], rows[q + 1], turned, 0, terms)


@kernel
def _offer_tile(distances: Any, ids: Any, found: Any, first: Any, rows: Any, keys: Any) -> None:
    """Offer the distances of a tile to the heaps of the queries, which keep the nearest."""
    for q in range(len(rows)):
        offer(distances[q], ids[q], found[q], first, rows[q], keys[q])


@kernel
def _count_tile(counts: Any, limits: Any, starts: Any, found: Any, first: Any, rows: Any) -> None:
    """Add to `counts` how many of a query's distances are below each of its limits, which are ascending."""
    for q in range(len(rows)):
        itself = rows[q] - first
        if 0 <= itself < found.shape[1]:
            found[q, itself] = np.inf
        for t in range(starts[q + 1] - 1, starts[q] - 1, -1):
            below = _number_below(found[q], limits[t])
            if below == 0:
                break  # none is below a lower limit either
            counts[t] += below


@kernel
def _number_below(row: Any, limit: Any) -> Any:
    """How many values are below a limit; the loop has no branch, so that it is vectorised."""
    below = 0
    for value in row:
        below += value < limit
    return below
