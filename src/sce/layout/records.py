"""The result of a layout, and the observers of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

Callback = Callable[[int, np.ndarray, float, float], Any]
STOPPED = "stopped by the callback"
EPOCHS_DONE = "all epochs done"


class Record(NamedTuple):
    """What is known at the end of an epoch of the sampler, or of an iteration of the full gradient."""

    epoch: int  # counted from 1
    loss: float  # the I-divergence D_I(P || s q); the sampler's is estimated from the pairs drawn in the epoch
    r: float  # the repulsion weight for the next epoch, or of the result
    learning_rate: float  # the full gradient's is the length of the step, relative to L-BFGS's own
    change: float  # |Y - Y_before| / |Y|; NaN where it was not asked for


class Layout(NamedTuple):
    """The result: coordinates, repulsion weight, one record per epoch, and why the run ended."""

    Y: np.ndarray
    r: float
    history: list[Record]
    stop_reason: str


class Reporter(Protocol):
    """Shows the progress of a layout to a person."""

    def stage(self, text: str) -> None:
        """A stage has ended."""

    def wait(self, name: str) -> None:
        """A stage starts of which nobody knows how long it takes."""

    def share(self, name: str, done: float = 0.0) -> Callable[[float], None] | None:
        """A stage starts; returns what to call with the share of it that is done, a part of it before."""

    def epochs(self, total: int | None, iterations: int | None = None) -> Callable[[Record], None] | None:
        """The visible epochs start, and the iterations after them, if that is known; returns what to call with each record."""


class Watch(NamedTuple):
    """Observers of a run.

    Attributes
    ----------
    callback : callable, optional
        Called as callback(epoch, Y, r, loss) after each epoch and iteration; the run stops when it returns True.
    reporter : Reporter, optional
        Shows the stages and the epochs.
    checkpoint : callable, optional
        Called after each stage, epoch and iteration with a function that returns the :class:`sce.layout.state.State`, from
        which the run can be continued.
    """

    callback: Callback | None = None
    reporter: Reporter | None = None
    checkpoint: Callable[[Callable[[], Any]], None] | None = None


NOBODY = Watch()
