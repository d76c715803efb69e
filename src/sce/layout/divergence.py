"""From the terms of J to the I-divergence D_I(P || s w w q), the loss that users see."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sce.layout.problem import Problem


class Constants(NamedTuple):
    """The terms of D_I that are not in J."""

    n_pairs: float  # sum w_i w_j over i != j
    entropy: float  # sum P ln (P / w_i w_j), which neither Y nor s changes


def divergence_constants(problem: Problem) -> Constants:
    """The constants of a problem."""
    n = problem.n_points
    w = np.ones(n) if problem.weights is None else np.asarray(problem.weights, np.float64)
    log_w = np.log(w, out=np.zeros(n), where=w > 0)  # a point of weight 0 repels nothing, and is left out of the sum
    return Constants(float((w * (w.sum() - w)).sum()), problem.graph.relative_entropy(log_w))


def divergence(constants: Constants, attraction: float, mean_q_U: float, r: float) -> float:
    """D_I from -E_P[ln q], E_U[q] and r.

    Examples
    --------
    >>> divergence(Constants(6.0, -1.0), attraction=0.5, mean_q_U=0.25, r=6.0)
    0.0
    """
    n_pairs, entropy = constants
    return entropy + attraction - math.log(r / n_pairs) + r * mean_q_U - 1.0
