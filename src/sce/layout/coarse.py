"""From coarse to fine: maps of merged neighbours, each the start of a finer one.

On a sparse graph an epoch moves news by one edge. In a cluster of fifty thousand points most of what has to move lies
hundreds of edges apart, so a sampler that starts with all points leaves long threads and knots where P has clusters. Merged
with its nearest, a point stands for a few; merged again, for a few dozen; and a graph of two thousand such points is
laid out in a blink. Parted again a level at a time, the points are where they belong before the sampler proper begins.

Points that lie on one another neither pull nor push, so the objective of merged points is that of the points themselves: edges
within a merged point drop out, edges between two add up. What is left of P, the share `outside`, is scaled to 1 again, and
r with it. Weights add up, too, where points have weights; where they have none, all merged points count alike, for they stand
for nearly as many, and drawing them in proportion would take twice the time for no lower J.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.core.random import normal_array, permutation, stream
from sce.engines import Engine
from sce.graph.csr import arrays_of, merge_points
from sce.layout.records import LayoutOptions
from sce.layout.sampler.epochs import choose_epochs, choose_rate, sample
from sce.layout.scale import FixedScale

COARSEST = 1_000  # points that are not merged any further
GROUP = 4  # points merged into one, at most
STALLED = 0.8  # of the points left: not worth a map
REPULSION = 1.0  # r, in terms of all of P
POINTS = 1_000_000  # in all epochs of a level, within bounds
LEAST, MOST = 30, 1000  # epochs of a level
ENOUGH = 200  # epochs after coarse maps: 500 lower J by some 1 %
NOISE = 0.01  # parts what was merged


class Level(NamedTuple):
    """A coarser graph: P of the merged points, the share of the finer P in it, their weights if any, and who is in which."""

    P: sp.csr_matrix
    outside: float
    weights: np.ndarray | None
    group: np.ndarray


class Begun(NamedTuple):
    """A start, the options of what is left to do, and the numbers of points of the maps that led here, coarsest first."""

    start: np.ndarray
    options: LayoutOptions
    sizes: list[int]


def coarse_start(P: sp.csr_matrix, start: np.ndarray, options: LayoutOptions, engine: Engine, team: Team) -> Begun:
    """A start that has the large structure already.

    Parameters
    ----------
    P : csr_matrix
        Symmetric, non-negative, without a diagonal; sums to 1.
    start : ndarray of shape (N, d)
        The start of the coarsest map: its merged points begin in the middle of their own.
    options : LayoutOptions
        Of which the seed, the weights and the sampler's own settings count; `n_epochs`, where it is given, for each map.
    engine : Engine
    team : Team
    """
    levels = list(make_levels(P, options.weights, options.seed, team))
    Y = start
    weights = options.weights
    for level in levels:
        Y = _middles(level.group, Y, weights)
        weights = level.weights
    sizes = [level.P.shape[0] for level in reversed(levels)]
    outside = np.cumprod([level.outside for level in levels])
    rate = options.learning_rate or choose_rate(P.shape[0])
    while levels:
        level = levels.pop()
        rule = FixedScale(REPULSION / float(outside[len(levels)]))
        n_epochs = options.n_epochs or int(np.clip(POINTS // len(Y), LEAST, MOST))
        own = replace(options, rule=rule, n_epochs=n_epochs, learning_rate=rate, weights=level.weights, tol=None)
        Y = sample(level.P, Y, own, engine, team).Y[level.group]
        Y += NOISE * normal_array(stream(options.seed, f"level {len(levels)}"), Y.shape)
    if sizes:
        options = replace(options, n_epochs=options.n_epochs or min(ENOUGH, choose_epochs(P.shape[0], P.nnz // 2)))
    return Begun(Y.astype(np.float32), options, sizes)


def make_levels(P: sp.csr_matrix, weights: np.ndarray | None, seed: int, team: Team) -> Iterator[Level]:
    """Ever coarser graphs, down to about COARSEST points, or to where merging stalls."""
    number = 0
    while (n := P.shape[0]) > COARSEST:
        group, count = _merge(P.indptr, P.indices, P.data, permutation(stream(seed, f"merging {number}"), n), GROUP)
        if count > STALLED * n:
            return
        merged = merge_points(arrays_of(P), group, count, team, inside=False)
        coarse = sp.csr_matrix((merged.data, merged.indices, merged.indptr), (count, count))
        outside = float(coarse.data.sum(dtype=np.float64) / P.data.sum(dtype=np.float64))
        if not outside > 0:
            return  # nothing but whole components
        coarse.data /= np.float32(coarse.data.sum(dtype=np.float64))
        weights = None if weights is None else np.bincount(group, weights, count)
        yield Level(coarse, outside, weights, group)
        P, number = coarse, number + 1


def _middles(group: np.ndarray, Y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """The mean of each group."""
    mass = np.ones(len(Y)) if weights is None else weights
    total = np.bincount(group, mass)
    columns = [np.bincount(group, mass * Y[:, c]) / total for c in range(Y.shape[1])]
    return np.column_stack(columns).astype(np.float32)


# ------------------------------------------------------------------------------------------------------------- kernels


@kernel
def _merge(indptr: Any, indices: Any, data: Any, order: Any, most: Any) -> Any:
    """Let every point join its strongest neighbour that has room, in the given order: the groups, and their number."""
    n = order.size
    group = np.full(n, -1, np.int32)
    size = np.zeros(n, np.int32)
    count = 0
    for i in order:
        if group[i] >= 0:
            continue
        best, partner = np.float32(0.0), -1
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if data[e] > best and (group[j] < 0 or size[group[j]] < most):
                best, partner = data[e], j
        if partner < 0 or group[partner] < 0:
            group[i] = count
            size[count] = 1
            count += 1
            if partner >= 0:
                group[partner] = group[i]
                size[group[i]] += 1
        else:
            group[i] = group[partner]
            size[group[i]] += 1
    return group, count
