"""What a method receives, and what it returns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Problem(NamedTuple):
    """The data of a comparison, as every method receives them."""

    X: Any  # vectors, (n, d) float32 or sparse; None if there is only a graph
    P: Any  # csr_matrix: symmetric, zero diagonal, sums to 1
    seed: int = 0
    n_jobs: int = 1


class Made(NamedTuple):
    """The map of a method."""

    Y: np.ndarray
    r: float | None = None  # the repulsion weight that the method reached, if it has one
    facts: dict[str, Any] = {}  # noqa: RUF012  (what else is worth knowing)
