"""The verdict of P on given clusters: which are real, which should be merged, which should be split."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sce.core.compiled import kernel
from sce.core.random import stream
from sce.graph.csr import components
from sce.quality.boundaries import (
    MAX_REAL_BOTTLENECK,
    Bottlenecks,
    find_leaves,
    groups_within,
    measure_groups,
    scales_of,
)
from sce.quality.volume_graph import VolumeGraph, as_graph, compact, groups_of


class Verdict(NamedTuple):
    """What P says about clusters.

    Attributes
    ----------
    names : array of shape (n_clusters,)
        The labels of the clusters.
    real : array of bool of shape (n_clusters,)
        Whether all boundaries of a cluster are real.
    merges : list of (label, label, ratio)
        Pairs of clusters that P would merge; `ratio` is the mass across their boundary, relative to the mass across the
        narrowest cut beside it. Above 0.75 a boundary is not real. The least real boundaries come first.
    splits : list of (label, sizes)
        Clusters that P would split, with the sizes of the parts, largest first.
    parts : array of shape (n,), int32
        The part of each point, where clusters that P would split are split; -1 for points in no cluster and for stray points,
        which are cut off from the rest of their cluster and too few to form a part.
    """

    names: np.ndarray
    real: np.ndarray
    merges: list[tuple[int, int, float]]
    splits: list[tuple[int, list[int]]]
    parts: np.ndarray

    def says(self, c: int) -> str:
        """The verdict on cluster number c, in words."""
        name = int(self.names[c])
        others = [str(b if a == name else a) for a, b, _ in self.merges if name in (a, b)]
        plural = "s" if len(others) > 1 else ""
        words = ["real"] if self.real[c] else [f"not separated from cluster{plural} {', '.join(others)}"]
        for label, sizes in self.splits:
            if label == name:
                words.append(f"splits into {len(sizes)} parts of {', '.join(map(str, sizes))} points")
        return "; ".join(words)


def judge(P: sp.csr_matrix, codes: np.ndarray, names: np.ndarray, seed: int) -> Verdict:
    """Judge clusters 0, 1, ... by P.

    Points in no cluster count with the cluster that P connects them to, so that an empty margin around a cluster does not make
    it more real.

    Examples
    --------
    >>> P = sp.csr_matrix(np.kron(np.eye(2), np.ones((9, 9)) - np.eye(9)) / 144)
    >>> judge(P, np.array([0] * 6 + [1] * 12), np.array([0, 1]), seed=0).real
    array([False, False])
    """
    graph, key = as_graph(P), stream(seed, "judgement")  # the name of a stream is part of the result
    if not len(names):
        return Verdict(names, np.zeros(0, np.bool_), [], [], np.full(len(codes), -1, np.int32))
    smallest, edge = scales_of(graph)
    owner = _owners(graph, codes, smallest)
    leaves = find_leaves(graph, owner, key)
    label = groups_within(leaves, smallest, edge, key)
    groups = measure_groups(leaves.graph, label, key)
    ratios = Bottlenecks(leaves.graph, groups, edge).pair
    owner_of_group = np.empty(len(groups.cohesion), np.int32)
    owner_of_group[label[leaves.node]] = owner
    merges = _merges(ratios, owner_of_group, names)
    unreal = {name for a, b, _ in merges for name in (a, b)}
    parts = np.where(owner == codes, label[leaves.node], -1).astype(np.int32)
    inside = parts >= 0
    parts[inside] = compact(parts[inside])[0]
    splits = _splits(parts[inside], codes[inside], names)
    return Verdict(names, np.array([int(name) not in unreal for name in names]), merges, splits, parts)


def _merges(ratios: np.ndarray, owner: np.ndarray, names: np.ndarray) -> list[tuple[int, int, float]]:
    """Pairs of clusters where some boundary between their parts is not real."""
    worst: dict[tuple[int, int], float] = {}
    for a, b in zip(*np.nonzero(np.triu(ratios, 1) > MAX_REAL_BOTTLENECK), strict=True):
        low, high = sorted((int(owner[a]), int(owner[b])))
        if low < high < len(names):
            pair = (int(names[low]), int(names[high]))
            worst[pair] = max(worst.get(pair, 0.0), float(ratios[a, b]))
    return sorted(((a, b, ratio) for (a, b), ratio in worst.items()), key=lambda merge: (-merge[2], merge[:2]))


def _splits(parts: np.ndarray, codes: np.ndarray, names: np.ndarray) -> list[tuple[int, list[int]]]:
    """The clusters that have several parts, with the sizes of the parts."""
    pairs, sizes = np.unique(np.stack([codes, parts]), axis=1, return_counts=True)
    found = [(int(name), sorted(sizes[pairs[0] == c].tolist(), reverse=True)) for c, name in enumerate(names)]
    return [(name, list(counts)) for name, counts in found if len(counts) > 1]


def _owners(graph: VolumeGraph, codes: np.ndarray, smallest: float) -> np.ndarray:
    """The cluster of each point: the given one, or for stray points and points in none the one that P connects them to.

    A stray point is in a small component of its cluster that is not the largest. Points that are connected to no cluster get
    the number after the last.
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


def _spread(graph: VolumeGraph, codes: np.ndarray) -> np.ndarray:
    """Assign each point in no cluster to the cluster that most of its mass goes to, round by round outward."""
    now = codes.astype(np.int32)
    while True:
        following = now.copy()
        if not _spread_once(graph, now, following):
            return now
        now = following


@kernel
def _spread_once(graph: Any, now: Any, following: Any) -> Any:
    """One round; the lowest number wins a tie. Returns how many points were assigned."""
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
