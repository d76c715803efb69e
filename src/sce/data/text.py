"""Text tables: .csv, .tsv and .txt, plain or gzipped. The separator, the header and the kinds of the columns are inferred.

Parsed by hand (plain cells by :mod:`sce.data.parse`, quoted ones by the standard library's csv) because no library is at once
as fast, as exact and as light. CPU time and peak memory for 1,000,000 x 20 floats, and for MNIST as 70,000 x 785 integers,
medians:

    this module    5.0 s, 0.45 GiB    6.2 s, 0.98 GiB    names the line and the column of a wrong cell
    pyarrow.csv    5.0 s, 0.84 GiB    6.5 s, 1.08 GiB    170 MB to install; names neither line nor row
    pandas         7.1 s, 0.53 GiB    6.1 s, 1.34 GiB    79 MB to install; 32 % of the floats differ in the last bit
    pandas, exact  17 s,  0.54 GiB    5.3 s, 1.34 GiB    float_precision="round_trip"
    numpy.loadtxt  8.8 s, 0.18 GiB     10 s, 0.50 GiB    numbers only
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from sce.data.cells import (
    Block,
    Cells,
    Columns,
    Line,
    has_decimal_commas,
    is_blank,
    is_missing,
    is_number,
    is_truth,
    kind_of_column,
    with_point,
    without_mark,
)
from sce.data.separator import comment_marks, find_separator, is_told, one_space
from sce.data.source import Request, Source, choose_columns, dropped_names, refuse_duplicate_names, unread_names
from sce.errors import InputError

_KIND_ROWS = 1000  # rows from which the kinds of the columns are inferred
_KIND_CELLS = 100_000  # fewer rows where they would have more cells than this
_DECIMAL_CELLS = 5_000  # in which decimal commas are looked for
_MOST_TITLE_LINES = 10  # lines above a header
_CONVERTED_CELLS = 200_000  # converted at a time by the slow path
_PARSED_BYTES = 1 << 20  # parsed at a time, approximately, by the fast path
_LONGEST_CELL = 2**31 - 1
_BYTE_ORDER_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


def read_text(path: Path, request: Request) -> Source:
    """A text table. A column whose first rows are mostly numbers must hold numbers throughout; other columns are text."""
    try:
        with _long_cells(), io.TextIOWrapper(_opened(path), _encoding(path), newline="") as file:
            return _read(path, file, request)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text (it has the byte {error.object[error.start]:#x}); save it as UTF-8, for example with: "
            f"iconv -f latin1 -t utf8 {path} > utf8{path.suffix}"
        ) from None


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let cells be as long as a text may be; the csv module refuses those above 131,072 characters by default."""
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _encoding(path: Path) -> str:
    """The encoding, from the byte order mark."""
    with _opened(path) as file:
        first = file.read(3)
    return next((name for mark, name in _BYTE_ORDER_MARKS if first.startswith(mark)), "utf-8")


def _opened(path: Path) -> Any:
    """The file, decompressed."""
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")


def _read(path: Path, file: TextIO, request: Request) -> Source:
    separator = find_separator(path, file, decimal_comma=request.decimal_comma)
    lines = _lines(path, file, separator)
    if not request.decimal_comma and separator != "," and has_decimal_commas(_first_rows(lines)):
        file.seek(0)
        source = _read(path, file, replace(request, decimal_comma=True))
        source.notes.append("Numbers are read with decimal commas")
        return source
    lines = _lines(path, file, separator)
    if request.decimal_comma:
        lines = (Line(line.number, [with_point(cell) for cell in line.cells]) for line in lines)
    head, rest = _look(path, lines)
    width = _width(head)
    head, titles = _without_titles(head, width) if request.header != "no" else (head, [])
    has_more = rest is not None
    lines = _filled(itertools.chain(head, rest or ()), width)
    head = [line for line in head if width == 1 or not is_blank(line.cells)]
    header, columns = _columns(path, head, width, request)
    first_line = head[0].number
    blocks = None
    if has_more and width > 1 and separator != " " and file.encoding == "utf-8" and not request.decimal_comma:
        blocks = _parsed_blocks(path, separator, columns, first_line)
    if blocks is None:
        cells = Cells(path, columns)
        rows = itertools.islice(lines, int(header), None)
        blocks = [cells.convert(part) for part in _parts(rows, max(1, _CONVERTED_CELLS // width))], cells.last_line
    X, text = _joined(blocks[0], columns)
    extra = {name: text.pop(name) for name in columns.beside}
    source = Source(path, X, [columns.names[c] for c in columns.numbers], text, extra)
    source.first_line = first_line if blocks[1] - first_line == len(X) - 1 else None
    source.dropped = dropped_names(path, columns.names, request)
    source.unread = unread_names(columns.names, columns.chosen, source)
    if not header:
        source.notes = [f'No header: columns are named 0 to {width - 1}; header="yes" takes names from the first row']
    if titles:
        source.notes.append(f"Left out {_shown_lines(titles)} above the header")
    _cut_empty_end(source)
    return source


def _shown_lines(lines: list[Line]) -> str:
    first, last = lines[0].number, lines[-1].number
    return f"line {first}" if first == last else f"lines {first} to {last}"


def _cut_empty_end(source: Source) -> None:
    """Leave out rows without any value at the end, as spreadsheets write them."""
    X, words = source.X, list(source.text.values())
    n = len(X)
    while n > 1 and np.isnan(X[n - 1]).all() and all(values[n - 1] == "" for values in words):
        n -= 1
    if n == len(X) or X.shape[1] + len(words) < 2:
        return
    source.notes.append(f"Left out {len(X) - n} rows without any value at the end")
    source.X = X[:n]
    source.text = {name: values[:n] for name, values in source.text.items()}
    source.extra = {name: values[:n] for name, values in source.extra.items()}


# ---------------------------------------------------------------------------------------------------------------- lines


def _lines(path: Path, file: TextIO, separator: str) -> Iterator[Line]:
    """All lines, split into cells; empty lines have none."""
    file.seek(0)
    plain = file if separator != " " else (one_space(line) + "\n" for line in file)
    rows = csv.reader(plain, delimiter=separator, skipinitialspace=True, strict=True)
    begin = 1
    try:
        for row in rows:
            yield Line(rows.line_num, row)
            begin = rows.line_num + 1
    except csv.Error as error:
        raise InputError(
            f'{path} has a misplaced or unclosed quote (") in the row that begins on line {begin} ({error}); double a quote '
            "that is part of a text."
        ) from None


def _look(path: Path, lines: Iterator[Line]) -> tuple[list[Line], Iterator[Line] | None]:
    """The first lines, from which kinds are inferred, and the remaining ones if there are any."""
    first = next((line for line in lines if not is_blank(line.cells)), None)
    if first is None:
        raise InputError(f"{path} has only empty lines; give a file with data in it.")
    more = min(_KIND_ROWS, max(50, _KIND_CELLS // len(first.cells)))
    head = [first, *itertools.islice(lines, more)]
    return _without_comments(head, comment_marks(path)), (lines if len(head) > more else None)


def _first_rows(lines: Iterator[Line]) -> list[list[str]]:
    """Some rows, of not too many cells in all."""
    rows: list[list[str]] = []
    count = 0
    for line in lines:
        rows.append(line.cells)
        count += len(line.cells)
        if count >= _DECIMAL_CELLS:
            break
    return rows


def _without_titles(head: list[Line], width: int) -> tuple[list[Line], list[Line]]:
    """The first lines from the header on, and the lines of words above it, which have fewer cells or empty ones."""
    shown = [k for k, line in enumerate(head) if not is_blank(line.cells)]
    for place, k in enumerate(shown[1 : _MOST_TITLE_LINES + 1], 1):
        below = [head[each].cells for each in shown[place + 1 : place + 2]]
        if _names_columns(head[k].cells, width) and any(map(is_number, itertools.chain(*below))):
            above = [head[each].cells for each in shown[:place]]
            return (head[k:], head[:k]) if all(_is_title(cells, width) for cells in above) else (head, [])
    return head, []


def _names_columns(cells: list[str], width: int) -> bool:
    """Whether all cells of a full line are words."""
    return len(cells) == width > 1 and not any(is_missing(cell) or is_number(cell) or is_truth(cell) for cell in cells)


def _is_title(cells: list[str], width: int) -> bool:
    partial = len(cells) < width - 1 or any(not cell.strip() for cell in cells)
    return (partial or is_told(cells[0])) and not any(map(is_number, cells))


def _without_comments(head: list[Line], marks_of: tuple[str, ...]) -> list[Line]:
    """Remove the lines above the table that begin with a mark such as #; the last one stays if it may be the header."""
    marks = list(itertools.takewhile(lambda line: is_blank(line.cells) or line.cells[0].startswith(marks_of), head))
    table = head[len(marks) :]
    if not marks or not table:
        return head
    width = _width(table)
    fits = len(without_mark(marks[-1].cells)) in (width, width - 1)
    has_header = _names_columns(table[0].cells, width) and any(map(is_number, table[1].cells if table[1:] else ()))
    return (
        [marks[-1], *table]
        if fits and not has_header and not marks[-1].cells[0].startswith("%") and not is_blank(marks[-1].cells)
        else table
    )


def _filled(lines: Iterator[Line], width: int) -> Iterator[Line]:
    """Skip empty lines. In a table of one column they are missing values, except at the end."""
    waiting: list[Line] = []
    for line in lines:
        if not is_blank(line.cells):
            yield from waiting
            waiting.clear()
            yield line
        elif width == 1:
            waiting.append(Line(line.number, [""]))


def _parts(lines: Iterator[Line], rows: int) -> Iterator[list[Line]]:
    while part := list(itertools.islice(lines, rows)):
        yield part


def _width(head: list[Line]) -> int:
    """The most frequent number of cells per line; of two equally frequent ones, that of the later lines."""
    counts = [len(line.cells) for line in reversed(head) if not is_blank(line.cells)]
    return max(dict.fromkeys(counts), key=counts.count)


# -------------------------------------------------------------------------------------------------------------- columns


def _columns(path: Path, head: list[Line], width: int, request: Request) -> tuple[bool, Columns]:
    """Whether there is a header, which is removed from the first rows, and the names and kinds of the columns to read."""
    header = _header(head, width, request.header)
    names = header or [str(place) for place in range(width)]
    if header:
        head.pop(0)
    if not head:
        raise InputError(f"{path} has a header but no rows; give a file with data in it.")
    kinds = [kind_of_column([line.cells[place] for line in head if place < len(line.cells)]) for place in range(width)]
    names = [
        name or ("" if place == 0 or kinds[place] == "missing" else f"unnamed {place}")
        for place, name in enumerate(names)
    ]
    refuse_duplicate_names(path, list(filter(None, names)))
    chosen = [c for c in choose_columns(path, names, width, request) if names[c] or kinds[c] != "missing"]
    apart = [c for c in range(width) if request.is_apart(names[c]) and (names[c] or kinds[c] != "missing")]
    numbers = [c for c in chosen if c not in apart and kinds[c] != "text"]
    text = [c for c in range(width) if c in apart or (c in chosen and kinds[c] == "text")]
    beside = [names[c] for c in apart if c not in chosen]
    truth = frozenset(c for c in numbers if kinds[c] == "truth")
    return header is not None, Columns(names, numbers, text, beside, chosen, truth)


def _header(head: list[Line], width: int, wanted: str) -> list[str] | None:
    """The names of the columns in the first row, if it is a header.

    A row without numbers or missing values is a header if there are numbers below it, or if none of its cells occurs again
    below it. So is 0, 1, 2 and so on, which pandas writes.
    """
    first = without_mark([cell.strip() for cell in head[0].cells])
    if wanted == "no" or len(first) not in (width, width - 1):
        return None
    named = first if len(first) == width else ["", *first]  # R writes no name for the column of row names
    below = [line.cells for line in head[1:] if len(line.cells) == width]
    if wanted == "yes" or _counts_up(named):
        return named
    if any(cell and (is_number(cell) or is_missing(cell) or is_truth(cell)) for cell in first) or not any(first):
        return None
    columns = list(zip(*below, strict=True))
    if any(kind_of_column(column) in ("number", "truth") for column in columns):
        return named
    raw = [cell.strip() for cell in head[0].cells]
    repeated = any(name in map(str.strip, column) for name, column in zip(raw, columns, strict=False))
    return None if len(first) < width or repeated else named


def _counts_up(names: list[str]) -> bool:
    """Whether names are 0, 1, 2, ..., possibly after an empty one, as pandas writes for a frame without names."""
    numbers = names[1:] if names[:1] == [""] else names
    return len(names) >= 3 and numbers == [str(k) for k in range(len(numbers))]


# ----------------------------------------------------------------------------------------------------------------- rows


def _parsed_blocks(path: Path, separator: str, columns: Columns, first_line: int) -> tuple[list[Block], int] | None:
    """All rows by the compiled parser, and the last line; None if there are quotes or lone carriage returns."""
    cells, blocks, line = Cells(path, columns), [], first_line
    with _opened(path) as file:
        if not all(_is_plain(file.readline()) for _ in range(first_line - 1)):
            return None
        while text := file.read(_PARSED_BYTES) + file.readline():
            if not _is_plain(text):
                return None
            blocks.append(cells.convert_text(text, separator, line))
            line += text.count(b"\n")
    return (blocks, cells.last_line) if blocks else None


def _is_plain(text: bytes) -> bool:
    return b'"' not in text and text.count(b"\r") == text.count(b"\r\n")


def _joined(blocks: list[Block], columns: Columns) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """One array of numbers, and one array per column of text; the blocks are released one by one."""
    text = {columns.names[c]: np.concatenate([words[k] for _, words in blocks]) for k, c in enumerate(columns.text)}
    X = np.empty((sum(len(numbers) for numbers, _ in blocks), len(columns.numbers)))
    start = 0
    for place, (numbers, _) in enumerate(blocks):
        X[start : start + len(numbers)] = numbers
        start += len(numbers)
        blocks[place] = (numbers[:0].copy(), [])
    return X, text
