"""Weak cuts: where a set of points falls apart most easily.

The conductance of a cut is the mass of P that crosses it, relative to the volume of the smaller side. The weakest balanced
cut is looked for as graph partitioners do: the graph is made coarse step by step, cut along an eigenvector of its
Laplacian where it is smallest, and the cut is carried back and mended at each step. The result is an upper bound, and a
close one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.core.random import permutation
from sce.quality.communities import Graph, aggregate, groups_of, join
from sce.quality.spectra import low_spectrum

BALANCE = 0.2  # of the volume that each side of a cut must have
_COARSEST = 120  # nodes: the eigenvectors of so small a graph take milliseconds
_VECTORS = 3  # the second smallest eigenvector, and two more: the best cut is not always along the first


class Cut(NamedTuple):
    """A cut of a graph in two: its conductance, and which nodes are on the one side."""

    conductance: float
    side: np.ndarray


def weakest_cut(graph: Graph, key: np.uint64) -> Cut:
    """The balanced cut of the lowest conductance that is found; a single node cannot be cut, which counts as 1.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sce.quality.communities import as_graph
    >>> path = as_graph(sp.csr_matrix(sp.diags([1.0, 1.0], [-1, 1], shape=(6, 6))))
    >>> weakest_cut(path, np.uint64(0)).conductance  # one edge of five; each half has five ends
    0.2
    """
    if graph.n < 2 or graph.volume.sum() <= 0:
        return Cut(1.0, np.zeros(graph.n, np.bool_))
    levels, members = [graph], []
    while levels[-1].n > _COARSEST:
        member, count = _shrink(levels[-1], np.zeros(levels[-1].n, np.int32), max(_COARSEST, levels[-1].n // 8), key)
        if count > 0.9 * levels[-1].n:
            break
        members.append(member)
        levels.append(aggregate(levels[-1], member, count))
    side = _spectral_cut(levels[-1], key)
    _mend(levels[-1], side, BALANCE)
    for finer, member in zip(reversed(levels[:-1]), reversed(members), strict=True):
        side = side[member]
        _mend(finer, side, BALANCE)
    return Cut(conductance(graph, side), side)


def conductance(graph: Graph, side: np.ndarray) -> float:
    """The mass from one side to the other, relative to the volume of the smaller one; 1 if that has none."""
    cut, volume = _measure(graph, side)
    smaller = min(volume, graph.volume.sum() - volume)
    return float(cut / smaller) if smaller > 0 else 1.0


def induce(graph: Graph, nodes: np.ndarray) -> Graph:
    """The graph of some of the nodes (ascending), with nothing that leaves them."""
    place = np.full(graph.n, -1, np.int32)
    place[nodes] = np.arange(len(nodes))
    indptr = np.zeros(len(nodes) + 1, np.int64)
    volume = np.zeros(len(nodes))
    _count_within(graph, nodes, place, indptr)
    indptr = np.cumsum(indptr)
    indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
    _copy_within(graph, nodes, place, indptr, (indices, data, volume))
    return Graph(indptr, indices, data, volume)


def coarsen(graph: Graph, group: np.ndarray, most: int, key: np.uint64) -> tuple[Graph, np.ndarray]:
    """A graph of at most about `most` nodes, clumps of points that hang together, within groups; and each point's node."""
    member = np.arange(graph.n, dtype=np.int32)
    level, within, looser = graph, group, 1.0
    while level.n > most and looser > 1e-3:  # there may be more groups or pieces than `most`
        moved, count = _shrink(level, within, most * looser, key)
        if count > 0.8 * level.n:
            looser *= 0.5
        member = moved[member]
        level, within = aggregate(level, moved, count), groups_of(moved, within, count)
    return level, member


def _shrink(graph: Graph, group: np.ndarray, goal: float, key: np.uint64) -> tuple[np.ndarray, int]:
    """Join nodes into clumps of like volume, about `goal` of them or somewhat more."""
    total = graph.volume.sum()
    return join(graph, group, 0.5 * goal / total, 2.0 * total / goal, permutation(key, graph.n))


def _spectral_cut(graph: Graph, key: np.uint64) -> np.ndarray:
    """The best prefix of the nodes in the order of any of the first eigenvectors of the normalised Laplacian."""
    vectors = low_spectrum(graph, 1 + _VECTORS, key, Team(1), rounds=6).vectors
    best = Cut(np.inf, np.zeros(graph.n, np.bool_))
    for vector in vectors.T[1:]:
        order = np.argsort(vector, kind="stable")
        value, length = _sweep(graph, order, BALANCE)
        if value < best.conductance:
            side = np.zeros(graph.n, np.bool_)
            side[order[:length]] = True
            best = Cut(value, side)
    return best.side


# ------------------------------------------------------------------------------------------------------------ kernels


@kernel
def _count_within(graph: Any, nodes: Any, place: Any, indptr: Any) -> None:
    for k in range(nodes.size):
        i = nodes[k]
        for e in range(graph.indptr[i], graph.indptr[i + 1]):
            if place[graph.indices[e]] >= 0:
                indptr[k + 1] += 1


@kernel
def _copy_within(graph: Any, nodes: Any, place: Any, indptr: Any, into: Any) -> None:
    indices, data, volume = into
    for k in range(nodes.size):
        i = nodes[k]
        free = indptr[k]
        for e in range(graph.indptr[i], graph.indptr[i + 1]):
            j = place[graph.indices[e]]
            if j >= 0:
                indices[free] = j
                data[free] = graph.data[e]
                volume[k] += graph.data[e]
                free += 1


@kernel
def _measure(graph: Any, side: Any) -> Any:
    """The mass from the nodes on the side to the others, and their volume."""
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
    """By how much the cut grows if node i changes sides: its mass to its own side less that to the other."""
    change = 0.0
    for e in range(graph.indptr[i], graph.indptr[i + 1]):
        j = graph.indices[e]
        if j != i:
            change += graph.data[e] if side[j] == side[i] else -graph.data[e]
    return change


@kernel
def _sweep(graph: Any, order: Any, balance: Any) -> Any:
    """The lowest conductance of a prefix of the order with enough volume on both sides, and its length.

    Where no prefix is balanced, the most balanced one.
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
        even = min(smaller, balance * total)  # beyond the balance more does not count
        value = max(cut, 0.0) / smaller if smaller > 0.0 else 1.0
        if even > evenness or (even == evenness and value < best):
            best, length, evenness = value, k + 1, even
    return best, length


@kernel
def _mend(graph: Any, side: Any, balance: Any) -> None:
    """Move single nodes to the other side while that lowers the conductance and keeps the balance (what there is of it)."""
    n = side.size
    total = graph.volume.sum()
    cut, volume = _measure(graph, side)
    least = min(balance * total, volume, total - volume)
    for _ in range(20):
        moved = 0
        for i in range(n):
            sign = -1.0 if side[i] else 1.0
            new_volume = volume + sign * graph.volume[i]
            new_smaller = min(new_volume, total - new_volume)
            if new_smaller < least or new_smaller <= 0.0:
                continue
            new_cut = cut + cut_change(graph, i, side)
            if new_cut * min(volume, total - volume) < cut * new_smaller * (1.0 - 1e-9):
                side[i] = not side[i]
                cut, volume = new_cut, new_volume
                moved += 1
        if moved == 0:
            return
