"""The width of a set of nodes: the mass of the narrowest cut between its near and its far end, seen from outside.

The near end is next to the outside in question, the far end is farthest from it. A boundary that is narrower than the sets
on both of its sides is a bottleneck (:mod:`sce.quality.boundaries`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.core.compiled import kernel
from sce.quality.cuts import REFINEMENT_ROUNDS, ROUNDING_SHARE, cut_change
from sce.quality.volume_graph import VolumeGraph

END_VOLUME_SHARE = 0.3  # of the volume, in the near end and in the far end alike
_DEPTH_SWEEPS = 20  # of Gauss-Seidel over all nodes
_POTENTIAL_SWEEPS = 40  # of Gauss-Seidel over all nodes
_WALK_LOSS = 0.02  # of a walk, lost at each step: the share of walks that reach the outside falls with depth


def width(graph: VolumeGraph, toward: np.ndarray, scale: float = np.inf) -> float:
    """The mass of the narrowest cut found between the nodes nearest to the outside and the nodes farthest from it.

    Parameters
    ----------
    graph : VolumeGraph
        The set by itself.
    toward : array of shape (n,)
        The mass from each node to the outside.
    scale : float, default=inf
        How much volume to consider, counted from the outside inward, at most all of it. The cut separates the nearest 0.3
        of this volume from the farthest 0.3; nodes beyond it join the far end.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sce.quality.volume_graph import as_graph
    >>> path = as_graph(sp.csr_matrix(sp.diags([1.0, 1.0], [-1, 1], shape=(9, 9))))
    >>> round(width(path, np.eye(9)[0]), 6)  # each of its 8 edges has 1/16 in each direction
    0.0625
    """
    order_in = np.argsort(_depth(graph, np.asarray(toward, np.float64)), kind="stable")[::-1]  # nearest first
    share = np.cumsum(graph.volume[order_in])
    scale = min(scale, share[-1])
    near = min(graph.n - 1, int(np.searchsorted(share, END_VOLUME_SHARE * scale)) + 1)
    far = max(1, min(graph.n - near, graph.n - int(np.searchsorted(share, (1.0 - END_VOLUME_SHARE) * scale))))
    fixed = np.zeros(graph.n, np.int8)
    fixed[order_in[:near]], fixed[order_in[graph.n - far :]] = 1, 2
    potential = _potential(graph, fixed)
    return float(_narrowest(graph, np.argsort(potential, kind="stable"), fixed))


def mass_toward(graph: VolumeGraph, nodes: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """The mass from each of the given nodes to the nodes for which `outside` is true."""
    mass = np.zeros(len(nodes))
    _sum_toward(graph, nodes, outside, mass)
    return mass


@kernel
def _sum_toward(graph: Any, nodes: Any, outside: Any, mass: Any) -> None:
    for k in range(nodes.size):
        for e in range(graph.indptr[nodes[k]], graph.indptr[nodes[k] + 1]):
            if outside[graph.indices[e]]:
                mass[k] += graph.data[e]


@kernel
def _depth(graph: Any, toward: Any) -> Any:
    """The share of random walks from each node that reach the outside before they are lost."""
    n = toward.size
    x = np.zeros(n)
    for sweep in range(_DEPTH_SWEEPS):
        for step in range(n):
            i = step if sweep % 2 == 0 else n - 1 - step
            total, own = toward[i], 0.0
            for e in range(graph.indptr[i], graph.indptr[i + 1]):
                j = graph.indices[e]
                if j == i:
                    own += graph.data[e]
                else:
                    total += graph.data[e] * x[j]
            degree = (graph.volume[i] + toward[i]) * (1.0 + _WALK_LOSS) - own
            x[i] = total / degree if degree > 0.0 else 0.0
    return x


@kernel
def _potential(graph: Any, fixed: Any) -> Any:
    """0 where `fixed` is 1, 1 where it is 2, and elsewhere approximately the mean over the neighbours."""
    n = fixed.size
    u = np.full(n, 0.5)
    u[fixed == 1], u[fixed == 2] = 0.0, 1.0
    for sweep in range(_POTENTIAL_SWEEPS):
        for step in range(n):
            i = step if sweep % 2 == 0 else n - 1 - step
            if fixed[i] != 0:
                continue
            total, mass = 0.0, 0.0
            for e in range(graph.indptr[i], graph.indptr[i + 1]):
                j = graph.indices[e]
                if j != i:
                    total += graph.data[e] * u[j]
                    mass += graph.data[e]
            if mass > 0.0:
                u[i] = total / mass
    return u


@kernel
def _narrowest(graph: Any, order: Any, fixed: Any) -> Any:
    """The mass of the narrowest cut between a prefix of the order and the rest, refined by moving single nodes.

    The prefix holds all nodes that are fixed as 1 and none that is fixed as 2.
    """
    n = order.size
    side, best_side = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    near = np.count_nonzero(fixed == 1)
    cut, best, taken = 0.0, np.inf, 0
    for k in range(2):  # the nodes fixed as 1 come first, however ties are ordered
        for place in range(n):
            i = order[place]
            if (fixed[i] == 1) != (k == 0) or fixed[i] == 2:
                continue
            cut += cut_change(graph, i, side)
            side[i] = True
            taken += 1
            if taken >= near and cut < best:
                best = cut
                best_side[:] = side
    for _ in range(REFINEMENT_ROUNDS):
        moved = False
        for i in range(n):
            if fixed[i] == 0:
                change = cut_change(graph, i, best_side)
                if change < -ROUNDING_SHARE * best:
                    best_side[i] = not best_side[i]
                    best += change
                    moved = True
        if not moved:
            break
    return max(best, 0.0)
