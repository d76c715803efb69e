"""What P says of each of some given clusters: real, better merged, better split."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sce.core.compiled import kernel
from sce.core.random import stream
from sce.graph.csr import components
from sce.quality.boundaries import NECK, Necks, find_leaves, groups_within, measure_groups, scales_of
from sce.quality.communities import Graph, as_graph, compact, groups_of


class Judgement(NamedTuple):
    """What P says of clusters.

    Attributes
    ----------
    names : array of shape (n_clusters,)
        The labels of the clusters.
    real : array of bool of shape (n_clusters,)
        Whether all boundaries of a cluster are real.
    merges : list of (label, label, neck)
        Pairs of clusters that P would rather have merged; `neck` is the mass across, relative to the mass across the
        narrowest cut beside it: from 0.75 up a boundary is not real. The least real ones come first.
    splits : list of (label, sizes)
        Clusters that P would split, with the sizes of the parts, largest first.
    parts : array of shape (n,), int32
        The part that each point is in: the clusters, those that P would split being split; -1 for points in no cluster, and
        for strays: points cut off from the rest of their cluster, too few to be a part.
    """

    names: np.ndarray
    real: np.ndarray
    merges: list[tuple[int, int, float]]
    splits: list[tuple[int, list[int]]]
    parts: np.ndarray

    def says(self, c: int) -> str:
        """What P says of cluster number c, in words."""
        name = int(self.names[c])
        others = [str(b if a == name else a) for a, b, _ in self.merges if name in (a, b)]
        words = ["real"] if self.real[c] else ["not parted from " + ", ".join(others)]
        words += [f"falls into parts of {', '.join(map(str, sizes))}" for label, sizes in self.splits if label == name]
        return "; ".join(words)


def judge(P: sp.csr_matrix, codes: np.ndarray, names: np.ndarray, seed: int) -> Judgement:
    """Judge clusters 0, 1, ... by P.

    Points in no cluster count with the cluster that P ties them to, so that a clearing around a cluster makes it no more real.

    Examples
    --------
    >>> P = sp.csr_matrix(np.kron(np.eye(2), np.ones((9, 9)) - np.eye(9)) / 144)
    >>> judge(P, np.array([0] * 6 + [1] * 12), np.array([0, 1]), seed=0).real
    array([False, False])
    """
    graph, key = as_graph(P), stream(seed, "judgement")
    if not len(names):
        return Judgement(names, np.zeros(0, np.bool_), [], [], np.full(len(codes), -1, np.int32))
    smallest, edge = scales_of(graph)
    owner = _owners(graph, codes, smallest)
    leaves = find_leaves(graph, owner, key)
    label = groups_within(leaves, smallest, edge, key)
    groups = measure_groups(leaves.graph, label, key)
    necks = Necks(leaves.graph, groups, edge).pair
    owner_of_group = np.empty(len(groups.cohesion), np.int32)
    owner_of_group[label[leaves.node]] = owner
    merges = _merges(necks, owner_of_group, names)
    unreal = {name for a, b, _ in merges for name in (a, b)}
    parts = np.where(owner == codes, label[leaves.node], -1).astype(np.int32)
    inside = parts >= 0
    parts[inside] = compact(parts[inside])[0]
    splits = _splits(parts[inside], codes[inside], names)
    return Judgement(names, np.array([int(name) not in unreal for name in names]), merges, splits, parts)


def _merges(necks: np.ndarray, owner: np.ndarray, names: np.ndarray) -> list[tuple[int, int, float]]:
    """Pairs of clusters with a boundary between any of their parts that is not real."""
    worst: dict[tuple[int, int], float] = {}
    for a, b in zip(*np.nonzero(np.triu(necks, 1) > NECK), strict=True):
        low, high = sorted((int(owner[a]), int(owner[b])))
        if low < high < len(names):
            pair = (int(names[low]), int(names[high]))
            worst[pair] = max(worst.get(pair, 0.0), float(necks[a, b]))
    return sorted(((a, b, neck) for (a, b), neck in worst.items()), key=lambda merge: (-merge[2], merge[:2]))


def _splits(parts: np.ndarray, codes: np.ndarray, names: np.ndarray) -> list[tuple[int, list[int]]]:
    """The clusters of several parts, with their sizes."""
    pairs, sizes = np.unique(np.stack([codes, parts]), axis=1, return_counts=True)
    found = [(int(name), sorted(sizes[pairs[0] == c].tolist(), reverse=True)) for c, name in enumerate(names)]
    return [(name, list(counts)) for name, counts in found if len(counts) > 1]


def _owners(graph: Graph, codes: np.ndarray, smallest: float) -> np.ndarray:
    """The cluster of each point: that given, or for points in none, and strays, the one that P ties them to.

    Strays are in a small piece of their cluster that is not its largest. What is tied to no cluster gets the number after
    the last.
    """
    piece = components(graph.rows, codes)
    volume = np.bincount(piece, graph.volume)
    code_of = groups_of(piece, codes, len(volume))
    largest = np.zeros(len(volume), np.bool_)
    order = np.lexsort((-volume, code_of))
    largest[order[np.unique(code_of[order], return_index=True)[1]]] = True
    stray = (volume < smallest) & ~largest
    owner = _spread(graph, np.where(stray[piece], -1, codes))
    owner[owner < 0] = codes.max() + 1
    return owner


def _spread(graph: Graph, codes: np.ndarray) -> np.ndarray:
    """Each point in no cluster takes the cluster that most of its mass goes to, round by round from the clusters outward."""
    now = codes.astype(np.int32)
    while True:
        following = now.copy()
        if not _spread_once(graph, now, following):
            return now
        now = following


@kernel
def _spread_once(graph: Any, now: Any, following: Any) -> Any:
    """One round; of equal ones the cluster of the lowest number. Returns how many points took one."""
    taken = 0
    mass = np.zeros(now.max() + 1)
    for i in range(now.size):
        if now[i] >= 0:
            continue
        best = -1
        for e in range(graph.indptr[i], graph.indptr[i + 1]):
            c = now[graph.indices[e]]
            if c >= 0:
                mass[c] += graph.data[e]
        for e in range(graph.indptr[i], graph.indptr[i + 1]):
            c = now[graph.indices[e]]
            if c >= 0 and (best < 0 or mass[c] > mass[best] or (mass[c] == mass[best] and c < best)):
                best = c
        for e in range(graph.indptr[i], graph.indptr[i + 1]):
            c = now[graph.indices[e]]
            if c >= 0:
                mass[c] = 0.0
        if best >= 0:
            following[i] = best
            taken += 1
    return taken
