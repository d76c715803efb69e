"""Figures for single points: where on a map neighbours are kept, edges cut or stretched, and seeds agree; for colouring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sce.clusters.hdbscan import find_clusters
from sce.core.compiled import kernel
from sce.core.parallel import Team, resolve_n_jobs
from sce.core.validate import check_count
from sce.errors import InputError
from sce.graph.index import nearest_neighbors
from sce.quality.check import check_rows, held, map_points
from sce.quality.mass import check_graph, check_labels
from sce.quality.ranks import between

_TIE = 1e-5  # relative difference of float32 distances, below which they may be equal
_EXACT_TIE = 1e-12  # the same of float64 distances
_POINTS_PER_TASK = 4096


class PointQuality(NamedTuple):
    """Figures from 0 to 1 for each point; None where what they need is missing.

    Attributes
    ----------
    clusters : array of shape (n,)
        The cluster of each point on the map, -1 for none.
    neighbors_kept : array of shape (n,), or None
        The share of the k nearest on the map that are among the k nearest in the data.
    edges_cut : array of shape (n,), or None
        The share of a point's edges in the graph, by weight, that lead to another cluster. Edges from or to a point in no
        cluster are not cut.
    edges_stretched : array of shape (n,), or None
        The share of the edges of a point with m edges, by weight, that do not lead to its m nearest on the map.
    agreement : array of shape (n,), or None
        The share of the k nearest on the map that are among the k nearest on other maps of the same data, mean over these.
    """

    clusters: np.ndarray
    neighbors_kept: np.ndarray | None
    edges_cut: np.ndarray | None
    edges_stretched: np.ndarray | None
    agreement: np.ndarray | None

    def columns(self) -> dict[str, np.ndarray]:
        """What is known, by name: the columns of a table."""
        named = {"cluster": self.clusters, **{name: getattr(self, name) for name in self._fields[1:]}}
        return {name: values for name, values in named.items() if values is not None}


def points(
    Y: Any,
    *,
    X: Any = None,
    P: Any = None,
    labels: Any = None,
    others: Sequence[Any] = (),
    k: int = 15,
    metric: str | Callable[..., float] = "euclidean",
    n_jobs: int | None = None,
) -> PointQuality:
    """Figures for every point of a map, by which it can be coloured.

    Parameters
    ----------
    Y : array of shape (n, 1..3), fitted SCE, or saved map
        A graph or data that a model or a map holds are used where they are not given.
    X : array or sparse matrix of shape (n, d), or None
        The data, for neighbours kept.
    P : sparse matrix of shape (n, n), or None
        The similarity graph, for edges cut and stretched.
    labels : array of shape (n,), or None
        The clusters that cut edges, negative for points in none. If None, :func:`sce.find_clusters` finds them on the map.
    others : sequence of maps
        Other maps of the same points, for example with other seeds, for the agreement.
    k : int, default=15
        The number of neighbours; fewer if there are fewer than 2 k points.
    metric : str or callable, default="euclidean"
        The distance in the data.
    n_jobs : int or None, default=None
        The number of threads; None is all cores. Never changes the result.

    Returns
    -------
    PointQuality

    Notes
    -----
    Where several points are equally far, as exact copies are, any of them counts as a neighbour. In large data the neighbours
    are those that a fit finds, which may miss a few of the true ones.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(90, 4)) + np.repeat([0, 20, 40], 30)[:, None]
    >>> found = points(X[:, :2], X=X, labels=np.arange(90) // 30)
    >>> found.neighbors_kept.shape, found.agreement is None
    ((90,), True)
    """
    X, P = held(Y, "X", X), held(Y, "P", held(Y, "affinity_", P))
    where = map_points(Y)
    n = len(where)
    k = min(check_count(k, "k"), (n - 1) // 2)
    found = find_clusters(where, n_jobs=n_jobs) if labels is None else np.asarray(labels)
    check_labels(found, n)
    elsewhere = [map_points(other) for other in others]
    if any(len(other) != n for other in elsewhere):
        raise InputError(
            f"The other maps must have the same {n} points; they have {[len(other) for other in elsewhere]}."
        )
    if X is not None:
        X = check_rows(X, n, metric)
    if P is not None:
        P = check_graph(P)
        check_rows(P, n, "precomputed")
    with Team(resolve_n_jobs(n_jobs)) as team:
        shown = nearest_neighbors(where, k, team=team).indices if k and (X is not None or elsewhere) else None
        kept = None if X is None else _kept(X, metric, shown, n, k, team)
        agreed = [_kept(other, "euclidean", shown, n, k, team) for other in elsewhere]
    return PointQuality(
        found,
        kept,
        None if P is None else _edges_cut(P, found),
        None if P is None else _edges_stretched(P, where, n_jobs),
        np.mean(agreed, axis=0) if agreed else None,
    )


def _kept(X: Any, metric: Any, shown: np.ndarray | None, n: int, k: int, team: Team) -> np.ndarray:
    """The share of the k shown neighbours of each point that are among its k nearest rows of X."""
    if shown is None:
        return np.ones(n)  # so few points that every other is a neighbour
    data = X.tocsr() if sp.issparse(X) else np.asarray(X)
    near = nearest_neighbors(data, min(k + 1, n - 1), metric=metric, team=team)
    kept = np.zeros(n, np.int64)
    team.sweep(lambda a, b: _count_common(shown, near.indices[:, :k], kept, a, b), n, _POINTS_PER_TASK)
    last = near.distances[:, k - 1].astype(np.float64)
    following = near.distances[:, -1].astype(np.float64)
    tied = np.flatnonzero((following <= last * (1 + _TIE)) & (near.indices[:, k - 1] >= 0) & (kept < k))

    def look(start: int, stop: int) -> None:
        for i in tied[start:stop]:
            to_shown = between(data, metric, np.array([i]), shown[i])[0]
            limit = between(data, metric, np.array([i]), near.indices[i, k - 1 : k])[0, 0]
            kept[i] = np.count_nonzero(to_shown <= limit * (1 + _EXACT_TIE))

    team.sweep(look, len(tied), _POINTS_PER_TASK)
    return kept / k


def _edges_cut(P: sp.csr_matrix, labels: np.ndarray) -> np.ndarray:
    """The share of each row of P that goes from a cluster to another."""
    cut, whole = np.zeros(P.shape[0]), np.zeros(P.shape[0])
    _sum_cut((P.indptr, P.indices, P.data), np.ascontiguousarray(labels), cut, whole)
    return np.divide(cut, whole, out=cut, where=whole > 0)


def _edges_stretched(P: sp.csr_matrix, where: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """The share of each row of P, which has m entries, that does not go to its m nearest on the map."""
    from scipy.spatial import cKDTree

    edges = np.diff(P.indptr)
    reach = np.zeros(len(where))
    tree = cKDTree(where)
    order = np.argsort(edges, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(edges[order])) + 1):
        m = int(edges[rows[0]])
        if m:
            reach[rows] = tree.query(where[rows], [min(m, len(where) - 1) + 1], workers=resolve_n_jobs(n_jobs))[0][:, 0]
    kept, whole = np.zeros(len(where)), np.zeros(len(where))
    _sum_within((P.indptr, P.indices, P.data), where, reach * (1 + _EXACT_TIE), kept, whole)
    return np.clip(1.0 - np.divide(kept, whole, out=np.ones(len(where)), where=whole > 0), 0.0, 1.0)


# ------------------------------------------------------------------------------------------------------------- kernels


@kernel
def _count_common(shown: Any, near: Any, kept: Any, first: Any, last: Any) -> None:
    """How many of the ids in a row of `shown` are in the same row of `near`."""
    for i in range(first, last):
        count = 0
        for a in range(shown.shape[1]):
            for b in range(near.shape[1]):
                if shown[i, a] == near[i, b] and shown[i, a] >= 0:
                    count += 1
                    break
        kept[i] = count


@kernel
def _sum_cut(graph: Any, labels: Any, cut: Any, whole: Any) -> None:
    """The mass of each row that goes from a cluster to another, and all of it."""
    indptr, indices, data = graph
    for i in range(cut.size):
        for e in range(indptr[i], indptr[i + 1]):
            other = labels[indices[e]]
            whole[i] += data[e]
            if labels[i] >= 0 and other >= 0 and other != labels[i]:
                cut[i] += data[e]


@kernel
def _sum_within(graph: Any, where: Any, reach: Any, kept: Any, whole: Any) -> None:
    """The mass of each row that goes to points within reach on the map, and all of it."""
    indptr, indices, data = graph
    for i in range(reach.size):
        for e in range(indptr[i], indptr[i + 1]):
            square = 0.0
            for c in range(where.shape[1]):
                square += (where[i, c] - where[indices[e], c]) ** 2
            whole[i] += data[e]
            if np.sqrt(square) <= reach[i]:
                kept[i] += data[e]
