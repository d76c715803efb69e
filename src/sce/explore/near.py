"""The nearest neighbours of a point in the data; without the data, those to which its heaviest edges go."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from sce.core.parallel import Team, resolve_n_jobs
from sce.graph.index import build_index


class NearestRows:
    """An index of the data that answers for one row at a time.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    metric : str

    Examples
    --------
    >>> NearestRows(np.array([[0.0], [1.0], [3.0], [3.0]]), "euclidean").of(2, 2).tolist()
    [3, 1]
    """

    def __init__(self, X: Any, metric: str) -> None:
        self._X = X
        self._index = build_index(X, metric=metric)
        self._lock = threading.Lock()

    def of(self, row: int, k: int) -> np.ndarray:
        """The k nearest other rows, nearest first."""
        n = self._X.shape[0]
        with self._lock, Team(resolve_n_jobs(None)) as team:
            found = self._index.query(self._X[row : row + 1], min(k + 1, n), team).indices[0]
        return np.asarray(found[(found != row) & (found >= 0)][:k], np.int64)


def heaviest_edges(P: Any, row: int, k: int) -> np.ndarray:
    """The k points to which the heaviest edges of a point go, heaviest first; of equal ones, the first.

    Examples
    --------
    >>> from scipy import sparse
    >>> heaviest_edges(sparse.csr_matrix([[0, 2, 3], [2, 0, 0], [3, 0, 0]]), 0, 15).tolist()
    [2, 1]
    """
    start, stop = P.indptr[row], P.indptr[row + 1]
    ids, values = P.indices[start:stop], P.data[start:stop]
    there = (ids != row) & (values > 0)
    ids, values = ids[there], values[there]
    return np.asarray(ids[np.lexsort((ids, -values))][:k], np.int64)
