"""Data frames of any library as matrices of numbers, through narwhals.

narwhals knows pandas, polars, pyarrow, modin, cuDF and whatever exports Arrow's C stream. It is a base dependency: 2 MB of
pure Python without dependencies, which scikit-learn (from 1.9 on) installs anyway. The alternatives are worse: the interchange
protocol (``__dataframe__``) knows neither lists nor decimals, and Arrow's C interface needs pyarrow (170 MB) to be read.
narwhals takes 0.04 s to import and is imported only when a data frame comes along: who uses NumPy alone never loads it.
"""

from __future__ import annotations

import contextlib
import numbers
import sys
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sce.core.missing import is_missing
from sce.core.warn import warn
from sce.errors import DataWarning, InputError

_MOST_NAMES = 8  # of columns in a message
_MARKS = ("columns", "column_names", "to_frame", "to_pandas", "__arrow_c_stream__", "__narwhals_dataframe__")
_KINDS = {  # what messages call a type of narwhals
    "String": "text",
    "Categorical": "categories",
    "Enum": "categories",
    "Binary": "bytes",
    "Struct": "structs",
    **dict.fromkeys(("Date", "Datetime", "Duration", "Time"), "dates or durations"),
}


class Matrix(NamedTuple):
    """The numbers of a data frame."""

    X: Any  # ndarray or CSR matrix of shape (n, d)
    names: list[Any] | None  # of its columns; None for the numbers of a column of vectors
    ids: np.ndarray | None  # the index of the frame, unless it is 0, 1, 2, ...


# -------------------------------------------------------------------------------------------------------------- matrices


def as_matrix(X: Any, what: str = "X") -> Matrix | None:
    """A data frame, or a series of vectors, as a matrix; None for everything else, such as arrays.

    Columns of numbers and booleans are used as they are, with NaN where one is missing. If there is a single column of vectors
    (lists, arrays) and fewer other numbers, the vectors are the data, and a warning names the columns that are left out. Every
    other column is refused, all at once.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({"a": [1, 2], "b": [True, False]}, index=["x", "y"])
    >>> as_matrix(frame)
    Matrix(X=array([[1, 1],
           [2, 0]]), names=['a', 'b'], ids=array(['x', 'y'], dtype=object))
    >>> as_matrix([[1.0, 2.0]])
    """
    found = _opened(X, what)
    if found is None:
        return None
    frame, names = found
    ids = index_of(X)
    if _is_sparse(X):
        return Matrix(X.sparse.to_coo().tocsr(), names, ids)
    if _is_one_block(X):
        return Matrix(X.to_numpy(), names, ids)
    columns = [_sorted_out(frame[name]) for name in frame.columns]
    vectors = [place for place, column in enumerate(columns) if column.kind == "vectors"]
    counts = [place for place, column in enumerate(columns) if column.kind == "numbers"]
    if len(vectors) == 1 and _are_the_data(columns[vectors[0]], len(counts)):
        matrix = stack_vectors(columns[vectors[0]].values, f"Column {names[vectors[0]]!r} of {what}")
        _say_what_is_left_out(what, names, vectors[0], matrix.shape[1])
        return Matrix(matrix, None, ids)
    _refuse_columns(X, what, names, columns)
    return Matrix(_joined(columns, len(frame)), names, ids)


def index_of(X: Any) -> np.ndarray | None:
    """The index of a pandas-like frame or series; None if there is none, or if it is 0, 1, 2, ..."""
    index = getattr(X, "index", None)
    if index is None or callable(index) or not hasattr(index, "to_numpy"):
        return None
    values: np.ndarray = index.to_numpy()
    if values.dtype.kind in "iu" and np.array_equal(values, np.arange(len(values))):
        return None
    return values


def library_of(X: Any) -> str | None:
    """The library of a data frame, such as "pandas"; None for everything else."""
    return type(X).__module__.partition(".")[0] if _looks_like_a_frame(X) else None


def _looks_like_a_frame(X: Any) -> bool:
    if isinstance(X, np.ndarray | list | tuple) or sp.issparse(X):
        return False
    return any(hasattr(type(X), mark) for mark in _MARKS)  # of the type: a lazy frame's own columns take time


def _opened(X: Any, what: str) -> tuple[Any, list[Any]] | None:
    """A data frame for narwhals, with the names of its columns; None for what is none."""
    if not _looks_like_a_frame(X):
        return None
    import narwhals.stable.v2 as nw

    names = None
    if hasattr(type(X), "columns") and hasattr(X, "set_axis"):  # pandas: names may be numbers, or twice the same
        names = list(X.columns)
        X = X.set_axis([str(place) for place in range(len(names))], axis=1)
    frame = nw.from_native(X, pass_through=True, allow_series=True)
    if isinstance(frame, nw.LazyFrame):
        how = next(
            (f"{what}.{name}()" for name in ("collect", "compute", "toArrow", "arrow") if hasattr(X, name)), "its rows"
        )
        raise InputError(f"{what} is a lazy frame ({_type_name(X)}), which has no values yet; give {how} instead.")
    if isinstance(frame, nw.Series):
        if _sorted_out(frame).kind != "vectors":
            return None  # 1-D, which is refused elsewhere
        frame = frame.to_frame()
    elif not isinstance(frame, nw.DataFrame):
        frame = _imported(X, what)
        if frame is None:
            return None
    if not frame.columns or not len(frame):
        shape = len(frame), len(frame.columns)
        missing = "rows" if frame.columns else "columns"
        raise InputError(f"{what} has no {missing} (its shape is {shape}); give at least one point with one number.")
    return frame, names or list(frame.columns)


def _imported(X: Any, what: str) -> Any:
    """An object of an unknown library that exports Arrow's C stream; None for an array in disguise."""
    import narwhals.stable.v2 as nw

    if hasattr(X, "__arrow_c_stream__"):
        for backend in ("pyarrow", "polars"):
            with contextlib.suppress(ImportError, TypeError, ValueError):
                return nw.from_arrow(X, backend=backend)
    if hasattr(X, "__array__"):
        return None
    how = f"give {what}.to_pandas()" if hasattr(X, "to_pandas") else "give an array or a data frame"
    raise InputError(f"{what} is a {_type_name(X)}, which sce cannot read as a table; {how} instead.")


def _type_name(X: Any) -> str:
    return f"{type(X).__module__.partition('.')[0]}.{type(X).__name__}"


def _is_sparse(X: Any) -> bool:
    """Whether all columns of a pandas frame are sparse, as pandas.get_dummies(sparse=True) makes them."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(X, pandas.DataFrame):
        return False
    return all(isinstance(kind, pandas.SparseDtype) and kind.fill_value == 0 for kind in X.dtypes)


def _is_one_block(X: Any) -> bool:
    """Whether all columns of a pandas frame are of one plain type of number, so that it may be a matrix already."""
    types = set(X.dtypes) if hasattr(X, "iloc") and hasattr(X, "columns") else set()
    return len(types) == 1 and all(isinstance(kind, np.dtype) and kind.kind in "buif" for kind in types)


def _joined(columns: list[_Column], n: int) -> np.ndarray:
    """Columns of numbers as a matrix."""
    matrix = np.empty((n, len(columns)), np.result_type(*(column.values.dtype for column in columns)))
    for place, column in enumerate(columns):
        matrix[:, place] = column.values
    return matrix


# --------------------------------------------------------------------------------------------------------------- columns


class _Column(NamedTuple):
    """What a column is good for."""

    kind: str  # "numbers", "vectors", or what it holds in words
    values: Any = None  # an array of numbers; the column, for vectors


def _sorted_out(column: Any) -> _Column:
    """A column of narwhals as numbers or vectors, or what else it holds."""
    dtype = column.dtype
    name = type(dtype).__name__
    if dtype.is_numeric() or name == "Boolean":
        values = column.to_numpy()
        return _Column("numbers", _plain(column) if values.dtype.kind not in "buif" else values)
    if name in ("List", "Array"):
        is_flat = dtype.inner.is_numeric() and len(getattr(dtype, "shape", (0,))) == 1
        return _Column("vectors", column) if is_flat else _Column("lists of other things")
    if name in ("Unknown", "Object"):
        return _from_objects(column)
    return _Column(_KINDS.get(name, name.lower()))


def _plain(column: Any) -> np.ndarray:
    """Booleans and decimals with gaps as float64."""
    import narwhals.stable.v2 as nw

    with contextlib.suppress(Exception):  # not every library casts decimals
        values = column.cast(nw.Float64).to_numpy()
        if values.dtype.kind == "f":
            return np.asarray(values)
    return _floats(column.to_list())


def _floats(cells: Iterable[Any]) -> np.ndarray:
    return np.array([np.nan if is_missing(cell) else float(cell) for cell in cells], np.float64)


def _from_objects(column: Any) -> _Column:
    """A column of Python objects, or of a type that narwhals does not know, by what it holds."""
    values = np.asarray(column.to_numpy())
    if values.dtype.kind in "buif":
        return _Column("numbers", values)
    if values.dtype.kind != "O":
        return _Column(
            {"M": "dates or durations", "m": "dates or durations", "c": "complex numbers"}.get(
                values.dtype.kind, "text"
            )
        )
    present = [cell for cell in values if isinstance(cell, list | tuple | np.ndarray) or not is_missing(cell)]
    if all(isinstance(cell, numbers.Real | Decimal | np.bool_) for cell in present):
        return _Column("numbers", _floats(values))
    if all(isinstance(cell, list | tuple | np.ndarray) for cell in present):
        return _Column("vectors", column)
    types = sorted({type(cell).__name__ for cell in present})
    return _Column("text" if types == ["str"] else f"values of type {' and '.join(types[:3])}")


# --------------------------------------------------------------------------------------------------------------- vectors


def stack_vectors(column: Any, where: str) -> np.ndarray:
    """A column of vectors as a matrix; one that is missing is a row of NaN. Refuses vectors of unequal length.

    Parameters
    ----------
    column : narwhals.Series
        Of lists, of arrays, or of Python objects that are.
    where : str
        What messages call it.
    """
    native = column.to_native()
    if hasattr(native, "arr") and type(column.dtype).__name__ == "Array" and not column.null_count():  # polars
        return np.asarray(native.to_numpy())
    cells = column.to_numpy()
    if isinstance(cells, np.ndarray) and cells.ndim == 2:
        return cells
    lengths = np.array([-1 if _is_no_vector(cell) else len(cell) for cell in cells])
    width = check_lengths(lengths, where)
    parts = [np.asarray(cell) for cell in cells[np.flatnonzero(lengths >= 0)[:1000]]]
    dtype = np.result_type(*(part.dtype for part in parts))
    matrix = np.empty((len(cells), width), np.float64 if dtype.kind not in "buif" else dtype)
    if (lengths < 0).any() and matrix.dtype.kind != "f":
        matrix = matrix.astype(np.float64)
    row = 0
    try:
        for row, cell in enumerate(cells):
            matrix[row] = np.nan if lengths[row] < 0 else cell
    except (TypeError, ValueError):
        raise InputError(f"{where} holds something other than numbers in row {row}: {str(cells[row])[:60]}") from None
    return matrix


def check_lengths(lengths: np.ndarray, where: str, start: int = 0, width: int = -1) -> int:
    """The common length of vectors, -1 being no vector; refuses unequal ones, and names the first that differs.

    Examples
    --------
    >>> check_lengths(np.array([3, -1, 3]), "Column 'e'")
    3
    """
    present = np.flatnonzero(lengths >= 0)
    if not len(present):
        return width
    first = int(lengths[present[0]]) if width < 0 else width
    other = present[lengths[present] != first]
    if len(other):
        raise InputError(
            f"{where} holds vectors of unequal length: {first} numbers in the first row, {lengths[other[0]]} in row "
            f"{start + other[0]}; leave out or mend such rows, or choose another column."
        )
    if first == 0:
        raise InputError(f"{where} holds vectors without numbers; choose another column.")
    return first


def _is_no_vector(cell: Any) -> bool:
    return not isinstance(cell, list | tuple | np.ndarray) and not hasattr(cell, "__len__")


def _are_the_data(column: _Column, n_others: int) -> bool:
    """Whether the only column of vectors has more numbers than there are other columns of numbers."""
    first = next((cell for cell in column.values.head(100).to_list() if not _is_no_vector(cell)), ())
    return not n_others or len(first) > n_others


def _say_what_is_left_out(what: str, names: list[Any], used: int, width: int) -> None:
    others = [name for place, name in enumerate(names) if place != used]
    if others:
        warn(
            f"The vectors in column {names[used]!r} of {what} ({width} numbers each) are used as data; columns "
            f"{listed(others)} are left out.",
            DataWarning,
        )


# -------------------------------------------------------------------------------------------------------------- messages


def listed(names: Sequence[Any]) -> str:
    """Names of columns in a message, at most eight of them.

    Examples
    --------
    >>> listed(["a", "b"]), listed(range(10))
    ("'a', 'b'", '0, 1, 2, 3, 4, 5, 6, 7 and 2 more')
    """
    shown = ", ".join(repr(name) for name in names[:_MOST_NAMES])
    return shown if len(names) <= _MOST_NAMES else f"{shown} and {len(names) - _MOST_NAMES} more"


def _refuse_columns(X: Any, what: str, names: list[Any], columns: list[_Column]) -> None:
    """Refuse all columns that are not numbers in one message."""
    kinds: dict[str, list[Any]] = {}
    for name, column in zip(names, columns, strict=True):
        if column.kind != "numbers":
            kinds.setdefault(column.kind, []).append(name)
    if not kinds:
        return
    bad = [name for found in kinds.values() for name in found]
    described = "; ".join(f"{kind} in {_columns(found)}" for kind, found in kinds.items())
    if "vectors" in kinds:
        raise InputError(
            f"{what} has {described}; to embed the vectors of one column, give {what}[[{kinds['vectors'][0]!r}]]."
        )
    some = listed(bad) if len(bad) <= _MOST_NAMES else "..."
    drop = {"pandas": f"columns=[{some}]", "pyarrow": f"[{some}]"}.get(str(library_of(X)), some)
    method = "drop_columns" if hasattr(X, "drop_columns") else "drop"
    them = "them" if len(bad) > 1 else "it"
    how = ", for example with sklearn.preprocessing.OneHotEncoder" if set(kinds) <= {"text", "categories"} else ""
    raise InputError(
        f"{what} has {described}, where numbers are needed: leave {them} out, {what}.{method}({drop}), or turn {them} into "
        f"numbers{how}."
    )


def _columns(names: list[Any]) -> str:
    return f"column{'s' if len(names) > 1 else ''} {listed(names)}"
