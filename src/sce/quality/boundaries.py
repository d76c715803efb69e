"""Which boundaries between groups of points are real.

Modularity is no evidence of clusters: the neighbour graph of plain noise in the plane has communities with a modularity of 0.9.
But their boundaries are no weaker than other cuts through the same points. So a boundary between a and b is held against the
*width* of a and of b, the narrowest cut inside that keeps the part next to the boundary from the part farthest from it
(:mod:`sce.quality.bottlenecks`): it is a *neck* if it is narrower than both. Through the halves of a homogeneous body,
a line or a ball in any dimension, a cut is as wide as other cuts beside it, so that this ratio is 1 or more; between
clusters it is low. What runs across the direction from a to b, such as styles of writing within a digit, does not matter.

To be quick, groups that are clearly no clusters are merged by their *cohesion*, the conductance of their weakest balanced
cut: the *parting* of a from b is the share of a's volume that goes to b, relative to a's cohesion. It is 0.5 to 1 for
halves of a homogeneous body, for the next cut is about as wide and leaves half the volume. (Sets well knit inside and
hardly tied outside: Oveis Gharan and Trevisan, Partitioning into expanders, SODA 2014.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.quality.bottlenecks import END, mass_toward, width
from sce.quality.communities import Graph, aggregate, compact, louvain
from sce.quality.cuts import coarsen, induce, weakest_cut

CLEAR = 0.8  # a parting above it is clearly no boundary
NECK = 0.75  # above it a boundary is not real
SPLIT = 0.5  # a cut below it is a real boundary
EXPOSURE = 2.0  # times its width: a group with more than that outside is a cell of something larger
_INNER = 0.4  # the resolution of the communities within communities
_DEVIATIONS = 3.0  # by which the mass of a boundary may exceed what is seen
_LEAST = 1 / 200  # of all volume, for a group
_NODES = 10_000  # of the coarse graph on which all is measured


class Leaves(NamedTuple):
    """Small groups to begin with.

    `node`: of each point, in the coarse `graph`. `leaf`: of each node. `owner`: of each leaf. `community`: of each point.
    """

    graph: Graph
    node: np.ndarray
    leaf: np.ndarray
    owner: np.ndarray
    community: np.ndarray


class Groups(NamedTuple):
    """Groups of nodes of a coarse graph.

    `label`: of each node. `mass`: between groups. `cohesion`: of each group, the conductance of its weakest cut.
    """

    label: np.ndarray
    mass: np.ndarray
    cohesion: np.ndarray


def find_leaves(graph: Graph, owner: np.ndarray, key: np.uint64) -> Leaves:
    """Communities within the sets that `owner` numbers, and communities within these."""
    coarser = louvain(graph, 1.0, key, owner)
    coarse, node = coarsen(graph, coarser, _NODES, key)
    outer_of_node = np.empty(coarse.n, np.int32)
    outer_of_node[node] = coarser
    leaf = np.empty(coarse.n, np.int32)
    count = 0
    for nodes in members_of(outer_of_node):
        part = louvain(induce(coarse, nodes), _INNER, key)
        leaf[nodes] = count + part
        count += int(part.max()) + 1
    owner_of_leaf = np.empty(count, np.int32)
    owner_of_leaf[leaf[node]] = owner
    return Leaves(coarse, node, leaf, owner_of_leaf, coarser)


def scales_of(graph: Graph) -> tuple[float, float]:
    """The least volume of a group, and the mass of a typical edge.

    A group of fewer points than about five times as many as a point has neighbours is an accident: no cut inside it is narrow.
    """
    squares = float((graph.data.astype(np.float64) ** 2).sum())
    edge = squares / float(graph.volume.sum())
    neighbours = float((graph.volume**2).sum()) / squares
    return float(graph.volume.sum()) * min(0.1, max(_LEAST, 5.0 * neighbours / graph.n)), edge


def groups_within(leaves: Leaves, smallest: float, edge: float, key: np.uint64) -> np.ndarray:
    """The group of each node: the groups that the graph supports within each owner."""
    label = np.empty(leaves.graph.n, np.int32)
    count = 0
    for nodes in members_of(leaves.owner[leaves.leaf]):
        if len(nodes):
            part = Leaves(induce(leaves.graph, nodes), nodes, compact(leaves.leaf[nodes])[0], leaves.owner, nodes)
            groups = find_groups(part, smallest, edge, key)[0]
            label[nodes] = count + groups.label
            count += len(groups.cohesion)
    return label


def members_of(label: np.ndarray) -> list[np.ndarray]:
    """The members of each group 0, 1, ..., ascending."""
    order = np.argsort(label, kind="stable")
    return np.split(order, np.cumsum(np.bincount(label))[:-1])


def measure_groups(graph: Graph, label: np.ndarray, key: np.uint64) -> Groups:
    """The mass between groups of nodes, and the cohesion of each."""
    members = members_of(label)
    between = aggregate(graph, label, len(members))
    mass = np.zeros((len(members), len(members)))
    rows = np.repeat(np.arange(len(members)), np.diff(between.indptr))
    mass[rows, between.indices] = between.data
    cohesion = np.array([weakest_cut(induce(graph, nodes), key).conductance for nodes in members])
    return Groups(label, mass, cohesion)


def outer(groups: Groups) -> np.ndarray:
    """The mass between different groups."""
    return groups.mass - np.diag(np.diag(groups.mass))


def partings(groups: Groups) -> np.ndarray:
    """For each pair of groups the larger of the shares of volume that go to the other, relative to cohesion; 0 on the diagonal.

    Examples
    --------
    >>> halves = Groups(np.array([0, 1]), np.array([[0.4, 0.1], [0.1, 0.4]]), np.array([0.4, 0.8]))
    >>> partings(halves).round(3)
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    between = outer(groups)
    volume = np.diag(groups.mass)[:, None] + between
    with np.errstate(divide="ignore", invalid="ignore"):
        one_way = between / volume / groups.cohesion[:, None]
    one_way[between <= 0] = 0.0
    return np.maximum(one_way, one_way.T)


def exposures(groups: Groups) -> np.ndarray:
    """The share of each group's volume that goes anywhere else, relative to its cohesion."""
    outside = outer(groups).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = outside / groups.mass.sum(axis=1) / groups.cohesion
    return np.where(outside > 0, value, 0.0)


class Necks:
    """Boundaries against the width of the groups that they bound.

    `pair[a, b]`: the mass between a and b, relative to the lesser of the widths of a toward b and of b toward a, both at
    the scale of the smaller one. `single[a]`: all mass that leaves a, relative to the width of a toward the outside.
    """

    def __init__(self, graph: Graph, groups: Groups, edge: float) -> None:
        self.graph, self.edge = graph, edge
        count = len(groups.cohesion)
        self.pair, self.single = np.zeros((count, count)), np.zeros(count)
        for a in range(count):
            self._measure(groups, a, np.arange(a))

    def merge(self, groups: Groups, pair: tuple[int, int]) -> None:
        """Bring up to date: group b has become part of a."""
        a, b = pair
        self.pair = np.delete(np.delete(self.pair, b, axis=0), b, axis=1)
        self.single = np.delete(self.single, b)
        self._measure(groups, a, np.delete(np.arange(len(self.single)), a))

    def _measure(self, groups: Groups, a: int, others: np.ndarray) -> None:
        between, inside = outer(groups), np.diag(groups.mass)
        for b in others[between[a, others] > 0]:
            scale = min(inside[a], inside[b])
            ratios = [self._ratio(groups, x, groups.label == y, between[a, b], scale) for x, y in ((a, b), (b, a))]
            self.pair[a, b] = self.pair[b, a] = max(ratios)
        self.single[a] = self._ratio(groups, a, groups.label != a, between[a].sum(), inside[a])

    def _ratio(self, groups: Groups, a: int, outside: np.ndarray, mass: float, scale: float) -> float:
        """Mass over width, or, where that is low enough to tell, a quick estimate from the cohesion, hardly ever less.

        To the mass three standard deviations are added: a boundary of few edges could have some more by chance.
        """
        if mass <= 0:
            return 0.0
        mass += _DEVIATIONS * np.sqrt(mass * self.edge)
        least = groups.cohesion[a] * END * scale
        if mass <= SPLIT * least:
            return float(mass / least)
        nodes = np.flatnonzero(groups.label == a)
        narrow = (
            width(induce(self.graph, nodes), mass_toward(self.graph, nodes, outside), scale) if len(nodes) > 1 else 0.0
        )
        return float(mass / narrow) if narrow > 0 else np.inf


def split_groups(graph: Graph, groups: Groups, smallest: float, edge: float, key: np.uint64) -> Groups:
    """Split groups along their weakest cut where that is a real boundary, and the parts again."""
    label, count = groups.label.copy(), 0
    queue = members_of(groups.label)
    while queue:
        nodes = queue.pop()
        side = _real_cut(induce(graph, nodes), smallest, edge, key)
        if side is None:
            label[nodes] = count
            count += 1
        else:
            queue += [nodes[side], nodes[~side]]
    return measure_groups(graph, label, key) if count > len(groups.cohesion) else groups


def _real_cut(graph: Graph, smallest: float, edge: float, key: np.uint64) -> np.ndarray | None:
    """The side of the weakest cut, if it is a real boundary between parts that are not too small."""
    cut = weakest_cut(graph, key)
    volume = graph.volume[cut.side].sum()
    if not smallest < volume < graph.volume.sum() - smallest:
        return None
    parts = measure_groups(graph, cut.side.astype(np.int32), key)
    return cut.side if Necks(graph, parts, edge).pair[0, 1] <= SPLIT else None


def find_groups(leaves: Leaves, smallest: float, edge: float, key: np.uint64) -> tuple[Groups, Necks]:
    """The groups that a graph supports, none across owners: leaves merged, groups split again, and merged once more.

    Leaves are merged first by cohesion alone, which is quick, where there is clearly no boundary, or where their volume
    is below `smallest`. `edge` is the mass of a typical edge. Small leaves do not see a boundary that is wide and soft,
    hence the splits.
    """
    graph = leaves.graph
    groups = measure_groups(graph, leaves.leaf, key)
    while len(groups.cohesion) > 1:
        pair = _least_coherent(groups, smallest)
        if pair is None:
            break
        groups = _merge(graph, groups, pair, key)
    groups, _ = _merge_unreal(graph, groups, edge, key)
    return _merge_unreal(graph, split_groups(graph, groups, smallest, edge, key), edge, key)


def _merge_unreal(graph: Graph, groups: Groups, edge: float, key: np.uint64) -> tuple[Groups, Necks]:
    """Merge, one pair at a time, the two groups whose boundary is the least real, until all boundaries are."""
    necks = Necks(graph, groups, edge)
    while len(groups.cohesion) > 1:
        pair = _least_real(groups, necks)
        if pair is None:
            break
        groups = _merge(graph, groups, pair, key)
        necks.merge(groups, pair)
    return groups, necks


def _ordered(a: Any, b: Any) -> tuple[int, int]:
    return min(int(a), int(b)), max(int(a), int(b))


def _highest(values: np.ndarray) -> tuple[int, int]:
    """Where the highest value of a matrix is."""
    return divmod(int(values.argmax()), values.shape[1])


def _least_coherent(groups: Groups, smallest: float) -> tuple[int, int] | None:
    """The pair of the highest parting, or a group that is too small, and its neighbour."""
    between = partings(groups)
    a, b = _highest(between)
    if between[a, b] > CLEAR:
        return _ordered(a, b)
    volume = np.where(between.any(axis=1), groups.mass.sum(axis=1), np.inf)
    a = int(volume.argmin())
    return _ordered(a, between[a].argmax()) if volume[a] < smallest else None


def _least_real(groups: Groups, necks: Necks) -> tuple[int, int] | None:
    """The pair of the highest neck, or a group that is exposed, and its neighbour."""
    a, b = _highest(necks.pair)
    if necks.pair[a, b] > NECK:
        return _ordered(a, b)
    exposure = np.minimum(exposures(groups), necks.single)
    a = int(exposure.argmax())
    return _ordered(a, necks.pair[a].argmax()) if exposure[a] > EXPOSURE else None


def _merge(graph: Graph, groups: Groups, pair: tuple[int, int], key: np.uint64) -> Groups:
    """Group b becomes part of group a < b; higher numbers move down."""
    a, b = pair
    label = np.where(groups.label == b, np.int32(a), groups.label)
    label[label > b] -= 1
    mass = groups.mass.copy()
    mass[a] += mass[b]
    mass[:, a] += mass[:, b]
    mass = np.delete(np.delete(mass, b, axis=0), b, axis=1)
    cohesion = np.delete(groups.cohesion, b)
    cohesion[a] = weakest_cut(induce(graph, np.flatnonzero(label == a)), key).conductance
    return Groups(label, mass, cohesion)
