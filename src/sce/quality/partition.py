"""The groups of a graph, started from the clusters of a map: the one partition by which all its clusters are judged.

Clusters are first spread over the points that are in none, and their borders moved to where the graph is thin: a point goes to
the cluster that most of its mass goes to. Then clusters are merged while the boundary of some two is not real, and split where
a real boundary runs through them (:mod:`sce.quality.boundaries`). What remains are groups of which every two are separated
by a bottleneck of the graph. The search that knows nothing of the map (:func:`sce.quality.clusterability`) finds similar groups
in three to ten times the time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.clusters.numbering import number_by_size
from sce.core.compiled import kernel
from sce.graph.csr import components
from sce.quality.boundaries import (
    MAX_COARSE_NODES,
    Leaves,
    find_groups,
    find_leaves,
    measure_groups,
    merge_incoherent,
    merge_unreal_pairs,
    scales_of,
    split_groups,
)
from sce.quality.communities import louvain
from sce.quality.cuts import coarsen
from sce.quality.volume_graph import VolumeGraph, compact, groups_of

_POLISHING_ROUNDS = 10  # over all points, moving them across borders
_FEW_COVERED = 0.5  # of the points: clusters with fewer are judged against communities of the rest
_POINTS_PER_NEIGHBOUR = (
    20  # with fewer points than this many times the neighbours of one, two groups cannot be told apart
)
_HELD_SHARE = 0.5  # of a cluster's points: a group that holds so many counts, however small it is


class Partition(NamedTuple):
    """Groups of a graph, every two of them separated by a real boundary.

    `labels`: the group of each point, numbered by decreasing size; -1 for points in components too small to count.
    `enough`: whether there are so many points that a lack of groups means something.
    """

    labels: np.ndarray
    n_groups: int
    enough: bool


def partition(graph: VolumeGraph, codes: np.ndarray, key: np.uint64, *, thorough: bool = False) -> Partition:
    """The groups that the graph supports, started from clusters 0, 1, ...; -1 is none.

    Clusters are merged in two orders, and the finer result is taken: merging by cohesion first overlooks small clusters in many
    dimensions, merging by the width of boundaries alone runs on from pair to pair where classes touch. If nothing is left, the
    communities of the graph are merged instead, because the map may hide what is there. `thorough` always adds the search that
    knows nothing of the map.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sce.quality.volume_graph import as_graph
    >>> graph = as_graph(sp.csr_matrix(np.kron(np.eye(2), np.ones((30, 30)) - np.eye(30))))
    >>> partition(graph, np.repeat([0, 1], 30), np.uint64(0)).n_groups
    2
    """
    smallest, edge = scales_of(graph)
    start = _polished(graph, _starting_groups(graph, codes, smallest, key))
    enough = _is_enough(graph)
    found = [_counted(graph, label, codes, smallest) for label in _merged(graph, start, smallest, edge, key)]
    if enough and max(label.max() for label in found) <= 0:
        alone = _by_cohesion(graph, louvain(graph, 1.0, key), smallest, edge, key)
        found.append(_counted(graph, alone, codes, smallest))
    if thorough:
        leaves = find_leaves(graph, np.zeros(graph.n, np.int32), key)
        alone = find_groups(leaves, smallest, edge, key)[0].label[leaves.node]
        found.append(_counted(graph, alone, codes, smallest))
    best = max(found, key=lambda labels: int(labels.max()))
    return Partition(best, int(best.max()) + 1, enough)


def _merged(graph: VolumeGraph, start: np.ndarray, smallest: float, edge: float, key: np.uint64) -> list[np.ndarray]:
    """The groups to start from, merged in both orders."""
    coarse, node = coarsen(graph, start, MAX_COARSE_NODES, key)
    groups = measure_groups(coarse, groups_of(node, start, coarse.n), key)
    by_cohesion = merge_incoherent(coarse, groups, smallest, edge, key)
    by_boundary = merge_unreal_pairs(coarse, groups, edge, key)
    same = np.array_equal(by_cohesion.label, by_boundary.label)
    merged = [by_boundary] if same else [by_cohesion, by_boundary]
    found = []
    for one in merged:
        split = split_groups(coarse, one, smallest, edge, key)
        found.append((one if split is one else merge_unreal_pairs(coarse, split, edge, key)).label[node])
    return found


def _by_cohesion(graph: VolumeGraph, start: np.ndarray, smallest: float, edge: float, key: np.uint64) -> np.ndarray:
    """Communities, merged by cohesion first: what the map hides."""
    coarse, node = coarsen(graph, start, MAX_COARSE_NODES, key)
    leaf = groups_of(node, start, coarse.n)
    return find_groups(Leaves(coarse, node, leaf, leaf, leaf), smallest, edge, key)[0].label[node]


def _is_enough(graph: VolumeGraph) -> bool:
    """Whether the graph has many more points than each has neighbours."""
    squares = float((graph.data.astype(np.float64) ** 2).sum())
    return float((graph.volume**2).sum()) * _POINTS_PER_NEIGHBOUR < squares * graph.n


def _counted(graph: VolumeGraph, label: np.ndarray, codes: np.ndarray, smallest: float) -> np.ndarray:
    """The labels numbered by size; -1 for groups that are too small to count and hold no cluster of the map."""
    inside = codes >= 0
    keep = np.bincount(label, graph.volume) >= smallest
    if inside.any():
        overlap = overlaps(codes[inside], label[inside], int(codes.max()) + 1, len(keep))
        keep |= (overlap >= _HELD_SHARE * overlap.sum(axis=1, keepdims=True)).any(axis=0)
    return number_by_size(np.where(keep[label], label, -1)) if keep.any() else np.full(graph.n, -1, np.int32)


def overlaps(codes: np.ndarray, labels: np.ndarray, n_codes: int, n_labels: int) -> np.ndarray:
    """How many points are in cluster c and group g, for all c and g.

    Examples
    --------
    >>> overlaps(np.array([0, 0, 1]), np.array([0, 1, 1]), 2, 2)
    array([[1, 1],
           [0, 1]])
    """
    return np.bincount(codes.astype(np.int64) * n_labels + labels, minlength=n_codes * n_labels).reshape(
        n_codes, n_labels
    )


# --------------------------------------------------------------------------------------------------- groups to start from


def _starting_groups(graph: VolumeGraph, codes: np.ndarray, smallest: float, key: np.uint64) -> np.ndarray:
    """The clusters, spread over the points that are in none; where they are few, the rest has groups of its own.

    So a single cluster is judged against the rest, and not taken for real because nothing else is there.
    """
    count = int(codes.max(initial=-1)) + 1
    if count == 0:
        return np.zeros(graph.n, np.int32)
    codes = codes.astype(np.int32)
    rest = codes < 0
    if rest.any() and (count == 1 or rest.mean() > _FEW_COVERED):
        community = louvain(graph, 1.0, key, rest.astype(np.int32))
        large = np.bincount(community, np.where(rest, graph.volume, 0.0)) >= smallest
        number = np.where(large, count + np.cumsum(large) - 1, -1).astype(np.int32)
        codes = np.where(rest, number[community], codes)
    return compact(_owners(graph, codes, smallest))[0]


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


def _polished(graph: VolumeGraph, owner: np.ndarray) -> np.ndarray:
    """Move points to the cluster that most of their mass goes to, one after the other, until none moves; compact numbers."""
    owner = owner.astype(np.int32)
    for _ in range(_POLISHING_ROUNDS):
        if not _polish_once(graph, owner):
            break
    return compact(owner)[0]


# ------------------------------------------------------------------------------------------------------------- kernels


@kernel
def _heaviest(graph: Any, i: Any, member: Any, mass: Any) -> Any:
    """The cluster that most of point i's mass goes to; of equals its own, then the lowest; -1 if there is none.

    `mass` is zero for every cluster between calls.
    """
    for e in range(graph.indptr[i], graph.indptr[i + 1]):
        c = member[graph.indices[e]]
        if c >= 0 and graph.indices[e] != i:
            mass[c] += graph.data[e]
    best = member[i]
    most = mass[best] if best >= 0 else 0.0
    for e in range(graph.indptr[i], graph.indptr[i + 1]):
        c = member[graph.indices[e]]
        if c >= 0 and (mass[c] > most or (mass[c] == most and best != member[i] and c < best)):
            best, most = c, mass[c]
    for e in range(graph.indptr[i], graph.indptr[i + 1]):
        c = member[graph.indices[e]]
        if c >= 0:
            mass[c] = 0.0
    return best


@kernel
def _spread_once(graph: Any, now: Any, following: Any) -> Any:
    """One round; returns how many points were assigned."""
    taken = 0
    mass = np.zeros(now.max() + 1)
    for i in range(now.size):
        if now[i] < 0:
            best = _heaviest(graph, i, now, mass)
            if best >= 0:
                following[i] = best
                taken += 1
    return taken


@kernel
def _polish_once(graph: Any, owner: Any) -> Any:
    """One round over all points, in place; returns how many moved."""
    moved = 0
    mass = np.zeros(owner.max() + 1)
    for i in range(owner.size):
        best = _heaviest(graph, i, owner, mass)
        if best != owner[i]:
            owner[i] = best
            moved += 1
    return moved
