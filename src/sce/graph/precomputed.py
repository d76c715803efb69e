"""A similarity graph given by the user, checked and brought into the form of P."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from sce.core.warn import warn
from sce.errors import GraphWarning, InputError
from sce.graph.csr import check_similarities, entry_rows
from sce.graph.networks import as_network

_SYMMETRY_TOLERANCE = 1e-5  # relative difference of two mirror images, or of the sum to 1, that float32 explains


def check_affinity(P: Any) -> sparse.csr_matrix:
    """P, or any graph of non-negative similarities, as a symmetric float32 csr matrix with zero diagonal and sum 1.

    Parameters
    ----------
    P : array or scipy sparse matrix or array of shape (n, n), or graph of networkx or igraph
        Never changed. A graph that this function has made comes back bit for bit. Entries given twice are summed. If it
        is not symmetric, (P + P') / 2 is used, with a warning.

    Examples
    --------
    >>> check_affinity(np.array([[9.0, 2.0], [2.0, 0.0]])).toarray()
    array([[0. , 0.5],
           [0.5, 0. ]], dtype=float32)
    """
    network = as_network(P)
    P = P if network is None else network.weights
    if _is_square(P) and P.dtype == np.float32:
        given = sparse.csr_matrix(P)
        if _is_ours(given):
            return given.copy()
    graph = _scaled(sparse.csr_matrix(check_similarities(P), dtype=np.float64, copy=True))
    graph = _without_diagonal(graph)
    if not graph.nnz:
        raise InputError("The similarity graph has no positive entry off its diagonal, so there is nothing to draw.")
    return _normalized(_symmetric(graph))


def _is_square(P: Any) -> bool:
    return hasattr(P, "dtype") and P.ndim == 2 and P.shape[0] == P.shape[1]


def _is_ours(P: sparse.csr_matrix) -> bool:
    """Whether a graph has the form of P already, like that of another fit; scaling it again would change the last bits."""
    if not (P.nnz and P.has_canonical_format and P.data.min() > 0):
        return False
    if not abs(P.data.sum(dtype=np.float64) - 1) < _SYMMETRY_TOLERANCE:
        return False
    turned = P.T.tocsr()
    return (
        not P.diagonal().any()
        and np.array_equal(turned.indptr, P.indptr)
        and np.array_equal(turned.indices, P.indices)
        and np.array_equal(turned.data, P.data)
    )


def _scaled(graph: sparse.csr_matrix) -> sparse.csr_matrix:
    """Divided by the largest entry, so that sums neither overflow nor vanish, with entries given twice summed."""
    peak = graph.data.max(initial=0.0)
    if peak > 0:
        graph.data /= peak
    graph.sum_duplicates()
    return graph


def _without_diagonal(graph: sparse.csr_matrix) -> sparse.csr_matrix:
    """Without the diagonal, and divided by the largest entry that remains."""
    graph.data[graph.indices == entry_rows(graph.indptr)] = 0.0
    graph.eliminate_zeros()
    peak = graph.data.max(initial=0.0)
    if peak > 0:
        graph.data /= peak
    return graph


def _symmetric(graph: sparse.csr_matrix) -> sparse.csr_matrix:
    """P + P', with a warning if P is not symmetric."""
    turned = graph.T.tocsr()
    unequal = int(((abs(graph - turned) - _SYMMETRY_TOLERANCE * graph.maximum(turned)).data > 0).sum())
    if unequal:
        warn(
            f"The similarity graph is not symmetric ({unequal} entries differ from their mirror images); "
            "(P + P') / 2 is used instead.",
            GraphWarning,
        )
    both = graph + turned
    both.sort_indices()
    return both


def _normalized(graph: sparse.csr_matrix) -> sparse.csr_matrix:
    """Scaled to sum 1, in float32; entries too small for float32 are dropped."""
    data = (graph.data / graph.data.sum()).astype(np.float32)
    data[data < np.finfo(np.float32).tiny] = 0
    P = sparse.csr_matrix((data, graph.indices, graph.indptr), shape=graph.shape)
    P.eliminate_zeros()
    P.sort_indices()
    return P
