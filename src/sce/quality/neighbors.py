"""What a map preserves of the data: near neighbours, and the order of distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sce.core.parallel import Team, resolve_n_jobs
from sce.core.random import permutation, stream
from sce.core.validate import check_count, draw_seed
from sce.quality.check import check_rows, map_points, sampled
from sce.quality.ranks import between, nearest, nearest_and_ranks, rank_ranges, ranks

_TRIPLET_REFERENCES = 200  # points that the first point of a triplet is compared with
_TRIPLET_BLOCK = 500  # first points that share their references


class NeighborsKept(NamedTuple):
    """How well a map keeps near neighbours; all three are 1 for a perfect map.

    Attributes
    ----------
    recall : float
        The share of the k nearest on the map that are among the k nearest in the data.
    trustworthiness : float
        Decreases with the rank in the data of points that are near only on the map (Venna and Kaski, 2001).
    continuity : float
        Decreases with the rank on the map of points that are near only in the data.
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
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> NeighborsKept:
    """Measure how many near neighbours a map keeps, and how far away the others are.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The data.
    Y : array of shape (n, 1..3), fitted SCE, or saved map
    k : int, default=15
        The number of neighbours; fewer if there are fewer than 2 k points.
    metric : str or callable, default="euclidean"
        The distance in the data, any that scikit-learn knows; "precomputed" if X is a square matrix of distances.
    n_queries : int, default=1000
        The number of points, drawn at random, whose neighbours among all points are examined. The standard error of a share
        is at most about 0.5 / sqrt(n_queries).
    random_state : int, RandomState or None, default=0
        The seed of the sample.
    n_jobs : int or None, default=None
        The number of threads; None is all cores. Never changes the result.

    Returns
    -------
    NeighborsKept
        All three figures are 1.0 for fewer than three points.

    Notes
    -----
    Where several points are equally far, as exact copies are, any of them counts as a true neighbour in `recall`. The penalty
    of a neighbour of rank r > k is r - k; the sum is scaled as its authors do, so that 0 is the worst possible value. Points
    that are equally far have all ranks of the tie in equal parts, which is what scikit-learn's `trustworthiness` gives on
    average over the orders of the rows.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> neighbors_kept(X, X)
    NeighborsKept(recall=1.0, trustworthiness=1.0, continuity=1.0)
    """
    points = map_points(Y)
    n = len(points)
    X = check_rows(X, n, metric)
    k = min(check_count(k, "k"), (n - 1) // 2)
    if k < 1:
        return NeighborsKept(1.0, 1.0, 1.0)
    queries = sampled(n, check_count(n_queries, "n_queries"), random_state, "neighbours kept")
    data = _in_rows(X)
    with Team(resolve_n_jobs(n_jobs)) as team:
        shown = nearest(points, "euclidean", queries, k, team)
        true, of_shown = nearest_and_ranks(data, metric, queries, k, shown, team)
        intruders = np.array(of_shown)
        missed = np.array(rank_ranges(points, "euclidean", queries, true, team))
    worst = k * (2 * n - 3 * k - 1) / 2
    excess = [_excess(found[:, 0], found[:, 1], k).sum(axis=1).mean() for found in (intruders, missed)]
    kept = float((intruders[:, 0] <= k).mean())
    return NeighborsKept(kept, float(1 - excess[0] / worst), float(1 - excess[1] / worst))


def _excess(best: np.ndarray, worst: np.ndarray, k: int) -> np.ndarray:
    """The mean of max(0, rank - k) over the ranks that a tied point can have, from the best to the worst.

    Examples
    --------
    >>> _excess(np.array([3, 15, 20]), np.array([9, 16, 22]), k=15)
    array([0. , 0.5, 6. ])
    """
    first = np.maximum(best, k + 1)
    count = np.maximum(0, worst - first + 1)
    return count * (first + worst - 2 * k) / 2.0 / (worst - best + 1)


def edges_kept(P: Any, Y: Any, *, n_queries: int = 1000, random_state: Any = 0, n_jobs: int | None = None) -> float:
    """The share of P that goes to near neighbours on the map, for a graph without data.

    For a point with m neighbours in P, this is the share of its row of P that goes to its m nearest points on the map; the
    result is the mean over points.

    Parameters
    ----------
    P : sparse matrix of shape (n, n)
        Similarities on any scale.
    Y : array of shape (n, 1..3), fitted SCE, or saved map
    n_queries, random_state, n_jobs
        As in :func:`neighbors_kept`.

    Returns
    -------
    share : float
        1 if the nearest points on the map are always the neighbours in P; NaN if P has no edges.

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
    if graph.diagonal().any():
        graph = sp.csr_matrix(graph - sp.diags(graph.diagonal()))
        graph.eliminate_zeros()
    joined = np.flatnonzero(np.diff(graph.indptr))
    queries = joined[sampled(len(joined), check_count(n_queries, "n_queries"), random_state, "edges kept")]
    edges = [slice(graph.indptr[row], graph.indptr[row + 1]) for row in queries]
    with Team(resolve_n_jobs(n_jobs)) as team:
        found = ranks(points, "euclidean", queries, [graph.indices[own] for own in edges], team)
    shares = [
        graph.data[own][rank <= len(rank)].sum() / graph.data[own].sum() for own, rank in zip(edges, found, strict=True)
    ]
    return float(np.mean(shares)) if shares else float("nan")


def triplets_kept(
    X: Any,
    Y: Any,
    *,
    metric: str | Callable[..., float] = "euclidean",
    n_triplets: int = 100_000,
    random_state: Any = 0,
) -> float:
    """The share of random triplets whose order of distances the map keeps, a measure of its global structure.

    A triplet a, b, c is kept if the same one of b and c is nearer to a in the data and on the map. Chance gives 0.5.

    Parameters
    ----------
    X, Y, metric
        As in :func:`neighbors_kept`.
    n_triplets : int, default=100_000
        The approximate number of triplets to draw.
    random_state : int, RandomState or None, default=0
        The seed of the triplets.

    Returns
    -------
    share : float
        A triplet with two equal distances in the data counts one half. 1.0 for fewer than three points.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> triplets_kept(X, 2 * X)
    1.0
    """
    points = map_points(Y)
    n = len(points)
    X = check_rows(X, n, metric)
    if n < 3:
        return 1.0
    half = min(_TRIPLET_REFERENCES // 2, (n - 1) // 2)
    seed = draw_seed(random_state)
    firsts = sampled(n, -(-check_count(n_triplets, "n_triplets") // half), seed, "triplets")
    data = _in_rows(X)
    right = total = 0.0
    blocks = np.array_split(firsts, -(-len(firsts) // _TRIPLET_BLOCK))
    for number, block in enumerate(blocks):
        others = permutation(stream(seed, f"references {number}"), n)[: 2 * half]
        in_data = np.sign(_steps(between(data, metric, block, others)))
        on_map = np.sign(_steps(between(points, "euclidean", block, others)))
        distinct = ~np.isin(others, block)[None, :] | (others[None, :] != block[:, None])
        counts = distinct[:, 0::2] & distinct[:, 1::2]
        right += float(((1 + in_data * on_map) / 2)[counts].sum())
        total += float(counts.sum())
    return right / total


def _steps(distances: np.ndarray) -> np.ndarray:
    """The difference of the distances in each pair of columns."""
    return distances[:, 0::2] - distances[:, 1::2]


def _in_rows(X: Any) -> Any:
    """Data whose rows can be selected: an array, or a CSR matrix."""
    return X.tocsr() if sp.issparse(X) else X if isinstance(X, np.ndarray) else np.asarray(X)
