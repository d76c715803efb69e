"""Checks of the input of a search: one clear sentence for each mistake."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from sce.core.validate import check_sparse, refuse_not_finite
from sce.errors import InputError, ParameterError


def check_list_length(k: int, most: int, what: str) -> None:
    """Raise ParameterError unless 1 <= k <= most; `what` names the latter."""
    if not 1 <= k <= most:
        raise ParameterError(f"n_neighbors must be between 1 and {what}, {most}; got {k}.")


def check_new_rows(rows: Any, columns: int, *, as_sparse: bool = False) -> Any:
    """New rows as a 2-D array, or a CSR matrix, of finite numbers, with as many columns as the indexed rows.

    Examples
    --------
    >>> check_new_rows([[1, 2]], 2)
    array([[1, 2]])
    """
    rows = rows if sparse.issparse(rows) else np.asarray(rows)
    if rows.ndim != 2 or rows.shape[1] != columns:
        raise InputError(
            f"New rows must be a matrix with {columns} columns, like the indexed rows; got shape {rows.shape}."
        )
    if rows.dtype.kind not in "buif":
        raise InputError(f"New rows must hold real numbers; got {rows.dtype}.")
    check_sparse(rows)
    if as_sparse:
        rows = sparse.csr_matrix(rows)
    elif sparse.issparse(rows):
        rows = rows.toarray()
    refuse_not_finite(rows, "The new data")
    return rows
