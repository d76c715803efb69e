"""Stochastic gradient descent: the loop around the sampler."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from sce.core.parallel import Team
from sce.core.random import stream
from sce.engines import Engine, Session
from sce.errors import SCEError
from sce.layout.divergence import divergence, divergence_constant
from sce.layout.records import NOBODY, Layout, LayoutOptions, Record, Watch, run
from sce.layout.sampler.blocks import FEW_BLOCKS, count_blocks, make_blocks
from sce.layout.sampler.kernel import COUNT_P, COUNT_U, SUM_LOG, SUM_Q_P, SUM_Q_U, Epoch
from sce.layout.scale import ScaleEstimate

STEPS_PER_POINT = 10  # steps an epoch, for each point
DRAWS_PER_EDGE = 75  # in a default run, within bounds
UNHURRIED = 20_000  # points up to which the learning rate is 1


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


def choose_rate(n_points: int) -> tuple[float, float]:
    """The default learning rate: from 1, beyond 20,000 points from (N / 20,000)^(1/4), down to 0.

    The more points, the farther apart in the graph are those that have to move together. At 70,000 points a rate of 1.5
    gives the lowest J after 100 epochs; at a million 3 lowers J by as much as twice the epochs would.

    Examples
    --------
    >>> choose_rate(1_797), choose_rate(320_000)
    ((1.0, 0.0), (2.0, 0.0))
    """
    return max(1.0, (n_points / UNHURRIED) ** 0.25), 0.0


def count_laps(n_points: int, n_edges: int) -> int:
    """How often an epoch goes through all tasks, from 1 to 4.

    The finer blocks take turns, the nearer the sampler is to Algorithm 1; but each lap makes threads wait for one another a
    few times, so laps are not shorter than some 600,000 steps. Where blocks hold near points, pulls within a block take turns
    anyway, and laps are as many as it takes to draw few edges twice in one.

    Examples
    --------
    >>> count_laps(1_797, 20_000), count_laps(70_000, 770_000), count_laps(126_701, 1_400_000), count_laps(500_000, 5_500_000)
    (1, 1, 2, 4)
    >>> count_laps(1_000_000, 9_000_000), count_laps(11_000_000, 45_000_000)
    (1, 2)
    """
    steps = STEPS_PER_POINT * n_points
    laps = steps // 600_000 if count_blocks(n_points) <= FEW_BLOCKS else round(steps / n_edges)
    return min(max(laps, 1), 4)


def sample(
    P: sp.csr_matrix, start: np.ndarray, options: LayoutOptions, engine: Engine, team: Team, watch: Watch = NOBODY
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
    watch : Watch, optional
        Called after every epoch.
    """
    blocks, order = make_blocks(P, team, options.seed, options.weights, start)
    d = start.shape[1]
    Y = np.zeros((len(order), max(d, 2)), np.float32)  # one dimension is two of which the second is 0, and stays it
    Y[:, :d] = start[order]
    session = engine.open(Y, blocks)
    try:
        history, reason = run(_epochs(P, session, options), lambda: _restore(session, order, d), watch)
        final = _restore(session, order, d)
    finally:
        session.close()
    return Layout(final, history[-1].r, history, reason)


def _epochs(P: sp.csr_matrix, session: Session, options: LayoutOptions) -> Iterator[tuple[Record, str | None]]:
    """Run the epochs one after the other; the record of each, and the reason if it was the last."""
    n = P.shape[0]
    constants = divergence_constant(P, options.weights)
    n_epochs, tol = options.n_epochs or choose_epochs(n, P.nnz // 2), options.tol or 0.0
    steps = float(STEPS_PER_POINT * n)
    laps = count_laps(n, P.nnz // 2)
    estimate = ScaleEstimate(options.rule, steps * n_epochs, float(n) * (n - 1))
    first, last = options.learning_rate or choose_rate(n)
    key = stream(options.seed, "draws")
    for number in range(n_epochs):
        eta = first + (last - first) * number / n_epochs
        before = session.coordinates().copy() if tol > 0 else None
        sums = np.zeros(5)
        for lap in range(number * laps, (number + 1) * laps):
            sums += session.run(_epoch(lap, steps / laps, eta, estimate.r, options.n_repulsive, key))
        mean_q_P = sums[SUM_Q_P] / max(sums[COUNT_P], 1.0)
        mean_q_U = sums[SUM_Q_U] / max(sums[COUNT_U], 1.0)
        r = estimate.r
        loss = divergence(constants, sums[SUM_LOG] / max(sums[COUNT_P], 1.0), mean_q_U, r)
        if not (math.isfinite(loss) and np.isfinite(session.coordinates()).all()):
            raise SCEError(f"The layout left the range of numbers in epoch {number + 1}; lower learning_rate or scale.")
        estimate.mix(mean_q_P, mean_q_U, steps)
        change = _change(before, session.coordinates())
        settled = change < tol and number > 0 and abs(estimate.r - r) < tol * estimate.r
        yield (
            Record(number + 1, loss, estimate.r, eta, change),
            f"relative changes of Y and r below tol = {tol:g}" if settled else None,
        )


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
