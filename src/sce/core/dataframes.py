"""Data frames of any library as matrices of numbers, through narwhals.

narwhals knows pandas, polars, pyarrow, modin, cuDF and whatever exports Arrow's C stream. It is a base dependency: 2 MB of
pure Python without dependencies, which scikit-learn (from 1.9 on) installs anyway. The alternatives are worse: the interchange
protocol (``__dataframe__``) knows neither lists nor decimals, and Arrow's C interface needs pyarrow (170 MB) to be read.
narwhals takes 0.04 s to import and is imported only when a data frame comes along: who uses NumPy alone never loads it.
"""

from __future__ import annotations

import contextlib
import re
import sys
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sce.core.frame_columns import Column, is_no_vector, saved_index, sort_out, stack_vectors
from sce.core.hints import MOST_NAMES, listed
from sce.core.missing import is_missing
from sce.core.warn import warn
from sce.errors import DataWarning, InputError

_INDEX_OF_PANDAS = re.compile(r"__index_level_\d+__")
_MARKS = ("columns", "column_names", "to_numpy", "to_pandas", "__arrow_c_stream__", "__narwhals_dataframe__")


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
    frame, names, ids = _without_saved_index(X, frame, names)
    if _is_sparse(X):
        return Matrix(X.sparse.to_coo().tocsr(), names, ids)
    if _is_one_block(X):
        return Matrix(X.to_numpy(), names, ids)
    columns = [sort_out(frame[name]) for name in frame.columns]
    vectors = [place for place, column in enumerate(columns) if column.kind == "vectors"]
    counts = [place for place, column in enumerate(columns) if column.kind == "numbers"]
    if len(vectors) == 1 and _are_the_data(columns[vectors[0]], len(counts)):
        matrix = stack_vectors(columns[vectors[0]].values, f"Column {names[vectors[0]]!r} of {what}")
        _say_what_is_left_out(what, names, vectors[0], matrix.shape[1])
        return Matrix(matrix, None, ids)
    _refuse_columns(X, what, names, columns)
    return Matrix(_joined(columns, len(frame)), names, ids)


def as_column(values: Any) -> Any:
    """A series of pandas, polars or pyarrow as an array: categories as words, numbers with gaps as floats; others unchanged.

    Examples
    --------
    >>> import pandas
    >>> as_column(pandas.Series([1, None], dtype="Int64")), as_column(pandas.Series(["a", None], dtype="category"))
    (array([ 1., nan]), array(['a', None], dtype=object))
    """
    if not _looks_like_a_frame(values):
        return values
    import narwhals.stable.v2 as nw

    column = nw.from_native(values, pass_through=True, allow_series=True)
    if isinstance(column, nw.DataFrame) and len(column.columns) == 1:
        column = column[column.columns[0]]
    if not isinstance(column, nw.Series):
        return values
    native = column.to_native()
    if type(getattr(native, "type", None)).__name__ == "DictionaryType":  # of pyarrow
        column = nw.from_native(native.cast(native.type.value_type), series_only=True)  # NumPy would lose its gaps
    found = np.asarray(column.to_numpy())
    if found.dtype.kind == "O":  # NA of pandas is neither equal nor unequal to itself
        words = np.empty(len(found), object)
        words[:] = [None if is_missing(cell) else cell for cell in found]
        return words
    return found


def coordinates_in(Y: Any) -> Any:
    """The coordinates in a data frame: columns x, y and z or sce0, sce1 and sce2, if it has them, or else all; None for others.

    Examples
    --------
    >>> import pandas
    >>> coordinates_in(pandas.DataFrame({"x": [0.5], "y": [1.5], "kind": ["a"]}))
    array([[0.5, 1.5]])
    """
    found = _opened(Y, "Y")
    if found is None:
        return None
    frame, names = found
    for wanted in (("x", "y", "z"), ("sce0", "sce1", "sce2")):
        present = [names.index(name) for name in wanted if name in names]
        if len(present) > 1:
            return _joined([sort_out(frame[frame.columns[place]]) for place in present], len(frame))
    matrix = as_matrix(Y, "Y")
    return None if matrix is None else matrix.X


def index_of(X: Any) -> np.ndarray | None:
    """The index of a pandas-like frame or series; None if there is none, or if it is 0, 1, 2, ..."""
    index = getattr(X, "index", None)
    if index is None or callable(index) or not hasattr(index, "to_numpy"):
        return None
    return _unless_counting(index.to_numpy())


def _unless_counting(values: np.ndarray) -> np.ndarray | None:
    is_counting = values.dtype.kind in "iu" and np.array_equal(values, np.arange(len(values)))
    return None if is_counting else values


def _without_saved_index(X: Any, frame: Any, names: list[Any]) -> tuple[Any, list[Any], np.ndarray | None]:
    """The data of a frame, the names of its columns, and its index.

    A table of Arrow that was made of a frame of pandas holds its index as columns, and so does a frame of polars read from a
    file of pandas, which only their names tell.
    """
    if library_of(X) == "pandas":
        return frame, names, index_of(X)
    saved = saved_index(getattr(X, "schema", None))
    saved = tuple(name for name in names if name in saved or _INDEX_OF_PANDAS.fullmatch(str(name)))
    if not saved or len(saved) == len(names):
        return frame, names, index_of(X)
    columns = [frame[name].to_numpy() for name in saved]
    ids = columns[0]
    if len(columns) > 1:  # as pandas has it
        ids = np.empty(len(frame), object)
        ids[:] = list(zip(*(values.tolist() for values in columns), strict=True))
    return frame.drop(saved), [name for name in names if name not in saved], _unless_counting(ids)


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
        if sort_out(frame).kind != "vectors":
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


def _joined(columns: list[Column], n: int) -> np.ndarray:
    """Columns of numbers as a matrix."""
    matrix = np.empty((n, len(columns)), np.result_type(*(column.values.dtype for column in columns)))
    for place, column in enumerate(columns):
        matrix[:, place] = column.values
    return matrix


def _are_the_data(column: Column, n_others: int) -> bool:
    """Whether the only column of vectors has more numbers than there are other columns of numbers."""
    first = next((cell for cell in column.values.head(100).to_list() if not is_no_vector(cell)), ())
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


def _refuse_columns(X: Any, what: str, names: list[Any], columns: list[Column]) -> None:
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
    some = listed(bad) if len(bad) <= MOST_NAMES else "..."
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
