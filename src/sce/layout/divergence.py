"""From the terms of J to the I-divergence D_I(P || s w w q)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from sce.core.compiled import kernel


def divergence_constant(P: sp.csr_matrix, weights: np.ndarray | None) -> tuple[float, float]:
    """sum w_i w_j over i != j, and the part of D_I that neither Y nor s changes: sum P ln (P / w_i w_j)."""
    n = P.shape[0]
    w = np.ones(n) if weights is None else np.asarray(weights, np.float64)
    log_w = np.log(w, out=np.zeros(n), where=w > 0)  # a point of weight 0 repels nothing, and is left out of the sum
    n_pairs = float((w * (w.sum() - w)).sum())
    return n_pairs, _relative_entropy(P.indptr, P.indices, P.data, log_w)


def divergence(constants: tuple[float, float], attraction: float, mean_q_U: float, r: float) -> float:
    """D_I from -E_P[ln q], E_U[q] and r; `constants` are those of :func:`divergence_constant`.

    Examples
    --------
    >>> divergence((6.0, -1.0), attraction=0.5, mean_q_U=0.25, r=6.0)
    0.0
    """
    n_pairs, constant = constants
    return constant + attraction - math.log(r / n_pairs) + r * mean_q_U - 1.0


@kernel
def _relative_entropy(indptr: Any, indices: Any, data: Any, log_w: Any) -> Any:
    """Sum of P_ij (ln P_ij - ln w_i - ln w_j)."""
    total = 0.0
    for i in range(log_w.size):
        for e in range(indptr[i], indptr[i + 1]):
            total += data[e] * (math.log(data[e]) - log_w[i] - log_w[indices[e]])
    return total
