"""Neighbours that come from elsewhere: from a distance matrix, or from another k-NN library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from sce.core.parallel import Team
from sce.core.warn import warn
from sce.errors import GraphWarning, InputError
from sce.graph.checks import check_list_length
from sce.graph.csr import entry_rows
from sce.graph.found import Neighbors, tie_draws
from sce.graph.kernels import row_keys

_METHOD_GIVEN = "precomputed distances"


# ------------------------------------------------------------------------------------------------- lists to a matrix


def neighbors_graph(indices: Any, distances: Any, n: int | None = None) -> sparse.csr_matrix:
    """The sparse distance matrix that `metric="precomputed"` takes, from the neighbours that any k-NN library found.

    Parameters
    ----------
    indices : int array of shape (rows, k)
        Row numbers of the neighbours; a row's own number is left out.
    distances : array of shape (rows, k)
        Their distances, not negative. A distance of zero (a copy) is kept as an explicit zero.
    n : int, optional
        The number of rows of the whole set, if some rows have no list.

    Returns
    -------
    scipy.sparse.csr_matrix of shape (n, n)

    Examples
    --------
    >>> graph = neighbors_graph([[0, 1], [1, 0]], [[0.0, 2.5], [0.0, 2.5]])
    >>> graph.toarray()
    array([[0. , 2.5],
           [2.5, 0. ]])
    """
    ids, values = np.asarray(indices), np.asarray(distances)
    n = len(ids) if n is None and ids.ndim else n
    _check_lists(ids, values, n)
    rows = np.repeat(np.arange(ids.shape[0]), ids.shape[1])
    other = ids.ravel() != rows
    rows, columns, data = rows[other], ids.ravel()[other], values.ravel()[other]
    data = data.astype(np.float64 if data.dtype != np.float32 else np.float32)
    order = np.lexsort((columns, rows))
    rows, columns, data = rows[order], columns[order], data[order]
    if ((rows[1:] == rows[:-1]) & (columns[1:] == columns[:-1])).any():
        raise InputError("indices lists the same neighbour twice for a row; list each neighbour once.")
    starts = np.searchsorted(rows, np.arange(int(n or 0) + 1))
    return sparse.csr_matrix((data, columns, starts), shape=(n, n))  # unlike from triples, zeros stay


def _check_lists(ids: np.ndarray, values: np.ndarray, n: int | None) -> None:
    """Raise InputError unless these are lists of neighbours."""
    if ids.ndim != 2 or ids.shape != values.shape:
        raise InputError(
            f"indices and distances must be two arrays of the same shape (rows, k); got {ids.shape} and {values.shape}."
        )
    if ids.dtype.kind not in "iu":
        raise InputError(f"indices must hold whole row numbers; got {ids.dtype}.")
    if n is None or n < len(ids):
        raise InputError(f"n must be at least the number of rows in indices, {len(ids)}; got {n}.")
    bad = np.flatnonzero(((ids < 0) | (ids >= n)).any(axis=1))
    if bad.size:
        raise InputError(
            f"indices must be row numbers from 0 to {n - 1}, but {_rows_hold(bad)} others (many libraries write -1 "
            "where they found fewer than k: search with more effort, or drop these rows)."
        )
    _check_distances(values, lambda bad: bad // ids.shape[1])


def _check_distances(values: np.ndarray, row_of: Callable[[np.ndarray], np.ndarray]) -> None:
    """Raise InputError if a distance is negative or not a number; `row_of` finds the rows of positions in `values`."""
    if values.dtype.kind not in "fiub":
        raise InputError(f"Distances must be real numbers; got {values.dtype}.")
    bad = np.flatnonzero(np.isnan(values)) if values.dtype.kind == "f" else np.empty(0, np.int64)
    if bad.size:
        raise InputError(f"Distances must be numbers, but {_rows_hold(np.unique(row_of(bad)))} NaN.")
    bad = np.flatnonzero(values < 0)
    if bad.size:
        raise InputError(
            f"Distances must not be negative, but {_rows_hold(np.unique(row_of(bad)))} negative ones; "
            "for similarities use affinity='precomputed'."
        )


def _rows_hold(bad: np.ndarray) -> str:
    """Subject and verb of a message about some rows; names the first few of them."""
    shown = ", ".join(map(str, bad[:5]))
    if len(bad) == 1:
        return f"row {shown} holds"
    return f"rows {shown} hold" if len(bad) <= 5 else f"{len(bad)} rows ({shown}, ...) hold"


# ------------------------------------------------------------------------------------------------- a matrix to lists


class PrecomputedIndex:
    """Rows known by their distances alone.

    Parameters
    ----------
    D : array or scipy sparse matrix of shape (n, n)
    seed : int
        Decides ties.
    """

    def __init__(self, D: Any, seed: int) -> None:
        self._D, self._seed = D, seed

    @property
    def n_rows(self) -> int:
        """The number of indexed rows."""
        return _shape(self._D)[0]

    def self_neighbors(self, k: int, team: Team) -> Neighbors:  # noqa: ARG002
        """The k nearest other rows of every indexed row."""
        return neighbors_from_distances(self._D, k, self._seed)

    def query(self, rows: Any, k: int, team: Team) -> Neighbors:  # noqa: ARG002
        """The k nearest of the indexed rows for each new row, given by its distances to all indexed rows."""
        if len(_shape(rows)) != 2 or _shape(rows)[1] != self.n_rows:
            raise InputError(
                f"The distances of new rows must be a matrix with {self.n_rows} columns, one for each indexed row; "
                f"got shape {_shape(rows)}."
            )
        check_list_length(k, self.n_rows, "the number of indexed rows")
        return neighbors_from_cross_distances(rows, k, self._seed)


def neighbors_from_distances(D: Any, k: int, seed: int = 0) -> Neighbors:
    """The k nearest of every row in a precomputed distance matrix.

    Parameters
    ----------
    D : array or scipy sparse matrix of shape (n, n)
        In a sparse one, as from scikit-learn's KNeighborsTransformer, an entry that is not stored is no neighbour, and
        a stored zero is one at distance zero. The diagonal is ignored.
    k : int
        Rows with fewer than k entries keep what they have; the rest is filled with index -1 and infinite distance.
    seed : int, default=0
        Decides ties.

    Examples
    --------
    >>> D = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
    >>> neighbors_from_distances(D, 1).indices.ravel()
    array([1, 0, 1], dtype=int32)
    """
    shape = _shape(D)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InputError(f"A precomputed distance matrix must be square; got shape {shape}.")
    return _nearest_entries(D, k, seed, square=True)


def neighbors_from_cross_distances(D: Any, k: int, seed: int = 0) -> Neighbors:
    """The k nearest of the indexed rows (columns) for each new row.

    Parameters
    ----------
    D : array or scipy sparse matrix of shape (n_new, n)
        Distances; stored and missing entries of a sparse one as in :func:`neighbors_from_distances`, but no entry is
        ignored: row i and column i are different rows.
    k : int
    seed : int, default=0
        Decides ties, in the same way for each new row.

    Examples
    --------
    >>> neighbors_from_cross_distances(np.array([[0.0, 1.0, 4.0]]), 2).indices
    array([[0, 1]], dtype=int32)
    """
    shape = _shape(D)
    if len(shape) != 2:
        raise InputError(f"Distances to the indexed rows must be a matrix; got shape {shape}.")
    return _nearest_entries(D, k, seed, square=False)


def _shape(D: Any) -> tuple[int, ...]:
    return tuple(getattr(D, "shape", None) or np.shape(D))


def _nearest_entries(D: Any, k: int, seed: int, *, square: bool) -> Neighbors:
    """The k smallest entries of each row, without the diagonal if the matrix is square; a warning where there are fewer."""
    n = _shape(D)[0]
    keys = row_keys(seed, np.arange(n) if square else np.zeros(n, int))
    near = (
        _from_sparse(sparse.csr_matrix(D), k, keys, square)
        if sparse.issparse(D)
        else _from_dense(np.asarray(D), k, keys, square)
    )
    found = (near.indices >= 0).sum(axis=1)
    if (found < k).any():
        warn(
            f"{(found < k).sum()} rows of the distance matrix hold fewer than the {k} neighbours asked for (the fewest: "
            f"{found.min()}); they keep those. Store at least {k} per row, or ask for fewer.",
            GraphWarning,
        )
    return near


def _from_dense(D: np.ndarray, k: int, keys: np.ndarray, square: bool) -> Neighbors:
    """Nearest first; an infinite distance is no neighbour."""
    n, columns = D.shape
    _check_distances(D, lambda bad: bad // columns)
    ids, distances = np.full((n, k), -1, np.int32), np.full((n, k), np.inf)
    for i in range(n):
        row = np.asarray(D[i], np.float64).copy()
        if square:
            row[i] = np.inf
        order = _smallest(row, min(k, columns), keys[i])
        order = order[np.isfinite(row[order])]
        ids[i, : order.size], distances[i, : order.size] = order, row[order]
    return Neighbors(ids, distances, _METHOD_GIVEN, 1.0)


def _smallest(row: np.ndarray, k: int, key: np.uint64) -> np.ndarray:
    """The places of the k smallest, smallest first; the key decides ties."""
    within = np.flatnonzero(row <= np.partition(row, k - 1)[k - 1]) if k > 0 else np.empty(0, np.int64)
    return within[np.lexsort((tie_draws(key, within), row[within]))][:k]


def _from_sparse(D: sparse.csr_matrix, k: int, keys: np.ndarray, square: bool) -> Neighbors:
    """The k smallest stored entries of each row."""
    n = D.shape[0]
    rows = entry_rows(D.indptr)
    _check_distances(D.data, lambda bad: rows[bad])
    keep = np.isfinite(D.data)
    if square:
        keep &= D.indices != rows
    rows, columns, data = rows[keep], D.indices[keep], D.data[keep].astype(np.float64)
    order = np.lexsort((data, columns, rows))  # of entries given twice, the nearer one counts
    rows, columns, data = rows[order], columns[order], data[order]
    first = np.ones(len(rows), bool)
    first[1:] = (np.diff(rows) != 0) | (np.diff(columns) != 0)
    rows, columns, data = rows[first], columns[first], data[first]
    order = np.lexsort((tie_draws(keys[rows], columns), data, rows))
    rows, columns, data = rows[order], columns[order], data[order]
    place = np.arange(len(rows)) - np.searchsorted(rows, np.arange(n))[rows]
    near = place < k
    ids, distances = np.full((n, k), -1, np.int32), np.full((n, k), np.inf)
    ids[rows[near], place[near]] = columns[near]
    distances[rows[near], place[near]] = data[near]
    return Neighbors(ids, distances, _METHOD_GIVEN, 1.0)
