"""What a method is given, and what it gives back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Problem(NamedTuple):
    """The data of a comparison as every method gets them."""

    X: Any  # vectors, (n, d) float32 or sparse; None where there is only a graph
    P: Any  # csr_matrix: symmetric, zero diagonal, sums to 1
    seed: int = 0
    n_jobs: int = 1


class Made(NamedTuple):
    """A map, the repulsion weight that the method itself ended with if it has one, and what else is worth knowing."""

    Y: np.ndarray
    r: float | None = None
    facts: dict[str, Any] = {}  # noqa: RUF012
