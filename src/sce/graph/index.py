"""The k nearest rows of every row, and of new rows: an index of the rows, searched by the fastest of several methods.

    index = build_index(X)                     # nothing is computed yet
    near = index.self_neighbors(15, team)      # the neighbours of the indexed rows
    near = index.query(rows, 15, team)         # those of new rows among the indexed ones

Under a metric of our own, dense rows are searched by brute force, a k-d tree or a forest (:mod:`sce.graph.vectors`), and
sparse rows by the columns that they share (:mod:`sce.graph.sparse_rows`). All other metrics are left to scikit-learn; distances
may be given as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from sce.core.linalg import is_hardly_sparse
from sce.core.parallel import Team
from sce.graph.distances import PrecomputedIndex
from sce.graph.found import Neighbors
from sce.graph.metrics import METRIC_ALIASES, own_metric
from sce.graph.scikit_learn import ScikitLearnIndex
from sce.graph.sparse_rows import SparseIndex
from sce.graph.vectors import VectorIndex

__all__ = ["NeighborIndex", "Neighbors", "build_index", "nearest_neighbors"]

_SEARCH_TIME = 0.85  # of that of a graph, for the progress bar


class NeighborIndex(Protocol):
    """Rows whose neighbours can be found, and among which new rows find theirs."""

    @property
    def n_rows(self) -> int:
        """The number of indexed rows."""

    def self_neighbors(self, k: int, team: Team) -> Neighbors:
        """The k nearest other rows of every indexed row, k at most n_rows - 1."""

    def query(self, rows: Any, k: int, team: Team) -> Neighbors:
        """The k nearest of the indexed rows for each new row, k at most n_rows.

        Each new row has the same neighbours, bit for bit, alone or among others, on any number of threads. The result
        depends on the indexed rows, the metric and the seed, and not on earlier calls.
        """


def build_index(X: Any, *, metric: str | Callable[..., float] = "euclidean", seed: int = 0) -> NeighborIndex:
    """An index of the rows of X.

    It keeps a reference to X and computes nothing until it is queried: the search method depends on the number of neighbours.

    Parameters
    ----------
    X : array or scipy sparse matrix of shape (n, d)
        Finite numbers; never changed, and not to be changed while the index is in use. With metric="precomputed" the
        distances of n rows, of shape (n, n); new rows are then given by their distances to these.
    metric : str or callable, default="euclidean"
        Those of :data:`sce.graph.metrics.OWN_METRICS` are quick. Any other that scikit-learn's NearestNeighbors takes is
        exact and slow.
    seed : int, default=0
        Of the forest's randomness, and of the choice among equally distant rows.

    Examples
    --------
    >>> index = build_index(np.array([[0.0], [1.0], [3.0]]))
    >>> index.query([[2.9]], 2, Team(1)).indices
    array([[2, 1]], dtype=int32)
    """
    name = METRIC_ALIASES.get(metric, metric) if isinstance(metric, str) else metric
    if isinstance(name, str) and name == "precomputed":
        return PrecomputedIndex(X, seed)
    own = own_metric(name)
    if own is None:
        return ScikitLearnIndex(X, name, seed)
    if sparse.issparse(X):
        if not is_hardly_sparse(X):
            return SparseIndex(X, own, seed)
        X = X.toarray()
    return VectorIndex(np.asarray(X), own, seed)


def nearest_neighbors(
    X: Any, k: int, *, metric: str | Callable[..., float] = "euclidean", seed: int = 0, team: Team
) -> Neighbors:
    """The k nearest rows of every row of X, by an index that is not kept.

    Parameters
    ----------
    X, metric, seed
        As in :func:`build_index`.
    k : int
        At least 1 and at most n - 1.
    team : Team
        The threads to use; the result does not depend on their number.

    Returns
    -------
    Neighbors

    Examples
    --------
    >>> near = nearest_neighbors(np.array([[0.0], [1.0], [3.0]]), 1, team=Team(1))
    >>> near.indices.ravel(), near.distances.ravel()
    (array([1, 0, 1], dtype=int32), array([1., 1., 2.], dtype=float32))
    """
    with team.meter.part(_SEARCH_TIME, "Neighbours"):
        return build_index(X, metric=metric, seed=seed).self_neighbors(k, team)
