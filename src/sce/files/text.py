"""Tables of text: .csv, .tsv and .txt, plain or compressed. Separator and header are recognised."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from sce.errors import InputError
from sce.files.cells import Block, Cells, Columns, Line, is_missing, is_number, kind_of_column, with_point
from sce.files.source import Request, Source, choose_columns, refuse_double_names

_SEPARATORS = (",", "\t", ";", "|", " ")
_LOOK_AT = 1000  # rows from which the kinds of the columns are learned
_LOOK_AT_CELLS = 100_000  # or fewer rows, where there are many columns
_AT_ONCE = 2000  # rows converted at a time
_BYTES = 1 << 20  # or about so many bytes
_BYTE_ORDER_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


def read_text(path: Path, request: Request) -> Source:
    """A table of text. Columns that are mostly numbers must be so in every row; the others are text."""
    try:
        with io.TextIOWrapper(_unpacked(path), _encoding(path), newline="") as file:
            return _read(path, file, request)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text (byte {error.object[error.start]:#x} at place {error.start} of a block); save it as "
            "UTF-8."
        ) from None


def _encoding(path: Path) -> str:
    """The encoding, by the byte order mark."""
    with _unpacked(path) as file:
        first = file.read(3)
    return next((name for mark, name in _BYTE_ORDER_MARKS if first.startswith(mark)), "utf-8")


def _unpacked(path: Path) -> Any:
    """The bytes of the file."""
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")


def _read(path: Path, file: TextIO, request: Request) -> Source:
    separator = _separator(path, file)
    lines = _lines(file, separator)
    if request.decimal_comma:
        lines = (Line(line.number, [with_point(cell) for cell in line.cells]) for line in lines)
    head = list(itertools.islice(lines, 1))
    if not head:
        raise InputError(f"{path} has nothing but empty lines; give a file with data in it.")
    look = min(_LOOK_AT, max(50, _LOOK_AT_CELLS // len(head[0].cells)))
    head += itertools.islice(lines, look - 1)
    is_long = len(head) == look
    columns = _columns(path, head, request)
    first_line = head[0].number
    blocks = None
    if is_long and separator != " " and file.encoding == "utf-8" and not request.decimal_comma:
        blocks = _quick_blocks(path, separator, columns, first_line)
    if blocks is None:
        cells = Cells(path, columns)
        blocks = [cells.convert(part) for part in _parts(itertools.chain(head, lines))], cells.last_line
    X, text = _joined(blocks[0], columns)
    return Source(
        path,
        X,
        [columns.names[c] for c in columns.numbers],
        text,
        first_line=first_line if blocks[1] - first_line == len(X) - 1 else None,
    )


def _columns(path: Path, head: list[Line], request: Request) -> Columns:
    """Names and kinds of the wanted columns; takes the header off the first rows."""
    width = _width(head)
    header = _take_header(head, width)
    names = header or [str(place) for place in range(width)]
    refuse_double_names(path, names)
    if not head:
        raise InputError(f"{path} has a header but no rows; give a file with data in it.")
    chosen = choose_columns(path, names, width, request)
    apart = [names.index(name) for name in request.as_text if name in names]
    numbers, text = _sort_columns(head, [c for c in chosen if c not in apart])
    return Columns(names, numbers, sorted({*text, *apart}))


def _quick_blocks(path: Path, separator: str, columns: Columns, first_line: int) -> tuple[list[Block], int] | None:
    """All rows by the quick parser, and the last line; None where there are quotes, which it does not know."""
    cells, blocks, line = Cells(path, columns), [], first_line
    with _unpacked(path) as file:
        for _ in range(first_line - 1):
            file.readline()
        while text := file.read(_BYTES) + file.readline():
            if b'"' in text or text.count(b"\r") != text.count(b"\r\n"):
                return None
            blocks.append(cells.convert_text(text, separator, line))
            line += text.count(b"\n")
    return blocks, cells.last_line


def _joined(blocks: list[Block], columns: Columns) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """One array of numbers and one of text for each column, giving back the blocks as it goes."""
    text = {columns.names[c]: np.concatenate([words[k] for _, words in blocks]) for k, c in enumerate(columns.text)}
    X = np.empty((sum(len(numbers) for numbers, _ in blocks), len(columns.numbers)))
    start = 0
    for place, (numbers, _) in enumerate(blocks):
        X[start : start + len(numbers)] = numbers
        start += len(numbers)
        blocks[place] = (numbers[:0].copy(), [])
    return X, text


def _parts(lines: Iterator[Line]) -> Iterator[list[Line]]:
    while part := list(itertools.islice(lines, _AT_ONCE)):
        yield part


def _lines(file: TextIO, separator: str) -> Iterator[Line]:
    """The rows that are not empty; a mark of a comment before the header is dropped."""
    file.seek(0)
    numbered: Iterator[tuple[int, list[str]]]
    if separator == " ":
        numbered = ((number, line.split()) for number, line in enumerate(file, 1))
    else:
        rows = csv.reader(file, delimiter=separator, skipinitialspace=True)
        numbered = ((rows.line_num, row) for row in rows)
    filled = (Line(number, cells) for number, cells in numbered if any(cell.strip() for cell in cells[:1]) or cells[1:])
    for place, line in enumerate(filled):
        yield Line(line.number, _without_mark(line.cells)) if place == 0 else line


def _without_mark(cells: list[str]) -> list[str]:
    """The cells of a header without the # that numpy.savetxt puts before it."""
    if not cells[0].startswith("#"):
        return cells
    first = cells[0].lstrip("# ")
    return [first, *cells[1:]] if first else cells[1:]


def _separator(path: Path, file: TextIO) -> str:
    """The character that cuts the first lines into the same number of cells, the most cells of all."""
    sample = file.read(1 << 16).splitlines()[:50]
    sample = [line for line in sample if line.strip()] or [""]
    if len(sample) > 1:
        sample = sample[1:]  # the header may be short of a name
    usual = "\t" if path.name.lower().removesuffix(".gz").endswith(".tsv") else ","
    best, most = usual, 1
    for separator in sorted(_SEPARATORS, key=lambda s: s != usual):
        counts = [len(line.split()) if separator == " " else len(_cut(line, separator)) for line in sample]
        typical = sorted(counts)[len(counts) // 2]
        if typical > most and counts.count(typical) > 0.8 * len(counts):
            best, most = separator, typical
            if separator == usual:
                break
    return best


def _cut(line: str, separator: str) -> list[str]:
    return next(csv.reader([line], delimiter=separator), [])


# --------------------------------------------------------------------------------------------------- header and columns


def _width(head: list[Line]) -> int:
    """The number of cells that most lines have; of two numbers as frequent, that of the later lines."""
    counts = [len(line.cells) for line in reversed(head)]
    return max(dict.fromkeys(counts), key=counts.count)


def _take_header(head: list[Line], width: int) -> list[str] | None:
    """Take the names of the columns from the top of the rows, if they are there.

    A row without any number is a header if there are numbers below it, or if none of its cells occurs again below.
    """
    first = [cell.strip() for cell in head[0].cells]
    below = [line.cells for line in head[1:] if len(line.cells) == width]
    if len(first) not in (width, width - 1) or any(is_number(cell) and not is_missing(cell) for cell in first):
        return None
    columns = list(zip(*below, strict=True))
    if any(kind_of_column(column) == "number" for column in columns):
        head.pop(0)
        return first if len(first) == width else ["", *first]  # R writes no name above the names of the rows
    repeated = any(name in map(str.strip, column) for name, column in zip(first, columns, strict=False))
    if len(first) < width or repeated:
        return None
    head.pop(0)
    return first


def _sort_columns(head: list[Line], chosen: list[int]) -> tuple[list[int], list[int]]:
    """The columns of numbers and those of text, by their first rows."""
    numbers: list[int] = []
    text: list[int] = []
    for column in chosen:
        kind = kind_of_column([line.cells[column] for line in head if column < len(line.cells)])
        (text if kind == "text" else numbers).append(column)
    return numbers, text
