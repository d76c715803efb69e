"""What a map keeps of the data: near neighbours, and the order of distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sce.compiled import kernel
from sce.errors import InputError, ParameterError
from sce.parallel import Team, resolve_n_jobs
from sce.quality.check import check_rows, map_points, sampled
from sce.validate import check_count

_CELLS = 4_000_000  # distances held at once by a thread
_STRIDE = 64  # one column in so many gives a bound on the nearest
_REFERENCES = 200  # points that every first point of a triplet is compared with


class NeighborsKept(NamedTuple):
    """How well near neighbours are kept; all are 1 for a perfect map.

    Attributes
    ----------
    recall : float
        The share of the k nearest on the map that are among the k nearest in the data.
    trustworthiness : float
        Falls by how far in the data those are that only the map shows as near (Venna and Kaski, 2001).
    continuity : float
        Falls by how far on the map those are that are near only in the data.
    """

    recall: float
    trustworthiness: float
    continuity: float


def neighbors_kept(
    X: Any,
    Y: Any,
    *,
    k: int = 15,
    metric: str | Callable[..., float] = "euclidean",
    n_queries: int = 1000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> NeighborsKept:
    """How many near neighbours a map keeps, and how far the others are.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The data.
    Y : array of shape (n, 1..3), fitted SCE, or saved map
    k : int, default=15
        Neighbours looked at; fewer where there are fewer than 2 k points.
    metric : str or callable, default="euclidean"
        The distance in the data, any that scikit-learn has; "precomputed" if X is a square matrix of distances.
    n_queries : int, default=1000
        Points whose neighbours are looked at, among all points, drawn at random. The error of a share is about
        0.5 / sqrt(n_queries) at most.
    random_state : int, default=0
    n_jobs : int or None, default=None
        Threads; None is all cores. Never changes the result.

    Returns
    -------
    NeighborsKept
        With all three 1.0 for fewer than three points.

    Notes
    -----
    Where points lie equally far, as exact copies do, whichever the map shows is right. The penalty of a neighbour of rank
    r > k is r - k; the sum is scaled as by its authors, so that 0 is the worst that can be.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> neighbors_kept(X, X)
    NeighborsKept(recall=1.0, trustworthiness=1.0, continuity=1.0)
    """
    points = map_points(Y)
    n = len(points)
    check_rows(X, n, metric)
    k = min(check_count(k, "k"), (n - 1) // 2)
    if k < 1:
        return NeighborsKept(1.0, 1.0, 1.0)
    queries = sampled(n, check_count(n_queries, "n_queries"), random_state)
    found = np.zeros((len(queries), 3))

    def look(first: int, rows: np.ndarray) -> None:
        far, near = _distances(X, rows, metric), _distances(points, rows, "euclidean")
        for place, (in_data, on_map) in enumerate(zip(far, near, strict=True), first):
            found[place] = _row_kept(in_data, on_map, k)

    _by_blocks(look, queries, n, n_jobs)
    recall, intruders, missed = found.mean(axis=0)
    worst = k * (2 * n - 3 * k - 1) / 2
    return NeighborsKept(float(recall), float(1 - intruders / worst), float(1 - missed / worst))


def edges_kept(P: Any, Y: Any, *, n_queries: int = 1000, random_state: int = 0, n_jobs: int | None = None) -> float:
    """The share of P that goes to near neighbours on the map: for a graph without data.

    Of a point with m neighbours in P, it is the share of its P that goes to its m nearest on the map; the mean over points.

    Parameters
    ----------
    P : sparse matrix of shape (n, n)
        Similarities, of any scale.
    Y : array of shape (n, 1..3), fitted SCE, or saved map
    n_queries, random_state, n_jobs
        As in :func:`neighbors_kept`.

    Returns
    -------
    share : float
        1 where every point is nearest to its neighbours in P; NaN if P has no edges.

    Examples
    --------
    >>> from scipy import sparse
    >>> P = sparse.csr_matrix(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]) / 4)
    >>> edges_kept(P, np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]))
    1.0
    """
    points = map_points(Y)
    n = len(points)
    graph = sp.csr_matrix(P)
    check_rows(graph, n, "precomputed")
    joined = np.flatnonzero(np.diff(graph.indptr))
    queries = joined[sampled(len(joined), check_count(n_queries, "n_queries"), random_state)]
    share = np.zeros(len(queries))

    def look(first: int, rows: np.ndarray) -> None:
        for place, on_map in enumerate(_distances(points, rows, "euclidean"), first):
            edges = slice(graph.indptr[queries[place]], graph.indptr[queries[place] + 1])
            ids, mass = graph.indices[edges], graph.data[edges]
            reach = _smallest(on_map, len(ids)).max()
            share[place] = mass[on_map[ids] <= reach].sum() / mass.sum()

    _by_blocks(look, queries, n, n_jobs)
    return float(share.mean()) if len(queries) else float("nan")


def triplets_kept(
    X: Any,
    Y: Any,
    *,
    metric: str | Callable[..., float] = "euclidean",
    n_triplets: int = 100_000,
    random_state: int = 0,
) -> float:
    """The share of random triplets whose order of distances the map keeps: how much of the large structure it has.

    Of points a, b, c, whether b or c is nearer to a is the same in the data and on the map. Chance gives 0.5.

    Parameters
    ----------
    X, Y, metric
        As in :func:`neighbors_kept`.
    n_triplets : int, default=100_000
        About how many are drawn.
    random_state : int, default=0

    Returns
    -------
    share : float
        Triplets that are equally far in the data count a half; 1.0 for fewer than three points.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> triplets_kept(X, 2 * X)
    1.0
    """
    points = map_points(Y)
    n = len(points)
    check_rows(X, n, metric)
    if n < 3:
        return 1.0
    half = min(_REFERENCES // 2, (n - 1) // 2)
    firsts = sampled(n, -(-check_count(n_triplets, "n_triplets") // half), random_state)
    draw = np.random.default_rng([random_state, 1])
    right = total = 0.0
    for block in np.array_split(firsts, -(-len(firsts) // 500)):  # each block against references of its own
        others = draw.permutation(n)[: 2 * half]
        in_data = np.sign(_steps(_between(X, block, others, metric)))
        on_map = np.sign(_steps(_between(points, block, others, "euclidean")))
        distinct = ~np.isin(others, block)[None, :] | (others[None, :] != block[:, None])
        counts = distinct[:, 0::2] & distinct[:, 1::2]
        right += float(((1 + in_data * on_map) / 2)[counts].sum())
        total += float(counts.sum())
    return right / total


def _steps(distances: np.ndarray) -> np.ndarray:
    """How much farther the first of each pair of columns is than the second."""
    return distances[:, 0::2] - distances[:, 1::2]


# ---------------------------------------------------------------------------------------------------------------- rows


def _row_kept(in_data: np.ndarray, on_map: np.ndarray, k: int) -> tuple[float, float, float]:
    """For one point: the share of neighbours kept, the excess ranks of those only the map has, and of those it lacks.

    The distances to the point itself are infinite.
    """
    near_data, near_map = _nearest(in_data, k), _nearest(on_map, k)
    intruders = np.maximum(_ranks(in_data, in_data[near_map]) - k, 0).sum()
    missed = np.maximum(_ranks(on_map, on_map[near_data]) - k, 0).sum()
    return float((in_data[near_map] <= in_data[near_data].max()).mean()), float(intruders), float(missed)


def _smallest(row: np.ndarray, k: int) -> np.ndarray:
    """The k smallest values of a row, in no order."""
    return row[_nearest(row, k)]


def _nearest(row: np.ndarray, k: int) -> np.ndarray:
    """The places of the k smallest values, in no order: those of a sample bound them, so few need be looked at."""
    sample = row[::_STRIDE]
    if len(sample) <= k:
        return np.argpartition(row, k - 1)[:k]
    below = np.flatnonzero(row <= np.partition(sample, k - 1)[k - 1])
    return below[np.argpartition(row[below], k - 1)[:k]]


def _ranks(row: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """1 + how many values of the row are below each limit."""
    order = np.argsort(limits)
    ranks = np.empty(len(limits), np.int64)
    ranks[order] = 1 + _count_below(row, limits[order])
    return ranks


@kernel
def _count_below(row: Any, limits: Any) -> Any:
    """How many values of the row are below each of the limits, which rise."""
    counts = np.zeros(limits.size, np.int64)
    last = limits.size - 1
    for value in row:
        t = last
        while t >= 0 and value < limits[t]:
            counts[t] += 1
            t -= 1
    return counts


# ----------------------------------------------------------------------------------------------------------- distances


def _by_blocks(look: Callable[[int, np.ndarray], None], queries: np.ndarray, n: int, n_jobs: int | None) -> None:
    """Call `look` for blocks of queries, with the place of the first, on threads."""
    size = max(1, _CELLS // max(n, 1))
    with Team(resolve_n_jobs(n_jobs)) as team:
        team.sweep(lambda start, stop: look(start, queries[start:stop]), len(queries), min(size, 64))


def _distances(X: Any, rows: np.ndarray, metric: Any) -> np.ndarray:
    """From some points to all, with infinity to themselves."""
    distances = _between(X, rows, None, metric)
    distances[np.arange(len(rows)), rows] = np.inf
    return distances


def _between(X: Any, rows: np.ndarray, columns: np.ndarray | None, metric: Any) -> np.ndarray:
    """From some points to some, or to all."""
    if metric == "precomputed":
        part = X[rows] if columns is None else X[rows][:, columns]
        return np.array(part, np.float64)
    from sklearn.metrics import pairwise_distances

    try:
        found = pairwise_distances(X[rows], X if columns is None else X[columns], metric=metric, n_jobs=1)
    except (ValueError, TypeError) as error:
        raise ParameterError(f"scikit-learn cannot measure these data with metric {metric!r}: {error}") from error
    if not np.isfinite(found).all():
        raise InputError(f"The metric {metric!r} gives distances that are not finite on these data.")
    return np.asarray(found, np.float64)
