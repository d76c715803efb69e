"""Whether several maps of the same data agree: what changes with the seed is not in the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from sce.clusters.hdbscan import find_clusters
from sce.errors import InputError
from sce.quality.check import map_points
from sce.quality.neighbors import neighbors_kept


@dataclass(frozen=True)
class Stability:
    """How much several maps of the same data agree; each is a symmetric matrix with a row for each map.

    Attributes
    ----------
    neighbors : ndarray
        The share of the k nearest that two maps have in common.
    clusters : ndarray
        Adjusted mutual information of the clusters that are found in two maps, those in none as one more cluster.
    procrustes : ndarray
        What remains when one map is shifted, turned, mirrored and scaled onto the other: 0 for the same map, 1 for maps
        that have nothing in common. Clusters that change places raise it.
    """

    neighbors: np.ndarray
    clusters: np.ndarray
    procrustes: np.ndarray

    def figures(self) -> dict[str, float]:
        """The means over pairs of maps."""
        pairs = np.triu_indices(len(self.neighbors), 1)
        return {
            "neighbors_stable": float(self.neighbors[pairs].mean()),
            "clusters_stable": float(self.clusters[pairs].mean()),
            "procrustes": float(self.procrustes[pairs].mean()),
        }


def stability(
    maps: Sequence[Any],
    *,
    labels: Sequence[np.ndarray] | None = None,
    k: int = 15,
    n_queries: int = 1000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Stability:
    """How much maps of the same data agree, for example those of several seeds.

    Parameters
    ----------
    maps : sequence of arrays of shape (n, 1..3), fitted SCE, or saved maps
        At least two, with their points in the same order.
    labels : sequence of arrays of shape (n,), or None
        Clusters of each map; found by :func:`sce.find_clusters` if None.
    k, n_queries, random_state, n_jobs
        As in :func:`sce.quality.neighbors_kept`.

    Returns
    -------
    Stability

    Examples
    --------
    >>> Y = np.random.default_rng(0).normal(size=(100, 2))
    >>> stability([Y, Y @ [[0, 1], [-1, 0]]]).figures()["neighbors_stable"]
    1.0
    """
    from sklearn.metrics import adjusted_mutual_info_score

    points = [map_points(Y) for Y in maps]
    if len(points) < 2 or len({Y.shape for Y in points}) > 1:
        shapes = ", ".join(str(Y.shape) for Y in points) or "none"
        raise InputError(f"Stability needs two or more maps of the same points; their shapes are: {shapes}.")
    if labels is None:
        labels = [find_clusters(Y, n_jobs=n_jobs) for Y in points]
    neighbors, clusters, procrustes = np.eye(len(points)), np.eye(len(points)), np.zeros((len(points),) * 2)
    for i, j in combinations(range(len(points)), 2):
        kept = neighbors_kept(points[i], points[j], k=k, n_queries=n_queries, random_state=random_state, n_jobs=n_jobs)
        neighbors[i, j] = neighbors[j, i] = kept.recall
        clusters[i, j] = clusters[j, i] = adjusted_mutual_info_score(labels[i], labels[j])
        procrustes[i, j] = procrustes[j, i] = _disparity(points[i], points[j])
    return Stability(neighbors, clusters, procrustes)


def _disparity(A: np.ndarray, B: np.ndarray) -> float:
    """What remains of the variance of one map when the other is laid onto it."""
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    sizes = np.linalg.norm(A) * np.linalg.norm(B)
    if sizes == 0:
        return float(np.linalg.norm(A) != np.linalg.norm(B))
    fit = np.linalg.svd(A.T @ B, compute_uv=False).sum() / sizes
    return float(max(0.0, 1.0 - fit**2))
