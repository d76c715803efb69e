"""The columns of a data frame: which are numbers, which are vectors, and what the others hold."""

from __future__ import annotations

import contextlib
import numbers
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from sce.core.missing import is_missing
from sce.errors import InputError

_KINDS = {  # what messages call a type of narwhals
    "String": "text",
    "Categorical": "categories",
    "Enum": "categories",
    "Binary": "bytes",
    "Struct": "structs",
    **dict.fromkeys(("Date", "Datetime", "Duration", "Time"), "dates or durations"),
}


# --------------------------------------------------------------------------------------------------------------- columns


def saved_index(schema: Any) -> tuple[str, ...]:
    """The columns of a table of Arrow that were the index of a data frame of pandas.

    Examples
    --------
    >>> import pandas, pyarrow
    >>> frame = pandas.DataFrame({"a": [1, 2]}, index=["x", "y"])
    >>> saved_index(pyarrow.Table.from_pandas(frame).schema)
    ('__index_level_0__',)
    """
    saved = (getattr(schema, "pandas_metadata", None) or {}).get("index_columns", ())
    return tuple(name for name in saved if isinstance(name, str) and name in schema.names)


class Column(NamedTuple):
    """What a column is good for."""

    kind: str  # "numbers", "vectors", or what it holds in words
    values: Any = None  # an array of numbers; the column, for vectors


def sort_out(column: Any) -> Column:
    """A column of narwhals as numbers or vectors, or what else it holds."""
    dtype = column.dtype
    name = type(dtype).__name__
    if dtype.is_numeric() or name == "Boolean":
        values = column.to_numpy()
        return Column("numbers", _plain(column) if values.dtype.kind not in "buif" else values)
    if name in ("List", "Array"):
        is_flat = dtype.inner.is_numeric() and len(getattr(dtype, "shape", (0,))) == 1
        return Column("vectors", column) if is_flat else Column("lists of other things")
    if name in ("Unknown", "Object"):
        return _from_objects(column)
    return Column(_KINDS.get(name, name.lower()))


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


def _from_objects(column: Any) -> Column:
    """A column of Python objects, or of a type that narwhals does not know, by what it holds."""
    values = np.asarray(column.to_numpy())
    if values.dtype.kind in "buif":
        return Column("numbers", values)
    if values.dtype.kind != "O":
        return Column(
            {"M": "dates or durations", "m": "dates or durations", "c": "complex numbers"}.get(
                values.dtype.kind, "text"
            )
        )
    present = [cell for cell in values if isinstance(cell, list | tuple | np.ndarray) or not is_missing(cell)]
    if all(isinstance(cell, numbers.Real | Decimal | np.bool_) for cell in present):
        return Column("numbers", _floats(values))
    if all(isinstance(cell, list | tuple | np.ndarray) for cell in present):
        return Column("vectors", column)
    types = sorted({type(cell).__name__ for cell in present})
    return Column("text" if types == ["str"] else f"values of type {' and '.join(types[:3])}")


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
    lengths = np.array([-1 if is_no_vector(cell) else len(cell) for cell in cells])
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


def is_no_vector(cell: Any) -> bool:
    """Whether a cell of a column of vectors is a gap."""
    return not isinstance(cell, list | tuple | np.ndarray) and not hasattr(cell, "__len__")
