"""Gradients made into directions: roughly the inverse of the attraction's Hessian, four times the Laplacian of P.

A gradient says how each point is pulled; where to go, its neighbours must agree on. Solving with the Laplacian tells them (the
spectral direction of Vladymyrov and Carreira-Perpinan, 2012), and a few Chebyshev steps towards the solution do as well as the
solution itself: a fixed polynomial of the Laplacian over its diagonal, so a symmetric, positive operator. The slow modes
that it does not reach are L-BFGS's part.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.graph.csr import CSR, ROWS, row_sums

DEGREE = 5  # 20 does no better for its time
SHIFT = 1e-3  # of the mean degree, added to the diagonal: the Laplacian alone is singular


class Preconditioner:
    """Applies the polynomial, in float32: its errors turn the direction a little, and cost nothing else.

    Parameters
    ----------
    graph : CSR
        P, with the links between its components.
    team : Team
    """

    def __init__(self, graph: CSR, team: Team) -> None:
        self._graph, self._team = graph, team
        degree = row_sums(graph, team)
        self._diagonal = (4.0 * (degree + SHIFT * degree.mean())).astype(np.float32)

    def __call__(self, G: np.ndarray) -> np.ndarray:
        """The direction for a gradient G, (n, d)."""
        n, d = G.shape
        residual = G.astype(np.float32).reshape(-1)
        step = (G / (_MIDDLE * self._diagonal[:, None])).astype(np.float32).reshape(-1)
        direction, spare = step.copy(), np.empty_like(step)
        axes = tuple(range(d))
        rho = _HALF / _MIDDLE
        for _ in range(DEGREE - 1):
            after = 1.0 / (2.0 * _MIDDLE / _HALF - rho)
            factors = np.float32(after * rho), np.float32(2.0 * after / _HALF)
            vectors = residual, step, spare, direction

            def work(start: int, stop: int, vectors: Any = vectors, factors: Any = factors) -> None:
                _chebyshev(self._graph, self._diagonal, vectors, factors, axes, (start, stop))

            self._team.sweep(work, n, ROWS)
            step, spare, rho = spare, step, after
        return direction.astype(np.float64).reshape(n, d)


# The eigenvalues of the Laplacian over its diagonal reach to 2; the polynomial is for those above 2 / DEGREE^2.
_MIDDLE = 1.0 + 1.0 / DEGREE**2
_HALF = 1.0 - 1.0 / DEGREE**2


@kernel(fused=True)
def _chebyshev(graph: Any, diagonal: Any, vectors: Any, factors: Any, axes: Any, part: Any) -> None:
    """A step of Chebyshev's iteration for rows part[0] to part[1]: residual, next step, and the sum of the steps."""
    residual, step, following, direction = vectors
    four = np.float32(4.0)
    d = len(axes)
    for i in range(part[0], part[1]):
        scale = factors[1] / diagonal[i]
        x, y, z = np.float32(0.0), np.float32(0.0), np.float32(0.0)
        for e in range(graph.indptr[i], graph.indptr[i + 1]):
            j, p = d * graph.indices[e], np.float32(graph.data[e])
            x += p * step[j]
            if d > 1:
                y += p * step[j + 1]
            if d > 2:
                z += p * step[j + 2]
        for c in range(d):
            total = x if c == 0 else y if c == 1 else z
            k = d * i + c
            residual[k] -= diagonal[i] * step[k] - four * total
            following[k] = factors[0] * step[k] + scale * residual[k]
            direction[k] += following[k]
