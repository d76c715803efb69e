"""From a gradient to a direction: roughly the inverse of the attraction's Hessian, four times the Laplacian of P.

A gradient says how each point is pulled, but neighbours have to move together. Solving with the Laplacian gives such a
direction (the spectral direction of Vladymyrov and Carreira-Perpinan, 2012), and a few Chebyshev steps towards the solution do
as well as the solution itself. They are a fixed polynomial of the Laplacian over its diagonal, hence a symmetric, positive
operator. L-BFGS takes care of the slow modes that the polynomial does not reach.
"""

from __future__ import annotations

import numpy as np

from sce.layout.similarities import Similarities

DEGREE = 5  # of the polynomial; 20 does no better for its time
DIAGONAL_SHIFT = 1e-3  # of the mean degree, added to the diagonal: the Laplacian alone is singular


class Preconditioner:
    """Applies the polynomial, in float32: rounding errors turn the direction a little and do no other harm.

    Parameters
    ----------
    graph : Similarities
        P. Links between components are too weak to matter here.
    """

    def __init__(self, graph: Similarities) -> None:
        self._graph = graph
        degree = graph.row_sums()
        self._diagonal = (4.0 * (degree + DIAGONAL_SHIFT * degree.mean())).astype(np.float32)

    def __call__(self, G: np.ndarray) -> np.ndarray:
        """The direction for a gradient G, (n, d)."""
        n, d = G.shape
        residual = G.astype(np.float32).reshape(-1)
        step = (G / (_CENTRE * self._diagonal[:, None])).astype(np.float32).reshape(-1)
        direction, spare = step.copy(), np.empty_like(step)
        rho = _HALF_WIDTH / _CENTRE
        for _ in range(DEGREE - 1):
            after = 1.0 / (2.0 * _CENTRE / _HALF_WIDTH - rho)
            factors = np.float32(after * rho), np.float32(2.0 * after / _HALF_WIDTH)
            self._graph.chebyshev(self._diagonal, (residual, step, spare, direction), factors, d)
            step, spare, rho = spare, step, after
        return direction.astype(np.float64).reshape(n, d)


# The eigenvalues of the Laplacian over its diagonal reach to 2; the polynomial is for those above 2 / DEGREE^2.
_CENTRE = 1.0 + 1.0 / DEGREE**2
_HALF_WIDTH = 1.0 - 1.0 / DEGREE**2
