"""Every quality figure that is possible for a map, in one report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sce.clusters.hdbscan import find_clusters
from sce.core.progress import Reporter
from sce.quality.check import held, map_points
from sce.quality.classes import ClassAgreement, are_spread, class_agreement
from sce.quality.in_graph import ClustersInGraph, clusters_in_graph
from sce.quality.neighbors import NeighborsKept, edges_kept, neighbors_kept, triplets_kept
from sce.quality.story import cluster_story, label_story, neighbor_story

MEANINGS = {
    "neighbors_kept": "share of the 15 nearest on the map that are among the 15 nearest in the data",
    "trustworthiness": "1 if no far point is shown as near",
    "continuity": "1 if no near point is shown as far",
    "triplets_kept": "share of random triplets whose order of distances is kept; 0.5 is chance",
    "edges_kept": "share of the graph's edges, by weight, that go to the nearest points on the map",
    "n_clusters": "number of clusters on the map",
    "n_real": "number of clusters with a clear gap in the graph to all others",
    "n_groups": "number of groups in the graph with clear gaps between them; 1 if it has no gap",
    "covered": "share of points that are in a cluster",
    "share": "share of the graph's weight inside clusters",
    "density_ratio": "how many times denser the graph is inside clusters than between them",
    "modularity": "share of the graph's weight inside clusters, minus the share that their sizes predict",
    "conductance": "share of a cluster's edges that leave it, mean weighted by size; lower is better",
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

    As text it begins with the story in plain words; the figures follow.

    Attributes
    ----------
    neighbors : NeighborsKept or None
    triplets : float or None
    edges : float or None
    labels : ndarray of shape (n,)
        The clusters that the figures refer to.
    clusters : ClustersInGraph or None
    agreement : ClassAgreement or None
        None also for labels that are spread over the whole map, as those of patients or batches are.
    spread_labels : bool or None
        Whether the labels are spread over the whole map; None without labels.
    missing : list of str
    """

    neighbors: NeighborsKept | None
    triplets: float | None
    edges: float | None
    labels: np.ndarray
    clusters: ClustersInGraph | None
    agreement: ClassAgreement | None
    missing: list[str] = field(default_factory=list)
    spread_labels: bool | None = None

    def story(self) -> list[str]:
        """What the figures say, in full sentences."""
        n_clusters = len(np.unique(self.labels[self.labels >= 0]))
        judgement = None if self.clusters is None else self.clusters.judgement
        return [
            *cluster_story(n_clusters, float((self.labels >= 0).mean()), judgement),
            *neighbor_story(self.neighbors),
            *label_story(self.spread_labels, self.agreement),
        ]

    def figures(self) -> dict[str, float]:
        """All figures by name; :data:`MEANINGS` explains them. Names of values under random relabelling end in `_null`."""
        found: dict[str, float] = {}
        if self.neighbors is not None:
            recall, trustworthiness, continuity = self.neighbors
            found |= {"neighbors_kept": recall, "trustworthiness": trustworthiness, "continuity": continuity}
        found |= {} if self.triplets is None else {"triplets_kept": self.triplets}
        found |= {} if self.edges is None else {"edges_kept": self.edges}
        found |= {
            "n_clusters": float(len(np.unique(self.labels[self.labels >= 0]))),
            "covered": float((self.labels >= 0).mean()),
        }
        found |= {} if self.clusters is None else self.clusters.figures()
        if self.agreement is not None:
            found |= {name: getattr(self.agreement, name) for name in ("ari", "ami", "accuracy", "silhouette")}
        return {name: value for name, value in found.items() if np.isfinite(value)}

    def _repr_html_(self) -> str:
        from sce.quality.quality_page import quality_page

        return quality_page(self, MEANINGS)

    def __str__(self) -> str:
        return "\n".join([*self.story(), "", *figure_lines(self.figures()), *self.missing])


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
    thorough: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    report: Reporter | None = None,
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
    thorough : bool, default=False
        Whether to look for groups of the graph without the help of the map, too, which takes several times as long.
    random_state, n_jobs
        As in :func:`sce.quality.neighbors_kept`.
    report : Reporter or None
        What shows the progress.

    Returns
    -------
    Quality

    Examples
    --------
    >>> from sce import SCE
    >>> X = np.random.default_rng(0).normal(size=(90, 4)) + np.repeat([0, 20, 40], 30)[:, None]
    >>> quality = assess(SCE(random_state=0).fit(X), X=X)
    >>> int(quality.figures()["n_clusters"]), quality.missing
    (3, ['Agreement with classes is not measured: no classes are given.'])
    """
    X, P = held(Y, "X", X), held(Y, "P", held(Y, "affinity_", P))
    points = map_points(Y)
    sampling: dict[str, Any] = {"random_state": random_state, "n_jobs": n_jobs}
    wanted: dict[str, tuple[Any, Callable[[], Any]]] = {
        "clusters on the map": (True, lambda: _labels_of(points, labels, n_jobs)),
        "neighbours kept": (X, lambda: neighbors_kept(X, points, metric=metric, **sampling)),
        "triplets kept": (X, lambda: triplets_kept(X, points, metric=metric, random_state=random_state)),
        "edges kept": (P, lambda: edges_kept(P, points, **sampling)),
        "groups of the graph": (
            P,
            lambda: clusters_in_graph(P, found["clusters on the map"], thorough=thorough, **sampling),
        ),
        "labels": (classes, lambda: _label_figures(points, classes, sampling)),
    }
    found: dict[str, Any] = {}
    show = (report or Reporter(False)).steps(sum(what is not None for what, _ in wanted.values()), "step")
    for name, (what, measure) in wanted.items():
        found[name] = None if what is None else measure()
        if what is not None:
            show(name)
    clusters, kept, triplets, edges, groups, agreement = found.values()
    spread, agreed = (None, None) if agreement is None else agreement
    needs = [
        (X, "Neighbours and triplets kept need the data."),
        (P, "Edges kept and clusters against P need the graph."),
        (classes, "Agreement with classes is not measured: no classes are given."),
    ]
    missing = [sentence for what, sentence in needs if what is None]
    return Quality(kept, triplets, edges, clusters, groups, agreed, missing, spread)


def _labels_of(points: np.ndarray, labels: Any, n_jobs: int | None) -> np.ndarray:
    """The clusters that are given, or those found on the map."""
    return find_clusters(points, n_jobs=n_jobs) if labels is None else np.asarray(labels)


def _label_figures(points: np.ndarray, classes: Any, sampling: dict[str, Any]) -> tuple[bool, ClassAgreement | None]:
    """Whether labels are spread over the whole map; and their agreement with it, if they are not."""
    spread = are_spread(points, classes, random_state=sampling["random_state"])
    return spread, None if spread else class_agreement(points, classes, **sampling)
