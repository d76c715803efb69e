"""Which boundaries between groups of points are real.

Modularity is no evidence of clusters: the neighbour graph of plain noise in the plane has communities with a modularity of 0.9.
But their boundaries are no weaker than other cuts through the same points. So the boundary between a and b is compared with
the *width* of a and of b: the narrowest cut inside a group that separates the part next to the boundary from the part
farthest from it (:mod:`sce.quality.bottlenecks`). The boundary is a *bottleneck* if it is narrower than both. Between the
halves of a homogeneous body, a line or a ball in any dimension, a cut is as wide as the cuts beside it, and the ratio is 1 or
more; between clusters it is low. Structure across the direction from a to b, such as styles of writing within a digit,
does not matter.

To save time, groups that are clearly not clusters are first merged by their *cohesion*, the conductance of their weakest
balanced cut. The *conductance ratio* of a and b is the share of a's volume that goes to b, relative to a's cohesion. It is 0.5
to 1 for halves of a homogeneous body, because the next cut is about as wide and leaves half of the volume. (Groups of high
conductance inside and low conductance to the outside: Oveis Gharan and Trevisan, Partitioning into expanders, SODA 2014.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.quality.bottlenecks import END_VOLUME_SHARE, mass_toward, width
from sce.quality.communities import louvain
from sce.quality.cuts import coarsen, weakest_cut
from sce.quality.volume_graph import VolumeGraph, aggregate, induce, members_of

MERGE_ABOVE_CONDUCTANCE_RATIO = 0.8  # two groups with a higher one are clearly not separated
MAX_REAL_BOTTLENECK = 0.75  # boundary mass relative to the width: a boundary with a higher ratio is not real
SPLIT_UP_TO_BOTTLENECK = 0.5  # the same ratio: a group is split along a cut of at most this
MAX_EXPOSURE = 2.0  # mass to the outside relative to the width: a group with more is a cell of something larger
_INNER_RESOLUTION = 0.4  # of the communities within communities
_BOUNDARY_DEVIATIONS = 3.0  # standard deviations that are added to the mass of a boundary
_MIN_GROUP_VOLUME = 1 / 200  # of all volume
_MAX_GROUP_VOLUME_NEEDED = 0.1  # of all volume: no larger volume is asked of a group, however many the neighbours
_NEIGHBOURHOODS_PER_GROUP = 5.0  # a group has at least this many times as many points as a point has neighbours
MAX_COARSE_NODES = 10_000  # of the graph on which groups are measured


class Leaves(NamedTuple):
    """The small groups from which larger ones are merged.

    `node`: the node of each point in the coarse `graph`. `leaf`: the leaf of each node. `owner`: the given set that each leaf
    is in. `community`: the community of each point.
    """

    graph: VolumeGraph
    node: np.ndarray
    leaf: np.ndarray
    owner: np.ndarray
    community: np.ndarray


class Groups(NamedTuple):
    """Groups of nodes of a coarse graph.

    `label`: the group of each node. `mass`: between groups, and inside them on the diagonal. `cohesion`: the conductance of
    the weakest cut of each group.
    """

    label: np.ndarray
    mass: np.ndarray
    cohesion: np.ndarray


def find_leaves(graph: VolumeGraph, owner: np.ndarray, key: np.uint64) -> Leaves:
    """Communities within the sets that `owner` numbers, and as leaves the communities within these communities."""
    community = louvain(graph, 1.0, key, owner)
    coarse, node = coarsen(graph, community, MAX_COARSE_NODES, key)
    community_of_node = np.empty(coarse.n, np.int32)
    community_of_node[node] = community
    leaf = np.empty(coarse.n, np.int32)
    count = 0
    for nodes in members_of(community_of_node):
        part = louvain(induce(coarse, nodes), _INNER_RESOLUTION, key)
        leaf[nodes] = count + part
        count += int(part.max()) + 1
    owner_of_leaf = np.empty(count, np.int32)
    owner_of_leaf[leaf[node]] = owner
    return Leaves(coarse, node, leaf, owner_of_leaf, community)


def scales_of(graph: VolumeGraph) -> tuple[float, float]:
    """The smallest volume of a group, and the mass of a typical edge.

    A group with fewer points than about five times the number of neighbours per point is a coincidence: no cut inside it is
    narrow.
    """
    squares = float((graph.data.astype(np.float64) ** 2).sum())
    edge = squares / float(graph.volume.sum())
    neighbours = float((graph.volume**2).sum()) / squares
    share = max(_MIN_GROUP_VOLUME, _NEIGHBOURHOODS_PER_GROUP * neighbours / graph.n)
    return float(graph.volume.sum()) * min(_MAX_GROUP_VOLUME_NEEDED, share), edge


def measure_groups(graph: VolumeGraph, label: np.ndarray, key: np.uint64) -> Groups:
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


def conductance_ratios(groups: Groups) -> np.ndarray:
    """For each pair of groups, the share of volume that goes to the other group, relative to cohesion; 0 on the diagonal.

    The larger value of the two directions counts.

    Examples
    --------
    >>> halves = Groups(np.array([0, 1]), np.array([[0.4, 0.1], [0.1, 0.4]]), np.array([0.4, 0.8]))
    >>> conductance_ratios(halves).round(3)
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
    """The share of each group's volume that goes to any other group, relative to its cohesion."""
    outside = outer(groups).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = outside / groups.mass.sum(axis=1) / groups.cohesion
    return np.where(outside > 0, value, 0.0)


class Bottlenecks:
    """How narrow boundaries are, relative to the width of the groups on both sides; the lower, the more real.

    `pair[a, b]`: the mass between a and b, relative to the smaller of the widths of a toward b and of b toward a, both at
    the scale of the smaller group. `single[a]`: all mass that leaves a, relative to the width of a toward the outside.
    """

    def __init__(self, graph: VolumeGraph, groups: Groups, edge: float) -> None:
        self.graph, self.edge = graph, edge
        count = len(groups.cohesion)
        self.pair, self.single = np.zeros((count, count)), np.zeros(count)
        for a in range(count):
            self._measure(groups, a, np.arange(a))

    def merge(self, groups: Groups, pair: tuple[int, int]) -> None:
        """Update after group b of pair (a, b) has become part of a."""
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
        """Mass over width; where that is clearly low, a quick estimate from the cohesion that is hardly ever lower.

        Three standard deviations are added to the mass: a boundary of few edges could have some more by chance.
        """
        if mass <= 0:
            return 0.0
        mass += _BOUNDARY_DEVIATIONS * np.sqrt(mass * self.edge)
        least = groups.cohesion[a] * END_VOLUME_SHARE * scale
        if mass <= SPLIT_UP_TO_BOTTLENECK * least:
            return float(mass / least)
        nodes = np.flatnonzero(groups.label == a)
        if len(nodes) < 2:
            return np.inf
        narrowest = width(induce(self.graph, nodes), mass_toward(self.graph, nodes, outside), scale)
        return float(mass / narrowest) if narrowest > 0 else np.inf


def split_groups(graph: VolumeGraph, groups: Groups, smallest: float, edge: float, key: np.uint64) -> Groups:
    """Split groups along their weakest cut where that is a real boundary, and so on with the parts."""
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


def _real_cut(graph: VolumeGraph, smallest: float, edge: float, key: np.uint64) -> np.ndarray | None:
    """The side of the weakest cut, if it is a real boundary between parts that are not too small."""
    cut = weakest_cut(graph, key)
    volume = graph.volume[cut.side].sum()
    if not smallest < volume < graph.volume.sum() - smallest:
        return None
    parts = measure_groups(graph, cut.side.astype(np.int32), key)
    return cut.side if Bottlenecks(graph, parts, edge).pair[0, 1] <= SPLIT_UP_TO_BOTTLENECK else None


def find_groups(leaves: Leaves, smallest: float, edge: float, key: np.uint64) -> tuple[Groups, Bottlenecks]:
    """The groups that a graph supports: leaves are merged, the groups split again, and merged once more.

    Leaves are merged first by cohesion alone, which is quick, where there is clearly no boundary or where their volume is
    below `smallest`. `edge` is the mass of a typical edge. The splits are needed because small leaves may straddle a boundary
    that is wide and soft.
    """
    graph = leaves.graph
    groups = merge_incoherent(graph, measure_groups(graph, leaves.leaf, key), smallest, edge, key)
    return _merge_unreal(graph, split_groups(graph, groups, smallest, edge, key), edge, key)


def merge_incoherent(graph: VolumeGraph, groups: Groups, smallest: float, edge: float, key: np.uint64) -> Groups:
    """Merge groups by cohesion where there is clearly no boundary, and then where boundaries are not real."""
    while len(groups.cohesion) > 1:
        pair = _least_coherent(groups, smallest)
        if pair is None:
            break
        groups = _merge(graph, groups, pair, key)
    return _merge_unreal(graph, groups, edge, key)[0]


def merge_unreal_pairs(graph: VolumeGraph, groups: Groups, edge: float, key: np.uint64) -> Groups:
    """Merge the two groups with the widest boundary relative to their widths, until the boundary of every two is real."""
    bottlenecks = Bottlenecks(graph, groups, edge)
    while len(groups.cohesion) > 1:
        a, b = _highest(bottlenecks.pair)
        if bottlenecks.pair[a, b] <= MAX_REAL_BOTTLENECK:
            break
        pair = _ordered(a, b)
        groups = _merge(graph, groups, pair, key)
        bottlenecks.merge(groups, pair)
    return groups


def _merge_unreal(graph: VolumeGraph, groups: Groups, edge: float, key: np.uint64) -> tuple[Groups, Bottlenecks]:
    """Merge the two groups whose boundary is the least real, one pair at a time, until all boundaries are real."""
    bottlenecks = Bottlenecks(graph, groups, edge)
    while len(groups.cohesion) > 1:
        pair = _least_real(groups, bottlenecks)
        if pair is None:
            break
        groups = _merge(graph, groups, pair, key)
        bottlenecks.merge(groups, pair)
    return groups, bottlenecks


def _ordered(a: Any, b: Any) -> tuple[int, int]:
    return min(int(a), int(b)), max(int(a), int(b))


def _highest(values: np.ndarray) -> tuple[int, int]:
    """Row and column of the highest value of a matrix."""
    return divmod(int(values.argmax()), values.shape[1])


def _least_coherent(groups: Groups, smallest: float) -> tuple[int, int] | None:
    """The pair with the highest conductance ratio, or a group that is too small and its neighbour."""
    ratios = conductance_ratios(groups)
    a, b = _highest(ratios)
    if ratios[a, b] > MERGE_ABOVE_CONDUCTANCE_RATIO:
        return _ordered(a, b)
    volume = np.where(ratios.any(axis=1), groups.mass.sum(axis=1), np.inf)
    a = int(volume.argmin())
    return _ordered(a, ratios[a].argmax()) if volume[a] < smallest else None


def _least_real(groups: Groups, bottlenecks: Bottlenecks) -> tuple[int, int] | None:
    """The pair with the widest boundary relative to its groups, or a group that is exposed and its neighbour."""
    a, b = _highest(bottlenecks.pair)
    if bottlenecks.pair[a, b] > MAX_REAL_BOTTLENECK:
        return _ordered(a, b)
    exposure = np.minimum(exposures(groups), bottlenecks.single)
    a = int(exposure.argmax())
    return _ordered(a, bottlenecks.pair[a].argmax()) if exposure[a] > MAX_EXPOSURE else None


def _merge(graph: VolumeGraph, groups: Groups, pair: tuple[int, int], key: np.uint64) -> Groups:
    """Make group b part of group a < b; higher numbers move down by one."""
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
