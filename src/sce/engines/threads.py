"""The engine of one machine: the parts of a phase on the threads of a team."""

from __future__ import annotations

import numpy as np

from sce.core.parallel import Team
from sce.layout.sampler.blocks import Blocks, phases, schedule
from sce.layout.sampler.kernel import Epoch, run_tasks

SMALL_EPOCH = 30_000  # steps: below this, waking a second thread costs more than it saves


class ThreadEngine:
    """Runs the tasks on the threads of a team."""

    def __init__(self, team: Team) -> None:
        self._team = team

    def open(self, Y: np.ndarray, blocks: Blocks) -> ThreadSession:
        """A session on Y, which it changes in place."""
        return ThreadSession(self._team, Y, blocks)


class ThreadSession:
    """One run on the threads of a team."""

    def __init__(self, team: Team, Y: np.ndarray, blocks: Blocks) -> None:
        self._team, self._Y, self._blocks = team, Y, blocks
        self._flat, self._axes = Y.reshape(-1), tuple(range(Y.shape[1]))
        n_blocks = len(blocks.starts) - 1
        self._tasks = schedule(n_blocks)
        self._sums = np.empty((len(self._tasks), 5))
        self._alone = phases(n_blocks, 1)
        self._together = phases(n_blocks, _count_parts(team.n_jobs, n_blocks))

    def run(self, epoch: Epoch) -> np.ndarray:
        """Run an epoch, a phase after the other."""
        sums = self._sums
        for parts in self._alone if epoch.steps < SMALL_EPOCH else self._together:

            def work(first: int, last: int, parts: list[tuple[int, int]] = parts) -> None:
                for part in parts[first:last]:
                    run_tasks(self._flat, self._blocks, epoch, self._tasks, part, self._axes, sums)

            if len(parts) <= self._team.n_jobs:
                self._team.split(work, len(parts))
            else:
                self._team.sweep(work, len(parts), 1)
        return sums.sum(axis=0)

    def coordinates(self) -> np.ndarray:
        """The present coordinates."""
        return self._Y

    def close(self) -> None:
        """Nothing to give back: the team belongs to the caller."""


def _count_parts(n_jobs: int, n_blocks: int) -> int:
    """Parts in a phase: as many as threads, or, where that is no power of two, more of them, to be shared out evenly."""
    power = 1 << (n_jobs - 1).bit_length()
    return min(power if power == n_jobs else 2 * power, n_blocks // 2)
