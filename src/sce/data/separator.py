"""The character that separates the cells of a text table."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TextIO

from sce.data.cells import is_missing, is_number, with_point

_EDGE_ENDINGS = (".edges", ".edgelist")
_SNIFFED_LINES = 50  # lines from which the separator is found
_SNIFFED_CHARACTERS = 1 << 16  # read at a time to find them
_MOST_TITLES = 10  # lines above a table
_SEPARATOR_LINE = re.compile(r"sep=([,;|\t])", re.IGNORECASE)  # the first line of some files for Excel
_ALL_NUMBERS, _SOME_NUMBERS = 0.9, 0.3  # shares of the cells
_MAX_SNIFFED_CHARACTERS = 1 << 24  # for files with very long lines


def find_separator(path: Path, file: TextIO, *, decimal_comma: bool = False) -> str:
    """The separator that splits all lines of a file into the same number of cells, most of them numbers.

    If there are several, the one that gives the largest share of numbers, then one that also splits the first line into as
    many, then the one that gives the most cells, then the default: a comma, or a tab for .tsv. Spaces are considered for .txt
    and lists of edges, where a run of them is one separator, and elsewhere if nothing else splits the lines.
    """
    lines = _sample(file, comment_marks(path))
    told = _SEPARATOR_LINE.fullmatch(lines[0].strip()) if lines else None
    if told is not None:
        return told[1]
    name = path.name.lower().removesuffix(".gz")
    usual = "\t" if name.endswith(".tsv") else ","
    candidates = [usual, *(s for s in ("," if not decimal_comma else "", "\t", ";", "|") if s and s != usual)]
    if name.endswith((".txt", *_EDGE_ENDINGS)):
        candidates.append(" ")
    if decimal_comma and usual == ",":
        candidates.remove(",")
    scores = {separator: _score(lines, separator) for separator in candidates}
    best = max(candidates, key=lambda s: (*scores[s], s == usual))
    if scores[best][2] > 1:
        return best
    return " " if " " not in scores and _is_in_spaces(lines) else usual


def _is_in_spaces(lines: list[str]) -> bool:
    """Whether spaces split all lines into numbers, or into three columns and more of which some are numbers; not prose."""
    share, is_named, width = _score(lines, " ")
    return is_named and (share >= _ALL_NUMBERS or (width > 2 and share >= _SOME_NUMBERS))


def is_told(line: str) -> bool:
    """Whether a line only says what the separator is."""
    return _SEPARATOR_LINE.fullmatch(line.strip()) is not None


def comment_marks(path: Path) -> tuple[str, ...]:
    """What lines above the table begin with; lists of edges are often written by programs that know % from MATLAB."""
    return ("#", "%") if path.name.lower().removesuffix(".gz").endswith(_EDGE_ENDINGS) else ("#",)


def _sample(file: TextIO, marks: tuple[str, ...]) -> list[str]:
    """The first complete, non-empty lines."""
    text, size = "", _SNIFFED_CHARACTERS
    while True:
        more = file.read(size)
        text += more
        lines = text.splitlines()
        if len(more) < size or len(text) >= _MAX_SNIFFED_CHARACTERS:  # the whole file
            break
        if len(lines) > 5:
            lines = lines[:-1]  # the last one may be incomplete
            break
    lines = [line for line in lines if line.strip()]
    return ([line for line in lines if not line.startswith(marks)] or lines)[:_SNIFFED_LINES]


def _score(lines: list[str], separator: str) -> tuple[float, bool, int]:
    """The share of numbers among the cells, whether the first line has as many, and the cells per line.

    All of them are 0 where lines differ too much.
    """
    rows = [_cut(line, separator) for line in lines]
    counts = sorted(len(row) for row in rows[1:] or rows)
    typical = counts[len(counts) // 2] if counts else 0
    above = next((k for k, row in enumerate(rows[:_MOST_TITLES]) if len(row) in (typical, typical - 1)), 0)
    above = 0 if any(map(is_number, rows[above] if rows else [])) else above  # what is above a header, not above data
    first, below = (rows[above], rows[above + 1 :]) if len(rows) > above + 1 else ([], rows)
    counts = [len(row) for row in below]
    if not below:
        return 0.0, False, 0
    if typical < 2 or counts.count(typical) < 0.8 * len(counts) or (first and len(first) not in (typical, typical - 1)):
        return 0.0, False, 0
    cells = [cell for row in below for cell in row]
    numbers = sum(is_number(cell if separator == "," else with_point(cell)) or is_missing(cell) for cell in cells)
    return round(numbers / len(cells), 1), len(first) == typical, typical


def one_space(line: str) -> str:
    """The line with tabs replaced by spaces and without spaces at its ends."""
    return line.replace("\t", " ").strip()


def _cut(line: str, separator: str) -> list[str]:
    line = one_space(line) if separator == " " else line
    return next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])
