"""How well several maps of the same data agree: what changes with the seed is not in the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from sce.clusters.hdbscan import find_clusters
from sce.core.linalg import orthogonal_factor
from sce.errors import InputError
from sce.quality.check import map_points
from sce.quality.neighbors import neighbors_kept


@dataclass(frozen=True)
class Stability:
    """How well several maps of the same data agree: symmetric matrices with a row for each map.

    Attributes
    ----------
    neighbors : ndarray
        The share of the k nearest that two maps have in common.
    clusters : ndarray
        Adjusted mutual information of the clusters of two maps, where points in no cluster count as one more cluster.
    procrustes : ndarray
        The share of variance that remains after one map is shifted, rotated, reflected and scaled onto the other: 0 for the
        same map, 1 for maps that have nothing in common. Clusters that change places raise it.
    """

    neighbors: np.ndarray
    clusters: np.ndarray
    procrustes: np.ndarray

    def figures(self) -> dict[str, float]:
        """The mean of each over pairs of maps."""
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
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Stability:
    """Measure how well maps of the same data agree, for example maps with different seeds.

    Parameters
    ----------
    maps : sequence of arrays of shape (n, 1..3), fitted SCE, or saved maps
        At least two maps, with their points in the same order.
    labels : sequence of arrays of shape (n,), or None
        The clusters of each map. If None, :func:`sce.find_clusters` finds them.
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
        raise InputError(f"Stability needs two or more maps of the same points; the shapes given are: {shapes}.")
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
    """The share of the variance of one map that remains after the other is fitted onto it."""
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    size_A, size_B = np.sqrt((A * A).sum()), np.sqrt((B * B).sum())
    if size_A * size_B == 0:
        return float(size_A != size_B)
    products = np.array([[(a * b).sum() for b in B.T] for a in A.T])
    fit = (orthogonal_factor(products) * products).sum() / (size_A * size_B)
    return float(max(0.0, 1.0 - fit**2))
