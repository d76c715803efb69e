"""The width of a set of points: how much mass holds its far part to the part that is next to something outside of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.core.compiled import kernel
from sce.quality.communities import Graph
from sce.quality.cuts import cut_change

END = 0.3  # of the volume: the near part, and the far part
_DEPTH_SWEEPS, _FLOW_SWEEPS = 20, 40
_LOSS = 0.02  # of a walk, at each step: so the share of walks that come to the outside falls with depth


def width(graph: Graph, toward: np.ndarray, scale: float = np.inf) -> float:
    """The mass of the narrowest cut found between the nodes nearest to the outside and those farthest from it.

    Parameters
    ----------
    graph : Graph
        The set alone.
    toward : array of shape (n,)
        The mass of each node to the outside in question.
    scale : float, default=inf
        The volume to look at, from the outside inward, up to all: the nearest and the farthest 0.3 of it are held apart, and
        whatever is beyond it goes with the farthest.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sce.quality.communities import as_graph
    >>> path = as_graph(sp.csr_matrix(sp.diags([1.0, 1.0], [-1, 1], shape=(9, 9))))
    >>> round(width(path, np.eye(9)[0]), 6)  # a path is as wide as any of its 8 edges, 1/16 in each direction
    0.0625
    """
    order_in = np.argsort(_depth(graph, np.asarray(toward, np.float64)), kind="stable")[::-1]  # nearest first
    share = np.cumsum(graph.volume[order_in])
    scale = min(scale, share[-1])
    near = min(graph.n - 1, int(np.searchsorted(share, END * scale)) + 1)
    far = max(1, min(graph.n - near, graph.n - int(np.searchsorted(share, (1.0 - END) * scale))))
    fixed = np.zeros(graph.n, np.int8)
    fixed[order_in[:near]], fixed[order_in[graph.n - far :]] = 1, 2
    potential = _potential(graph, fixed)
    return float(_narrowest(graph, np.argsort(potential, kind="stable"), fixed))


def mass_toward(graph: Graph, nodes: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """The mass of each of some nodes to those for which `outside` is true."""
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
    """The share of walks from each node that come outside before they are lost."""
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
            degree = (graph.volume[i] + toward[i]) * (1.0 + _LOSS) - own
            x[i] = total / degree if degree > 0.0 else 0.0
    return x


@kernel
def _potential(graph: Any, fixed: Any) -> Any:
    """0 where fixed is 1, 1 where it is 2, and the mean of the neighbours elsewhere (nearly)."""
    n = fixed.size
    u = np.full(n, 0.5)
    u[fixed == 1], u[fixed == 2] = 0.0, 1.0
    for sweep in range(_FLOW_SWEEPS):
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
    """The least mass between a prefix of the order that has all nodes fixed as 1 and none fixed as 2, and the rest, mended."""
    n = order.size
    side, best_side = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    near = np.count_nonzero(fixed == 1)
    cut, best, taken = 0.0, np.inf, 0
    for k in range(2):  # the nodes fixed as 1 first, whatever the order of ties
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
    for _ in range(20):
        moved = False
        for i in range(n):
            if fixed[i] == 0:
                change = cut_change(graph, i, best_side)
                if change < -1e-9 * best:
                    best_side[i] = not best_side[i]
                    best += change
                    moved = True
        if not moved:
            break
    return max(best, 0.0)
