"""What a map keeps of the data: near neighbours, and the order of distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sce.core.parallel import Team, resolve_n_jobs
from sce.core.validate import check_count
from sce.quality.check import check_rows, map_points, sampled
from sce.quality.ranks import between, nearest, ranks

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
    data = _in_rows(X)
    with Team(resolve_n_jobs(n_jobs)) as team:
        shown = nearest(points, "euclidean", queries, k, team)
        true = nearest(data, metric, queries, k, team)
        intruders = np.array(ranks(data, metric, queries, shown, team))
        missed = np.array(ranks(points, "euclidean", queries, true, team))
    worst = k * (2 * n - 3 * k - 1) / 2
    excess = [np.maximum(found - k, 0).sum(axis=1).mean() for found in (intruders, missed)]
    return NeighborsKept(float((intruders <= k).mean()), float(1 - excess[0] / worst), float(1 - excess[1] / worst))


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
    if graph.diagonal().any():
        graph = sp.csr_matrix(graph - sp.diags(graph.diagonal()))
        graph.eliminate_zeros()
    joined = np.flatnonzero(np.diff(graph.indptr))
    queries = joined[sampled(len(joined), check_count(n_queries, "n_queries"), random_state)]
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
    data = _in_rows(X)
    right = total = 0.0
    for block in np.array_split(firsts, -(-len(firsts) // 500)):  # each block against references of its own
        others = draw.permutation(n)[: 2 * half]
        in_data = np.sign(_steps(between(data, metric, block, others)))
        on_map = np.sign(_steps(between(points, "euclidean", block, others)))
        distinct = ~np.isin(others, block)[None, :] | (others[None, :] != block[:, None])
        counts = distinct[:, 0::2] & distinct[:, 1::2]
        right += float(((1 + in_data * on_map) / 2)[counts].sum())
        total += float(counts.sum())
    return right / total


def _steps(distances: np.ndarray) -> np.ndarray:
    """How much farther the first of each pair of columns is than the second."""
    return distances[:, 0::2] - distances[:, 1::2]


def _in_rows(X: Any) -> Any:
    """Sparse data in a form that has rows."""
    return X.tocsr() if sp.issparse(X) else X if isinstance(X, np.ndarray) else np.asarray(X)
