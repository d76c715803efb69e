"""From coarse to fine: levels of merged neighbours, each laid out as the start of a finer one.

On a sparse graph information travels one edge per epoch. In a cluster of fifty thousand points most of what has to move lies
hundreds of edges apart, so a sampler that starts with all points leaves long threads and knots where P has clusters. A point
merged with its nearest neighbours stands for a few points; merged again, for a few dozen; and a graph of a thousand such points
is laid out quickly. The merged points are then split again, one level at a time, so that all points are in the right place
before the sampler itself starts.

Points that coincide neither pull nor push, so the objective of merged points is that of the points themselves: edges within a
merged point drop out, edges between two add up. What is left of P, the share `outside`, is scaled to 1 again, and r with it.
Weights add up, too, where points have weights; otherwise all merged points count the same, because they stand for about the
same number of points, and drawing them in proportion would take twice the time without lowering J.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sce.core.random import normal_array, stream
from sce.layout.problem import Problem
from sce.layout.similarities import Similarities

COARSEST_POINTS = 1_000  # not merged any further
MERGED_AT_MOST = 4  # points into one
MERGING_STALLS_ABOVE = 0.8  # of the points left: not worth a level
MERGED_WEIGHT_AT_LEAST = 1e-9  # of the largest: points without weight have a place, too
SPLIT_NOISE = 0.01  # standard deviation of what separates the points of a merged one


class Level(NamedTuple):
    """A coarser graph: P of the merged points, the share of the finer P in it, weights if any, and the group of each point."""

    graph: Similarities
    outside: float
    weights: np.ndarray | None
    group: np.ndarray


def make_levels(problem: Problem) -> Iterator[Level]:
    """Coarser and coarser graphs, down to about COARSEST_POINTS, or until merging stalls."""
    graph, weights, seed = problem
    number = 0
    while (n := graph.n_points) > COARSEST_POINTS:
        group, count = graph.match(stream(seed, f"merging {number}"), MERGED_AT_MOST)
        if count > MERGING_STALLS_ABOVE * n:
            return
        merged = graph.merge(group, count)
        if merged is None:
            return  # nothing but whole components
        graph, outside = merged
        weights = None if weights is None else np.bincount(group, weights, count)
        yield Level(graph, outside, weights, group)
        number += 1


def merge_start(Y: np.ndarray, weights: np.ndarray | None, levels: Sequence[Level]) -> np.ndarray:
    """The start of the coarsest level: each merged point in the middle of its members."""
    for level in levels:
        mass = np.ones(len(Y)) if weights is None else weights + MERGED_WEIGHT_AT_LEAST * weights.max()
        total = np.bincount(level.group, mass)
        columns = [np.bincount(level.group, mass * Y[:, c]) / total for c in range(Y.shape[1])]
        Y, weights = np.column_stack(columns).astype(np.float32), level.weights
    return Y


def split_points(Y: np.ndarray, level: Level, number: int, seed: int) -> np.ndarray:
    """The start of the next finer level: each point at its merged point, with a small offset."""
    finer = Y[level.group]
    finer += SPLIT_NOISE * normal_array(stream(seed, f"level {number - 1}"), finer.shape)
    return finer
