"""The attraction, by one pass over the edges of P: -E_P[ln q], E_P[q] and the gradient 4 sum_j P_ij q_ij (y_i - y_j).

Rows are summed in pieces of fixed size, and pieces in their order: the same bytes on any number of threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.graph.csr import CSR, CSR_TASK_ROWS


class Attraction(NamedTuple):
    """The attraction at some Y."""

    value: float  # -E_P[ln q]
    mean_q: float  # E_P[q]
    pull: np.ndarray  # (n, d), the gradient of the value


def attract(graph: CSR, Y: np.ndarray, team: Team) -> Attraction:
    """The attraction along the edges of a graph.

    Parameters
    ----------
    graph : CSR
        The rows of P.
    Y : ndarray of shape (n, d), float64
    team : Team
    """
    n, d = Y.shape
    flat, pull = np.ascontiguousarray(Y).reshape(-1), np.empty(n * d)
    sums = np.empty((-(-n // CSR_TASK_ROWS), 2))
    axes = tuple(range(d))

    def work(start: int, stop: int) -> None:
        _attract(graph, flat, axes, start, stop, pull, sums[start // CSR_TASK_ROWS])

    team.sweep(work, n, CSR_TASK_ROWS)
    value, mean_q = sums.sum(axis=0)
    return Attraction(float(value), float(mean_q), pull.reshape(n, d))


@kernel(fused=True)
def _logarithm(u: Any) -> Any:
    """ln u for u of 1 and more, to 1e-11, in operations that the compiler does several at a time.

    u = 2^k m with m within sqrt(1/2) and sqrt(2); ln m = 2 artanh((m - 1) / (m + 1)) as a series. The bits of k are put
    behind those of 2^52 to make a number of them: vector units convert no 64-bit integers.
    """
    bits = np.float64(u).view(np.uint64)
    k = (bits - _SQRT_HALF_BITS) >> _FRACTION_BITS
    m = np.uint64(bits - (k << _FRACTION_BITS)).view(np.float64)
    f = (m - 1.0) / (m + 1.0)
    s = f * f
    series = 1 / 9 + s * (1 / 11 + s * (1 / 13))
    series = 1.0 + s * (1 / 3 + s * (1 / 5 + s * (1 / 7 + s * series)))
    return (
        np.uint64(k | _TWO_TO_52_BITS).view(np.float64) - 4503599627370496.0
    ) * 0.6931471805599453 + 2.0 * f * series


_SQRT_HALF_BITS = np.uint64(0x3FE6A09E667F3BCD)  # the bits of sqrt(1/2)
_TWO_TO_52_BITS = np.uint64(0x4330000000000000)  # of 2^52
_FRACTION_BITS = np.uint64(52)
_EDGES_TOGETHER = 32  # edges whose terms are computed together


@kernel(fused=True)
def _attract(graph: Any, Y: Any, axes: Any, start: Any, stop: Any, pull: Any, sums: Any) -> None:
    """The attraction of rows start to stop; `axes` has as many entries as there are dimensions."""
    d = len(axes)
    away, pulled, logs = np.zeros((3, _EDGES_TOGETHER)), np.empty(_EDGES_TOGETHER), np.empty(_EDGES_TOGETHER)
    total, mean = 0.0, 0.0
    for i in range(start, stop):
        along, across, up = 0.0, 0.0, 0.0
        for first in range(graph.indptr[i], graph.indptr[i + 1], _EDGES_TOGETHER):
            many = min(graph.indptr[i + 1] - first, _EDGES_TOGETHER)
            for k in range(many):
                for c in range(d):
                    away[c, k] = Y[d * i + c] - Y[d * graph.indices[first + k] + c]
            _terms(away, many, pulled, logs)
            for k in range(many):
                p = graph.data[first + k]
                w = p * pulled[k]
                total += p * logs[k]
                mean += w
                along += w * away[0, k]
                across += w * away[1, k]
                up += w * away[2, k]
        pull[d * i] = 4.0 * along
        if d > 1:
            pull[d * i + 1] = 4.0 * across
        if d > 2:
            pull[d * i + 2] = 4.0 * up
    sums[0], sums[1] = total, mean


@kernel(fused=True)
def _terms(away: Any, many: Any, pulled: Any, logs: Any) -> None:
    """q = 1 / u and ln u for u = 1 + d^2."""
    for k in range(many):
        u = 1.0 + (away[0, k] * away[0, k] + away[1, k] * away[1, k] + away[2, k] * away[2, k])
        pulled[k] = 1.0 / u
        logs[k] = _logarithm(u)
