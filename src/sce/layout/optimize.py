"""The loop around the sampler: P to Y."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sce.compiled import kernel
from sce.engines import Engine, Session
from sce.errors import SCEError
from sce.layout.blocks import make_blocks
from sce.layout.sampler import COUNT_P, COUNT_U, SUM_LOG, SUM_Q_P, SUM_Q_U, Epoch
from sce.layout.scale import ScaleEstimate, ScaleRule
from sce.parallel import Team
from sce.random import stream

STEPS_PER_POINT = 10  # steps an epoch, for each point
DRAWS_PER_EDGE = 75  # in a default run, within bounds

Callback = Callable[[int, np.ndarray, float, float], Any]


@dataclass(frozen=True)
class LayoutOptions:
    """How to lay P out.

    `learning_rate` is the rate of the first and of the (never run) epoch after the last one; between them it is linear.
    """

    rule: ScaleRule
    n_epochs: int
    learning_rate: tuple[float, float] = (1.0, 0.0)
    n_repulsive: int = 1
    tol: float = 0.0
    seed: int = 0
    weights: np.ndarray | None = None


class Record(NamedTuple):
    """What is known at the end of an epoch."""

    epoch: int  # counted from 1
    loss: float  # the I-divergence D_I(P || s q), estimated from the pairs drawn in the epoch
    r: float  # the repulsion weight for the next epoch, or of the result
    learning_rate: float
    change: float  # |Y - Y_before| / |Y|; NaN where it was not asked for


class Layout(NamedTuple):
    """The result: coordinates, repulsion weight, one record an epoch and why the run ended."""

    Y: np.ndarray
    r: float
    history: list[Record]
    stop_reason: str


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
    return int(np.clip(max(passes, 5_000_000 / max(n_points, 1)), 100, 500))


def count_laps(n_points: int) -> int:
    """How often an epoch goes through all tasks.

    The finer blocks take turns, the nearer the sampler is to Algorithm 1; but each lap makes threads wait for one another a
    few times, so laps are not shorter than some 600,000 steps.

    Examples
    --------
    >>> count_laps(1_797), count_laps(70_000), count_laps(126_701), count_laps(1_000_000)
    (1, 1, 2, 4)
    """
    return int(np.clip(STEPS_PER_POINT * n_points // 600_000, 1, 4))


def optimize(
    P: sp.csr_matrix,
    start: np.ndarray,
    options: LayoutOptions,
    engine: Engine,
    team: Team,
    callback: Callback | None = None,
    progress: Callable[[Record], None] | None = None,
) -> Layout:
    """Minimise J by block-stratified stochastic gradient descent.

    Parameters
    ----------
    P : csr_matrix
        Symmetric, non-negative, without a diagonal, with at least one edge; sums to 1.
    start : ndarray of shape (N, d)
        The first coordinates.
    options : LayoutOptions
    engine : Engine
        Where the tasks run.
    team : Team
        Threads for the preparation.
    callback : callable, optional
        Called after every epoch as callback(epoch, Y, r, loss); it stops the run by returning True.
    progress : callable, optional
        Called with the record of every epoch.
    """
    blocks, order = make_blocks(P, team, options.seed, options.weights)
    d = start.shape[1]
    Y = np.zeros((len(order), max(d, 2)), np.float32)  # one dimension is two of which the second is 0, and stays it
    Y[:, :d] = start[order]
    session = engine.open(Y, blocks)
    history: list[Record] = []
    reason = "all epochs done"
    try:
        for record in _epochs(P, session, options):
            history.append(record)
            if progress is not None:
                progress(record)
            if callback and _is_true(callback(record.epoch, _restore(session, order, d), record.r, record.loss)):
                reason = "stopped by the callback"
                break
            if record.change < options.tol and _settled(history, options.tol):
                reason = f"relative changes of Y and r below tol = {options.tol:g}"
                break
        final = _restore(session, order, d)
    finally:
        session.close()
    return Layout(final, history[-1].r, history, reason)


def _epochs(P: sp.csr_matrix, session: Session, options: LayoutOptions) -> Any:
    """Run the epochs one after the other and yield the record of each."""
    n = P.shape[0]
    n_pairs, constant = _divergence_constant(P, options.weights)
    steps = float(STEPS_PER_POINT * n)
    laps = count_laps(n)
    estimate = ScaleEstimate(options.rule, steps * options.n_epochs, float(n) * (n - 1))
    first, last = options.learning_rate
    key = stream(options.seed, "draws")
    for number in range(options.n_epochs):
        eta = first + (last - first) * number / options.n_epochs
        before = session.coordinates().copy() if options.tol > 0 else None
        sums = np.zeros(5)
        for lap in range(number * laps, (number + 1) * laps):
            sums += session.run(_epoch(lap, steps / laps, eta, estimate.r, options.n_repulsive, key))
        mean_q_P = sums[SUM_Q_P] / max(sums[COUNT_P], 1.0)
        mean_q_U = sums[SUM_Q_U] / max(sums[COUNT_U], 1.0)
        r = estimate.r
        loss = constant + sums[SUM_LOG] / max(sums[COUNT_P], 1.0) - math.log(r / n_pairs) + r * mean_q_U - 1.0
        if not (math.isfinite(loss) and np.isfinite(session.coordinates()).all()):
            raise SCEError(f"The layout left the range of numbers in epoch {number + 1}; lower learning_rate or scale.")
        estimate.mix(mean_q_P, mean_q_U, steps)
        yield Record(number + 1, loss, estimate.r, eta, _change(before, session.coordinates()))


def _epoch(number: int, steps: float, eta: float, r: float, n_repulsive: int, key: np.uint64) -> Epoch:
    """The epoch's constants.

    The longest push is that of an implicit step: (4 eta r)^(1/4) solves d' = 4 eta r q(d')^2 d' for the large d' of a strong
    repulsion, where the explicit step would throw a close pair out of all proportion. Up to r = 2 no step is that long.
    """
    limit = max(1.3 * max(eta, 1.0), (4.0 * eta * r) ** 0.25)
    repulsion = 2.0 * eta * r / n_repulsive
    return Epoch(
        number, steps, float(n_repulsive), np.float32(2.0 * eta), np.float32(repulsion), np.float32(limit), key
    )


def _divergence_constant(P: sp.csr_matrix, weights: np.ndarray | None) -> tuple[float, float]:
    """sum w_i w_j over i != j, and the part of D_I that neither Y nor s changes: sum P ln (P / w_i w_j)."""
    n = P.shape[0]
    w = np.ones(n) if weights is None else np.asarray(weights, np.float64)
    log_w = np.log(w, out=np.zeros(n), where=w > 0)  # a point of weight 0 repels nothing, and is left out of the sum
    n_pairs = float((w * (w.sum() - w)).sum())
    return n_pairs, _relative_entropy(P.indptr, P.indices, P.data, log_w)


@kernel
def _relative_entropy(indptr: Any, indices: Any, data: Any, log_w: Any) -> Any:
    """Sum of P_ij (ln P_ij - ln w_i - ln w_j)."""
    total = 0.0
    for i in range(log_w.size):
        for e in range(indptr[i], indptr[i + 1]):
            total += data[e] * (math.log(data[e]) - log_w[i] - log_w[indices[e]])
    return total


def _is_true(answer: Any) -> bool:
    return isinstance(answer, bool | np.bool_) and bool(answer)


def _settled(history: list[Record], tol: float) -> bool:
    """Whether r, too, has changed by a smaller share than tol."""
    return len(history) > 1 and abs(history[-1].r - history[-2].r) < tol * history[-1].r


def _change(before: np.ndarray | None, after: np.ndarray) -> float:
    """|after - before| / |after|."""
    if before is None:
        return math.nan
    size = float(np.square(after, dtype=np.float64).sum())
    moved = float(np.square(after - before, dtype=np.float64).sum())
    return math.sqrt(moved / size) if size > 0 else 0.0


def _restore(session: Session, order: np.ndarray, d: int) -> np.ndarray:
    """The coordinates, rows back from the order of the blocks to that of the data."""
    Y = np.empty((len(order), d), np.float32)
    Y[order] = session.coordinates()[:, :d]
    return Y
