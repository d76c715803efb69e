"""P in the memory of this process, with everything that the stages of a layout need from it.

The stages never touch the arrays of P themselves. An engine that keeps P in parts on other machines, or on a GPU, can put an
object with the same few methods in its place.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sce.core.parallel import Team
from sce.graph import csr
from sce.graph.csr import CSR, arrays_of
from sce.layout import edges
from sce.layout.gradient import attraction, chebyshev
from sce.layout.gradient.attraction import Attraction
from sce.layout.grouping import match_neighbors


class Similarities:
    """P as a sparse matrix of this process.

    Parameters
    ----------
    P : csr_matrix
        Symmetric, non-negative, zero diagonal; sums to 1.
    team : Team
        The threads to work with; they never change a result.

    Examples
    --------
    >>> graph = Similarities(sp.csr_matrix(np.array([[0, 0.5], [0.5, 0]])), Team(1))
    >>> graph.n_points, graph.n_edges, graph.row_sums()
    (2, 1, array([0.5, 0.5]))
    """

    def __init__(self, P: sp.csr_matrix, team: Team) -> None:
        self.P, self.team = P, team

    @property
    def n_points(self) -> int:
        """The number of points."""
        return int(self.P.shape[0])

    @property
    def n_edges(self) -> int:
        """The number of edges, each counted once."""
        return int(self.P.nnz // 2)

    @property
    def rows(self) -> CSR:
        """The arrays of P."""
        return arrays_of(self.P)

    # ------------------------------------------------------------------------------------------------------------ sums

    def row_sums(self) -> np.ndarray:
        """The degree of each point: its share of P."""
        return csr.row_sums(self.rows, self.team)

    def relative_entropy(self, log_weights: np.ndarray) -> float:
        """Sum of P_ij (ln P_ij - ln w_i - ln w_j)."""
        return float(edges.relative_entropy(*self.rows, log_weights))

    # ------------------------------------------------------------------------------------------------------- structure

    def components(self) -> np.ndarray:
        """The connected component of each point, numbered in the order of their first points."""
        return csr.components(self.rows)

    def match(self, key: np.uint64, most: int) -> tuple[np.ndarray, int]:
        """Groups of up to `most` neighbours, by the rounds of :mod:`sce.layout.grouping`; `key` is the stream of priorities."""
        return match_neighbors(self.rows, key, most, self.team)

    def merge(self, group: np.ndarray, count: int) -> tuple[Similarities, float] | None:
        """P between groups of points, scaled to sum to 1, and its share of P; None if that is zero."""
        merged = csr.merge_points(self.rows, group, count, self.team, inside=False)
        outside = float(merged.data.sum(dtype=np.float64) / self.P.data.sum(dtype=np.float64))
        if not outside > 0:
            return None
        P = sp.csr_matrix((merged.data, merged.indices, merged.indptr), (count, count))
        P.data /= np.float32(P.data.sum(dtype=np.float64))
        return Similarities(P, self.team), outside

    # --------------------------------------------------------------------------------------------------------- products

    def walk(self, degree: np.ndarray, U: np.ndarray, out: np.ndarray) -> None:
        """Half a step of the random walk on P: out_i = (u_i + sum_j P_ij u_j / degree_i) / 2."""

        def work(start: int, stop: int) -> None:
            edges.walk_rows(*self.rows, degree, U, out, (start, stop))

        self.team.sweep(work, self.n_points, edges.ROWS_PER_TASK)

    def attract(self, Y: np.ndarray) -> Attraction:
        """-E_P[ln q], E_P[q] and the gradient of the first at Y."""
        return attraction.attract(self.rows, Y, self.team)

    def chebyshev(
        self, diagonal: np.ndarray, vectors: tuple[np.ndarray, ...], factors: tuple[np.float32, np.float32], d: int
    ) -> None:
        """A step of Chebyshev's iteration with the Laplacian of P, as :mod:`sce.layout.gradient.chebyshev` says."""
        rows, axes = self.rows, tuple(range(d))

        def work(start: int, stop: int) -> None:
            chebyshev.chebyshev_rows(rows, diagonal, vectors, factors, axes, (start, stop))

        self.team.sweep(work, self.n_points, csr.CSR_TASK_ROWS)
