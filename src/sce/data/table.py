"""From a file to a table: which columns are data, which are labels, and which name the rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sce.core.missing import as_text, is_missing
from sce.data.arrays import LABEL_ARRAYS
from sce.data.cells import is_number
from sce.data.formats import Request, Source, read
from sce.data.label_files import LABEL_NAMES, read_labels, split, typed
from sce.data.source import column_of, hint_at
from sce.errors import InputError

ID_NAMES = frozenset(
    ["", "unnamed: 0", "id", "ids", "index", "row", "rowid", "row_id", "name", "barcode", "__index_level_0__"]
)
_FEW = 10  # rows up to which distinct values say nothing
_LONGEST = 1000  # characters of an id or a label
_NUMBERLIKE = re.compile(r"[-+$€£]?[0-9][0-9.,' ]*[%€$£]?")


@dataclass
class Table:
    """Data ready to be prepared: numbers, columns of text among them, and what else there is for each row."""

    path: Path
    X: Any
    names: list[str] | None
    text: dict[str, np.ndarray] = field(default_factory=dict)  # columns of text that are data
    extra: dict[str, np.ndarray] = field(default_factory=dict)  # what the file has for each row beside its columns
    first_line: int | None = None  # where the file has lines: that of row 0
    labels: np.ndarray | None = None
    label_name: str | None = None
    ids: np.ndarray | None = None
    weights: np.ndarray | None = None
    notes: list[str] = field(default_factory=list)

    def name(self, column: int) -> str:
        """How to speak of a column."""
        return repr(self.names[column]) if self.names else str(column)

    def row(self, number: int) -> str:
        """How to speak of a row to somebody who looks at the file."""
        return f"row {number}" if self.first_line is None else f"row {number} (line {number + self.first_line})"


@dataclass(frozen=True)
class Wanted:
    """What to take from a file, and as what; the options of the same names of `sce embed`."""

    columns: list[str] | None = None
    drop: list[str] = field(default_factory=list)
    labels: str | None = None  # None: recognised; "none": none
    ids: str | None = None
    weights: str | None = None
    array: str | None = None
    transpose: bool = False
    decimal_comma: bool = False
    header: str = "auto"


def read_table(path: str | Path, wanted: Wanted | None = None) -> Table:
    """Read a data file and tell data, labels and ids apart.

    Labels are a column, an array of the file, another file, or FILE:COLUMN of another file; if not given, a column is
    recognised by its name, or as the only one of text. The column that names the rows is recognised likewise.
    """
    wanted = wanted or Wanted()
    apart = tuple(name for name in (wanted.labels, wanted.ids, wanted.weights) if name is not None)
    likely = LABEL_NAMES | (ID_NAMES if wanted.ids is None else frozenset())
    request = Request(wanted.columns, wanted.drop, apart, likely, wanted.array, wanted.decimal_comma, wanted.header)
    source = read(path, request)
    table = _transposed(source) if wanted.transpose else _upright(source)
    if wanted.labels not in (None, "none"):
        _take_labels(table, str(wanted.labels))
    if wanted.weights is not None:
        table.weights = _take_weights(table, wanted.weights)
    _take_ids(table, wanted.ids)
    if wanted.labels is None:
        _recognise_labels(table)
    _put_back(table)
    if table.labels is not None:
        _refuse_long(table, table.labels, "label")
        table.notes.append(f"Labels: {table.label_name!r} ({_count(table.labels)})")
    if not table.X.shape[1] and not table.text:
        raise InputError(f"{path} has no columns of numbers beside labels and ids, so there is nothing to embed.")
    return table


# ----------------------------------------------------------------------------------------------------------------- rows


def _upright(source: Source) -> Table:
    return Table(
        source.path,
        source.X,
        source.names,
        dict(source.text),
        dict(source.extra),
        source.first_line,
        ids=source.ids,
        notes=source.notes,
    )


def _transposed(source: Source) -> Table:
    """Rows for columns; what named the ones names the others."""
    if len(source.text) > 1:
        raise InputError(
            f"{source.path} has {len(source.text)} columns of text or ids ({', '.join(map(repr, source.text))}), so it "
            "cannot be turned; --drop all but one."
        )
    rows = next(iter(source.text.values()), source.ids)
    names = None if rows is None else [str(name) for name in rows]
    ids = None if source.names is None else as_text(source.names)
    X = source.X.T
    return Table(source.path, X.tocsr() if hasattr(X, "tocsr") else X, names, ids=ids, notes=source.notes)


def _take_ids(table: Table, wanted: str | None) -> None:
    """Take the column that names the rows out of the table."""
    if wanted is not None:
        values = _take(table, wanted)
        if values is None and not split(wanted)[0].exists():
            raise InputError(f"{table.path} has no column {wanted!r} for --ids; {_hint(table, wanted)}")
        table.ids = read_labels(wanted, table.X.shape[0], table.path, "ids")[0] if values is None else values
    elif table.ids is None:
        named = [name for name, values in table.text.items() if name.lower() in ID_NAMES and _is_id(values)]
        named += [name for name, values in table.extra.items() if name.lower() in ID_NAMES and _is_id(values)]
        unique = [name for name, values in table.text.items() if _names_rows(values)]
        if named or len(unique) == 1:
            name = (named or unique)[0]
            table.ids = table.text.pop(name) if name in table.text else table.extra[name]
            table.notes.append(f"Names of rows: column {name!r}")
    if table.ids is not None:
        _refuse_long(table, table.ids, "id")
        numbers = typed(table.ids)
        table.ids = numbers if numbers.dtype.kind in "iu" else table.ids


def _is_id(values: np.ndarray) -> bool:
    """Whether the values are all different, and not measurements."""
    whole = values.dtype.kind in "OUiu" or (values.dtype.kind == "f" and bool((values % 1 == 0).all()))
    return len(values) > 1 and whole and len(np.unique(values)) == len(values)


def _names_rows(values: np.ndarray) -> bool:
    """Whether text is different in each row, and not numbers in disguise, such as 10% or 1,000."""
    if not _is_long_id(values):
        return False
    return sum(_NUMBERLIKE.fullmatch(str(value)) is not None for value in values) < len(values) / 2


def _put_back(table: Table) -> None:
    """Make columns of numbers that were kept apart, but are neither labels nor ids, data again."""
    for name in [name for name in table.text if name.lower() in ID_NAMES | LABEL_NAMES]:
        values = _as_numbers(table.text[name])
        if values is None:
            continue
        if hasattr(table.X, "tocsr"):
            from scipy import sparse

            table.X = sparse.hstack([table.X, sparse.csr_matrix(values[:, None])]).tocsr()
        else:
            table.X = np.column_stack([table.X, values])
        table.names = [*(table.names or []), name]
        del table.text[name]
        table.notes.append(f"Column {name!r} is taken as data; --drop {name!r} leaves it out")


def _as_numbers(values: np.ndarray) -> np.ndarray | None:
    """Numbers, NaN for what is missing; None if there is anything else."""
    if values.dtype.kind in "buif":
        return values
    if not all(not word or is_number(word) for word in values):
        return None
    return np.array([float(word) if word else np.nan for word in values])


def _take_weights(table: Table, wanted: str) -> np.ndarray:
    values = _take(table, wanted)
    values = read_labels(wanted, table.X.shape[0], table.path, "weights")[0] if values is None else typed(values)
    if values.dtype.kind not in "buif":
        raise InputError(f"--weights {wanted} holds text; weights are numbers, 0 or more.")
    return values.astype(np.float64)


# --------------------------------------------------------------------------------------------------------------- labels


def _recognise_labels(table: Table) -> None:
    """Labels by the name of a column, or the only column of text; none where nothing looks like labels.

    Of several columns with such names words are preferred to numbers; one that says the same as the labels is left out.
    """
    named = {
        name: values for name, values in table.text.items() if name.lower() in LABEL_NAMES and not _is_long_id(values)
    }
    if named:
        name = min(named, key=lambda name: typed(named[name]).dtype.kind not in "OU")
        table.labels, table.label_name = typed(table.text.pop(name)), name
        for other in [other for other in named if other != name and _same_classes(named[other], named[name])]:
            del table.text[other]
            table.notes.append(f"Column {other!r} says the same as {name!r} and is left out")
        return
    for name, values in table.extra.items():
        if (name.lower() in LABEL_NAMES or name in LABEL_ARRAYS) and not _is_long_id(values):
            table.labels, table.label_name = typed(values), name
            return
    words = [name for name in table.text if name.lower() not in ID_NAMES]
    if len(words) == 1 and not _is_long_id(table.text[words[0]]):
        table.labels, table.label_name = table.text.pop(words[0]), words[0]


def _is_long_id(values: np.ndarray) -> bool:
    return len(values) > _FEW and _is_id(values)


def _same_classes(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two columns part the rows in the same way."""
    (names, x), (others, y) = (np.unique(values, return_inverse=True) for values in (a, b))
    return len(names) == len(others) == len(np.unique(x.reshape(-1) * np.int64(len(others)) + y.reshape(-1)))


def _take_labels(table: Table, wanted: str) -> None:
    """Labels as asked for: a column, an array of the file, or another file."""
    n = table.X.shape[0]
    values = _take(table, wanted)
    if values is None:
        if not split(wanted)[0].exists():
            raise InputError(
                f"{table.path} has no column or array {wanted!r} for --labels, and there is no such file; "
                f"{_hint(table, wanted)}"
            )
        table.labels, table.label_name = read_labels(wanted, n, table.path)
        return
    if _is_long_id(values):
        others = [name for name in [*table.text, *table.extra] if name != wanted]
        hint = f"; --labels could be {' or '.join(map(repr, others[:3]))}" if others else ""
        raise InputError(
            f"Column {wanted!r} of {table.path} has another value in each of its {n} rows, so it is an id, not a "
            f"label: give it as --ids {wanted!r}{hint}."
        )
    table.labels, table.label_name = typed(values), wanted


def _count(labels: np.ndarray) -> str:
    """How many classes or numbers there are, and how many labels are missing."""
    present = [value for value in np.unique(labels).tolist() if not is_missing(value)]
    what = "classes" if labels.dtype.kind in "bOUiu" else "different numbers"
    lost = sum(map(is_missing, labels.tolist())) if labels.dtype.kind in "OUf" else 0
    return f"{len(present)} {what}{f', {lost} rows without' if lost else ''}"


def _refuse_long(table: Table, values: np.ndarray, what: str) -> None:
    """Refuse text that is too long to be a name."""
    if values.dtype.kind in "OU":
        longest = max(range(len(values)), key=lambda row: len(values[row]))
        if len(values[longest]) > _LONGEST:
            raise InputError(
                f"{table.path} has a text of {len(values[longest])} characters as {what} in {table.row(longest)}; at most "
                f"{_LONGEST} are allowed: choose another column, or shorten it."
            )


# -------------------------------------------------------------------------------------------------------------- columns


def _hint(table: Table, wanted: str) -> str:
    return hint_at(wanted, [*table.text, *table.extra, *(table.names or [])] or None, table.X.shape[1])


def _look(table: Table, name: str) -> np.ndarray | None:
    """The values of a column, of numbers or text, or of an extra."""
    if name in table.text:
        return table.text[name]
    if name in table.extra:
        return table.extra[name]
    if not table.names or name not in table.names:
        return None
    return column_of(table.X, table.names.index(name))


def _take(table: Table, name: str) -> np.ndarray | None:
    """The values of a column, which is then no longer data."""
    values = _look(table, name)
    if name in table.text:
        del table.text[name]
    elif values is not None and name not in table.extra and table.names:
        place = table.names.index(name)
        rest = [c for c in range(table.X.shape[1]) if c != place]
        table.X = table.X[:, rest]
        table.names = [table.names[c] for c in rest]
    return values
