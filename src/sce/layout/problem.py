"""What is laid out: a graph, point weights and a seed. Every stage and every engine gets it whole."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sce.layout.similarities import Similarities


class Problem(NamedTuple):
    """A graph to be laid out.

    Attributes
    ----------
    graph : Similarities
        P: symmetric, non-negative, zero diagonal, sums to 1.
    weights : ndarray of shape (n,) or None
        How many points each row stands for: repulsion acts in proportion to w_i w_j. None where all are equal.
    seed : int
        Of all random numbers.
    """

    graph: Similarities
    weights: np.ndarray | None = None
    seed: int = 0

    @property
    def n_points(self) -> int:
        """The number of points."""
        return self.graph.n_points
