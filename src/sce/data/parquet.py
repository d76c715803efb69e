"""Parquet tables, through pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sce.core.missing import as_text
from sce.data.source import Request, Source, choose_columns, dropped_names, refuse_duplicate_names, unread_names
from sce.errors import InputError


def read_parquet(path: Path, request: Request) -> Source:
    """A Parquet file; text and categories are kept apart from the numbers, and nulls become NaN."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise InputError(f"Reading {path} needs pyarrow; install it with: pip install 'sce[io]'") from None

    with parquet.ParquetFile(path) as file:
        names = list(file.schema_arrow.names)
        refuse_duplicate_names(path, names)
        apart = [name for name in names if request.is_apart(name)]
        places = choose_columns(path, names, len(names), request)
        chosen = [names[c] for c in places]
        table = file.read(columns=list(dict.fromkeys([*chosen, *apart])))
    numbers: dict[str, np.ndarray] = {}
    text: dict[str, np.ndarray] = {}
    extra: dict[str, np.ndarray] = {}
    for name in table.column_names:
        values = _values(path, name, table.column(name))
        home = extra if name not in chosen else text if values.dtype.kind == "O" or name in apart else numbers
        home[name] = values
    of_numbers = [name for name in chosen if name in numbers]
    dtype = np.result_type(np.bool_, *(numbers[name].dtype for name in of_numbers))
    X = np.empty((table.num_rows, len(of_numbers)), dtype)
    for place, name in enumerate(of_numbers):
        X[:, place] = numbers.pop(name)
    source = Source(path, X, of_numbers, text, extra, dropped=dropped_names(path, names, request))
    source.unread = unread_names(names, places, source)
    return source


def _values(path: Path, name: str, column: Any) -> np.ndarray:
    """A column as numbers or text."""
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
        f"Column {name!r} of {path} holds {column.type}, which is neither numbers nor text; convert it to numbers, or leave "
        f"it out with drop=[{name!r}]."
    )
