"""What data need before they are embedded: no gaps, one scale, fewer columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sce.core.linalg import sample_rows
from sce.core.parallel import Team
from sce.core.principal import principal_axes, project
from sce.core.random import stream
from sce.core.validate import all_finite
from sce.data.table import Table
from sce.errors import InputError

_MOST_COLUMNS = 50_000  # of dense data, unless they are to be reduced
_MOST_CATEGORIES = 100
_DENSE_BYTES = 1 << 28  # sparse data up to this size as float32 are quicker dense
_PCA_ROWS = 20_000  # from which principal axes are found
_SAMPLE = 10_000  # rows from which spreads are judged
_BLOCK = 1 << 22  # cells looked at in one go


@dataclass(frozen=True)
class Preparation:
    """What to do, in this order."""

    missing: str = "refuse"
    log1p: bool = False
    normalize: str | None = None  # None: as "none", but with advice where columns differ wildly
    one_hot: bool = False
    pca: int | None = None  # 0: none, however many columns there are


def prepare(table: Table, options: Preparation, team: Team, seed: int) -> Table:
    """The table with finite numbers only, as asked for; its own X is never changed in place where it came from a file."""
    _check_text(table, options.one_hot)
    if not all_finite(table.X) or any((values == "").any() for values in table.text.values()):
        _fill(table, options.missing)
        _refuse_infinity(table)
    _densify(table)
    if options.log1p:
        _log1p(table)
    if options.normalize in ("standard", "robust"):
        _normalize(table, options.normalize)
    elif options.normalize is None:
        _advise_scaling(table)
    if table.text:
        _one_hot(table)
    if options.pca:
        _pca(table, options.pca, team, seed)
    elif options.pca is None and table.X.shape[1] > _MOST_COLUMNS and not hasattr(table.X, "tocsr"):
        raise InputError(
            f"{table.path} has {table.X.shape[1]} columns, in which distances are slow and mostly noise: add --pca 50, choose "
            "some with --columns, add --transpose if the columns are the points, or --pca 0 to embed all of them."
        )
    return table


def blocks(X: Any) -> Any:
    """Consecutive (start, stop) of rows, some megabytes each, so that a mapped array is never held as a whole."""
    step = max(1, _BLOCK // max(1, X.shape[1]))
    return ((start, min(start + step, X.shape[0])) for start in range(0, X.shape[0], step))


# ------------------------------------------------------------------------------------------------------------------ gaps


def _gaps(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """The rows and columns with missing values."""
    if hasattr(X, "tocsr"):
        at = np.flatnonzero(np.isnan(X.data)) if X.dtype.kind == "f" else np.array([], np.int64)
        return np.unique(np.searchsorted(X.indptr, at, side="right") - 1), np.unique(X.indices[at])
    if X.dtype.kind != "f":
        return np.array([], np.int64), np.array([], np.int64)
    rows, columns = [], np.zeros(X.shape[1], bool)
    for start, stop in blocks(X):
        gaps = np.isnan(X[start:stop])
        if gaps.any():
            rows.append(start + np.flatnonzero(gaps.any(axis=1)))
            columns |= gaps.any(axis=0)
    return np.concatenate(rows) if rows else np.array([], np.int64), np.flatnonzero(columns)


def _fill(table: Table, how: str) -> None:
    """Refuse missing values, leave their rows out, or fill them in; in text with the most frequent value."""
    rows, columns = _gaps(table.X)
    words = {name: np.flatnonzero(values == "") for name, values in table.text.items()}
    rows = np.unique(np.concatenate([rows, *words.values()])).astype(np.int64)
    if not len(rows):
        return
    _refuse_empty_columns(table, columns)
    if how == "refuse":
        some = ", ".join(table.row(int(r)) for r in rows[:3]) + (", ..." if len(rows) > 3 else "")
        named = [*(table.name(int(c)) for c in columns), *(repr(name) for name, at in words.items() if len(at))]
        where = ", ".join(named[:3]) + (", ..." if len(named) > 3 else "")
        raise InputError(
            f"{table.path} has missing values in {len(rows)} of {table.X.shape[0]} rows ({some}), in columns {where}: add "
            "--missing median (or mean) to fill them in, or --missing drop to leave these rows out."
        )
    if how == "drop":
        _keep_rows(table, np.setdiff1d(np.arange(table.X.shape[0]), rows))
        table.notes.append(f"Left out {len(rows)} rows with missing values")
        return
    _fill_numbers(table, columns, how)
    for name, at in words.items():
        present = np.delete(table.text[name], at)
        values, counts = np.unique(present, return_counts=True)
        table.text[name] = table.text[name].copy()
        table.text[name][at] = values[counts.argmax()]
    table.notes.append(f"Filled in the {how} for missing values in {len(rows)} rows")


def _refuse_empty_columns(table: Table, columns: np.ndarray) -> None:
    """Columns without any value can be neither filled nor helped by leaving rows out."""
    empty = [table.name(int(c)) for c in columns if not hasattr(table.X, "tocsr") and np.isnan(table.X[:, c]).all()]
    empty += [repr(name) for name, values in table.text.items() if (values == "").all()]
    if empty:
        raise InputError(
            f"Column {empty[0]} of {table.path} has no values at all; leave it out with --drop {empty[0]}."
        )


def _fill_numbers(table: Table, columns: np.ndarray, how: str) -> None:
    """Mean or median of a column for its gaps."""
    if not len(columns):
        return
    if hasattr(table.X, "tocsr"):
        raise InputError(f"{table.path} is sparse, and missing values in it cannot be filled in; use --missing drop.")
    X = np.array(table.X)
    for c in columns:
        gaps = np.isnan(X[:, c])
        X[gaps, c] = np.median(X[~gaps, c]) if how == "median" else X[~gaps, c].mean(dtype=np.float64)
    table.X = X


def _keep_rows(table: Table, rows: np.ndarray) -> None:
    if len(rows) < 2:
        raise InputError(
            f"{table.path} has {len(rows)} rows without missing values; use --missing median to fill them in."
        )
    table.ids = (np.arange(table.X.shape[0]) if table.ids is None else table.ids)[rows]
    table.X = table.X[rows]
    table.labels = None if table.labels is None else table.labels[rows]
    table.weights = None if table.weights is None else table.weights[rows]
    table.text = {name: values[rows] for name, values in table.text.items()}
    table.first_line = None


def _refuse_infinity(table: Table) -> None:
    X = table.X
    if X.dtype.kind != "f":
        return
    if hasattr(X, "tocsr"):
        at = np.flatnonzero(np.isinf(X.data))
        found = [(int(np.searchsorted(X.indptr, a, side="right") - 1), int(X.indices[a])) for a in at[:1]]
    else:
        found = []
        for start, stop in blocks(X):
            bad = np.isinf(X[start:stop])
            if bad.any():
                r, c = np.argwhere(bad)[0]
                found = [(start + int(r), int(c))]
                break
    if found:
        row, column = found[0]
        raise InputError(
            f"{table.path} has infinite values, first in column {table.name(column)}, {table.row(row)}: correct or leave out "
            "these rows."
        )


# ------------------------------------------------------------------------------------------------------------ numbers


def _densify(table: Table) -> None:
    """Small or hardly sparse matrices as arrays, for which neighbours are found much quicker."""
    X = table.X
    if not hasattr(X, "tocsr"):
        return
    cells = X.shape[0] * X.shape[1]
    if 4 * cells <= _DENSE_BYTES or 3 * X.nnz >= cells:
        table.X = X.toarray()
        table.notes.append(f"Sparse data taken as a dense array ({X.nnz / max(cells, 1):.0%} of it is not zero)")


def _map_numbers(table: Table, function: Any) -> None:
    """X with a function applied to blocks of its rows (or to the stored values of a sparse matrix), as a new array."""
    X = table.X
    if hasattr(X, "tocsr"):
        table.X = X.astype(np.float64 if X.dtype.itemsize > 4 else np.float32)
        table.X.data = function(table.X.data)
        return
    out = np.empty(X.shape, np.float32 if X.dtype == np.float32 or X.dtype.itemsize < 4 else np.float64)
    for start, stop in blocks(X):
        out[start:stop] = function(np.asarray(X[start:stop], np.float64))
    table.X = out


def _log1p(table: Table) -> None:
    """ln(1 + x), which counts need."""
    lowest = table.X.min() if table.X.shape[1] else 0
    if lowest < 0:
        raise InputError(
            f"{table.path} has negative values (down to {lowest:g}), so --log1p means nothing; leave it out."
        )
    _map_numbers(table, np.log1p)
    table.notes.append("Took ln(1 + x)")


def _normalize(table: Table, how: str) -> None:
    """Each column over its spread; minus its middle, unless X is sparse, where distances need no centring."""
    sparse = hasattr(table.X, "tocsr")
    if sparse and how == "robust":
        raise InputError(f"{table.path} is sparse, for which --normalize robust would find no spread; use standard.")
    middle, spread = _sparse_spread(table.X) if sparse else _spread(table.X, how)
    spread[spread == 0] = 1.0
    if sparse:
        X = table.X.astype(np.float64)
        X.data /= spread[X.indices]
        table.X = X
    else:
        _map_numbers(table, lambda part: (part - middle) / spread)
    table.notes.append(f"Columns scaled ({how})")


def _spread(X: Any, how: str) -> tuple[np.ndarray, np.ndarray]:
    """Middle and spread of each column: mean and standard deviation, or median and interquartile range.

    A column whose quartiles coincide is spread by its standard deviation.
    """
    middle, spread = _moments(X)
    if how == "robust":
        sample = np.asarray(X[sample_rows(X.shape[0], 100_000, stream(0, "quartiles"))], np.float64)
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
    """Zero for what rounding leaves of a constant column."""
    return np.where(spread > 1e-12 * np.abs(mean), spread, 0.0)


def _sparse_spread(X: Any) -> tuple[np.ndarray, np.ndarray]:
    n, d = X.shape
    data = X.data.astype(np.float64)
    mean = np.bincount(X.indices, data, d) / n
    stored = np.bincount(X.indices, minlength=d)
    square = np.bincount(X.indices, (data - mean[X.indices]) ** 2, d) + (n - stored) * mean**2
    return mean, _cleaned(np.sqrt(square / n), mean)


def _advise_scaling(table: Table) -> None:
    """A note where few columns with large values decide all distances."""
    X = table.X
    if hasattr(X, "tocsr") or X.shape[1] < 2:
        return
    sample = np.asarray(X[sample_rows(X.shape[0], _SAMPLE, stream(0, "spreads"))], np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = sample.std(axis=0)
    told = advice_on_spreads(spread)
    if told is not None:
        large, small = told
        table.notes.append(
            f"Columns differ wildly in spread ({table.name(large)}: {spread[large]:.3g}, {table.name(small)}: "
            f"{spread[small]:.3g}), so that few of them decide the map; --normalize robust (or standard) brings them to one "
            "scale, --normalize none says that they are as they should be"
        )


def advice_on_spreads(spread: np.ndarray) -> tuple[int, int] | None:
    """The columns of the largest and the median spread, where the largest few outweigh all others together.

    Examples
    --------
    >>> advice_on_spreads(np.array([1.0, 1000.0, 2.0, 1.5])), advice_on_spreads(np.array([1.0, 2.0, 3.0]))
    ((1, 3), None)
    """
    moving = np.flatnonzero(spread > 0)
    if len(moving) < 2 or not np.isfinite(spread).all():
        return None
    order = moving[np.argsort(spread[moving], kind="stable")]
    large, middle = int(order[-1]), int(order[(len(order) - 1) // 2])
    share = np.cumsum(np.sort((spread / spread[large]) ** 2)[::-1])
    few = int(np.searchsorted(share, 0.9 * share[-1])) + 1  # columns that hold nine tenths of the variance
    return (large, middle) if spread[large] > 5 * spread[middle] and few <= max(1, len(moving) // 3) else None


# ------------------------------------------------------------------------------------------------------------ columns


def _check_text(table: Table, one_hot: bool) -> None:
    """Refuse columns of text, unless they are to become columns of 0 and 1."""
    for name, values in table.text.items():
        distinct = np.unique(values[values != ""])
        shown = ", ".join(distinct[:3]) + (", ..." if len(distinct) > 3 else "")
        if not one_hot:
            raise InputError(
                f"Column {name!r} of {table.path} holds text ({len(distinct)} different values: {shown}): add --one-hot to "
                f"make a column of 0 and 1 for each value, --labels {name!r} to colour by it, or --drop {name!r}."
            )
        if len(distinct) > _MOST_CATEGORIES:
            raise InputError(
                f"Column {name!r} of {table.path} has {len(distinct)} different values, too many for --one-hot (at most "
                f"{_MOST_CATEGORIES}); --drop {name!r}."
            )


def _one_hot(table: Table) -> None:
    """A column of 0 and 1 for each value of each column of text."""
    names, columns = list(table.names or map(str, range(table.X.shape[1]))), []
    for name, values in table.text.items():
        for value in np.unique(values):
            columns.append(values == value)
            names.append(f"{name}={value}")
    extra = np.stack(columns, axis=1)
    if hasattr(table.X, "tocsr"):
        from scipy import sparse

        table.X = sparse.hstack([table.X, sparse.csr_matrix(extra, dtype=np.float64)]).tocsr()
    else:
        table.X = np.hstack([table.X, extra])
    table.notes.append(f"Columns of text as {len(columns)} columns of 0 and 1: {', '.join(table.text)}")
    table.names, table.text = names, {}


def _pca(table: Table, count: int, team: Team, seed: int) -> None:
    """The rows in their leading principal components."""
    n, d = table.X.shape
    if count >= min(n, d):
        table.notes.append(f"--pca {count} changes nothing: there are only {d} columns and {n} rows")
        return
    axes = principal_axes(table.X, count, seed, team, n_sample=_PCA_ROWS, n_iter=6, max_cells=None)
    table.X = project(table.X, axes.mean, axes.axes, team, out=np.empty((n, count), np.float32))
    table.names = [f"PC{k + 1}" for k in range(count)]
    table.notes.append(f"Reduced {d} columns to {count} principal components")
