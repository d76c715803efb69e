"""Tables of text: .csv, .tsv and .txt, plain or compressed. Separator and header are recognised."""

from __future__ import annotations

import csv
import gzip
import itertools
import re
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

from sce.errors import InputError
from sce.files.source import Request, Source, choose_columns, refuse_double_names

_SEPARATORS = (",", "\t", ";", "|", " ")
_MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "?"))
_LOOK_AT = 1000  # rows from which the kinds of the columns are learned
_AT_ONCE = 2000  # rows converted at a time
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+([eE][-+]?\d+)?\s*")
_BYTE_ORDER_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


class _Line(NamedTuple):
    """The cells of a row, and the line it ends on."""

    number: int
    cells: list[str]


def read_text(path: Path, request: Request) -> Source:
    """A table of text. Columns that are mostly numbers must be so in every row; the others are text."""
    try:
        with _open(path) as file:
            return _read(path, file, request)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text (byte {error.object[error.start]:#x} at place {error.start} of a block); save it as "
            "UTF-8."
        ) from None


def _open(path: Path) -> TextIO:
    """The file as text, by its byte order mark, unpacked."""
    packed = path.suffix.lower() == ".gz"
    with gzip.open(path) if packed else path.open("rb") as file:
        first = file.read(3)
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if first.startswith(mark)), "utf-8")
    if packed:
        return gzip.open(path, "rt", encoding=encoding, newline="")
    return path.open(encoding=encoding, newline="")


def _read(path: Path, file: TextIO, request: Request) -> Source:
    lines = _lines(file, _separator(path, file))
    if request.decimal_comma:
        lines = (_Line(line.number, [_with_point(cell) for cell in line.cells]) for line in lines)
    head = list(itertools.islice(lines, _LOOK_AT))
    if not head:
        raise InputError(f"{path} has nothing but empty lines; give a file with data in it.")
    width = _width(head)
    header = _take_header(head, width)
    names = header or [str(place) for place in range(width)]
    refuse_double_names(path, names)
    if not head:
        raise InputError(f"{path} has a header but no rows; give a file with data in it.")
    chosen = choose_columns(path, names, width, request)
    apart = [names.index(name) for name in request.as_text if name in names]
    numbers, text = _sort_columns(head, [c for c in chosen if c not in apart])
    text = sorted(set(text) | set(apart))
    reader = _Reader(path, names, numbers, text, width)
    blocks = [reader.convert(part) for part in _parts(itertools.chain(head, lines))]
    X = np.concatenate([block[0] for block in blocks])
    columns = {names[c]: np.concatenate([block[1][k] for block in blocks]) for k, c in enumerate(text)}
    first_line = head[0].number if reader.last_line - head[0].number == len(X) - 1 else None
    return Source(path, X, [names[c] for c in numbers], columns, first_line=first_line)


def _parts(lines: Iterator[_Line]) -> Iterator[list[_Line]]:
    while part := list(itertools.islice(lines, _AT_ONCE)):
        yield part


def _lines(file: TextIO, separator: str) -> Iterator[_Line]:
    """The rows that are not empty; a mark of a comment before the header is dropped."""
    file.seek(0)
    numbered: Iterator[tuple[int, list[str]]]
    if separator == " ":
        numbered = ((number, line.split()) for number, line in enumerate(file, 1))
    else:
        rows = csv.reader(file, delimiter=separator, skipinitialspace=True)
        numbered = ((rows.line_num, row) for row in rows)
    filled = (
        _Line(number, cells) for number, cells in numbered if any(cell.strip() for cell in cells[:1]) or cells[1:]
    )
    for place, line in enumerate(filled):
        yield _Line(line.number, _without_mark(line.cells)) if place == 0 else line


def _with_point(cell: str) -> str:
    """1.5 for 1,5; whatever is no such number stays as it is."""
    return cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell


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


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_missing(cell: str) -> bool:
    return cell.strip().lower() in _MISSING


def _width(head: list[_Line]) -> int:
    """The number of cells that most lines have; of two numbers as frequent, that of the later lines."""
    counts = [len(line.cells) for line in reversed(head)]
    return max(dict.fromkeys(counts), key=counts.count)


def _take_header(head: list[_Line], width: int) -> list[str] | None:
    """Take the names of the columns from the top of the rows, if they are there.

    A row without any number is a header if there are numbers below it, or if none of its cells occurs again below.
    """
    first = [cell.strip() for cell in head[0].cells]
    below = [line.cells for line in head[1:] if len(line.cells) == width]
    if len(first) not in (width, width - 1) or any(_is_number(cell) and not _is_missing(cell) for cell in first):
        return None
    columns = list(zip(*below, strict=True))
    if any(_kind(column) == "number" for column in columns):
        head.pop(0)
        return first if len(first) == width else ["", *first]  # R writes no name above the names of the rows
    repeated = any(name in map(str.strip, column) for name, column in zip(first, columns, strict=False))
    if len(first) < width or repeated:
        return None
    head.pop(0)
    return first


def _kind(column: Any) -> str:
    """What most of the cells of a column are: "number", "text" or "missing"."""
    present = [cell for cell in column if not _is_missing(cell)]
    if not present:
        return "missing"
    words = sum(not _is_number(cell) and not _DECIMAL_COMMA.fullmatch(cell) for cell in present)
    return "text" if 2 * words > len(present) else "number"


def _sort_columns(head: list[_Line], chosen: list[int]) -> tuple[list[int], list[int]]:
    """The columns of numbers and those of text, by their first rows."""
    numbers: list[int] = []
    text: list[int] = []
    for column in chosen:
        kind = _kind([line.cells[column] for line in head if column < len(line.cells)])
        (text if kind == "text" else numbers).append(column)
    return numbers, text


# -------------------------------------------------------------------------------------------------------------- numbers


class _Reader:
    """Turns rows of cells into numbers and text, or says which cell is wrong."""

    def __init__(self, path: Path, names: list[str], numbers: list[int], text: list[int], width: int) -> None:
        self.path, self.names, self.numbers, self.text, self.width = path, names, numbers, text, width
        self.rows, self.last_line = 0, 0

    def convert(self, part: list[_Line]) -> tuple[np.ndarray, list[np.ndarray]]:
        """The numbers of some rows, and their columns of text."""
        for line in part:
            if len(line.cells) != self.width:
                self._refuse_ragged(line)
        rows = [line.cells for line in part]
        X = self._numbers(rows, part)
        text = [np.array([self._word(row[c]) for row in rows], dtype=str) for c in self.text]
        self.rows += len(part)
        self.last_line = part[-1].number
        return X, text

    def _numbers(self, rows: list[list[str]], part: list[_Line]) -> np.ndarray:
        count = len(self.numbers)
        if not count:
            return np.empty((len(rows), 0))
        pick: Any = itemgetter(*self.numbers) if count > 1 else lambda row: (row[self.numbers[0]],)
        picked = rows if count == self.width else [pick(row) for row in rows]
        try:
            flat = np.fromiter(map(float, itertools.chain.from_iterable(picked)), np.float64, len(rows) * count)
        except ValueError:
            flat = np.array(
                [self._cell(cell, r, k, part) for r, row in enumerate(picked) for k, cell in enumerate(row)]
            )
        return flat.reshape(len(rows), count)

    def _cell(self, cell: str, row: int, place: int, part: list[_Line]) -> float:
        if _is_missing(cell):
            return np.nan
        try:
            return float(cell)
        except ValueError:
            name = self.names[self.numbers[place]]
            hint = f"correct it, or leave the column out with --drop {name!r}."
            if _DECIMAL_COMMA.fullmatch(cell):
                hint = "if that is a number, add --decimal-comma."
            raise InputError(
                f"{self.path} has text where numbers are needed: column {name!r}, row {self.rows + row} (line "
                f"{part[row].number}) holds {cell[:40]!r}; {hint}"
            ) from None

    @staticmethod
    def _word(cell: str) -> str:
        return "" if _is_missing(cell) else cell.strip()

    def _refuse_ragged(self, line: _Line) -> None:
        raise InputError(
            f"{self.path} is ragged: line {line.number} has {len(line.cells)} cells where others have {self.width}; mend "
            "that line (a cell with the separator in it needs quotes)."
        )
