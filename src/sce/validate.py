"""Checks of what users give: one clear sentence for each thing that can be wrong."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp

from sce.errors import InputError, ParameterError


def check_vectors(estimator: Any, X: Any) -> Any:
    """X as a finite 2-D array of numbers or a CSR matrix; sets n_features_in_ and feature_names_in_ of the estimator."""
    from sklearn.utils.validation import validate_data

    _refuse_wrong_shape(X)
    try:
        checked = validate_data(
            estimator, X, accept_sparse="csr", dtype="numeric", ensure_all_finite=False, accept_large_sparse=True
        )
    except ValueError as error:
        raise InputError(_explain(X, error)) from None
    refuse_not_finite(checked, "X")
    return checked


def check_square(estimator: Any, X: Any) -> Any:
    """A graph or distance matrix as it is, once it is known to be 2-D and square; sets n_features_in_."""
    if not sp.issparse(X):
        columns = getattr(X, "columns", None)
        X = np.asarray(X)
        if X.dtype.kind not in "buif":
            raise InputError(
                f"X must be a square matrix of numbers; it holds {'text' if columns is None else 'others'}."
            )
    if X.ndim != 2 or X.shape[0] != X.shape[1]:
        raise InputError(
            f"X must be a square matrix, a row and a column for each point, because it is precomputed; its shape is {X.shape}."
        )
    if X.shape[0] == 0:
        raise InputError("X has no rows; give at least one point.")
    estimator.n_features_in_ = X.shape[1]
    return X


def _refuse_wrong_shape(X: Any) -> None:
    shape = getattr(X, "shape", None) if not isinstance(X, list | tuple) else np.shape(np.asarray(X, dtype=object))
    if shape is None or (len(shape) == 2 and shape[0] > 0):
        return
    if len(shape) == 2:
        raise InputError(f"X has no rows (its shape is {shape}); give at least one point.")
    hint = "Reshape your data with X.reshape(-1, 1) if it is one column" if len(shape) == 1 else "Reshape your data"
    raise InputError(f"X must be 2-D, a row for each point; it is {len(shape)}-D with the shape {shape}. {hint}.")


def _explain(X: Any, error: ValueError) -> str:
    """Name the first cell that is text, where that is what went wrong; else the message as it is."""
    if sp.issparse(X) or "onvert" not in str(error):
        return str(error)
    names = list(getattr(X, "columns", range(np.shape(X)[1])))
    cells = np.asarray(X, dtype=object)
    for column, name in enumerate(names):
        for row, cell in enumerate(cells[:, column]):
            if isinstance(cell, str) and not _is_number(cell):
                return (
                    f"X has text where numbers are needed: column {name!r}, row {row} holds {cell!r}; "
                    "drop the column or turn it into numbers."
                )
    return str(error)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def refuse_not_finite(X: Any, name: str) -> None:
    """Refuse NaN and infinity, naming the rows."""
    data = X.data if sp.issparse(X) else X
    if data.dtype.kind != "f" or _all_finite(data):
        return
    if sp.issparse(X):
        rows = np.unique(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[~np.isfinite(data)])
    else:
        rows = np.flatnonzero([not np.isfinite(row).all() for row in X])
    shown = ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")
    raise InputError(
        f"{name} has NaN or infinity (inf) in {len(rows)} of {X.shape[0]} rows: {shown}; drop these rows or fill the gaps, "
        "for example with sklearn.impute.SimpleImputer."
    )


def _all_finite(data: np.ndarray) -> bool:
    """Whether all is finite, in pieces, so that a memory-mapped array is not copied as a whole."""
    flat = data if data.ndim == 1 else data.reshape(-1) if data.flags.c_contiguous else data
    return all(np.isfinite(flat[k : k + 1_000_000]).all() for k in range(0, len(flat), 1_000_000))


def check_weights(sample_weight: Any, n: int) -> np.ndarray | None:
    """Point weights as float64, or None where they are all the same."""
    if sample_weight is None:
        return None
    try:
        w = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight must be numbers; it holds something else.") from None
    if w.shape != (n,):
        raise InputError(f"Sample weights must be 1D array, one for each of the {n} rows; the shape is {w.shape}.")
    bad = np.flatnonzero(~(np.isfinite(w) & (w >= 0)))
    if len(bad):
        raise InputError(f"sample_weight must be finite and not negative; in row {bad[0]} it is {w[bad[0]]}.")
    if np.count_nonzero(w) < min(n, 2):
        raise InputError(
            "sample_weight is zero in all rows but one or none, so nothing is pushed apart; give at least two weights."
        )
    return None if (w == w[0]).all() else w / w.mean()


def check_count(value: Any, name: str, least: int = 1) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ParameterError(f"{name} must be a whole number, {least} or more; got {value!r}.")
    return int(value)


def check_tolerance(tol: Any) -> float:
    """A tolerance: a number, 0 or more."""
    if isinstance(tol, bool) or not isinstance(tol, numbers.Real) or not 0 <= float(tol) < math.inf:
        raise ParameterError(f"tol must be a number, 0 or more; got {tol!r}.")
    return float(tol)


def check_learning_rate(rate: Any) -> tuple[float, float]:
    """(first, last) rates from a number, which falls to 0, or from a pair."""
    pair = (rate, 0.0) if isinstance(rate, numbers.Real) and not isinstance(rate, bool) else rate
    if (
        not isinstance(pair, tuple | list)
        or len(pair) != 2
        or not all(isinstance(x, numbers.Real) and 0 <= float(x) < math.inf for x in pair)
        or pair[0] <= 0
    ):
        raise ParameterError(
            f"learning_rate must be a number above 0, which falls to 0 along the run, or a pair (first, last); got {rate!r}."
        )
    return float(pair[0]), float(pair[1])


def check_components(n_components: Any) -> int:
    """1, 2 or 3."""
    if isinstance(n_components, bool) or n_components not in (1, 2, 3):
        raise ParameterError(f"n_components must be 1, 2 or 3; got {n_components!r}.")
    return int(n_components)
