"""What "auto" means: from options and a problem to the stages of a layout.

The large structure of a map belongs to coarse levels of merged neighbours, where the sampler and the full gradient find it in
little time. Clusters gather under weak repulsion, r = 1, and come apart as it grows to that of the finished map. Where there
are few points, or the final repulsion is strong, the full gradient does that with all points, and goes on to the minimum. Many
points come apart on the coarsest level; the sampler puts all of them in their places, and the first ten iterations of the full
gradient bring nearly all there is to gain. docs/method.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sce.layout.coarse import Level
from sce.layout.problem import Problem
from sce.layout.scale import FixedScale, ScaleRule
from sce.layout.settings import LayoutOptions

START, SAMPLER, GRADIENT = "start", "sampler", "gradient"

# The full gradient goes on to the minimum, by the dimensions of the map: in three, an iteration takes some ten times as long.
GRADIENT_UP_TO_POINTS = {1: 20_000, 2: 20_000, 3: 10_000}
SAMPLER_R_RANGE = 0.1, 25.0  # within it, the full gradient only finishes the sampler's maps of more points
GATHERING_R = 1.0  # the repulsion under which clusters gather
GRADIENT_ITERATIONS = 1000  # at most
FINISHING_MOVES = 3_000_000  # points times the iterations that finish a map, within the bounds below
FINISHING_RANGE = {1: (10, 15), 2: (10, 15), 3: (2, 2)}
FINISHING_TOLERANCE = 5e-4  # with 1e-3 IJCNN stops after ten, and J ends 0.6 % higher
FINISHED_UP_TO_POINTS = 2_000_000  # beyond, its vectors would take more memory than all the rest
GRADIENT_TOLERANCE = 1e-3

DRAWS_PER_EDGE = 75  # in a default run of the sampler alone, within the bounds below
STEPS_PER_POINT = 10  # of an epoch
MOVES_AT_LEAST = 5_000_000  # points times epochs: for small data epochs cost nothing
EPOCHS_RANGE = 100, 500
EPOCHS_AFTER_COARSE = 200  # at most: 500 lower J by some 1 %
EPOCHS_BETWEEN = 30  # after coarse maps and before the full gradient: with 100 J ends less than 0.5 % lower
RATE_ONE_UP_TO_POINTS = 20_000  # beyond, the learning rate grows

COARSE_MOVES = (
    1_000_000  # points times epochs of a level, a third where the full gradient follows; within the bounds below
)
COARSE_EPOCHS_RANGE = 30, 1000
COARSE_GRADIENT_UP_TO_POINTS = 5_000  # levels that the full gradient finishes: 10,000 lower J by less than 0.3 %
# On the coarsest level, where they cost least, the slowest motions are followed to their end: with a tolerance of 1e-4 J ends
# up to 0.7 % higher. What the finer ones add is done in few iterations.
COARSEST_GRADIENT_MOVES = 600_000  # points times iterations, within the bounds below
COARSEST_ITERATIONS_RANGE = 30, 1000
COARSE_ITERATIONS = 20
COARSE_TOLERANCE = 3e-5


class Stage(NamedTuple):
    """A stage of a layout: what is done, on how many points, under which rule, and for how long."""

    kind: str  # "start", "sampler" or "gradient"
    n_points: int
    rule: ScaleRule
    n_epochs: int = 0  # or iterations, at most
    learning_rate: tuple[float, float] = (0.0, 0.0)  # first and last
    n_repulsive: int = 1
    tol: float = 0.0
    level: int = 0  # how often neighbours were merged; 0: all points
    direct: bool = False  # the full gradient starts from a map of the same rule, not from one of another r
    share: float = 1.0  # of P that is between the points of the level


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
    whole = needs_minimum(options.rule, problem.n_points, options.n_components)
    follows = options.optimizer == "auto" and options.rule.has_minimum  # the full gradient
    follows = follows and (whole or problem.n_points <= FINISHED_UP_TO_POINTS)
    draft = FixedScale(GATHERING_R) if follows and whole else options.rule
    r = min(draft.expected_r, SAMPLER_R_RANGE[1])
    coarse = [
        stage for level in range(len(levels), 0, -1) for stage in coarse_stages(problem, options, r, levels, level)
    ]
    most = EPOCHS_RANGE[1] if not levels else EPOCHS_BETWEEN if follows else EPOCHS_AFTER_COARSE
    sampler = sampler_stage(problem, options, draft, most)
    if not follows:
        return [start, *coarse, sampler]
    gradient = gradient_stage(problem, options, None) if whole else finishing_stage(problem, options)
    return [start, *coarse, sampler, gradient._replace(direct=draft == options.rule)]


def wants_levels(options: LayoutOptions) -> bool:
    """Whether a layout goes from coarse to fine: only from a start that lacks the large structure."""
    return options.optimizer == "auto" and isinstance(options.init, str)


def sampler_stage(problem: Problem, options: LayoutOptions, rule: ScaleRule, most_epochs: int) -> Stage:
    """The sampler on all points; a default number of epochs is at most `most_epochs`."""
    n = problem.n_points
    n_epochs = options.n_epochs or min(most_epochs, choose_epochs(n, problem.graph.n_edges))
    rate = options.learning_rate or choose_rate(n)
    return Stage(SAMPLER, n, rule, n_epochs, rate, options.n_repulsive, options.tol or 0.0)


def coarse_stages(
    problem: Problem, options: LayoutOptions, r: float, levels: Sequence[Level], level: int
) -> Iterator[Stage]:
    """The sampler, and the full gradient if there are few, on the points of a level (1 is the finest), at the r of all of P.

    On the coarsest one clusters gather under weak repulsion before r grows.
    """
    share = float(np.cumprod([each.outside for each in levels])[level - 1])
    n, rule = levels[level - 1].graph.n_points, FixedScale(r / share)
    follows = n <= COARSE_GRADIENT_UP_TO_POINTS
    n_epochs = options.n_epochs or int(np.clip(COARSE_MOVES // (3 * n if follows else n), *COARSE_EPOCHS_RANGE))
    rate = options.learning_rate or choose_rate(problem.n_points)
    gathers = follows and level == len(levels) and r > GATHERING_R
    draft = FixedScale(GATHERING_R / share) if gathers else rule
    yield Stage(SAMPLER, n, draft, n_epochs, rate, options.n_repulsive, level=level)
    if follows:
        most = int(np.clip(COARSEST_GRADIENT_MOVES // n, *COARSEST_ITERATIONS_RANGE))
        iterations = most if level == len(levels) else COARSE_ITERATIONS
        direct = not gathers
        yield Stage(GRADIENT, n, rule, iterations, tol=COARSE_TOLERANCE, level=level, direct=direct, share=share)


def gradient_stage(
    problem: Problem, options: LayoutOptions, iterations: int | None, tolerance: float = GRADIENT_TOLERANCE
) -> Stage:
    """The full gradient on all points, with the tolerance of the options if they have one."""
    tol = tolerance if options.tol is None else options.tol
    return Stage(GRADIENT, problem.n_points, options.rule, iterations or GRADIENT_ITERATIONS, tol=tol)


def finishing_stage(problem: Problem, options: LayoutOptions) -> Stage:
    """A few iterations of the full gradient on all points."""
    iterations = int(np.clip(FINISHING_MOVES // problem.n_points, *FINISHING_RANGE[options.n_components]))
    return gradient_stage(problem, options, iterations, FINISHING_TOLERANCE)


def needs_minimum(rule: ScaleRule, n: int, n_components: int = 2) -> bool:
    """Whether the full gradient goes all the way to the minimum, or only finishes the sampler's map.

    Examples
    --------
    >>> from sce.layout.scale import SNEScale
    >>> needs_minimum(FixedScale(1.0), 5_000), needs_minimum(FixedScale(1.0), 70_000), needs_minimum(SNEScale(), 70_000)
    (True, False, True)
    """
    low, high = SAMPLER_R_RANGE
    return n <= GRADIENT_UP_TO_POINTS[n_components] or not low <= rule.expected_r <= high


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
