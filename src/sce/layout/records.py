"""What every optimiser takes and gives: options in; coordinates, r, a record of each epoch and the reason of the end out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sce.layout.scale import ScaleRule

Callback = Callable[[int, np.ndarray, float, float], Any]
STOPPED = "stopped by the callback"
DONE = "all epochs done"


@dataclass(frozen=True)
class LayoutOptions:
    """How to lay P out.

    `n_epochs` counts the sampler's epochs, or the most iterations of the full gradient; None is what is worth it. `tol` is
    the relative change of Y and r that ends a run; None is 0 for the sampler, and 1e-3 for the full gradient. `learning_rate`
    is the sampler's rate in the first and in the (never run) epoch after the last one; between them it is linear. None is
    what suits the number of points, falling to 0.
    """

    rule: ScaleRule
    n_epochs: int | None = None
    learning_rate: tuple[float, float] | None = None
    n_repulsive: int = 1
    tol: float | None = None
    seed: int = 0
    weights: np.ndarray | None = None


class Record(NamedTuple):
    """What is known at the end of an epoch of the sampler, or of an iteration of the full gradient."""

    epoch: int  # counted from 1
    loss: float  # the I-divergence D_I(P || s q): the sampler's is estimated from the pairs drawn in the epoch
    r: float  # the repulsion weight for the next epoch, or of the result
    learning_rate: float  # the full gradient's is the length of the step, of which 1 is L-BFGS's own
    change: float  # |Y - Y_before| / |Y|; NaN where it was not asked for


class Layout(NamedTuple):
    """The result: coordinates, repulsion weight, one record an epoch and why the run ended."""

    Y: np.ndarray
    r: float
    history: list[Record]
    stop_reason: str


class Watch(NamedTuple):
    """Who looks on: a callback (epoch, Y, r, loss) that may stop the run by returning True, and a progress bar."""

    callback: Callback | None = None
    progress: Callable[[Record], None] | None = None


NOBODY = Watch()


def run(
    epochs: Iterator[tuple[Record, str | None]], coordinates: Callable[[], np.ndarray], watch: Watch
) -> tuple[list[Record], str]:
    """Go through the epochs until one of them, or the callback, says why to stop: all records, and the reason."""
    history: list[Record] = []
    for record, reason in epochs:
        history.append(record)
        if watch.progress is not None:
            watch.progress(record)
        if watch.callback is not None and _is_true(watch.callback(record.epoch, coordinates(), record.r, record.loss)):
            return history, STOPPED
        if reason is not None:
            return history, reason
    return history, DONE


def _is_true(answer: Any) -> bool:
    return isinstance(answer, bool | np.bool_) and bool(answer)
