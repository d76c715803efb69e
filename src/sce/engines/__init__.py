"""Where the block tasks of the sampler run: one small protocol, threads as its default.

An engine opens a session on the coordinates and the blocks. A session runs epochs and hands back the sums; it may keep
the coordinates wherever it likes (in this process, on the workers of a cluster, on a GPU) until it is asked for them. The
schedule and the random numbers are part of the task, so every engine that computes in IEEE float32 in the order written
gives the same bytes.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from sce.core.parallel import Team
from sce.errors import ParameterError
from sce.layout.sampler.blocks import Blocks
from sce.layout.sampler.kernel import Epoch


class Session(Protocol):
    """One run: coordinates that epochs move."""

    def run(self, epoch: Epoch) -> np.ndarray:
        """Run an epoch; the five sums of :mod:`sce.layout.sampler.kernel` over all tasks, added in their order."""

    def coordinates(self) -> np.ndarray:
        """The present coordinates, (N, d) float32, in the order of the blocks; not to be changed."""

    def close(self) -> None:
        """Give back what the session holds."""


class Engine(Protocol):
    """A place where block tasks run."""

    def open(self, Y: np.ndarray, blocks: Blocks) -> Session:
        """A session that starts from Y, (N, d) float32 in the order of the blocks, which it may change."""


def make_engine(engine: str | Engine, team: Team) -> Engine:
    """The engine of a name, or the engine itself."""
    if isinstance(engine, str):
        if engine != "threads":
            raise ParameterError(f'engine must be "threads" or an object with open(Y, blocks); got {engine!r}.')
        from sce.engines.threads import ThreadEngine

        return ThreadEngine(team)
    if not callable(getattr(engine, "open", None)):
        raise ParameterError(f'engine must be "threads" or an object with open(Y, blocks); got {engine!r}.')
    return engine
