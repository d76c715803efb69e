"""A map as a table: data frames, and files for spreadsheets, notebooks and other programs."""

from __future__ import annotations

import csv
import importlib
import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from sce.core.dataframes import as_column
from sce.core.hints import alternatives, did_you_mean
from sce.core.missing import as_text
from sce.core.write import atomic, check_writable
from sce.data.labels import date_names
from sce.errors import InputError, ParameterError

LIBRARIES = ("pandas", "polars", "pyarrow")
TABLE_FILES = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".jsonl")  # what write_table writes
_ROWS_PER_WRITE = 10_000


def columns_of(
    Y: np.ndarray, ids: np.ndarray, labels: np.ndarray | None, label_name: str | None, more: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """The columns of a table: id, x, y and z, the labels, and more.

    Examples
    --------
    >>> columns = columns_of(np.zeros((2, 2)), np.array(["a", "b"]), np.array([3, 4]), "x", {"cluster": [0, -1]})
    >>> list(columns)
    ['id', 'x', 'y', 'x_label', 'cluster']
    """
    columns = {"id": ids, **{name: Y[:, k] for k, name in zip(range(Y.shape[1]), "xyz", strict=False)}}
    if labels is not None:
        name = label_name or "label"
        taken = name in columns or name in ("cluster", *more)
        columns[f"{name}_label" if taken else name] = np.asarray(labels)
    for name, values in more.items():
        column = np.asarray(as_column(values))
        if column.shape != (len(Y),):
            raise InputError(
                f"{name} must have one value for each of the {len(Y)} points; the shape is {column.shape}: choose one column."
            )
        if name in columns:
            raise ParameterError(f"The table has a column {name!r} already; choose another name.")
        columns[name] = column
    return columns


# ---------------------------------------------------------------------------------------------------------------- frames


def make_frame(columns: dict[str, np.ndarray], library: str) -> Any:
    """A data frame of a library; in pandas, the ids are the index."""
    if library not in LIBRARIES:
        listed = alternatives(f'"{name}"' for name in LIBRARIES)
        raise ParameterError(f"backend must be {listed}; got {library!r}{did_you_mean(library, LIBRARIES)}")
    try:
        module = importlib.import_module(library)
    except ImportError:
        raise ParameterError(f'backend="{library}" needs {library}; install it with: pip install {library}') from None
    if library == "pandas":
        ids, *_ = columns.values()
        values = {name: _with_gaps(column) for name, column in columns.items() if name != "id"}
        return module.DataFrame(values, index=_index(module, ids))
    plain = {name: _plain(column) for name, column in columns.items()}
    return module.DataFrame(plain) if library == "polars" else module.table(plain)


def usual_library(preferred: Any = None) -> str:
    """The library for data frames: the preferred one, or else the first that is loaded, or else the first that is installed."""
    from importlib.util import find_spec

    if preferred in LIBRARIES:
        return str(preferred)
    loaded = [name for name in LIBRARIES if name in sys.modules]
    found = next((name for name in (*loaded, *LIBRARIES) if find_spec(name) is not None), None)
    if found is None:
        raise ParameterError("A data frame needs pandas, polars or pyarrow; install one with: pip install pandas")
    return found


def _index(pandas: Any, ids: np.ndarray) -> Any:
    """The ids as an index; none where they are 0, 1, 2, ..."""
    if ids.dtype.kind in "iu" and np.array_equal(ids, np.arange(len(ids))):
        return None
    return pandas.Index(ids.tolist() if ids.dtype.kind == "U" else ids)


def _with_gaps(values: np.ndarray) -> Any:
    """A column in which empty text is no value."""
    return [word or None for word in as_text(values)] if values.dtype.kind in "OUS" else values


def _plain(values: np.ndarray) -> Any:
    """A column for libraries that have no Python objects."""
    return _with_gaps(values) if values.dtype.kind in "OUS" else np.ascontiguousarray(values)


# ----------------------------------------------------------------------------------------------------------------- files


def write_table(path: str | Path, columns: dict[str, np.ndarray]) -> Path:
    """Write a table to a file, whole or not at all; its ending says how."""
    path = check_writable(path, TABLE_FILES)
    write = _WRITERS.get(path.suffix.lower(), _write_text)
    if write in (_write_parquet, _write_arrow):
        _require_pyarrow(path)
    with atomic(path) as file:
        write(path, file, columns)
    return path


def _require_pyarrow(path: Path) -> None:
    try:
        import pyarrow as pa  # noqa: F401
    except ImportError:
        raise ParameterError(f"Writing {path} needs pyarrow; install it with: pip install 'sce[io]'") from None


def _write_text(path: Path, file: BinaryIO, columns: dict[str, np.ndarray]) -> None:
    """A text table; coordinates are written exactly, with as few digits as identify them."""
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    for start, rows in _rows(columns, _words):
        text = io.StringIO()
        writer = csv.writer(text, delimiter=separator, lineterminator="\n")
        if start == 0:
            writer.writerow(columns)
        writer.writerows(rows)
        file.write(text.getvalue().encode())


def _write_json_lines(path: Path, file: BinaryIO, columns: dict[str, np.ndarray]) -> None:  # noqa: ARG001
    """An object in each line; missing values are null."""
    for _, rows in _rows(columns, _json_values):
        lines = (json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) for row in rows)
        file.write("".join(f"{line}\n" for line in lines).encode())


def _write_parquet(path: Path, file: BinaryIO, columns: dict[str, np.ndarray]) -> None:  # noqa: ARG001
    from pyarrow import parquet

    parquet.write_table(make_frame(columns, "pyarrow"), file)


def _write_arrow(path: Path, file: BinaryIO, columns: dict[str, np.ndarray]) -> None:  # noqa: ARG001
    from pyarrow import ipc

    table = make_frame(columns, "pyarrow")
    with ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


_WRITERS: dict[str, Callable[[Path, BinaryIO, dict[str, np.ndarray]], None]] = {
    ".jsonl": _write_json_lines,
    ".parquet": _write_parquet,
    ".arrow": _write_arrow,
    ".feather": _write_arrow,
}


def _rows(
    columns: dict[str, np.ndarray], convert: Callable[[np.ndarray], list[Any]]
) -> Iterator[tuple[int, Iterator[tuple[Any, ...]]]]:
    """The rows in blocks, with the first row of each; `convert` makes a list of a column."""
    n = len(next(iter(columns.values())))
    for start in range(0, n, _ROWS_PER_WRITE):
        parts = [convert(values[start : start + _ROWS_PER_WRITE]) for values in columns.values()]
        yield start, zip(*parts, strict=True)


def _words(values: np.ndarray) -> list[Any]:
    """Numbers with as few digits as identify them; missing ones are empty."""
    if values.dtype.kind in "OUSM":
        return _text(values).tolist()
    if values.dtype.kind != "f":
        return values.tolist()
    return ["" if value != value else str(value) for value in values]  # noqa: PLR0124


def _json_values(values: np.ndarray) -> list[Any]:
    """Numbers with as few digits as identify them; missing ones, and what JSON has no word for, are None."""
    if values.dtype.kind in "OUSM":
        return [word or None for word in _text(values)]
    if values.dtype.kind != "f":
        return values.tolist()
    return [float(str(value)) if np.isfinite(value) else None for value in values]


def _text(values: np.ndarray) -> np.ndarray:
    """Text and dates as text."""
    return as_text(date_names(values) if values.dtype.kind == "M" else values)
