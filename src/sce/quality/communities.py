"""Communities of a graph: the partition of its points with the most modularity that a quick search finds.

The method is that of Blondel, Guillaume, Lambiotte and Lefebvre (Louvain): each point moves to the community that gains
the most, until none wants to; then communities become the points of a smaller graph, and so on. As in Traag, Waltman and
van Eck (Leiden), a point is looked at again only when one of its neighbours has moved, and no community is left in several
pieces.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.core.random import permutation, stream
from sce.core.validate import draw_seed
from sce.graph.csr import CSR, components, merge_points, row_sums
from sce.quality.mass import check_graph

_LEAST_GAIN = 1e-10  # of the volume of what moves: less is rounding error, and could go in circles
_LOOKS = 4  # at each point, in the mean: the gains that come after them are found at the next level in a fraction of the time
_FAR = np.inf  # no limit to the volume of a community


class Graph(NamedTuple):
    """A symmetric graph in rows, as kernels take it; the diagonal holds what is inside a point. `volume`: sums of rows."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    volume: np.ndarray

    @property
    def n(self) -> int:
        """The number of points."""
        return len(self.volume)

    @property
    def rows(self) -> CSR:
        """The matrix alone."""
        return CSR(*self[:3])


class Communities(NamedTuple):
    """The community of each point (0 is the largest, and so on), and their modularity."""

    labels: np.ndarray
    modularity: float


def communities(P: Any, *, resolution: float = 1.0, random_state: Any = 0) -> Communities:
    """Find communities of a graph, each of them connected.

    Parameters
    ----------
    P : sparse matrix of shape (n, n)
        The similarity graph.
    resolution : float, default=1.0
        The weight of the expected mass in the modularity: the larger, the smaller the communities.
    random_state : int, RandomState or None, default=0
        The seed of the order in which points are looked at.

    Returns
    -------
    Communities
        `labels` (int32), numbered by falling size, and the `modularity` (at this resolution). A high modularity is no
        evidence of clusters: the neighbour graph of uniform noise in the plane has 0.9.

    Examples
    --------
    >>> P = sp.csr_matrix(np.kron(np.eye(3), np.ones((4, 4)) - np.eye(4)))
    >>> communities(P).labels
    array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2], dtype=int32)
    """
    graph = as_graph(check_graph(P))
    key = stream(draw_seed(random_state), "communities")
    labels = louvain(graph, resolution, key)
    return Communities(labels, modularity(graph, labels, resolution))


def as_graph(P: sp.csr_matrix) -> Graph:
    """P, relative to its sum, in the form that the kernels take."""
    data = P.data.astype(np.float32, copy=False)
    total = float(data.sum(dtype=np.float64))
    if total > 0 and abs(total - 1.0) > 1e-6:
        data = data / np.float32(total)
    graph = CSR(P.indptr.astype(np.int64), P.indices.astype(np.int32, copy=False), data)
    return Graph(*graph, row_sums(graph, Team(1)))


def louvain(graph: Graph, resolution: float, key: np.uint64, group: np.ndarray | None = None) -> np.ndarray:
    """The communities of a graph, each within a group, numbered by falling size."""
    whole = np.zeros(graph.n, np.int32) if group is None else group
    within = whole  # at each level
    total = graph.volume.sum()
    pressure = resolution / total if total > 0 else 0.0
    member = np.arange(graph.n, dtype=np.int32)
    level = graph
    while True:
        moved, count = join(level, within, pressure, _FAR, permutation(key, level.n))
        if count == level.n:
            break
        member = moved[member]
        level, within = aggregate(level, moved, count), groups_of(moved, within, count)
    # Once more with single points: those at the borders of communities that have grown since may be better off elsewhere.
    _move(graph, whole, np.array([pressure, _FAR]), permutation(key, graph.n), member)
    return by_size(components(graph.rows, member))


def join(graph: Graph, group: np.ndarray, pressure: float, most: float, order: np.ndarray) -> tuple[np.ndarray, int]:
    """Communities (compact numbers, and how many) of single points, within groups, each of a volume of at most `most`."""
    member = np.arange(graph.n, dtype=np.int32)
    _move(graph, group, np.array([pressure, most]), order, member)
    return compact(member)


def groups_of(member: np.ndarray, group: np.ndarray, count: int) -> np.ndarray:
    """The group of each community, of which all points are in one."""
    result = np.empty(count, group.dtype)
    result[member] = group
    return result


def modularity(graph: Graph, labels: np.ndarray, resolution: float = 1.0) -> float:
    """The mass inside communities less its expectation; both relative to all mass."""
    total = graph.volume.sum()
    if total <= 0:
        return 0.0
    volume = np.bincount(labels, graph.volume) / total
    return float(_mass_inside(graph, labels) / total - resolution * (volume * volume).sum())


def compact(member: np.ndarray) -> tuple[np.ndarray, int]:
    """Numbers 0, 1, ... for those in use, in their order, and how many there are."""
    used = np.bincount(member) > 0
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return number[member], int(used.sum())


def by_size(member: np.ndarray) -> np.ndarray:
    """Number communities (from 0 up) by falling size; of equal ones the one with the first point comes first."""
    sizes = np.bincount(member)
    first = np.full(len(sizes), len(member))
    np.minimum.at(first, member, np.arange(len(member)))
    number = np.empty(len(sizes), np.int32)
    number[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return number[member]


def aggregate(graph: Graph, member: np.ndarray, count: int) -> Graph:
    """The graph between communities 0 ... count - 1; the diagonal is the mass inside each."""
    merged = merge_points(graph.rows, member, count, Team(1), inside=True)
    return Graph(*merged, np.bincount(member, graph.volume, count))


# ------------------------------------------------------------------------------------------------------------ kernels


@kernel
def _best(graph: Any, i: Any, group: Any, member: Any, state: Any, limits: Any) -> Any:
    """The community that point i gains the most by joining; its own volume is already taken out of its community's.

    `state`: volume of communities, mass from i to communities (all zero between calls), the communities that i touches.
    """
    volume, mass, touched = state
    pressure, most = limits[0], limits[1]
    count = 0
    for e in range(graph.indptr[i], graph.indptr[i + 1]):
        j = graph.indices[e]
        if j != i and group[j] == group[i]:
            c = member[j]
            if mass[c] == 0.0:
                touched[count] = c
                count += 1
            mass[c] += graph.data[e]
    own = graph.volume[i]
    best = member[i]
    best_gain = mass[best] - pressure * own * volume[best] + _LEAST_GAIN * own
    for k in range(count):
        c = touched[k]
        gain = mass[c] - pressure * own * volume[c]
        if gain > best_gain and volume[c] + own <= most:
            best, best_gain = c, gain
    for k in range(count):
        mass[touched[k]] = 0.0
    return best


@kernel
def _move(graph: Any, group: Any, limits: Any, order: Any, member: Any) -> None:
    """Move points, first in this order, to the community of their group that gains the most, until no point wants to.

    The gain of a community is its mass to the point less `pressure` times the product of their volumes; limits = (pressure,
    largest volume of a community). Points wait in a ring; one that moves puts those of its neighbours in that are not
    waiting and not in its new community.
    """
    n = member.size
    volume = np.zeros(n)
    for i in range(n):
        volume[member[i]] += graph.volume[i]
    state = (volume, np.zeros(n), np.empty(n, np.int32))
    ring, waiting = order.astype(np.int32), np.ones(n, np.bool_)
    head, length = 0, n
    for _ in range(_LOOKS * n):
        if length == 0:
            break
        i = ring[head]
        head = head + 1 if head + 1 < n else 0
        length -= 1
        waiting[i] = False
        old = member[i]
        volume[old] -= graph.volume[i]
        new = _best(graph, i, group, member, state, limits)
        volume[new] += graph.volume[i]
        if new == old:
            continue
        member[i] = new
        for e in range(graph.indptr[i], graph.indptr[i + 1]):
            j = graph.indices[e]
            if not waiting[j] and member[j] != new and group[j] == group[i]:
                waiting[j] = True
                ring[head + length if head + length < n else head + length - n] = j
                length += 1


@kernel
def _mass_inside(graph: Any, labels: Any) -> Any:
    inside = 0.0
    for i in range(labels.size):
        for e in range(graph.indptr[i], graph.indptr[i + 1]):
            if labels[graph.indices[e]] == labels[i]:
                inside += graph.data[e]
    return inside
