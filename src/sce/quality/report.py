"""Every quality figure that is possible for a map, in one report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sce.clusters.hdbscan import find_clusters
from sce.quality.check import map_points
from sce.quality.classes import ClassAgreement, class_agreement
from sce.quality.in_graph import ClustersInGraph, clusters_in_graph
from sce.quality.neighbors import NeighborsKept, edges_kept, neighbors_kept, triplets_kept

MEANINGS = {
    "neighbors_kept": "share of the 15 nearest on the map that are among the 15 nearest in the data",
    "trustworthiness": "1 if no far point is shown as near",
    "continuity": "1 if no near point is shown as far",
    "triplets_kept": "share of random triplets whose order of distances is kept; 0.5 is chance",
    "edges_kept": "share of P that goes to the nearest points on the map",
    "n_clusters": "number of clusters on the map",
    "n_real": "number of clusters whose boundaries are real: narrower in P than the cuts beside them",
    "covered": "share of points that are in a cluster",
    "share": "share of P inside clusters",
    "density_ratio": "how many times denser P is inside clusters than between them",
    "modularity": "share of P inside clusters, minus the share that their volumes predict",
    "conductance": "share of a cluster's P that leaves it, mean weighted by size; lower is better",
    "ari": "adjusted Rand index of HDBSCAN's clusters with the classes; 0 is chance",
    "ami": "adjusted mutual information of HDBSCAN's clusters with the classes; 0 is chance",
    "accuracy": "share of points whose class wins the vote of their 15 nearest on the map",
    "silhouette": "silhouette of the classes on the map, from -1 to 1",
    "neighbors_stable": "share of the 15 nearest that two maps have in common",
    "clusters_stable": "adjusted mutual information of the clusters of two maps",
    "procrustes": "disparity after one map is fitted onto another; 0 is the same map",
}


@dataclass(frozen=True)
class Quality:
    """The quality of a map; a figure that could not be measured is None, and `missing` says why.

    Attributes
    ----------
    neighbors : NeighborsKept or None
    triplets : float or None
    edges : float or None
    labels : ndarray of shape (n,)
        The clusters that the figures refer to.
    clusters : ClustersInGraph or None
    agreement : ClassAgreement or None
    missing : list of str
    """

    neighbors: NeighborsKept | None
    triplets: float | None
    edges: float | None
    labels: np.ndarray
    clusters: ClustersInGraph | None
    agreement: ClassAgreement | None
    missing: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """All figures by name; :data:`MEANINGS` explains them. Names of values under random relabelling end in `_null`."""
        found: dict[str, float] = {}
        if self.neighbors is not None:
            recall, trustworthiness, continuity = self.neighbors
            found |= {"neighbors_kept": recall, "trustworthiness": trustworthiness, "continuity": continuity}
        found |= {} if self.triplets is None else {"triplets_kept": self.triplets}
        found |= {} if self.edges is None else {"edges_kept": self.edges}
        found |= {"n_clusters": float(self.labels.max(initial=-1) + 1), "covered": float((self.labels >= 0).mean())}
        found |= {} if self.clusters is None else self.clusters.figures()
        if self.agreement is not None:
            found |= {name: getattr(self.agreement, name) for name in ("ari", "ami", "accuracy", "silhouette")}
        return {name: value for name, value in found.items() if np.isfinite(value)}

    def __str__(self) -> str:
        return "\n".join([*figure_lines(self.figures()), *self.missing])


def figure_lines(figures: dict[str, float]) -> list[str]:
    """A line for each figure: its name, its value, its value under random relabelling, and its meaning."""
    lines = []
    for name, value in figures.items():
        if name.endswith("_null"):
            continue
        null = f"({figures[name + '_null']:.3g} if relabelled)" if f"{name}_null" in figures else ""
        lines.append(f"{name:<17}{value:>8.4g}  {null:<26}{MEANINGS.get(name, '')}".rstrip())
    return lines


def assess(
    Y: Any,
    *,
    X: Any = None,
    P: Any = None,
    classes: Any = None,
    labels: Any = None,
    metric: Any = "euclidean",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Quality:
    """Compute every quality figure that is possible for a map.

    Parameters
    ----------
    Y : array of shape (n, 1..3), fitted SCE, or saved map
        A graph or data that a model or a map holds are used where they are not given.
    X : array or sparse matrix of shape (n, d), or None
        The data, for neighbours and triplets kept.
    P : sparse matrix of shape (n, n), or None
        The similarity graph, for edges kept and clusters against P.
    classes : array of shape (n,), or None
        Known classes, for agreement with classes.
    labels : array of shape (n,), or None
        The clusters to judge, negative for points in no cluster. If None, :func:`sce.find_clusters` finds them on the map.
    metric : str or callable, default="euclidean"
        The distance in the data.
    random_state, n_jobs
        As in :func:`sce.quality.neighbors_kept`.

    Returns
    -------
    Quality

    Examples
    --------
    >>> from sce import SCE
    >>> X = np.random.default_rng(0).normal(size=(90, 4)) + np.repeat([0, 20, 40], 30)[:, None]
    >>> quality = assess(SCE(random_state=0).fit(X), X=X)
    >>> int(quality.figures()["n_clusters"]), quality.missing
    (3, ['Agreement with classes needs classes.'])
    """
    X, P = _held(Y, "X", X), _held(Y, "P", _held(Y, "affinity_", P))
    points = map_points(Y)
    found = find_clusters(points, n_jobs=n_jobs) if labels is None else np.asarray(labels)
    sampling: dict[str, Any] = {"random_state": random_state, "n_jobs": n_jobs}
    missing = [
        sentence
        for what, sentence in [
            (X, "Neighbours and triplets kept need the data."),
            (P, "Edges kept and clusters against P need the graph."),
            (classes, "Agreement with classes needs classes."),
        ]
        if what is None
    ]
    return Quality(
        neighbors=None if X is None else neighbors_kept(X, points, metric=metric, **sampling),
        triplets=None if X is None else triplets_kept(X, points, metric=metric, random_state=random_state),
        edges=None if P is None else edges_kept(P, points, **sampling),
        labels=found,
        clusters=None if P is None else clusters_in_graph(P, found, **sampling),
        agreement=None if classes is None else class_agreement(points, classes, **sampling),
        missing=missing,
    )


def _held(Y: Any, name: str, given: Any) -> Any:
    """The given value, or else the one that a map or a model holds; an array holds none."""
    return given if given is not None or hasattr(Y, "__array__") else getattr(Y, name, None)
