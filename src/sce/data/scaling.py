"""Numbers on one scale: logarithms of counts, columns over their spread, and advice where columns differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sce.core.linalg import is_hardly_sparse, sample_rows
from sce.core.random import stream
from sce.core.spreads import unequal_columns
from sce.data.gaps import blocks
from sce.data.table import Table
from sce.errors import InputError

_QUARTILE_ROWS = 100_000  # rows from which quartiles are found


class Scaling(NamedTuple):
    """What each column is scaled by."""

    middle: np.ndarray | None  # subtracted; None for sparse data, whose distances need no centring
    spread: np.ndarray  # divided by; 1 for constant columns


def _map_numbers(table: Table, function: Callable[[np.ndarray], np.ndarray]) -> None:
    """Replace X by a new array, a function of its rows block by block; of a sparse matrix, of its stored values."""
    X = table.X
    if hasattr(X, "tocsr"):
        table.X = X.astype(np.float64 if X.dtype.itemsize > 4 else np.float32)
        table.X.data = function(table.X.data)
        return
    out = np.empty(X.shape, np.float32 if X.dtype == np.float32 or X.dtype.itemsize < 4 else np.float64)
    for start, stop in blocks(X):
        out[start:stop] = function(np.asarray(X[start:stop], np.float64))
    table.X = out


def make_dense(table: Table) -> None:
    """Convert hardly sparse matrices to arrays: they take less memory, and neighbours are found faster in them."""
    X = table.X
    if not hasattr(X, "tocsr") or not is_hardly_sparse(X):
        return
    table.X = X.toarray()
    table.notes.append(
        f"Sparse data converted to a dense array ({X.nnz / (X.shape[0] * X.shape[1]):.0%} of it is not zero)"
    )


def take_log1p(table: Table) -> None:
    """Replace x by ln(1 + x), for counts."""
    lowest = table.X.min() if table.X.shape[1] else 0
    if lowest < 0:
        raise InputError(
            f"{table.path} has negative values (down to {lowest:g}), for which log1p=True is not defined; leave it out."
        )
    _map_numbers(table, np.log1p)
    table.notes.append("Took ln(1 + x)")


# ------------------------------------------------------------------------------------------------------------- scaling


def learn_scaling(table: Table, how: str) -> Scaling:
    """The middle and the spread of each column: mean and standard deviation, or median and interquartile range."""
    sparse = hasattr(table.X, "tocsr")
    if sparse and how == "robust":
        raise InputError(
            f'{table.path} is sparse, so that normalize="robust" finds no spread; use normalize="standard" instead.'
        )
    middle, spread = _sparse_moments(table.X) if sparse else _spread(table.X, how)
    spread[spread == 0] = 1.0
    return Scaling(None if sparse else middle, spread)


def apply_scaling(table: Table, scaling: Scaling) -> None:
    """Subtract the middle of each column and divide by its spread; sparse data are divided only."""
    middle, spread = scaling
    if middle is None:
        X = table.X.astype(np.float64)
        X.data /= spread[X.indices]
        table.X = X
    else:
        _map_numbers(table, lambda part: (part - middle) / spread)


def _spread(X: Any, how: str) -> tuple[np.ndarray, np.ndarray]:
    """Middle and spread of each column; a column whose quartiles coincide always gets mean and standard deviation."""
    middle, spread = _moments(X)
    if how == "robust":
        sample = np.asarray(X[sample_rows(X.shape[0], _QUARTILE_ROWS, stream(0, "quartiles"))], np.float64)
        low, half, high = np.quantile(sample, (0.25, 0.5, 0.75), axis=0)
        wide = high > low
        middle, spread = np.where(wide, half, middle), np.where(wide, high - low, spread)
    return middle, spread


def _moments(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each column, in two passes."""
    n = X.shape[0]
    mean = sum(np.asarray(X[a:b], np.float64).sum(axis=0) for a, b in blocks(X)) / n
    square = sum(np.square(np.asarray(X[a:b], np.float64) - mean).sum(axis=0) for a, b in blocks(X)) / n
    return mean, _cleaned(np.sqrt(square), mean)


def _cleaned(spread: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """The spread, with zero for the rounding errors of a constant column."""
    return np.where(spread > 1e-12 * np.abs(mean), spread, 0.0)


def _sparse_moments(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each column of a sparse matrix."""
    n, d = X.shape
    data = X.data.astype(np.float64)
    mean = np.bincount(X.indices, data, d) / n
    stored = np.bincount(X.indices, minlength=d)
    square = np.bincount(X.indices, (data - mean[X.indices]) ** 2, d) + (n - stored) * mean**2
    return mean, _cleaned(np.sqrt(square / n), mean)


# -------------------------------------------------------------------------------------------------------------- advice


def advise_scaling(table: Table) -> None:
    """Add a note where a few columns with large values determine all distances."""
    unequal = unequal_columns(table.X)
    if unequal is not None:
        large, small = (f"{table.shown_name(column)}: {spread:.3g}" for column, spread in unequal)
        table.notes.append(
            f"Columns differ widely in spread ({large}, {small}), so a few of them determine the map; "
            'normalize="robust" or normalize="standard" brings them to one scale, normalize="none" keeps them as they are'
        )
