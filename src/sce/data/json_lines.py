"""JSON lines (.jsonl, .ndjson), plain or gzipped: an object in each line, or a list of numbers. Needs nothing but Python."""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

from sce.core.frame_columns import check_lengths
from sce.core.missing import as_text
from sce.data.cells import is_missing
from sce.data.content import NUMBERS, OTHER, TEXT, VECTORS, Content, VectorColumn, choose, make_source
from sce.data.source import Request, Source
from sce.errors import InputError

_LINES_AT_ONCE = 10_000
_CHARACTERS_AT_ONCE = 4_000_000
_NAMELESS = "vector"  # what the column is called where each line is a list
_GAPS = "gaps"  # a block of a column that holds nothing


class _Block(NamedTuple):
    """Some rows of a column."""

    kind: str  # NUMBERS, TEXT, VECTORS, OTHER or _GAPS
    values: (
        np.ndarray
    )  # numbers, text, vectors as a matrix; the lengths of vectors, where they are unequal; else nothing
    start: int  # the first row
    n_rows: int
    odd: str = ""  # what OTHER is


def read_json_lines(path: Path, request: Request) -> Source:
    """A file of JSON lines. Keys are columns; what is missing or null is a missing value."""
    blocks: dict[str, list[_Block]] = {}
    apart: dict[str, list[Any]] = {}
    n_rows, last = 0, 0
    with _opened(path) as file:
        for numbered in _parts(_records(path, file)):
            last, rows = numbered[-1][0], [row for _, row in numbered]
            for name in dict.fromkeys(itertools.chain.from_iterable(rows)):
                cells = [row.get(name) for row in rows]
                if request.is_apart(name):
                    known = apart.setdefault(name, [])
                    known += [None] * (n_rows - len(known)) + cells
                blocks.setdefault(name, []).append(_block(cells, n_rows))
            n_rows += len(rows)
    if not n_rows:
        raise InputError(f"{path} has only empty lines; give a file with data in it.")
    table = _content(path, blocks, apart)
    choice = choose(table, request)
    others = {
        name: _scalars([*apart[name], *[None] * (n_rows - len(apart[name]))]) for name in choice.others if name in apart
    }
    others |= {name: _text(blocks[name], n_rows) for name in choice.others if name not in apart}
    X = _matrix(table, {name: blocks.pop(name) for name in choice.data}, n_rows)
    source = make_source(table, request, choice, X, others)
    source.first_line = 1 if last == n_rows else None
    return source


# ----------------------------------------------------------------------------------------------------------------- lines


def _opened(path: Path) -> TextIO:
    packed = path.suffix.lower() == ".gz"
    return gzip.open(path, "rt", encoding="utf-8-sig") if packed else path.open(encoding="utf-8-sig")  # type: ignore[return-value]


def _records(path: Path, file: TextIO) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """The number, the length and the content of each line that is not empty."""
    try:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, len(line), _record(path, number, line)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text (it has the byte {error.object[error.start]:#x}); save it as UTF-8."
        ) from None


def _record(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except json.JSONDecodeError as error:
        if number == 1 and line.lstrip().startswith("["):
            raise InputError(
                f"{path} is a list over several lines, not an object or a list of numbers in each line; write it as JSON "
                'lines, for example with pandas: frame.to_json(path, orient="records", lines=True).'
            ) from None
        raise InputError(
            f"Line {number} of {path} is not JSON ({error.msg}, at character {error.pos + 1}); correct it, or leave it out."
        ) from None
    if isinstance(found, list) and not any(isinstance(part, dict | list) for part in found):
        return {_NAMELESS: found}
    if isinstance(found, list):
        raise InputError(
            f"Line {number} of {path} holds an array of rows; write each row on a line of its own, for example with: "
            f"jq -c '.[]' {path} > lines.jsonl"
        )
    if not isinstance(found, dict):
        raise InputError(
            f"Line {number} of {path} holds {line.strip()[:40]!r}; each line must be an object, such as "
            '{"text": "...", "embedding": [0.1, 0.2]}, or a list of numbers.'
        )
    return found


def _parts(records: Iterator[tuple[int, int, dict[str, Any]]]) -> Iterator[list[tuple[int, dict[str, Any]]]]:
    """The numbers and contents of lines, a few megabytes at a time."""
    part: list[tuple[int, dict[str, Any]]] = []
    size = 0
    for number, length, record in records:
        part.append((number, record))
        size += length
        if len(part) >= _LINES_AT_ONCE or size >= _CHARACTERS_AT_ONCE:
            yield part
            part, size = [], 0
    if part:
        yield part


# --------------------------------------------------------------------------------------------------------------- columns


def _block(cells: list[Any], start: int) -> _Block:
    """Some cells of a column as an array."""
    types = {type(cell) for cell in cells} - {type(None)}
    n = len(cells)
    if types == {list}:
        return _vectors(cells, start)
    if types == {str}:
        words = as_text(cells)
        kind = _GAPS if all(map(is_missing, words)) else TEXT
        return _Block(kind, words, start, n)
    if types <= {int, float, bool, str}:
        odd = next((row for row, cell in enumerate(cells) if isinstance(cell, str) and not is_missing(cell)), None)
        if odd is not None:
            return _Block(OTHER, _none(), start, n, f"numbers, and {cells[odd][:40]!r} in row {start + odd}")
        return _Block(NUMBERS if types else _GAPS, _numbers(cells), start, n)
    names = {"dict": "objects", "list": "lists", "str": "text"}
    shown = sorted({names.get(kind.__name__, "numbers") for kind in types})
    return _Block(OTHER, _none(), start, n, " and ".join(shown))


def _numbers(cells: list[Any]) -> np.ndarray:
    """Numbers and gaps."""
    if any(cell is None or isinstance(cell, str) for cell in cells):
        return np.array(
            [np.nan if cell is None or isinstance(cell, str) else float(cell) for cell in cells], np.float64
        )
    values = np.array(cells)
    return values if values.dtype.kind in "bif" else values.astype(np.float64)  # whole numbers beyond 64 bits


def _vectors(cells: list[Any], start: int) -> _Block:
    """Lists of numbers as a matrix, with a row of NaN for none; the lengths only, if they are unequal."""
    n = len(cells)
    lengths = np.array([-1 if cell is None else len(cell) for cell in cells])
    types = {type(number) for cell in cells for number in cell or ()} - {type(None)}
    if not types <= {int, float, bool}:
        return _Block(OTHER, _none(), start, n, "lists of other things than numbers")
    width = lengths.max()
    if ((lengths != width) & (lengths >= 0)).any():
        return _Block(VECTORS, lengths, start, n)
    gap = [None] * width
    rows = [gap if cell is None else cell for cell in cells]
    matrix = np.array(rows)
    return _Block(VECTORS, matrix if matrix.dtype.kind in "bif" else matrix.astype(np.float64), start, n)


def _none() -> np.ndarray:
    return np.empty(0)


def _content(path: Path, blocks: dict[str, list[_Block]], apart: dict[str, list[Any]]) -> Content:
    """What each column holds."""
    kinds, described, vectors = {}, {}, {}
    for name, parts in blocks.items():
        found = {part.kind for part in parts} - {_GAPS}
        kind = found.pop() if len(found) == 1 else OTHER if found else _empty_kind(parts)
        described[name] = next((part.odd for part in parts if part.odd), _mixture(parts))
        if name in apart and kind == OTHER and found <= {TEXT, NUMBERS, OTHER}:
            kind = TEXT
        kinds[name] = kind
        if kind == VECTORS:
            vectors[name] = _describe_vectors(name, [part for part in parts if part.kind == VECTORS])
    return Content(path, kinds, vectors.__getitem__, described)


def _mixture(parts: list[_Block]) -> str:
    """What a column of several kinds holds."""
    text = [part for part in parts if part.kind == TEXT]
    if not text:
        return "values of several kinds"
    row = next(row for row, word in enumerate(text[0].values) if word)
    return f"text, such as {text[0].values[row][:40]!r} in row {text[0].start + row}, and other values"


def _empty_kind(parts: list[_Block]) -> str:
    """Words for nothing, such as NA, are text where there is nothing else."""
    return TEXT if any(part.values.dtype.kind == "O" for part in parts) else NUMBERS


def _describe_vectors(name: str, parts: list[_Block]) -> VectorColumn:
    first = parts[0].values
    width = first.shape[1] if first.ndim == 2 else int(first[first >= 0][0])
    return VectorColumn(name, width, any(part.values.ndim == 2 and part.values.dtype.kind == "f" for part in parts))


# ---------------------------------------------------------------------------------------------------------------- values


def _scalars(cells: list[Any]) -> np.ndarray:
    """A column that is kept apart, unconverted: numbers, or text."""
    block = _block(cells, 0)
    return block.values if block.kind in (NUMBERS, VECTORS) else as_text(cells)


def _text(parts: list[_Block], n_rows: int) -> np.ndarray:
    """A column of text; rows without one are empty."""
    values = np.full(n_rows, "", object)
    for part in parts:
        if part.kind == TEXT or part.values.dtype.kind == "O":
            values[part.start : part.start + part.n_rows] = part.values
    return values


def _matrix(table: Content, data: dict[str, list[_Block]], n_rows: int) -> np.ndarray:
    """The columns of numbers and vectors side by side; the blocks are released as they are copied."""
    widths = {name: table.vectors(name).width if table.kinds[name] == VECTORS else 1 for name in data}
    for name, parts in data.items():
        if table.kinds[name] == VECTORS:
            _check_vectors(table, name, parts, widths[name])
    types = {part.values.dtype for parts in data.values() for part in parts if part.kind != _GAPS}
    has_gaps = any(sum(part.n_rows for part in parts if part.kind != _GAPS) < n_rows for parts in data.values())
    dtype = np.result_type(np.bool_, *types, *([np.float64] if has_gaps else []))
    X = np.empty((n_rows, sum(widths.values())), dtype)
    if has_gaps:
        X[:] = np.nan
    start = 0
    for name, parts in data.items():
        stop = start + widths[name]
        while parts:
            part = parts.pop()
            if part.kind != _GAPS:
                X[part.start : part.start + part.n_rows, start:stop] = part.values.reshape(part.n_rows, -1)
        start = stop
    return X


def _check_vectors(table: Content, name: str, parts: list[_Block], width: int) -> None:
    """Refuse vectors of unequal length, naming the first row."""
    for part in parts:
        if part.kind == VECTORS:
            lengths = part.values if part.values.ndim == 1 else np.array([part.values.shape[1]])
            check_lengths(lengths, f"Column {name!r} of {table.path}", part.start, width)
