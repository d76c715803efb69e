"""Checks of user input: one clear sentence for each thing that can be wrong."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp

from sce.core.counting import counting_columns, may_be_measured
from sce.core.dataframes import Matrix, as_matrix, coordinates_in, library_of
from sce.core.hints import clipped, listed
from sce.core.mmap import releasing
from sce.core.warn import warn
from sce.errors import DataWarning, InputError, ParameterError

_FINITE_CHECK_CELLS = 1_000_000  # numbers checked at once


def check_vectors(estimator: Any, X: Any) -> Any:
    """X as a finite 2-D array of numbers or a CSR matrix.

    Sets n_features_in_, feature_names_in_ and ids_ of the estimator.
    """
    _refuse_annotated(X)
    _note_frame(estimator, X)
    frame = as_matrix(X)
    if frame is not None:
        return _check_frame(estimator, frame)
    _refuse_wrong_shape(X)
    _refuse_dates_and_masks(X)
    check_sparse(X)
    try:
        checked = _as_numbers(estimator, X)
        if checked.dtype.kind not in "buif":  # objects, such as None in a list
            checked = checked.astype(np.float64)
        if sp.issparse(checked) and not checked.has_canonical_format:  # entries given twice add up, in a copy
            checked = checked.copy()
            checked.sum_duplicates()
    except ValueError as error:
        raise InputError(_explain(X, error)) from None
    refuse_not_finite(checked, "X")
    if sp.issparse(checked):
        _warn_of_graph(checked)
    return checked


def _warn_of_graph(X: Any) -> None:
    """Say that X looks like the neighbours that another tool found, with as many in each row, and not like data."""
    counts = np.diff(X.indptr)
    is_graph = X.shape[0] == X.shape[1] and 0 < counts[0] < X.shape[0] - 1 and (counts == counts[0]).all()
    if is_graph and not X.diagonal().any():
        warn(
            f"X is used as data, but looks like a graph: it is square, its diagonal is zero, and each row has {counts[0]} "
            'entries. If they are distances, use metric="precomputed"; if similarities, affinity="precomputed".',
            DataWarning,
        )


def _check_frame(estimator: Any, frame: Matrix) -> Any:
    """The matrix of a data frame, once it is known to be finite."""
    refuse_not_finite(frame.X, "X", frame.names)
    _set_n_features(estimator, frame.X.shape[1])
    names = frame.names or []
    is_text = [isinstance(name, str) for name in names]
    if any(is_text):
        if not all(is_text):
            raise InputError(
                "X has columns named by text and others named by numbers; make all names text, for example with "
                "X.columns = X.columns.astype(str)."
            )
        estimator.feature_names_in_ = np.array(names, object)
        _warn_of_row_numbers(frame)
    note_rows(estimator, frame.ids)
    return frame.X


def _warn_of_row_numbers(frame: Matrix) -> None:
    """Say which named columns only number the rows, as PassengerId does: they are data here, and hardly meant to be."""
    names = frame.names or []
    found = [names[place] for place in counting_columns(frame.X) if not may_be_measured(names[place])]
    if found and len(found) < len(names):
        which = f"Columns {listed(found)} of X number" if len(found) > 1 else f"Column {listed(found)} of X numbers"
        be = "are" if len(found) > 1 else "is"
        warn(f"{which} the rows, and {be} used as data; leave out what is only an id.", DataWarning)


def _note_frame(estimator: Any, X: Any) -> None:
    """Note the library of a data frame, and that nothing is known about its rows yet."""
    note_rows(estimator, None)
    estimator._library = library_of(X)  # noqa: SLF001


def note_rows(estimator: Any, ids: np.ndarray | None) -> None:
    """Note the index of X, where it has one."""
    if ids is not None:
        estimator.ids_ = ids
    elif hasattr(estimator, "ids_"):
        del estimator.ids_


def _as_numbers(estimator: Any, X: Any) -> Any:
    """What scikit-learn makes of X: without importing it, where X is an array or CSR matrix of numbers already."""
    is_array = type(X) in (np.ndarray, np.memmap) or (sp.issparse(X) and X.format == "csr")
    if is_array and X.ndim == 2 and X.shape[1] > 0 and X.dtype.kind in "buif":
        _set_n_features(estimator, X.shape[1])
        return X if sp.issparse(X) else np.asarray(X)
    from sklearn.utils.validation import validate_data

    return validate_data(
        estimator, X, accept_sparse="csr", dtype="numeric", ensure_all_finite=False, accept_large_sparse=True
    )


def _set_n_features(estimator: Any, n: int) -> None:
    """Note the number of columns of a matrix without names."""
    estimator.n_features_in_ = n
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def check_square(estimator: Any, X: Any) -> Any:
    """A graph or distance matrix as it is, once it is known to be 2-D and square; sets n_features_in_."""
    _refuse_annotated(X)
    _note_frame(estimator, X)
    frame = as_matrix(X)
    note_rows(estimator, None if frame is None else frame.ids)
    if frame is not None:
        X = frame.X
    elif not sp.issparse(X):
        X = np.asarray(X)
    if X.dtype.kind not in "buif":
        raise InputError(f"X must be a square matrix of real numbers; its type is {X.dtype}.")
    if X.ndim != 2 or X.shape[0] != X.shape[1]:
        raise InputError(
            "X is precomputed and must be a square matrix with a row and a column for each point; its shape is "
            f"{X.shape}."
        )
    if X.shape[0] == 0:
        raise InputError("X has no rows; give at least one point.")
    check_sparse(X)
    _set_n_features(estimator, X.shape[1])
    return X


def check_sparse(X: Any) -> None:
    """Refuse a sparse matrix whose indices point outside of it: a kernel would follow them."""
    if sp.issparse(X) and X.format in ("csr", "csc", "bsr"):
        try:
            X.check_format(full_check=True)
        except ValueError as error:
            raise InputError(f"X is a broken sparse matrix ({error}); build it again.") from None


def _refuse_annotated(X: Any) -> None:
    """Refuse an AnnData object, which holds several arrays that might be meant."""
    if hasattr(X, "obsm") and hasattr(X, "obsp"):
        raise InputError(
            f"X is an {type(X).__name__} object, not an array: call sce.tl.sce(adata) after scanpy.pp.neighbors(adata), or fit "
            "one of its arrays, such as adata.obsm['X_pca']."
        )


def _refuse_dates_and_masks(X: Any) -> None:
    """Refuse dates, which would be read as large integers, and masked values, which would be read as numbers."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise InputError("X has masked values; fill them, for example with X.filled(value), or drop their rows.")
    if getattr(getattr(X, "dtype", None), "kind", None) == "c":
        raise InputError("Complex data not supported; give the real and imaginary parts as separate columns.")
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise InputError(f"X holds dates or durations ({X.dtype}); turn them into numbers.")


def _refuse_wrong_shape(X: Any) -> None:
    shape = getattr(X, "shape", None) if not isinstance(X, list | tuple) else np.shape(np.asarray(X, dtype=object))
    if shape is None or (len(shape) == 2 and shape[0] > 0):
        return
    if len(shape) == 2:
        raise InputError(f"X has no rows (its shape is {shape}); give at least one point.")
    hint = "Reshape your data with X.reshape(-1, 1) if it is one column" if len(shape) == 1 else "Reshape your data"
    raise InputError(f"X must be 2-D, a row for each point; it is {len(shape)}-D with the shape {shape}. {hint}.")


def _explain(X: Any, error: ValueError) -> str:
    """Name the first cell with text, if that is what went wrong; otherwise keep the message."""
    if sp.issparse(X) or "onvert" not in str(error):
        return str(error)
    cells = np.array(X, dtype=object)
    for column in range(cells.shape[1]):
        for row, cell in enumerate(cells[:, column]):
            if isinstance(cell, str) and not _is_number(cell):
                return (
                    f"X has text where numbers are needed: column {column!r}, row {row} holds {clipped(cell)!r}; "
                    "drop the column or turn it into numbers."
                )
    return str(error)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def refuse_not_finite(X: Any, name: str, columns: list[Any] | None = None) -> None:
    """Refuse NaN and infinity, naming the rows, and the columns if they have names."""
    if all_finite(X):
        return
    data = X.data if sp.issparse(X) else X
    if sp.issparse(X):
        rows = np.unique(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[~np.isfinite(data)])
    else:
        rows = np.flatnonzero([not np.isfinite(row).all() for row in X])
    shown = ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")
    if columns is not None and not sp.issparse(X):
        bad = [columns[place] for place in np.flatnonzero(~np.isfinite(X[rows]).all(axis=0))]
        shown += f" (in column{'s' if len(bad) > 1 else ''} {listed(bad)})"
    raise InputError(
        f"{name} has NaN or infinity (inf) in {len(rows)} of {X.shape[0]} rows: {shown}; drop these rows or fill the gaps, "
        "for example with sklearn.impute.SimpleImputer."
    )


def all_finite(X: Any) -> bool:
    """Whether all numbers are finite, in pieces, so that a memory-mapped array is not copied as a whole."""
    data = X.data if sp.issparse(X) else X
    if data.dtype.kind != "f":
        return True
    rows = data.T if data.flags.f_contiguous else data  # in the order of memory
    rows = rows.reshape(-1) if rows.flags.c_contiguous else rows
    is_finite = releasing(rows, lambda start, stop: np.isfinite(rows[start:stop]).all())
    step = max(1, _FINITE_CHECK_CELLS * len(rows) // max(1, rows.size))
    return all(is_finite(start, min(len(rows), start + step)) for start in range(0, len(rows), step))


def check_weights(sample_weight: Any, n: int) -> np.ndarray | None:
    """Point weights as float64, or None where they are all the same."""
    if sample_weight is None:
        return None
    try:
        w = np.asarray(sample_weight)
        w = w.astype(np.float64, casting="same_kind" if w.dtype.kind in "fc" else "unsafe")
    except (TypeError, ValueError):
        raise InputError("sample_weight must be an array of numbers.") from None
    if w.shape != (n,):
        raise InputError(f"Sample weights must be 1D array, one for each of the {n} rows; the shape is {w.shape}.")
    bad = np.flatnonzero(~(np.isfinite(w) & (w >= 0)))
    if len(bad):
        raise InputError(f"sample_weight must be finite and not negative; in row {bad[0]} it is {w[bad[0]]}.")
    if np.count_nonzero(w) < min(n, 2):
        raise InputError(
            "sample_weight is above zero in fewer than two rows, so nothing is pushed apart; give at least two rows a weight."
        )
    w = w / w.max()
    if n > 1 and (w * w).sum() > 0.9 * w.sum() ** 2:
        raise InputError(
            f"sample_weight of row {w.argmax()} far outweighs all other rows together, so nothing else is pushed apart; "
            "lower it."
        )
    return None if (w == 1.0).all() else w / w.mean()


def is_word(value: Any, word: str) -> bool:
    """Whether a parameter, which might also be an array, equals this word."""
    return isinstance(value, str) and value == word


def check_count(value: Any, name: str, least: int = 1) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ParameterError(f"{name} must be a whole number, {least} or more; got {value!r}.")
    return int(value)


def draw_seed(random_state: Any) -> int:
    """A seed from anything that scikit-learn accepts as random_state: the same as by its check_random_state."""
    source = random_state
    if source is None or source is np.random:
        source = np.random.mtrand._rand  # type: ignore[attr-defined] # noqa: SLF001
    elif isinstance(source, numbers.Integral) and 0 <= int(source) < 2**32:
        source = np.random.RandomState(int(source))
    if not isinstance(source, np.random.RandomState):
        raise ParameterError(
            "random_state must be None, a whole number from 0 to 2**32 - 1 or a numpy.random.RandomState; got "
            f"{random_state!r}."
        )
    return int(source.randint(np.iinfo(np.int32).max))


def coordinates_of(Y: Any) -> Any:
    """The embedding of a model, the Y of a map, the coordinates in a data frame, or Y itself."""
    if hasattr(Y, "embedding_"):
        return Y.embedding_
    if hasattr(Y, "fit"):
        raise InputError(f"The {type(Y).__name__} is not fitted; call fit first.")
    frame = coordinates_in(Y)
    if frame is not None:
        return frame
    is_array = hasattr(Y, "__array__") or isinstance(Y, list | tuple)
    return Y.Y if not is_array and hasattr(Y, "Y") else Y
