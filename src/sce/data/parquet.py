"""Parquet tables, through pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sce.core.missing import as_text
from sce.data.source import Request, Source, choose_columns, refuse_double_names
from sce.errors import InputError


def read_parquet(path: Path, request: Request) -> Source:
    """A Parquet file; text and categories are kept apart from the numbers, nulls become NaN."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise InputError(f"Reading {path} needs pyarrow; install it with: pip install 'sce[io]'") from None

    with parquet.ParquetFile(path) as file:
        names = list(file.schema_arrow.names)
        refuse_double_names(path, names)
        apart = [name for name in names if request.is_apart(name)]
        chosen = [names[c] for c in choose_columns(path, names, len(names), request)]
        table = file.read(columns=list(dict.fromkeys([*chosen, *apart])))
    numbers: dict[str, np.ndarray] = {}
    text: dict[str, np.ndarray] = {}
    extra: dict[str, np.ndarray] = {}
    for name in table.column_names:
        values = _values(path, name, table.column(name))
        home = extra if name not in chosen else text if values.dtype.kind == "O" or name in apart else numbers
        home[name] = values
    names = [name for name in chosen if name in numbers]
    X = np.empty((table.num_rows, len(names)), np.result_type(np.bool_, *(numbers[name].dtype for name in names)))
    for place, name in enumerate(names):
        X[:, place] = numbers.pop(name)
    return Source(path, X, names, text, extra)


def _values(path: Path, name: str, column: Any) -> np.ndarray:
    """A column as numbers or as text."""
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view":
        return as_text(column.cast(pa.large_string()).to_pylist())
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
