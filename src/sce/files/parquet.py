"""Parquet tables, through pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sce.errors import InputError
from sce.files.source import Request, Source, choose_columns, refuse_double_names


def read_parquet(path: Path, request: Request) -> Source:
    """A Parquet file; text and categories are kept apart from the numbers, nulls become NaN."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise InputError(f"Reading {path} needs pyarrow; install it with: pip install 'sce[io]'") from None

    file = parquet.ParquetFile(path)
    names = list(file.schema_arrow.names)
    refuse_double_names(path, names)
    chosen = [names[c] for c in choose_columns(path, names, len(names), request)]
    wanted = list(dict.fromkeys([*chosen, *(name for name in request.as_text if name in names)]))
    table = file.read(columns=wanted)
    numbers, text = [], {}
    for name in wanted:
        values = _values(path, name, table.column(name))
        if values.dtype.kind == "U" or name in request.as_text:
            text[name] = values
        else:
            numbers.append(name)
    X = np.empty((table.num_rows, len(numbers)), _common([_dtype(table.column(n)) for n in numbers]))
    for place, name in enumerate(numbers):
        X[:, place] = _values(path, name, table.column(name))
    return Source(path, X, numbers, text)


def _dtype(column: Any) -> np.dtype:
    """The NumPy type of a column of numbers; with nulls, one that has NaN."""
    dtype = np.dtype(column.type.to_pandas_dtype())
    return np.result_type(dtype, np.float64) if column.null_count and dtype.kind != "f" else dtype


def _common(types: list[np.dtype]) -> np.dtype:
    return np.result_type(*types) if types else np.dtype(np.float64)


def _values(path: Path, name: str, column: Any) -> np.ndarray:
    """A column as numbers or as text."""
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        plain = column.cast(pa.large_string())
        return np.array([value or "" for value in plain.to_pylist()], dtype=str)
    if pa.types.is_decimal(kind) or pa.types.is_null(kind):
        return np.asarray(column.cast(pa.float64()).to_numpy(), np.float64)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        plain = column.cast(kind)
        if plain.null_count:
            plain = plain.cast(pa.float64() if kind != pa.float32() else kind)
        return np.asarray(plain.to_numpy())
    raise InputError(
        f"Column {name!r} of {path} holds {column.type}, which is neither number nor text; turn it into numbers, or leave "
        f"it out with --drop {name!r}."
    )
