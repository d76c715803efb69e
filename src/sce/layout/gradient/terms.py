"""The two terms of J(Y; r) = -E_P[ln q] + r E_U[q] and their gradients, kept apart so that one evaluation serves every r.

d(-E_P[ln q]) / dy_i =  4 sum_j P_ij q_ij (y_i - y_j)                 pull
d(E_U[q])     / dy_i = -4 w_i sum_j w_j q_ij^2 (y_i - y_j) / sum w w  push
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sce.layout.gradient.repulsion import Repulsion
from sce.layout.similarities import Similarities


class Terms(NamedTuple):
    """The two terms of J at some Y, the means that the scale rules need, and the gradients of the terms."""

    Y: np.ndarray
    attraction: float  # -E_P[ln q]
    links: float  # the same of the links between components, where there are any
    mean_q_P: float  # E_P[q]
    mean_q_U: float  # E_U[q]
    pull: np.ndarray  # of P and of the links
    push: np.ndarray


class Gradient:
    """Evaluates the terms of J for one P.

    Parameters
    ----------
    graph : Similarities
        P.
    weights : ndarray of shape (n,) or None
        How many points each row stands for.
    method : {"auto", "exact", "grid"}, default="auto"
        How the repulsion is summed, see :class:`sce.layout.gradient.repulsion.Repulsion`.
    links : Similarities, optional
        Of :func:`sce.layout.components.link_components`.
    """

    def __init__(
        self,
        graph: Similarities,
        weights: np.ndarray | None = None,
        method: str = "auto",
        links: Similarities | None = None,
    ) -> None:
        self.team = graph.team
        self._graph, self._links = graph, links
        self._charges = np.ones(graph.n_points) if weights is None else np.asarray(weights, np.float64)
        self._n_pairs = float((self._charges * (self._charges.sum() - self._charges)).sum())
        self._repulsion = Repulsion(self._charges, self.team, method)

    @property
    def n_bytes(self) -> int:
        """The memory that the repulsion keeps between calls."""
        return self._repulsion.n_bytes

    def __call__(self, Y: np.ndarray, accuracy: float = 1e-4) -> Terms:
        """All terms at Y, (n, d) float64; the push to a relative `accuracy`.

        Examples
        --------
        >>> from scipy import sparse
        >>> from sce.core.parallel import Team
        >>> P = sparse.csr_matrix(np.array([[0, 0.5], [0.5, 0]]))
        >>> terms = Gradient(Similarities(P, Team(1)))(np.array([[0.0, 0.0], [0.0, 1.0]]))
        >>> terms.mean_q_U, terms.pull[:, 1].tolist()
        (0.5, [-1.0, 1.0])
        """
        attraction, mean_q_P, pull = self._graph.attract(Y)
        links = 0.0
        if self._links is not None:
            links, _, more = self._links.attract(Y)
            pull += more
        field = self._repulsion(Y, accuracy)
        mean_q_U = float((self._charges * field.potential).sum()) / self._n_pairs
        push = field.force
        push *= (-4.0 / self._n_pairs * self._charges)[:, None]
        return Terms(Y, attraction, links, mean_q_P, mean_q_U, pull, push)
