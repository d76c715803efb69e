"""Kernels over the edges of P that the start and the loss need: random walk, entropy."""

from __future__ import annotations

import math
from typing import Any

from sce.core.compiled import kernel

ROWS_PER_TASK = 16_384  # that a thread takes at once


@kernel
def walk_rows(indptr: Any, indices: Any, data: Any, degree: Any, U: Any, out: Any, part: Any) -> None:
    """Half a step of the random walk for rows part[0], ..., part[1] - 1: out_i = (u_i + sum_j P_ij u_j / sum_j P_ij) / 2."""
    for i in range(part[0], part[1]):
        for c in range(U.shape[1]):
            out[i, c] = U[i, c]
        if degree[i] > 0:
            for c in range(U.shape[1]):
                mean = 0.0
                for e in range(indptr[i], indptr[i + 1]):
                    mean += data[e] * U[indices[e], c]
                out[i, c] = 0.5 * (U[i, c] + mean / degree[i])


@kernel
def relative_entropy(indptr: Any, indices: Any, data: Any, log_weights: Any) -> Any:
    """Sum of P_ij (ln P_ij - ln w_i - ln w_j)."""
    total = 0.0
    for i in range(log_weights.size):
        for e in range(indptr[i], indptr[i + 1]):
            total += data[e] * (math.log(data[e]) - log_weights[i] - log_weights[indices[e]])
    return total
