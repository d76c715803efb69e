"""The cells of a text table: which are numbers, which are missing, and which are wrong."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from sce.core.hints import clipped
from sce.data.parse import SKIP, parse_rows
from sce.errors import InputError

_SPREADSHEET_ERRORS = ("#n/a", "#value!", "#div/0!", "#null!", "#num!", "#ref!", "#name?")
_MISSING_WORDS = frozenset(("", "na", "n/a", "nan", "null", "none", "?", "<na>", "n.a.", *_SPREADSHEET_ERRORS))
_GAP_MARKS = frozenset(
    ("-", "--", "---", "\u2013", "\u2014", ".", "..", "...")
)  # missing among numbers, text among text
_TRUTH = {"true": 1.0, "false": 0.0}
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+([eE][-+]?\d+)?\s*")
_GROUPED_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d{1,3}(\.\d{3})+,\d+\s*")
_SURE_DECIMAL_COMMA = re.compile(r"[-+]?(\d*,(\d{1,2}|\d{4,})|0,\d+)([eE][-+]?\d+)?")
_DECIMAL_POINT = re.compile(r"[-+]?(\d+\.(\d{1,2}|\d{4,})|0?\.\d+)([eE][-+]?\d+)?")


class Line(NamedTuple):
    """The cells of a row, and the number of the line on which it ends, counted from 1."""

    number: int
    cells: list[str]


class Columns(NamedTuple):
    """The columns of a table, and which of them to read as numbers and as text."""

    names: list[str]
    numbers: list[int]
    text: list[int]
    beside: list[str]  # names of those columns of text that were not requested as data
    chosen: list[int]  # the columns requested as data
    truth: frozenset[int] = frozenset()  # columns of numbers that are True or False


Block = tuple[np.ndarray, list[np.ndarray]]  # the numbers of a block of rows, and its columns of text


def is_number(cell: str) -> bool:
    """Whether a cell is a number; Python's 1_000 is not.

    >>> is_number(" 1.5e3"), is_number("1_000"), is_number("ten")
    (True, False, False)
    """
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing value."""
    return cell.strip().lower() in _MISSING_WORDS


def is_truth(cell: str) -> bool:
    """Whether a cell is True or False, in any case.

    >>> is_truth("TRUE"), is_truth("yes")
    (True, False)
    """
    return cell.strip().lower() in _TRUTH


def kind_of_column(cells: Any) -> str:
    """What the cells of a column are: "missing", "truth" if all are True or False, or what most are: "number" or "text"."""
    there = [cell for cell in cells if not is_missing(cell)]
    present = [cell for cell in there if cell.strip() not in _GAP_MARKS]
    if not present:
        return "text" if there else "missing"
    if all(map(is_truth, present)):
        return "truth"
    words = sum(not is_number(cell) and not _DECIMAL_COMMA.fullmatch(cell) for cell in present)
    return "text" if 2 * words > len(present) else "number"


def is_blank(cells: list[str]) -> bool:
    """Whether a line is empty or holds only spaces."""
    return not cells or (len(cells) == 1 and not cells[0].strip())


def without_mark(cells: list[str]) -> list[str]:
    """The cells of a header without the leading # that numpy.savetxt writes."""
    if not cells[0].startswith("#"):
        return cells
    first = cells[0].lstrip("# ")
    return [first, *cells[1:]] if first else cells[1:]


def with_point(cell: str) -> str:
    """1.5 for 1,5, and 1234.5 for 1.234,5; a cell that is not such a number stays as it is."""
    if _GROUPED_DECIMAL_COMMA.fullmatch(cell):
        cell = cell.replace(".", "")
    return cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell


def has_decimal_commas(rows: list[list[str]]) -> bool:
    """Whether numbers are written with decimal commas: some can be nothing else, and none has a decimal point.

    >>> [has_decimal_commas(rows) for rows in ([["1,5", "a"], ["1.234,56", "b"]], [["1,500"]], [["1,5", "1.5"]])]
    [True, False, False]
    """
    cells = [cell.strip() for row in rows for cell in row]
    sure = any(_SURE_DECIMAL_COMMA.fullmatch(cell) or _GROUPED_DECIMAL_COMMA.fullmatch(cell) for cell in cells)
    return sure and not any(_DECIMAL_POINT.fullmatch(cell) for cell in cells)


class Cells:
    """Converts the rows of a file to numbers and text, block by block, or says which cell is wrong."""

    def __init__(self, path: Path, columns: Columns) -> None:
        self.path, self.columns = path, columns
        self.width = len(columns.names)
        self.rows, self.last_line = 0, 0  # converted so far

    def convert(self, part: list[Line]) -> Block:
        """Convert rows that are already split into cells."""
        for line in part:
            if len(line.cells) != self.width:
                self._refuse_ragged(line.number, len(line.cells))
        rows = [line.cells for line in part]
        X = self._numbers(rows, part)
        text = [_words(row[c] for row in rows) for c in self.columns.text]
        self.rows += len(part)
        self.last_line = part[-1].number
        return X, text

    def convert_text(self, text: bytes, separator: str, first_line: int) -> Block:
        """Convert whole lines without quotes; `first_line` is the number of the first of them."""
        places = np.full(self.width, SKIP)
        places[self.columns.numbers] = np.arange(len(self.columns.numbers))
        places[self.columns.text] = SKIP - 1 - np.arange(len(self.columns.text))
        rows, wrong = parse_rows(text, separator, places)
        for row, place, begin, end in rows.odd[rows.odd[:, 0] < len(rows.lines)].tolist():
            rows.numbers[row, place] = self._cell(
                text[begin:end].decode(), row, place, first_line + int(rows.lines[row])
            )
        if wrong is not None:
            self._refuse_ragged(first_line + wrong[0], wrong[1])
        words = [
            _words(text[begin:end].decode() for begin, end in rows.spans[:, k].tolist())
            for k in range(len(self.columns.text))
        ]
        self.rows += len(rows.lines)
        self.last_line = first_line + int(rows.lines[-1]) if len(rows.lines) else self.last_line
        return rows.numbers, words

    def _numbers(self, rows: list[list[str]], part: list[Line]) -> np.ndarray:
        wanted = self.columns.numbers
        if not wanted:
            return np.empty((len(rows), 0))
        pick: Any = itemgetter(*wanted) if len(wanted) > 1 else lambda row: (row[wanted[0]],)
        picked = rows if wanted == list(range(self.width)) else [pick(row) for row in rows]
        flat = list(itertools.chain.from_iterable(picked))
        try:
            if any("_" in cell for cell in flat):
                raise ValueError  # noqa: TRY301
            numbers = np.fromiter(map(float, flat), np.float64, len(flat))
        except ValueError:
            k = len(wanted)
            numbers = np.array([self._cell(cell, i // k, i % k, part[i // k].number) for i, cell in enumerate(flat)])
        return numbers.reshape(len(rows), len(wanted))

    def _cell(self, cell: str, row: int, place: int, line: int) -> float:
        if is_missing(cell) or cell.strip() in _GAP_MARKS:
            return np.nan
        if is_number(cell):
            return float(cell)
        column = self.columns.numbers[place]
        if column in self.columns.truth and is_truth(cell):
            return _TRUTH[cell.strip().lower()]
        name = self.columns.names[column]
        hint = f"correct it, or leave the column out with drop=[{name!r}]."
        if _DECIMAL_COMMA.fullmatch(cell):
            hint = "add decimal_comma=True if the comma is a decimal point, or remove it if it separates thousands."
        raise InputError(
            f"{self.path} has text where numbers are needed: column {clipped(name)!r}, row {self.rows + row} (line {line}) "
            f"holds {clipped(cell)!r}; {hint}"
        )

    def _refuse_ragged(self, line: int, cells: int) -> NoReturn:
        raise InputError(
            f"{self.path} is ragged: line {line} has {cells} cells, but other lines have {self.width}; correct that line (a "
            "cell that contains the separator needs quotes)."
        )


def _words(cells: Iterable[str]) -> np.ndarray:
    """Cells as an array of Python strings; equal cells share one string."""
    known: dict[str, str] = {}
    words = [known.setdefault(word, word) for word in ("" if is_missing(cell) else cell.strip() for cell in cells)]
    out = np.empty(len(words), object)
    out[:] = words
    return out
