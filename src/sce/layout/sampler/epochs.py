"""Stochastic gradient descent: the epochs of the sampler, one after another."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sce.core.random import stream
from sce.errors import SCEError
from sce.layout.divergence import divergence, divergence_constants
from sce.layout.engine import Engine, Lap, Outcome
from sce.layout.plan import STEPS_PER_POINT, Stage
from sce.layout.problem import Problem
from sce.layout.records import EPOCHS_DONE, Record
from sce.layout.sampler.blocks import RANDOM_BLOCKS, count_blocks
from sce.layout.scale import ScaleEstimate

STEPS_PER_LAP = 600_000  # at least, because threads wait for one another a few times a lap
LAPS_AT_MOST = 4  # in an epoch


class SamplerState(NamedTuple):
    """Where a sampler is between two epochs."""

    Y: np.ndarray  # (n, d) float32, in the order of the data
    epoch: int  # epochs done
    mean_q_P: float  # of the estimate of r
    mean_q_U: float
    steps: float


class Sampler:
    """Minimises J by block-stratified stochastic gradient descent, an epoch at a time.

    Parameters
    ----------
    problem : Problem
        With at least one edge.
    stage : Stage
        The rule, the epochs, the rates.
    engine : Engine
        Where the laps run.
    start : ndarray of shape (n, d)
        The first coordinates.
    state : SamplerState, optional
        Where to go on.
    """

    def __init__(
        self, problem: Problem, stage: Stage, engine: Engine, start: np.ndarray, state: SamplerState | None = None
    ) -> None:
        n = problem.n_points
        self._stage = stage
        self._constants = divergence_constants(problem)
        self._steps = float(STEPS_PER_POINT * n)
        self._laps = count_laps(n, problem.graph.n_edges)
        self._estimate = ScaleEstimate(stage.rule, self._steps * stage.n_epochs, float(n) * (n - 1))
        self._key = stream(problem.seed, "draws")
        self._epoch = 0
        if state is not None:
            self._epoch = state.epoch
            self._estimate.mean_q_P, self._estimate.mean_q_U = state.mean_q_P, state.mean_q_U
            self._estimate.done = state.steps
        self._session = engine.open(problem, start, None if state is None else state.Y)

    def advance(self) -> tuple[Record, str | None] | None:
        """Run an epoch: its record, and the reason if it was the last; None where all epochs are done."""
        stage, estimate = self._stage, self._estimate
        if self._epoch == stage.n_epochs:
            return None
        first, last = stage.learning_rate
        eta = first + (last - first) * self._epoch / stage.n_epochs
        r = estimate.r
        laps = range(self._epoch * self._laps, (self._epoch + 1) * self._laps)
        done = self._session.run([self._lap(number, eta, r) for number in laps], measure=stage.tol > 0)
        mean_q_P, mean_q_U = done.sum_q_P / max(done.count_P, 1.0), done.sum_q_U / max(done.count_U, 1.0)
        loss = divergence(self._constants, done.sum_log / max(done.count_P, 1.0), mean_q_U, r)
        if not (math.isfinite(loss) and done.finite):
            raise SCEError(f"The layout diverged in epoch {self._epoch + 1}; lower learning_rate or scale.")
        estimate.mix(mean_q_P, mean_q_U, self._steps)
        change = _relative_change(done)
        settled = change < stage.tol and self._epoch > 0 and abs(estimate.r - r) < stage.tol * estimate.r
        self._epoch += 1
        record = Record(self._epoch, loss, estimate.r, eta, change)
        return record, f"relative changes of Y and r below tol = {stage.tol:g}" if settled else None

    def coordinates(self) -> np.ndarray:
        """The present map, float32."""
        return self._session.coordinates()

    def state(self) -> SamplerState:
        """Where to go on."""
        estimate = self._estimate
        return SamplerState(
            self._session.coordinates(), self._epoch, estimate.mean_q_P, estimate.mean_q_U, estimate.done
        )

    def done_reason(self) -> str:
        """Why a run of all epochs ended."""
        return EPOCHS_DONE

    def close(self) -> None:
        """Release what the engine holds."""
        self._session.close()

    def _lap(self, number: int, eta: float, r: float) -> Lap:
        """The constants of a lap.

        The longest push is that of an implicit step: (4 eta r)^(1/4) solves d' = 4 eta r q(d')^2 d' for the large d' of a
        strong repulsion, where the explicit step would throw a close pair much too far. Up to r = 2 no step is that long.
        """
        limit = max(1.3 * max(eta, 1.0), (4.0 * eta * r) ** 0.25)
        n_repulsive = self._stage.n_repulsive
        return Lap(
            number,
            self._steps / self._laps,
            float(n_repulsive),
            np.float32(2.0 * eta),
            np.float32(2.0 * eta * r / n_repulsive),
            np.float32(limit),
            self._key,
        )


def count_laps(n_points: int, n_edges: int) -> int:
    """How often an epoch goes through all tasks, from 1 to 4.

    The more finely blocks take turns, the closer the sampler is to Algorithm 1; but each lap makes threads wait for one another
    a few times. Where blocks hold near points, pulls within a block take turns anyway, and there are enough laps that few edges
    are drawn twice in one lap.

    Examples
    --------
    >>> count_laps(1_797, 20_000), count_laps(70_000, 770_000), count_laps(126_701, 1_400_000), count_laps(500_000, 5_500_000)
    (1, 1, 2, 4)
    >>> count_laps(1_000_000, 9_000_000), count_laps(11_000_000, 45_000_000)
    (1, 2)
    """
    steps = STEPS_PER_POINT * n_points
    laps = steps // STEPS_PER_LAP if count_blocks(n_points) <= RANDOM_BLOCKS else round(steps / n_edges)
    return min(max(laps, 1), LAPS_AT_MOST)


def _relative_change(done: Outcome) -> float:
    """|Y - Y_before| / |Y|; NaN where it was not measured."""
    if math.isnan(done.moved):
        return math.nan
    return math.sqrt(done.moved / done.square) if done.square > 0 else 0.0
