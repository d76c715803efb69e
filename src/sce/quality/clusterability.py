"""Whether a graph has clusters, before any map of it: the answer to "Why does SCE find no clusters in my data?"."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.clusters.numbering import number_by_size
from sce.core.parallel import Team, resolve_n_jobs
from sce.core.random import stream
from sce.core.validate import draw_seed
from sce.graph.csr import components
from sce.quality.boundaries import Leaves, find_groups, find_leaves, scales_of
from sce.quality.communities import modularity
from sce.quality.cuts import coarsen
from sce.quality.mass import check_graph
from sce.quality.spectra import Spectrum, low_spectrum
from sce.quality.volume_graph import VolumeGraph, as_graph, induce

_MAX_EIGENVALUES = 20
_MIN_GAP_RATIO = 2.5  # of an eigenvalue to the one before: a lower ratio is no gap
_COARSE_SPECTRUM_NODES = 2000  # of the graph whose eigenvectors are the start
_TWO_ROUNDS_UP_TO_EDGES = 20_000_000  # the eigenvectors of a larger graph get one short round
_LOOSE_SHARE = 0.5  # of the points outside any cluster: with more, the graph has fallen into crumbs
_CONNECTED_SHARE = 0.5  # of the points in the largest component: with fewer, clusters are mostly components


class Clusterability(NamedTuple):
    """What a graph says about its clusters.

    Attributes
    ----------
    n_components : int
        The number of connected components, not counting isolated points.
    largest : float
        The share of points in the largest component.
    n_isolated : int
        The number of points without an edge.
    eigenvalues : array
        The smallest eigenvalues of the normalised Laplacian of the largest component, at most 20, from 0 up.
    errors : array
        An error bound for each: some true eigenvalue is this close.
    n_gap : int
        How many eigenvalues lie below the widest gap among them, the number of clusters that it suggests; 0 if there is no
        gap. The eigenvalues of a thin line or ring, which has no clusters, have gaps as well.
    n_communities : int
        The number of communities found by :func:`sce.quality.communities.communities`.
    modularity : float
        The modularity of these communities. Noise has a high modularity, too.
    n_clusters : int
        The number of clusters that the graph supports: communities, merged until all boundaries are real. 1 means none.
    labels : array of shape (n,), int32
        These clusters, numbered by decreasing size; -1 for points in components too small to count.
    advice : str
        What to do about it.
    """

    n_components: int
    largest: float
    n_isolated: int
    eigenvalues: np.ndarray
    errors: np.ndarray
    n_gap: int
    n_communities: int
    modularity: float
    n_clusters: int
    labels: np.ndarray
    advice: str

    def figures(self) -> dict[str, float]:
        """The figures by name."""
        names = ("n_components", "largest", "n_isolated", "n_gap", "n_communities", "modularity", "n_clusters")
        return {name: float(getattr(self, name)) for name in names}

    def __str__(self) -> str:
        return "\n".join([*self.lines(), f"groups with clear gaps between them: {self.n_clusters}", self.advice])

    def lines(self) -> list[str]:
        """What is known about the graph but for its groups."""
        gap = f"a gap that suggests {self.n_gap} clusters" if self.n_gap else "no gap"
        values = " ".join(f"{value:.3g}" for value in self.eigenvalues[:10])
        return [
            f"connected components: {self.n_components}, the largest with {self.largest:.1%} of the points",
            f"points without an edge: {self.n_isolated}",
            f"smallest eigenvalues of the Laplacian of the largest component: {values}, with {gap}",
            f"communities: {self.n_communities}, with modularity {self.modularity:.3f} (noise has communities, too)",
        ]


def clusterability(P: Any, *, random_state: Any = 0, n_jobs: int | None = None) -> Clusterability:
    """Tell whether a graph has clusters, and how many it supports.

    Parameters
    ----------
    P : sparse matrix of shape (n, n)
        The similarity graph.
    random_state : int, RandomState or None, default=0
        The seed of the search for communities.
    n_jobs : int or None, default=None
        The number of threads; None is all cores. Never changes the result.

    Examples
    --------
    >>> from scipy import sparse
    >>> P = sparse.csr_matrix(np.kron(np.eye(3), np.ones((40, 40)) - np.eye(40)))
    >>> clusterability(P).n_clusters
    3
    """
    graph = as_graph(check_graph(P))
    key = stream(draw_seed(random_state), "clusterability")
    piece = components(graph.rows, np.zeros(graph.n, np.int32))
    sizes = np.bincount(piece)
    isolated = int((graph.volume <= 0).sum())
    with Team(resolve_n_jobs(n_jobs)) as team:
        spectrum = _spectrum(induce(graph, np.flatnonzero(piece == sizes.argmax())), key, team)
    leaves = find_leaves(graph, np.zeros(graph.n, np.int32), key)
    labels = _supported(graph, leaves, key)
    count = int(labels.max()) + 1
    pieces, largest = int((sizes > 1).sum()), float(sizes.max() / graph.n)
    return Clusterability(
        pieces,
        largest,
        isolated,
        spectrum.values,
        spectrum.errors,
        _gap(spectrum.values),
        int(leaves.community.max()) + 1,
        modularity(graph, leaves.community),
        count,
        labels,
        _advice(count, pieces, largest, float((labels < 0).mean())),
    )


def _spectrum(graph: VolumeGraph, key: np.uint64, team: Team) -> Spectrum:
    """The smallest eigenvalues; the eigenvectors of a coarse graph are the start."""
    count = min(_MAX_EIGENVALUES, graph.n)
    coarse, node = coarsen(graph, np.zeros(graph.n, np.int32), _COARSE_SPECTRUM_NODES, key)
    first = low_spectrum(coarse, min(count, coarse.n), key, team, rounds=8)
    if coarse.n == graph.n:
        return first
    rounds, degree = (2, 10) if len(graph.data) <= _TWO_ROUNDS_UP_TO_EDGES else (1, 8)
    return low_spectrum(graph, count, key, team, rounds=rounds, degree=degree, start=first.vectors[node, 1:])


def _gap(values: np.ndarray) -> int:
    """How many eigenvalues, at least two, lie below the gap with the highest ratio of its ends; 0 if that is too narrow."""
    if len(values) < 3:
        return 0
    floor = max(1e-6, 1e-3 * float(values[-1]))
    ratios = (values[2:] + floor) / (values[1:-1] + floor)
    return int(ratios.argmax()) + 2 if ratios.max() >= _MIN_GAP_RATIO else 0


def _supported(graph: VolumeGraph, leaves: Leaves, key: np.uint64) -> np.ndarray:
    """The clusters that the graph supports, numbered by decreasing size; -1 for components that are too small."""
    smallest, edge = scales_of(graph)
    groups, _ = find_groups(leaves, smallest, edge, key)
    volume = groups.mass.sum(axis=1)
    label = groups.label[leaves.node]
    small = volume < smallest
    if small.all():
        return np.full(graph.n, -1, np.int32)
    labels = np.full(graph.n, -1, np.int32)
    keep = ~small[label]
    used = np.cumsum(~small, dtype=np.int32) - np.int32(1)
    labels[keep] = number_by_size(used[label[keep]])
    return labels


def _advice(count: int, pieces: int, largest: float, loose: float) -> str:
    """One or two sentences on what to do."""
    if loose > _LOOSE_SHARE:
        return (
            f"The graph has {pieces} components, most of them too small to be clusters: raise n_neighbors (perplexity), "
            "or look for copies among the rows."
        )
    if count <= 1:
        return (
            "P has no clusters that are separated: a map in one piece is right, and clusters in a picture of it are artefacts. "
            "If you expect clusters, they were lost before P: try other features, another scaling or metric, "
            "or fewer neighbours."
        )
    if largest < _CONNECTED_SHARE:
        return (
            f"P has {count} clusters, mostly components with no edge between them: their positions on the map relative to "
            "each other mean nothing."
        )
    return (
        f"P has {count} clusters; a map that shows fewer hides some, one that shows more has drawn boundaries that P does "
        "not have."
    )
