"""Algorithm 1 of the paper as a literal, sequential numba port with an alias table: what the sampler is measured against."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.random import LOW, below, below_low, bits, stream
from sce.layout.sampler.blocks import fill_alias

WORKERS = 16_384  # steps an iteration, as in the authors' defaults


class Table(NamedTuple):
    """The directed edges of P with Walker's alias table."""

    rows: np.ndarray
    columns: np.ndarray
    keep: np.ndarray
    alias: np.ndarray


def make_table(P: Any) -> Table:
    edges = P.tocoo()
    keep, alias = np.empty(edges.nnz, np.uint32), np.empty(edges.nnz, np.int64)
    fill_alias(edges.data, float(edges.data.sum(dtype=np.float64)), keep, alias)
    return Table(edges.row.astype(np.int32), edges.col.astype(np.int32), keep, alias.astype(np.int32))


@kernel(fused=True)
def _iteration(Y: Any, table: Any, eta: Any, r: Any, alpha: Any, key: Any, steps: Any) -> Any:
    """The workers of an iteration, one after the other; returns xi and omega."""
    n, n_edges, one = Y.shape[0], table.rows.size, np.float32(1.0)
    xi = omega = 0.0
    for t in range(steps):
        random = bits(key, np.uint64(2 * t))
        e = below(random, n_edges)
        if np.uint32(random & LOW) >= table.keep[e]:
            e = np.int64(table.alias[e])
        i, j = np.int64(table.rows[e]), np.int64(table.columns[e])
        dx, dy = Y[i, 0] - Y[j, 0], Y[i, 1] - Y[j, 1]
        q = one / (one + dx * dx + dy * dy)
        g = np.float32(2.0) * eta * q
        Y[i, 0] -= g * dx
        Y[i, 1] -= g * dy
        Y[j, 0] += g * dx
        Y[j, 1] += g * dy
        xi += alpha * q
        omega += alpha
        random = bits(key, np.uint64(2 * t + 1))
        i, j = below(random, n), below_low(random, n)
        if i != j:
            dx, dy = Y[i, 0] - Y[j, 0], Y[i, 1] - Y[j, 1]
            q = one / (one + dx * dx + dy * dy)
            g = np.float32(2.0) * eta * r * q * q
            Y[i, 0] += g * dx
            Y[i, 1] += g * dy
            Y[j, 0] -= g * dx
            Y[j, 1] -= g * dy
            xi += (1.0 - alpha) * q
            omega += 1.0 - alpha
    return xi, omega


def algorithm_1(
    table: Table, start: np.ndarray, steps: int, *, r: float | None = None, alpha: float = 0.5, seed: int = 0
) -> np.ndarray:
    """Run Algorithm 1 for so many steps; with r fixed, or by the paper's rule."""
    Y = start.astype(np.float32).copy()
    n_pairs = float(len(Y)) * (len(Y) - 1)
    mean_q = 1.0  # s^-1 / N(N-1)
    key = stream(seed, "Algorithm 1")
    iterations = -(-steps // WORKERS)
    for t in range(iterations):
        now = min(WORKERS, steps - t * WORKERS)
        eta, weight = np.float32(1.0 - t / iterations), np.float32(1.0 / mean_q if r is None else r)
        xi, omega = _iteration(Y, table, eta, weight, alpha, np.uint64(bits(key, np.uint64(t))), now)
        mean_q = (n_pairs * mean_q + xi) / (n_pairs + omega)
    return Y
