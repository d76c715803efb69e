"""Tables of Arrow as sources: numbers, text, dates and vectors, from record batches of one or more parts.

The numbers of each batch go to their place in one matrix, which is all that is ever held besides a batch. 32-bit numbers stay
32-bit. Vectors (lists, fixed-size lists, tensors) are numbers like others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sce.core.frame_columns import check_lengths, saved_index
from sce.core.hints import listed
from sce.core.missing import as_text
from sce.data.content import DATES, NUMBERS, OTHER, TEXT, VECTORS, Content, VectorColumn, choose, make_source
from sce.data.source import Request, Source, refuse_duplicate_names
from sce.errors import InputError


class Part(NamedTuple):
    """A file of a table."""

    path: Path
    schema: Any  # pyarrow.Schema
    n_rows: int
    batches: Callable[[list[str]], Iterator[Any]]  # record batches of the named columns, in any order
    partition: dict[str, str]  # further columns with the same value in all rows


class _Place(NamedTuple):
    """Where a column of numbers or vectors goes in the matrix."""

    name: str
    start: int
    width: int | None  # None for a column of numbers


def require_pyarrow(path: Path) -> None:
    """Refuse a file that only pyarrow can read, where it is not installed."""
    try:
        import pyarrow as pa  # noqa: F401
    except ImportError:
        raise InputError(f"Reading {path} needs pyarrow; install it with: pip install 'sce[io]'") from None


def read_columns(path: Path, parts: list[Part], request: Request) -> Source:
    """The requested columns of a table in one or more parts."""
    table = _Table(path, parts)
    choice = choose(table.content, request)
    if len(parts) > 1:
        choice.notes.insert(0, f"Read {len(parts)} files of {path}")
    X, others = _read(table, choice.data, choice.others)
    source = make_source(table.content, request, choice, X, others)
    source.extra |= table.partitions()
    source.index = () if request.columns else saved_index(parts[0].schema)
    return source


# --------------------------------------------------------------------------------------------------------------- content


def _content(kind: Any) -> str:
    """What a type of Arrow holds."""
    import pyarrow as pa

    kind = _plain_type(kind)
    types = pa.types
    if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
        return TEXT
    if types.is_timestamp(kind) or types.is_date(kind):
        return DATES
    if _is_list(kind):
        inner = kind.value_type
        return VECTORS if types.is_integer(inner) or types.is_floating(inner) else OTHER
    plain = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    return NUMBERS if plain or types.is_decimal(kind) or types.is_null(kind) else OTHER


def _plain_type(kind: Any) -> Any:
    """What a dictionary, or an extension such as a tensor, stores."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    views = [getattr(pa.types, name, None) for name in ("is_list_view", "is_large_list_view")]
    checks = [pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list, *filter(None, views)]
    return any(check(kind) for check in checks)


def _is_likely(kind: Any) -> bool:
    """Whether lists are probably vectors rather than, say, ids of tokens."""
    import pyarrow as pa

    kind = _plain_type(kind)
    return bool(pa.types.is_fixed_size_list(kind) or pa.types.is_floating(kind.value_type))


def _number_type(kind: Any) -> np.dtype[Any]:
    """The type of NumPy that holds numbers of a type of Arrow."""
    import pyarrow as pa

    kind = _plain_type(kind)
    kind = kind.value_type if _is_list(kind) else kind
    if pa.types.is_decimal(kind) or pa.types.is_null(kind):
        return np.dtype(np.float64)
    return np.dtype(kind.to_pandas_dtype())


# ----------------------------------------------------------------------------------------------------------------- tables


class _Table:
    """The columns of all parts together."""

    def __init__(self, path: Path, parts: list[Part]) -> None:
        first = parts[0]
        refuse_duplicate_names(first.path, list(first.schema.names))
        self.path, self.parts = path, parts
        self.names: list[str] = list(first.schema.names)
        self.types: dict[str, Any] = {field.name: field.type for field in first.schema}
        self.kinds = {name: _content(kind) for name, kind in self.types.items()}
        self.number_types = {name: {self._checked_type(part, name) for part in parts} for name in self.names}
        self.n_rows = sum(part.n_rows for part in parts)
        self._widths: dict[str, int] = {}

    @property
    def content(self) -> Content:
        """What the columns hold."""
        return Content(self.path, self.kinds, self._vectors, self.types)

    def _vectors(self, name: str) -> VectorColumn:
        return VectorColumn(name, self.width(name), _is_likely(self.types[name]))

    def _checked_type(self, part: Part, name: str) -> Any:
        """The type of a column in a part, once it is known to be of the same kind as in the first."""
        import pyarrow as pa

        place = part.schema.get_field_index(name)
        if place < 0 or len(part.schema) != len(self.names):
            other = set(part.schema.names) ^ set(self.names)
            raise InputError(
                f"{part.path} and {self.parts[0].path} have different columns ({listed(sorted(other))}); give parts of one "
                "table."
            )
        kind = part.schema.field(place).type
        if pa.types.is_null(self.types[name]) and not pa.types.is_null(kind):
            self.types[name], self.kinds[name] = kind, _content(kind)  # nothing but gaps in the parts before
        if _content(kind) != self.kinds[name] and not pa.types.is_null(kind):
            raise InputError(
                f"Column {name!r} holds {kind} in {part.path}, and {self.types[name]} in {self.parts[0].path}; convert one of "
                "them."
            )
        return kind

    def width(self, name: str) -> int:
        """How many numbers the first vector of a column has."""
        if name not in self._widths:
            kind = _plain_type(self.types[name])
            self._widths[name] = getattr(kind, "list_size", -1)
            for part in self.parts:
                for batch in part.batches([name]) if self._widths[name] < 0 else ():
                    lengths = _lengths(_storage(batch.column(0)))
                    found = lengths[lengths >= 0]
                    if len(found):
                        self._widths[name] = int(found[0])
                        break
        return max(0, self._widths[name])

    def dtype(self, names: list[str]) -> np.dtype[Any]:
        """The type that holds the numbers of several columns."""
        import pyarrow as pa

        found = {kind for name in names for kind in self.number_types[name]}
        plain = [_number_type(kind) for kind in found if not pa.types.is_null(kind)]
        return np.result_type(np.bool_, *plain, *([np.float16] if len(plain) < len(found) else []))

    def partitions(self) -> dict[str, np.ndarray]:
        """The columns that the names of the folders tell."""
        names = [name for name in self.parts[0].partition if name not in self.names]
        return {
            name: np.concatenate([as_text([part.partition[name]]).repeat(part.n_rows) for part in self.parts])
            for name in names
        }


# ---------------------------------------------------------------------------------------------------------------- values


def _read(table: _Table, data: list[str], others: list[str]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The matrix of the data, and the values of the other columns."""
    places, width = [], 0
    for name in data:
        size = table.width(name) if table.kinds[name] == VECTORS else None
        places.append(_Place(name, width, size))
        width += 1 if size is None else size
    X = np.empty((table.n_rows, width), table.dtype(data))
    blocks: dict[str, list[np.ndarray]] = {name: [] for name in others}
    start = 0
    for part in table.parts:
        for batch in part.batches(list(dict.fromkeys([*data, *others]))):
            X = _put(table, X, places, batch, start)
            for name, values in blocks.items():
                values.append(_values(table, name, batch.column(batch.schema.names.index(name)), start))
            start += batch.num_rows
            del batch  # before the next one is read
    if start != table.n_rows:
        raise InputError(f"{table.path} promises {table.n_rows} rows and holds {start}; copy it again or recreate it.")
    return X, {name: np.concatenate(values) for name, values in blocks.items()}


def _put(table: _Table, X: np.ndarray, places: list[_Place], batch: Any, start: int) -> np.ndarray:
    """Write the numbers of a batch into the rows of X from `start` on; returns X, or X as floats if there are gaps in it."""
    names = batch.schema.names
    for place in places:
        column = batch.column(names.index(place.name))
        if place.width is None:
            values = _numbers(column)[:, None]
        else:
            values = _vectors(column, f"Column {place.name!r} of {table.path}", start, place.width)
        if values.dtype.kind == "f" and X.dtype.kind != "f":
            X = X.astype(np.float64)
        X[start : start + len(values), place.start : place.start + values.shape[1]] = values
    return X


def _values(table: _Table, name: str, column: Any, start: int) -> np.ndarray:
    """A column that is not data, unconverted."""
    kind = table.kinds[name]
    if kind == TEXT:
        return _words(column)
    if kind == DATES:
        dates = np.asarray(column.to_numpy(zero_copy_only=False))
        return dates.astype("datetime64[us]") if dates.dtype != "datetime64[D]" else dates
    if kind == VECTORS:
        return _vectors(column, f"Column {name!r} of {table.path}", start, table.width(name))
    return _numbers(column)


def _numbers(column: Any) -> np.ndarray:
    """A column of numbers; a gap is NaN."""
    import pyarrow as pa

    column = _storage(column)
    kind = column.type
    has_gaps = column.null_count and not pa.types.is_floating(kind)
    if pa.types.is_decimal(kind) or pa.types.is_null(kind) or has_gaps:
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _words(column: Any) -> np.ndarray:
    """A column of text; the same word is the same object, which saves memory."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.large_string()).dictionary_encode()
    words = np.append(as_text(column.dictionary.to_pylist()), "")
    return words[column.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False).astype(np.int64)]  # type: ignore[no-any-return]


def _vectors(column: Any, where: str, start: int, width: int) -> np.ndarray:
    """A column of vectors as a matrix; one that is missing is a row of NaN."""
    column = _storage(column)
    lengths = _lengths(column)
    check_lengths(lengths, where, start, width)
    flat = _numbers(column.flatten()).reshape(-1, width)
    if len(flat) == len(column):
        return flat
    matrix = np.full((len(column), width), np.nan, flat.dtype if flat.dtype.kind == "f" else np.float64)
    matrix[lengths >= 0] = flat
    return matrix


def _lengths(column: Any) -> np.ndarray:
    """The length of each list, -1 for none."""
    from pyarrow import compute

    return np.asarray(compute.list_value_length(column).fill_null(-1).to_numpy(zero_copy_only=False))


def _storage(column: Any) -> Any:
    """A column without the layers of an extension or a dictionary."""
    import pyarrow as pa

    column = column.storage if isinstance(column.type, pa.BaseExtensionType) else column
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
