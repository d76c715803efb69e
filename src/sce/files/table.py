"""From a file to a table: which columns are data, which are labels, and which name the rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sce.errors import InputError
from sce.files import Request, Source, read
from sce.files.arrays import LABEL_ARRAYS, refuse_pickle
from sce.files.sniff import KINDS, check_file, reading
from sce.files.source import hint_at

LABEL_NAMES = frozenset(
    [
        *("label", "labels", "class", "classes", "target", "species", "category", "group"),
        *("cluster", "clusters", "cell_type", "celltype"),
    ]
)
ID_NAMES = frozenset(
    ["", "unnamed: 0", "id", "ids", "index", "row", "rowid", "row_id", "name", "barcode", "__index_level_0__"]
)
_FEW = 10  # rows up to which distinct values say nothing


@dataclass
class Table:
    """Data ready to be prepared: numbers, columns of text among them, labels and names of the rows."""

    path: Path
    X: Any
    names: list[str] | None
    text: dict[str, np.ndarray] = field(default_factory=dict)  # columns of text that are data
    extra: dict[str, np.ndarray] = field(default_factory=dict)  # what the file has for each row beside its columns
    first_line: int | None = None  # where the file has lines: that of row 0
    labels: np.ndarray | None = None
    label_name: str | None = None
    ids: np.ndarray | None = None
    notes: list[str] = field(default_factory=list)

    def name(self, column: int) -> str:
        """How to speak of a column."""
        return repr(self.names[column]) if self.names else str(column)

    def row(self, number: int) -> str:
        """How to speak of a row to somebody who looks at the file."""
        return f"row {number}" if self.first_line is None else f"row {number} (line {number + self.first_line})"


def read_table(
    path: str | Path,
    *,
    columns: list[str] | None = None,
    drop: list[str] | None = None,
    labels: str | None = None,
    ids: str | None = None,
    array: str | None = None,
    transpose: bool = False,
    decimal_comma: bool = False,
) -> Table:
    """Read a data file and tell data, labels and ids apart.

    Parameters
    ----------
    path : str or Path
    columns, drop : lists of str, optional
        Columns to take or to leave out, by names or ranges of numbers.
    labels : str, optional
        A column, an array of the file, another file, FILE:COLUMN of another file, or "none"; by default a column is
        recognised by its name, or as the only one of text.
    ids : str, optional
        The column that names the rows; recognised by default.
    array : str, optional
        Which array of a file with several.
    transpose : bool, default=False
        Whether the columns of the file are the points.
    decimal_comma : bool, default=False
        Whether numbers in a text are written as 1,5.
    """
    apart = tuple(name for name in (labels, ids) if name is not None)
    source = read(path, Request(columns, drop or [], apart, array, decimal_comma))
    table = _transposed(source) if transpose else _upright(source)
    if labels not in (None, "none"):
        _take_labels(table, labels)
    _take_ids(table, ids)
    if labels is None:
        _recognise_labels(table)
    if table.labels is not None:
        table.notes.append(f"Labels: {table.label_name!r} ({_count(table.labels)})")
    if not table.X.shape[1] and not table.text:
        raise InputError(f"{path} has no columns of numbers beside labels and ids, so there is nothing to embed.")
    return table


def read_labels(spec: str, n: int, of: str | Path) -> tuple[np.ndarray, str]:
    """Labels from FILE or FILE:COLUMN, one for each of n rows, and what they are called."""
    path, column = _split(spec)
    kind = check_file(path)
    if kind == ".npy":
        values, name = _plain_array(path), path.stem
    else:
        source = read(
            path, Request(columns=[column] if column and kind != ".npz" else None, as_text=(column,) if column else ())
        )
        values, name = _only_column(source, column)
    if len(values) != n:
        raise InputError(f"{path} has {len(values)} labels, but {of} has {n} rows; give one label for each row.")
    return typed(values), name


def typed(values: np.ndarray) -> np.ndarray:
    """Text that is all numbers as numbers, whole where they are whole; other text as it is.

    Examples
    --------
    >>> typed(np.array(["1", "2"])), typed(np.array(["1.5", ""])), typed(np.array(["a", "1"]))
    (array([1, 2]), array([1.5, nan]), array(['a', '1'], dtype='<U1'))
    """
    if values.dtype.kind in "OS":
        values = values.astype(str)
    if values.dtype.kind == "U":
        try:
            numbers = np.array([float(value) if value else np.nan for value in values.tolist()])
        except ValueError:
            return values
        if np.isnan(numbers).all():
            return values
        values = numbers
    whole = values.dtype.kind == "f" and np.isfinite(values).all() and (values == np.rint(values)).all()
    return values.astype(np.int64) if whole and np.abs(values).max(initial=0) < 2**53 else values


# ----------------------------------------------------------------------------------------------------------------- rows


def _upright(source: Source) -> Table:
    return Table(
        source.path, source.X, source.names, dict(source.text), source.extra, source.first_line, ids=source.ids
    )


def _transposed(source: Source) -> Table:
    """Rows for columns; what named the ones names the others."""
    ids = np.array(source.names) if source.names else None
    if source.text and len(source.text) > 1:
        raise InputError(f"{source.path} has {len(source.text)} columns of text, so it cannot be turned; --drop some.")
    first = next(iter(source.text.values()), source.ids)
    names = None if first is None else [str(name) for name in first]
    X = source.X.T
    return Table(source.path, X.tocsr() if hasattr(X, "tocsr") else X, names, ids=ids)


def _take_ids(table: Table, wanted: str | None) -> None:
    """Take the column that names the rows out of the table."""
    if wanted is not None:
        values = take_column(table, wanted)
        if values is None:
            raise InputError(f"{table.path} has no column {wanted!r} for --ids; {_hint(table, wanted)}")
        table.ids = typed(values)
        return
    for name in [*table.text, *(table.names or [])]:
        if name.lower() in ID_NAMES and _is_id(_look(table, name)):
            table.ids = typed(take_column(table, name))  # type: ignore[arg-type]
            table.notes.append(f"Names of rows: column {name!r}")
            return
    unique = [name for name, values in table.text.items() if len(values) > _FEW and _is_id(values)]
    if table.ids is None and len(unique) == 1:
        table.ids = table.text.pop(unique[0])
        table.notes.append(f"Names of rows: column {unique[0]!r}")


def _is_id(values: np.ndarray | None) -> bool:
    """Whether the values are all different, and not measurements."""
    if values is None or len(values) <= 1:
        return False
    values = typed(values)
    return values.dtype.kind in "Uiu" and len(np.unique(values)) == len(values)


# --------------------------------------------------------------------------------------------------------------- labels


def _recognise_labels(table: Table) -> None:
    """Labels by the name of a column, or the only column of text; none where nothing looks like labels."""
    for name in [*table.text, *(table.names or []), *table.extra]:
        if name.lower() in LABEL_NAMES or (name in table.extra and name in LABEL_ARRAYS):
            values = _look(table, name)
            if values is not None and not (len(values) > _FEW and _is_id(values)):
                table.labels, table.label_name = typed(take_column(table, name)), name  # type: ignore[arg-type]
                return
    if len(table.text) == 1:
        name, values = next(iter(table.text.items()))
        if not (len(values) > _FEW and _is_id(values)):
            table.labels, table.label_name = values, name
            del table.text[name]


def _take_labels(table: Table, wanted: str) -> None:
    """Labels as asked for: a column, an array of the file, or another file."""
    n = table.X.shape[0]
    values = take_column(table, wanted)
    if values is None:
        path, _ = _split(wanted)
        if not path.exists():
            raise InputError(
                f"{table.path} has no column or array {wanted!r} for --labels, and there is no such file; "
                f"{_hint(table, wanted)}"
            )
        table.labels, table.label_name = read_labels(wanted, n, table.path)
        return
    values = typed(values)
    if len(values) > _FEW and _is_id(values):
        others = [name for name in [*table.text, *table.extra] if name != wanted]
        hint = f"; --labels could be {' or '.join(map(repr, others[:3]))}" if others else ""
        raise InputError(
            f"Column {wanted!r} of {table.path} has another value in each of its {n} rows, so it is an id, not a "
            f"label: give it as --ids {wanted!r}{hint}."
        )
    table.labels, table.label_name = values, wanted


def _count(labels: np.ndarray) -> str:
    distinct = len(np.unique(labels))
    return f"{distinct} classes" if labels.dtype.kind in "bUiu" else f"{distinct} different numbers"


# -------------------------------------------------------------------------------------------------------------- columns


def _hint(table: Table, wanted: str) -> str:
    names = [*(table.names or []), *table.text, *table.extra]
    return hint_at(wanted, names or None, table.X.shape[1])


def _place(table: Table, name: str) -> int | None:
    """The place of a column of X by its name, or by its number where columns have no names."""
    if table.names:
        return table.names.index(name) if name in table.names else None
    return int(name) if re.fullmatch(r"\d{1,9}", name) and int(name) < table.X.shape[1] else None


def _look(table: Table, name: str) -> np.ndarray | None:
    """The values of a column, of numbers or text, or of an extra."""
    if name in table.text:
        return table.text[name]
    if name in table.extra:
        return table.extra[name]
    place = _place(table, name)
    if place is None:
        return None
    column = table.X[:, [place]]
    return np.asarray(column.toarray() if hasattr(column, "toarray") else column).ravel()


def take_column(table: Table, name: str) -> np.ndarray | None:
    """The values of a column, which is then no longer data."""
    values = _look(table, name)
    if name in table.text:
        del table.text[name]
    elif values is not None and name not in table.extra:
        rest = [c for c in range(table.X.shape[1]) if c != _place(table, name)]
        table.X = table.X[:, rest]
        table.names = [table.names[c] for c in rest] if table.names else None
    return values


# ---------------------------------------------------------------------------------------------------------- other files


def _split(spec: str) -> tuple[Path, str | None]:
    """FILE or FILE:COLUMN; a file that has a colon in its name is a file."""
    path = Path(spec)
    if path.exists() or ":" not in spec:
        return path, None
    head, _, column = spec.rpartition(":")
    known = any(head.lower().removesuffix(".gz").endswith(kind) for kind in KINDS)
    return (Path(head), column) if known else (path, None)


def _plain_array(path: Path) -> np.ndarray:
    with reading(path, ".npy"):
        refuse_pickle(path)
        values = np.load(path, allow_pickle=False)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or values.dtype.kind not in "buifU":
        raise InputError(
            f"{path} holds {values.dtype} of shape {values.shape}; labels are one text or number for each row."
        )
    return values


def _only_column(source: Source, wanted: str | None) -> tuple[np.ndarray, str]:
    table = _upright(source)
    if wanted is not None:
        values = _look(table, wanted)
        if values is None:
            raise InputError(f"{source.path} has no column {wanted!r}; {_hint(table, wanted)}")
        return values, wanted
    names = [*(source.names or map(str, range(source.X.shape[1]))), *source.text]
    found = [name for name in names if name.lower() in LABEL_NAMES]
    if len(names) > 1 and len(found) != 1:
        raise InputError(
            f"{source.path} has {len(names)} columns; say which holds the labels: --labels {source.path}:{names[-1]}"
        )
    name = found[0] if found else names[0]
    values = _look(table, name)
    assert values is not None
    return values, name
