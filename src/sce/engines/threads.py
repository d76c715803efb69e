"""The engine of one machine: blocks of points, and the tasks of a phase on the threads of a team."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sce.core.parallel import Team
from sce.layout.engine import Lap, Outcome
from sce.layout.problem import Problem
from sce.layout.sampler.blocks import make_blocks, phases, schedule
from sce.layout.sampler.kernel import run_tasks

ONE_THREAD_BELOW_STEPS = 30_000  # of a lap: waking a second thread would cost more than it saves


class ThreadEngine:
    """Runs the tasks on the threads of a team."""

    reproducible = True

    def __init__(self, team: Team) -> None:
        self._team = team

    def open(self, problem: Problem, start: np.ndarray, coordinates: np.ndarray | None = None) -> ThreadSession:
        """A session on copies of the coordinates."""
        return ThreadSession(self._team, problem, start, start if coordinates is None else coordinates)


class ThreadSession:
    """One run on the threads of a team."""

    def __init__(self, team: Team, problem: Problem, start: np.ndarray, coordinates: np.ndarray) -> None:
        self._team = team
        self._blocks, self._order = make_blocks(problem.graph.P, team, problem.seed, problem.weights, start)
        n, self._d = coordinates.shape
        self._Y = np.zeros((n, max(self._d, 2)), np.float32)  # one dimension is two, of which the second stays 0
        self._Y[:, : self._d] = coordinates[self._order]
        self._flat, self._axes = self._Y.reshape(-1), tuple(range(self._Y.shape[1]))
        n_blocks = len(self._blocks.starts) - 1
        self._tasks = schedule(n_blocks)
        self._sums = np.empty((len(self._tasks), 5))
        self._alone = phases(n_blocks, 1)
        self._together = phases(n_blocks, _count_parts(team.n_jobs, n_blocks))

    def run(self, laps: Sequence[Lap], *, measure: bool = False) -> Outcome:
        """Run laps, one phase after another."""
        before = self._Y.copy() if measure else None
        sums = np.zeros(5)
        for lap in laps:
            sums += self._run_lap(lap)
        square = moved = math.nan
        if before is not None:
            square = float(np.square(self._Y, dtype=np.float64).sum())
            moved = float(np.square(self._Y - before, dtype=np.float64).sum())
        finite = bool(np.isfinite(self._Y).all())
        sum_q_P, sum_log, count_P, sum_q_U, count_U = (float(total) for total in sums)
        return Outcome(sum_q_P, sum_log, count_P, sum_q_U, count_U, finite, square, moved)

    def _run_lap(self, lap: Lap) -> np.ndarray:
        """Run all tasks; their sums, added in the order of the tasks."""
        sums = self._sums
        for parts in self._alone if lap.steps < ONE_THREAD_BELOW_STEPS else self._together:

            def work(first: int, last: int, parts: list[tuple[int, int]] = parts) -> None:
                for part in parts[first:last]:
                    run_tasks(self._flat, self._blocks, lap, self._tasks, part, self._axes, sums)

            if len(parts) <= self._team.n_jobs:
                self._team.split(work, len(parts))
            else:
                self._team.sweep(work, len(parts), 1)
        return sums.sum(axis=0)

    def coordinates(self) -> np.ndarray:
        """The present coordinates, in the order of the data."""
        Y = np.empty((len(self._order), self._d), np.float32)
        Y[self._order] = self._Y[:, : self._d]
        return Y

    def close(self) -> None:
        """Nothing to release: the team belongs to the caller."""


def _count_parts(n_jobs: int, n_blocks: int) -> int:
    """The number of parts in a phase: one per thread, or more if that is not a power of two, to share the work evenly."""
    power = 1 << (n_jobs - 1).bit_length()
    return min(power if power == n_jobs else 2 * power, n_blocks // 2)
