"""Weak cuts: where a set of points falls apart most easily.

The conductance of a cut is the mass of P that crosses it, relative to the volume of the smaller side. The weakest balanced
cut is searched for as graph partitioners do: the graph is coarsened step by step, the coarsest graph is cut along an
eigenvector of its Laplacian, and the cut is projected back and refined at each step. The result is a close upper
bound.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.core.random import permutation
from sce.quality.communities import join
from sce.quality.spectra import low_spectrum
from sce.quality.volume_graph import VolumeGraph, aggregate, groups_of

MIN_SIDE_VOLUME = 0.2  # of the volume, on each side of a balanced cut
ROUNDING_SHARE = 1e-9  # of a cut: a smaller improvement may be rounding error
REFINEMENT_ROUNDS = 20  # over all nodes at most, moving single nodes across a cut
_COARSEST_NODES = 120  # the eigenvectors of so small a graph take milliseconds
_CUT_VECTORS = 3  # the second smallest eigenvector and two more: the best cut is not always along the first
_SHRINK_FACTOR = 8  # of the number of nodes, from one level to the next
_STALLED_SHARE = 0.9  # a level with more of the nodes of the level before is not worth having


class Cut(NamedTuple):
    """A cut of a graph in two: its conductance, and which nodes are on the first side."""

    conductance: float
    side: np.ndarray


def weakest_cut(graph: VolumeGraph, key: np.uint64) -> Cut:
    """The balanced cut of lowest conductance that is found; a single node cannot be cut, its conductance is 1.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sce.quality.volume_graph import as_graph
    >>> path = as_graph(sp.csr_matrix(sp.diags([1.0, 1.0], [-1, 1], shape=(6, 6))))
    >>> weakest_cut(path, np.uint64(0)).conductance  # one of five edges; each half has five ends
    0.2
    """
    if graph.n < 2 or graph.volume.sum() <= 0:
        return Cut(1.0, np.zeros(graph.n, np.bool_))
    levels, members = [graph], []
    while levels[-1].n > _COARSEST_NODES:
        goal = max(_COARSEST_NODES, levels[-1].n // _SHRINK_FACTOR)
        member, count = _shrink(levels[-1], np.zeros(levels[-1].n, np.int32), goal, key)
        if count > _STALLED_SHARE * levels[-1].n:
            break
        members.append(member)
        levels.append(aggregate(levels[-1], member, count))
    side = _spectral_cut(levels[-1], key)
    _refine(levels[-1], side)
    for finer, member in zip(reversed(levels[:-1]), reversed(members), strict=True):
        side = side[member]
        _refine(finer, side)
    return Cut(conductance(graph, side), side)


def conductance(graph: VolumeGraph, side: np.ndarray) -> float:
    """The mass between the two sides, relative to the volume of the smaller one; 1 if that has no volume."""
    cut, volume = _measure(graph, side)
    smaller = min(volume, graph.volume.sum() - volume)
    return float(cut / smaller) if smaller > 0 else 1.0


def coarsen(graph: VolumeGraph, group: np.ndarray, max_nodes: int, key: np.uint64) -> tuple[VolumeGraph, np.ndarray]:
    """A graph of about `max_nodes` nodes at most, and the node of each point.

    A node is a clump of well-connected points, all of one group.
    """
    member = np.arange(graph.n, dtype=np.int32)
    level, within, looser = graph, group, 1.0
    while level.n > max_nodes and looser > 1e-3:  # there may be more groups or components than `max_nodes`
        moved, count = _shrink(level, within, max_nodes * looser, key)
        if count > 0.8 * level.n:
            looser *= 0.5
        member = moved[member]
        level, within = aggregate(level, moved, count), groups_of(moved, within, count)
    return level, member


def _shrink(graph: VolumeGraph, group: np.ndarray, goal: float, key: np.uint64) -> tuple[np.ndarray, int]:
    """Join nodes into clumps of similar volume, about `goal` of them or somewhat more."""
    total = graph.volume.sum()
    return join(graph, group, 0.5 * goal / total, 2.0 * total / goal, permutation(key, graph.n))


def _spectral_cut(graph: VolumeGraph, key: np.uint64) -> np.ndarray:
    """The best cut along any of the first eigenvectors of the normalised Laplacian: a prefix of the nodes in its order."""
    vectors = low_spectrum(graph, 1 + _CUT_VECTORS, key, Team(1), rounds=6).vectors
    best = Cut(np.inf, np.zeros(graph.n, np.bool_))
    for vector in vectors.T[1:]:
        order = np.argsort(vector, kind="stable")
        value, length = _sweep(graph, order)
        if value < best.conductance:
            side = np.zeros(graph.n, np.bool_)
            side[order[:length]] = True
            best = Cut(value, side)
    return best.side


# ------------------------------------------------------------------------------------------------------------ kernels


@kernel
def _measure(graph: Any, side: Any) -> Any:
    """The mass from the nodes on this side to the others, and the volume of this side."""
    cut = volume = 0.0
    for i in range(side.size):
        if side[i]:
            volume += graph.volume[i]
            for e in range(graph.indptr[i], graph.indptr[i + 1]):
                if not side[graph.indices[e]]:
                    cut += graph.data[e]
    return cut, volume


@kernel
def cut_change(graph: Any, i: Any, side: Any) -> Any:
    """How much the cut grows if node i changes sides: its mass to its own side minus that to the other."""
    change = 0.0
    for e in range(graph.indptr[i], graph.indptr[i + 1]):
        j = graph.indices[e]
        if j != i:
            change += graph.data[e] if side[j] == side[i] else -graph.data[e]
    return change


@kernel
def _sweep(graph: Any, order: Any) -> Any:
    """The lowest conductance of a balanced prefix of the order, and the length of that prefix.

    Where no prefix is balanced, the most balanced one is taken.
    """
    n = order.size
    total = graph.volume.sum()
    side = np.zeros(n, np.bool_)
    cut = volume = 0.0
    best, length, evenness = np.inf, 1, -1.0
    for k in range(n - 1):
        i = order[k]
        cut += cut_change(graph, i, side)
        side[i] = True
        volume += graph.volume[i]
        smaller = min(volume, total - volume)
        even = min(smaller, MIN_SIDE_VOLUME * total)  # beyond that, more does not count
        value = max(cut, 0.0) / smaller if smaller > 0.0 else 1.0
        if even > evenness or (even == evenness and value < best):
            best, length, evenness = value, k + 1, even
    return best, length


@kernel
def _refine(graph: Any, side: Any) -> None:
    """Move single nodes to the other side while that lowers the conductance and does not make the cut less balanced."""
    n = side.size
    total = graph.volume.sum()
    cut, volume = _measure(graph, side)
    least = min(MIN_SIDE_VOLUME * total, volume, total - volume)
    for _ in range(REFINEMENT_ROUNDS):
        moved = 0
        for i in range(n):
            sign = -1.0 if side[i] else 1.0
            new_volume = volume + sign * graph.volume[i]
            new_smaller = min(new_volume, total - new_volume)
            if new_smaller < least or new_smaller <= 0.0:
                continue
            new_cut = cut + cut_change(graph, i, side)
            if new_cut * min(volume, total - volume) < cut * new_smaller * (1.0 - ROUNDING_SHARE):
                side[i] = not side[i]
                cut, volume = new_cut, new_volume
                moved += 1
        if moved == 0:
            return
