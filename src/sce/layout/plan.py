"""What "auto" means: from options and a problem to the stages of a layout.

The sampler finds the large structure of a map in seconds, from coarse levels of merged neighbours, and is right while the
repulsion is weak. The full gradient carries a map to any r and to the minimum, at many times the cost of an epoch. So by
default the sampler draws a map of weak repulsion, and the full gradient continues from there wherever that pays: docs/method.md
has the measurements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sce.layout.coarse import Level
from sce.layout.problem import Problem
from sce.layout.scale import FixedScale, ScaleRule
from sce.layout.settings import LayoutOptions

START, COARSE, SAMPLER, GRADIENT = "start", "coarse", "sampler", "gradient"

GRADIENT_UP_TO_POINTS = 10_000  # the full gradient pays at any r
SAMPLER_R_RANGE = 0.1, 12.0  # of more points the sampler alone is as good within this range
GRADIENT_ITERATIONS = 1000  # at most
GRADIENT_TOLERANCE = 1e-3

DRAWS_PER_EDGE = 75  # in a default run of the sampler, within the bounds below
STEPS_PER_POINT = 10  # of an epoch
MOVES_AT_LEAST = 5_000_000  # points times epochs: for small data epochs cost nothing
EPOCHS_RANGE = 100, 500
EPOCHS_AFTER_COARSE = 200  # at most: 500 lower J by some 1 %
RATE_ONE_UP_TO_POINTS = 20_000  # beyond, the learning rate grows

COARSE_R = 1.0  # the repulsion weight of coarse maps, in terms of all of P
COARSE_MOVES = 1_000_000  # points times epochs of a level, within the bounds below
COARSE_EPOCHS_RANGE = 30, 1000


class Stage(NamedTuple):
    """A stage of a layout: what is done, on how many points, under which rule, and for how long."""

    kind: str  # "start", "coarse", "sampler" or "gradient"
    n_points: int
    rule: ScaleRule
    n_epochs: int = 0  # or iterations, at most
    learning_rate: tuple[float, float] = (0.0, 0.0)  # first and last
    n_repulsive: int = 1
    tol: float = 0.0
    level: int = 0  # how often neighbours were merged


def make_plan(problem: Problem, options: LayoutOptions, levels: Sequence[Level]) -> list[Stage]:
    """The stages of a layout, the start first.

    Parameters
    ----------
    problem : Problem
    options : LayoutOptions
    levels : sequence of Level
        The coarse levels, the finest first; empty where there are none.
    """
    start = Stage(START, problem.n_points, options.rule)
    if options.optimizer == "gradient":
        return [start, gradient_stage(problem, options, options.n_epochs)]
    coarse = [coarse_stage(problem, options, levels, level) for level in range(len(levels), 0, -1)]
    most = EPOCHS_AFTER_COARSE if levels else EPOCHS_RANGE[1]
    if options.optimizer == "sampler" or not gradient_pays(options.rule, problem.n_points):
        return [start, *coarse, sampler_stage(problem, options, options.rule, most)]
    draft = sampler_stage(problem, options, options.rule.for_sampler(), most)
    return [start, *coarse, draft, gradient_stage(problem, options, None)]


def wants_levels(options: LayoutOptions) -> bool:
    """Whether a layout goes from coarse to fine: only from a start that lacks the large structure."""
    return options.optimizer == "auto" and isinstance(options.init, str)


def sampler_stage(problem: Problem, options: LayoutOptions, rule: ScaleRule, most_epochs: int) -> Stage:
    """The sampler on all points; a default number of epochs is at most `most_epochs`."""
    n = problem.n_points
    n_epochs = options.n_epochs or min(most_epochs, choose_epochs(n, problem.graph.n_edges))
    rate = options.learning_rate or choose_rate(n)
    return Stage(SAMPLER, n, rule, n_epochs, rate, options.n_repulsive, options.tol or 0.0)


def coarse_stage(problem: Problem, options: LayoutOptions, levels: Sequence[Level], level: int) -> Stage:
    """The sampler on the points of a level: 1 is the finest."""
    share = float(np.cumprod([each.outside for each in levels])[level - 1])
    n = levels[level - 1].graph.n_points
    n_epochs = options.n_epochs or int(np.clip(COARSE_MOVES // n, *COARSE_EPOCHS_RANGE))
    rate = options.learning_rate or choose_rate(problem.n_points)
    return Stage(COARSE, n, FixedScale(COARSE_R / share), n_epochs, rate, options.n_repulsive, level=level)


def gradient_stage(problem: Problem, options: LayoutOptions, iterations: int | None) -> Stage:
    """The full gradient on all points."""
    tol = GRADIENT_TOLERANCE if options.tol is None else options.tol
    return Stage(GRADIENT, problem.n_points, options.rule, iterations or GRADIENT_ITERATIONS, tol=tol)


def gradient_pays(rule: ScaleRule, n: int) -> bool:
    """Whether the full gradient, after the sampler, gives a lower J than the sampler alone in the same time.

    Examples
    --------
    >>> from sce.layout.scale import SNEScale
    >>> gradient_pays(FixedScale(1.0), 5_000), gradient_pays(FixedScale(1.0), 70_000), gradient_pays(SNEScale(), 70_000)
    (True, False, True)
    """
    low, high = SAMPLER_R_RANGE
    return rule.has_minimum and (n <= GRADIENT_UP_TO_POINTS or not low <= rule.expected_r <= high)


def choose_epochs(n_points: int, n_edges: int) -> int:
    """The default number of epochs: as many as draw each edge 75 times, within 100 and 500; at least 5e6 / N.

    A 15-NN graph is done in 100 epochs; the denser entropic graphs, whose weak edges must pull clusters together too,
    take some 500. For small data epochs cost nothing.

    Examples
    --------
    >>> choose_epochs(70_000, 770_000), choose_epochs(1_000_000, 65_000_000), choose_epochs(1_000, 11_000)
    (100, 487, 500)
    """
    passes = DRAWS_PER_EDGE * n_edges / (STEPS_PER_POINT * max(n_points, 1))
    return int(np.clip(max(passes, MOVES_AT_LEAST / max(n_points, 1)), *EPOCHS_RANGE))


def choose_rate(n_points: int) -> tuple[float, float]:
    """The default learning rate: from 1, beyond 20,000 points from (N / 20,000)^(1/4), down to 0.

    The more points, the farther apart in the graph are those that have to move together. At 70,000 points a rate of 1.5
    gives the lowest J after 100 epochs; at a million 3 lowers J by as much as twice the epochs would.

    Examples
    --------
    >>> choose_rate(1_797), choose_rate(320_000)
    ((1.0, 0.0), (2.0, 0.0))
    """
    return max(1.0, (n_points / RATE_ONE_UP_TO_POINTS) ** 0.25), 0.0
