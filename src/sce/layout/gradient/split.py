"""How the kernel is split for a given accuracy, and the mesh size that makes the sum cheapest.

A grid of mesh size h resolves waves of the kernel up to wave number pi / h. Beyond it the smooth part of the kernel,
(1 - exp(-T u)) / u with u = 1 + d^2, is of the size of exp(-T - (pi / h)^2 / (4 T)): for a tolerance exp(-L),

    T = (L - sqrt(L^2 - (pi / h)^2)) / 2        where h > pi / L;

a finer grid resolves the whole kernel, and T is infinite. The order of splines and L for an accuracy were found by measurement.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.layout.gradient.grid import padded_length

PADDED_NODES_AT_MOST = {
    1: 1 << 17,
    2: 4320,
    3: 256,
}  # nodes of a side of the grid, with zeros: at most 140 MB with its spectrum, twice that in a patch
_MESHES_AT_LEAST = 20  # along the longest side of a map, however small
_HISTOGRAM_DEPTH = {1: 14, 2: 9, 3: 6}  # the histogram has two to this many cells along the longest side

# Costs in nanoseconds on one thread, from benchmarks/repulsion.py; only their ratios matter.
NODE_COST = 9.0  # of a node of the padded grid
PAIR_COST = 1.1
ALL_PAIR_COST = {1: 0.4, 2: 0.4, 3: 0.5}  # of a pair in the exact method
SPLINE_COST = {1: 5.0, 2: 2.6, 3: 1.6}  # of a node that a point is spread on and read off
POINT_COST = 60.0  # to sort a point and put it back
PATCH_COST = 3e6  # to set up a grid for a part of the map


class Precision(NamedTuple):
    """What an accuracy asks for."""

    order: int  # of the splines
    L: float  # minus the logarithm of what the grid may miss
    cut: float  # minus the logarithm of what may be left out of the short-ranged part

    @property
    def fade(self) -> int:
        """Nodes over which the kernel may fade on a grid: as sharply as its own smooth part varies."""
        return math.ceil(5.6 * math.sqrt(self.L))


# Orders are few, for kernels are compiled for each. The worst of all kinds of maps are curves, where forces nearly cancel:
# errors there are a fourth to two thirds of what is asked for, elsewhere less than a tenth.
_PRECISIONS = (
    (1e-2, Precision(4, 8.5, 7.5)),
    (1e-3, Precision(8, 12.0, 11.0)),
    (1e-4, Precision(8, 16.5, 14.0)),
    (1e-5, Precision(12, 17.5, 16.5)),
    (1e-6, Precision(12, 20.0, 19.0)),
    (1e-7, Precision(12, 23.5, 21.5)),
    (1e-8, Precision(16, 25.0, 24.0)),
)


class Split(NamedTuple):
    """The kernel from `below` to T on a grid with meshes of size `step`, the rest by pairs within `cutoff`."""

    step: float
    T: float
    cutoff: float
    side: int  # meshes of a tile
    cost: float


class Crowd(NamedTuple):
    """The distribution of the points: their number, extents, and what near pairs cost with larger and smaller tiles."""

    n: int
    axes: tuple[int, ...]
    extents: np.ndarray  # (3,)
    costs: list[float]  # with one tile along the longest side, two, four ...


def precision_for(accuracy: float) -> Precision:
    """The cheapest setting that is good enough for an accuracy, which is at least 1e-8.

    Examples
    --------
    >>> precision_for(2e-4) == precision_for(1e-4), precision_for(1.0).order
    (True, 4)
    """
    return next((precision for reached, precision in _PRECISIONS if reached <= accuracy), _PRECISIONS[-1][1])


def point_cost(d: int, order: int) -> float:
    """What each point costs on a grid.

    Examples
    --------
    >>> point_cost(2, 8) < point_cost(2, 12) < point_cost(3, 8)
    True
    """
    return POINT_COST + SPLINE_COST[d] * order**d


def sharpest(step: float, L: float) -> float:
    """The largest T that a grid can resolve.

    Examples
    --------
    >>> sharpest(0.1, 12.0), round(sharpest(100.0, 12.0) * 100**2, 3)
    (inf, 0.206)
    """
    wave = math.pi / step
    if wave >= L * (1.0 - 1e-9):
        return math.inf
    return wave * wave / (2.0 * (L + math.sqrt(L * L - wave * wave)))  # the root, without cancellation


def reach(T: float, cut: float) -> float:
    """The range of exp(-T u).

    Examples
    --------
    >>> reach(math.inf, 12.0), reach(0.0, 12.0), reach(6.0, 12.0)
    (0.0, inf, 1.0)
    """
    if T == 0.0:
        return math.inf
    return math.sqrt(max(cut / T - 1.0, 0.0))


def survey(
    points: np.ndarray, axes: tuple[int, ...], low: np.ndarray, extents: np.ndarray, precision: Precision
) -> Crowd:
    """Count the points in squares of many sizes, and what their near pairs cost.

    A crowded tile may have a grid of its own, whose tiles are a few times smaller: so costs are found from the smallest
    squares up. Where the whole kernel is smooth on the grid there are no near pairs.
    """
    d = len(axes)
    if _needs_no_survey(len(points), d, extents, precision):
        return Crowd(len(points), axes, extents, [])
    depth = min(_HISTOGRAM_DEPTH[d], max(3, math.floor(math.log2(len(points)) / d)))
    scale = 2**depth / float(extents.max())
    a, b, c = (min(int(extent * scale), 2**depth - 1) + 1 for extent in extents)
    counts = np.zeros((a, b, c))
    _count(points, low, scale, counts)
    smooth = precision.order * math.pi / precision.L  # the width of a tile of the finest grid
    each, costs = point_cost(d, precision.order), list[np.ndarray]()
    for level in range(depth, -1, -1):
        width = float(extents.max()) / 2**level
        costs.insert(0, np.zeros_like(counts) if width <= smooth else _tile_costs(counts, d, each, costs))
        counts = _halve(counts)
    return Crowd(len(points), axes, extents, [float(cost.sum()) for cost in costs])


def _needs_no_survey(n: int, d: int, extents: np.ndarray, precision: Precision) -> bool:
    """Whether the finest grid is small, and costs no more than what has to be done for each point in any case."""
    nodes = 2.0 * (extents[extents > 0] * (precision.L / math.pi) + 4 * precision.order)
    if nodes.max() > 0.9 * PADDED_NODES_AT_MOST[d]:  # lengths are rounded up
        return False
    return NODE_COST * float(np.prod(nodes)) < 2.0 * point_cost(d, precision.order) * n + 1e6


def _tile_costs(counts: np.ndarray, d: int, each: float, finer: list[np.ndarray]) -> np.ndarray:
    """What near pairs cost in each square, given the costs in squares of half the width, a quarter ..."""
    cost = PAIR_COST * 2.0**d * counts * counts  # of the 3^d tiles around some are empty
    patch = PATCH_COST + 2.0 * each * counts
    if not finer:  # there may be a grid for it, if not too large
        return np.minimum(cost, patch + NODE_COST * 200.0**d)
    for halvings in (1, 2, 4):
        if halvings <= len(finer):
            rest = finer[halvings - 1]
            for _ in range(halvings):
                rest = _halve(rest)
            cost = np.minimum(cost, patch + NODE_COST * (40.0 * 2**halvings) ** d + rest)
    return cost


@kernel
def _halve(cells: Any) -> Any:
    """Sums over two squares along each axis."""
    a, b, c = cells.shape
    halved = np.zeros(((a + 1) // 2, (b + 1) // 2, (c + 1) // 2))
    for i in range(a):
        for j in range(b):
            for k in range(c):
                halved[i // 2, j // 2, k // 2] += cells[i, j, k]
    return halved


@kernel
def _count(points: Any, low: Any, scale: Any, counts: Any) -> None:
    """Count the points in squares."""
    for i in range(points.shape[0]):
        a = min(int((points[i, 0] - low[0]) * scale), counts.shape[0] - 1)
        b = min(int((points[i, 1] - low[1]) * scale), counts.shape[1] - 1)
        c = min(int((points[i, 2] - low[2]) * scale), counts.shape[2] - 1)
        counts[a, b, c] += 1


def choose_split(crowd: Crowd, precision: Precision, below: float) -> Split:
    """The cheapest split of the kernel exp(-below u) / u; its mesh size is one of few, so that spectra can be reused."""
    largest = float(crowd.extents.max())
    finest = math.pi / precision.L
    if largest < _MESHES_AT_LEAST * finest:
        step = 2.0 ** (math.floor(4.0 * math.log2(largest / _MESHES_AT_LEAST)) / 4.0)
        return _split(crowd, step, precision, below)
    if not crowd.costs:
        return _split(crowd, finest, precision, below)
    rungs = 2.0 * math.log2(largest / finest)  # of half a power of two, down to a step as long as the map
    first = max(0, math.floor(rungs - 2.0 * math.log2(PADDED_NODES_AT_MOST[len(crowd.axes)])))
    steps = [finest * 2.0 ** (k / 2.0) for k in range(first, math.floor(rungs - 2.0 * math.log2(_MESHES_AT_LEAST)) + 3)]
    return min((_split(crowd, step, precision, below) for step in steps), key=lambda split: split.cost)


def _split(crowd: Crowd, step: float, precision: Precision, below: float) -> Split:
    """The split for a mesh size and what it costs; infinitely much if the grid would be too large."""
    d = len(crowd.axes)
    T = sharpest(step, precision.L)
    cutoff = reach(T, precision.cut)
    nodes = [int(crowd.extents[k] / step) + precision.order + 1 for k in crowd.axes]
    tiles = max(precision.order, math.ceil(cutoff / step + 1e-9))
    side = max(tiles, nodes[0] // 48) if cutoff == 0 else tiles
    if max(nodes) > PADDED_NODES_AT_MOST[d]:  # before lengths overflow
        return Split(step, T, cutoff, side, math.inf)
    padded = [padded_length(m, reach(below, precision.cut) / step, precision.fade) for m in nodes]
    if max(padded) > PADDED_NODES_AT_MOST[d]:
        return Split(step, T, cutoff, side, math.inf)
    cost = point_cost(d, precision.order) * crowd.n + NODE_COST * math.prod(padded)
    return Split(step, T, cutoff, side, cost + (_near_cost(crowd, side * step) if cutoff > 0 else 0.0))


def _near_cost(crowd: Crowd, width: float) -> float:
    """What near pairs cost with tiles of a width, from squares a little larger and smaller."""
    level = math.log2(float(crowd.extents.max()) / width)
    deepest = len(crowd.costs) - 1
    if level >= deepest:  # as if points were spread evenly over the finest squares
        return crowd.costs[-1] * 2.0 ** (-len(crowd.axes) * (level - deepest))
    lower = max(math.floor(level), 0)
    part = min(max(level - lower, 0.0), 1.0)
    return (1.0 - part) * crowd.costs[lower] + part * crowd.costs[lower + 1]
