"""The roles of the columns of a table: which are labels, ids and weights, and which are data."""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np

from sce.core.counting import counting_columns, may_be_measured
from sce.core.missing import is_missing
from sce.data.arrays import LABEL_ARRAYS
from sce.data.cells import is_number
from sce.data.dates import as_days, dates_of_numbers, read_dates
from sce.data.formatted import read_formatted, read_vectors
from sce.data.label_files import LABEL_NAMES, read_label_file, split_spec, typed
from sce.data.row_ids import (
    holds_ids,
    is_id,
    is_id_name,
    is_long_id,
    is_prose,
    is_whole,
    names_rows,
)
from sce.data.source import column_of, hint_at
from sce.data.table import Table
from sce.errors import InputError

_FEWEST_WITH_TOTAL = 5  # rows of a table whose last row may be a total
_FEW_ROWS = 2
_EXACT_BYTES = 8  # of the numbers of which text tables and int64 columns consist
_FIRST_ROUNDED = 2**53  # the first whole number whose neighbour is no float of 64 bits
_LAST_OF_64_BITS = 2.0**64
_MANY_COLUMNS = 50  # of a table of one or two rows
_DATE_NAME = re.compile(r"date|datum|day", re.IGNORECASE)
_ROUNDED_TOTALS = 1e-4  # of totals that people write


# --------------------------------------------------------------------------------------------------------- ids, weights


def assign_ids(table: Table, wanted: str | None, apart: Collection[str]) -> None:
    """Take the column with the names of the rows out of the data: the given one, or else one that looks like ids.

    Columns in `apart`, which were dropped or are to stay data, are not taken. If one that looks like ids was dropped, no
    other column takes its place.
    """
    if wanted not in (None, "none"):
        wanted = str(wanted)
        values = table.take_out(wanted)
        if values is None and not split_spec(wanted)[0].exists():
            raise InputError(f"{table.path} has no column {wanted!r} for ids=; {_hint(table, wanted)}")
        table.ids = read_label_file(wanted, table.X.shape[0], table.path, "ids")[0] if values is None else values
        table.id_name = None if values is None else wanted
    elif table.ids is None and wanted is None:
        name = _recognised_ids(table)
        if name is not None and name not in apart:
            values = table.take_out(name)
            assert values is not None
            table.ids, table.id_name = values, name
            how = "" if as_numbers(values) is None else f"; keep=[{name!r}] uses it as data"
            table.notes.append(f"Names of rows: column {name!r}{how}")
    if table.ids is not None:
        table.refuse_long_text(table.ids, "id", table.id_name)
        numbers = typed(table.ids)
        table.ids = numbers if numbers.dtype.kind in "iu" else table.ids


def _recognised_ids(table: Table) -> str | None:
    """The column that holds ids by its name, or the only column of text that is different in each row."""
    columns = [*table.text.items(), *table.extra.in_memory.items()]
    named = [name for name, values in columns if holds_ids(name, values)]
    if named:
        return named[0]
    unique = [name for name, values in table.text.items() if names_rows(values)]
    return unique[0] if len(unique) == 1 else None


def set_index_aside(table: Table, index: Collection[str], *, as_ids: bool) -> None:
    """Take the numbers of the index of a data frame out of the data; a single one names the rows if all are different.

    An index of text or dates is a column like others, which may be ids or labels.
    """
    for name in index:
        values = table.look_up(name)
        if values is None or values.dtype.kind not in "buif":
            continue
        table.take_out(name)
        use = "is not used as data"
        if as_ids and table.ids is None and len(index) == 1 and is_id(values):
            table.ids, table.id_name = typed(values), name
            use = "names the rows"
        else:
            table.extra = table.extra.with_columns({name: values})
        table.notes.append(f"Column {name!r}, the index of the data frame, {use}; keep=[{name!r}] uses it as data")


def set_ids_aside(table: Table, keep: Collection[str], *, as_ids: bool) -> None:
    """Take columns of numbers that only name or count the rows out of the data, unless they are in `keep`.

    The first of them names the rows, where nothing else does and `as_ids` says so; the others are extras.
    """
    named = [name for name, values in table.text.items() if holds_ids(name, values)]
    names = table.names or [str(place) for place in range(table.X.shape[1])]
    counting = [names[c] for c in counting_columns(table.X)]
    measured = [name for name in counting if may_be_measured(name) and name not in keep]
    counting = [name for name in counting if not may_be_measured(name) and len(counting) < table.X.shape[1]]
    found = [name for name in [*named, *counting] if name not in keep]
    if len(found) == table.X.shape[1] + len(table.text):
        return
    table.names = names if found else table.names
    for name in found:
        values = table.take_out(name)
        assert values is not None
        what = "numbers the rows" if name in counting else "holds ids"
        if as_ids and table.ids is None:
            table.ids, table.id_name = typed(values), name
            what += ", which are kept as names of the rows"
        else:
            table.extra = table.extra.with_columns({name: values})
        table.notes.append(f"Column {name!r} {what}, and is not used as data; keep=[{name!r}] uses it")
    for name in measured:
        table.notes.append(f"Column {name!r} numbers the rows, and is used as data; drop=[{name!r}] leaves it out")


def assign_weights(table: Table, wanted: str) -> None:
    """Take the weights from a column, which is then no longer data, or from another file."""
    values = table.take_out(wanted)
    if values is None:
        values = read_label_file(wanted, table.X.shape[0], table.path, "weights")[0]
    values = typed(values)
    if values.dtype.kind not in "buif":
        raise InputError(f"weights={wanted!r} holds text; weights are numbers, 0 or more.")
    table.weights = values.astype(np.float64)


# --------------------------------------------------------------------------------------------------------------- labels


def assign_labels(table: Table, wanted: str) -> None:
    """Take the labels from a column, an array of the file, or another file."""
    values = table.take_out(wanted)
    if values is None:
        if not split_spec(wanted)[0].exists():
            raise InputError(
                f"{table.path} has no column or array {wanted!r} for labels=, and there is no such file; "
                f"{_hint(table, wanted)}"
            )
        table.labels, table.label_name = read_label_file(wanted, table.X.shape[0], table.path)
        return
    values = typed(values)
    if values.dtype.kind in "OU" and is_long_id(values):
        others = [name for name in [*table.text, *table.extra] if name != wanted]
        hint = f"; labels could be {' or '.join(map(repr, others[:3]))}" if others else ""
        raise InputError(
            f"Column {wanted!r} of {table.path} has a different value in each of its {len(values)} rows, so it holds ids, "
            f"not labels: give it as ids={wanted!r} instead{hint}."
        )
    table.labels, table.label_name = values, wanted


def recognise_labels(table: Table, apart: Collection[str]) -> None:
    """Take as labels a column whose name suggests labels, or the only column of text or else of dates, if there is one.

    If there are several such columns, text is preferred to numbers; a column that divides the rows in the same way as the
    labels becomes an extra. Prose is no label. Columns in `apart`, which were dropped or are to stay data, are not taken; if
    the recognised column was dropped, no other column takes its place.
    """
    text = {name: values for name, values in table.text.items() if name not in apart and not is_prose(values)}
    named = {name: values for name, values in text.items() if name.lower() in LABEL_NAMES and not is_long_id(values)}
    if named:
        name = min(named, key=lambda name: typed(named[name]).dtype.kind not in "OU")
        table.labels, table.label_name = typed(table.text.pop(name)), name
        for other in [other for other in named if other != name and _same_classes(named[other], named[name])]:
            table.extra = table.extra.with_columns({other: table.text.pop(other)})
            table.notes.append(f"Column {other!r} has the same classes as {name!r} and is left out")
        return
    for name, values in table.extra.in_memory.items():
        if (name.lower() in LABEL_NAMES or name in LABEL_ARRAYS) and not is_long_id(values):
            if name not in apart and not is_prose(values):
                table.labels, table.label_name = typed(values), name
            return
    words = [name for name in text if not is_id_name(name) and as_numbers(text[name]) is None]
    if len(words) == 1 and not is_long_id(table.text[words[0]]):
        table.labels, table.label_name = table.text.pop(words[0]), words[0]
        return
    dates = [name for name, values in table.extra.in_memory.items() if values.dtype.kind == "M" and name not in apart]
    if len(dates) == 1 and not words:
        table.labels, table.label_name = table.extra[dates[0]], dates[0]


def check_labels(table: Table) -> None:
    """Refuse labels that are too long, and note what the labels are."""
    if table.labels is not None:
        table.refuse_long_text(table.labels, "label", table.label_name)
        table.notes.append(f"Labels: {table.label_name!r} ({_count(table.labels)})")


def _same_classes(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two columns divide the rows in the same way."""
    (names, x), (others, y) = (np.unique(values, return_inverse=True) for values in (a, b))
    return len(names) == len(others) == len(np.unique(x.reshape(-1) * np.int64(len(others)) + y.reshape(-1)))


def _count(labels: np.ndarray) -> str:
    """The number of classes or distinct numbers, and of missing labels."""
    present = [value for value in np.unique(labels).tolist() if not is_missing(value)]
    what = {"f": "distinct numbers", "M": "dates"}.get(labels.dtype.kind, "classes")
    lost = sum(map(is_missing, labels.tolist())) if labels.dtype.kind in "OUfM" else 0
    return f"{len(present)} {what}{f', {lost} rows without a label' if lost else ''}"


def _hint(table: Table, wanted: str) -> str:
    return hint_at(wanted, [*table.text, *table.extra, *(table.names or [])] or None, table.X.shape[1])


# ---------------------------------------------------------------------------------------------------------------- dates


def set_dates_aside(table: Table, keep: Collection[str]) -> None:
    """Take columns of dates out of the data; those in `keep` become numbers of days."""
    aside = [name for name, values in table.extra.in_memory.items() if values.dtype.kind == "M"]  # by their reader
    for name in list(table.text):
        values = table.text[name]
        if holds_ids(name, values) and name not in keep:
            continue  # a column of dates that is the index of a data frame names the rows
        dates, ambiguous = (values, "") if values.dtype.kind == "M" else read_dates(values)
        if ambiguous:
            table.notes.append(
                f"Column {name!r} is text, because its dates, such as {ambiguous}, may be day and month or month and day: "
                "write them as 2024-12-31"
            )
        elif dates is not None:
            del table.text[name]
            table.extra = table.extra.with_columns({name: dates})
            aside.append(name)
    for name in [name for name in aside if name not in keep]:
        table.notes.append(
            f"Column {name!r} holds dates, and is not used as data; keep=[{name!r}] uses it as a number of days"
        )
    for name in [name for name in table.names or [] if _DATE_NAME.search(name) and name not in keep]:
        dates = dates_of_numbers(column_of(table.X, (table.names or []).index(name)))
        if dates is not None:
            table.take_out(name)
            table.extra = table.extra.with_columns({name: dates})
            table.notes.append(
                f"Column {name!r} holds dates, and is not used as data; keep=[{name!r}] uses its numbers"
            )
    for name in keep:
        if name in table.extra:
            days = as_numbers(table.extra[name])
            assert days is not None
            table.extra = table.extra.without({name})
            table.add_columns([name], days[:, None])


# ----------------------------------------------------------------------------------------------------------------- data


def restore_data(table: Table, keep: Collection[str]) -> None:
    """Turn columns of numbers that were kept apart, but are neither labels nor ids, back into data."""
    for name in [name for name in table.text if is_apart(name)]:
        values = as_numbers(table.text[name])
        if values is not None:
            del table.text[name]
            table.add_columns([name], values[:, None])
            if name not in keep and is_whole(values):
                table.notes.append(f"Column {name!r} is used as data; drop=[{name!r}] leaves it out")


def read_formatted_columns(table: Table, keep: Collection[str]) -> None:
    """Turn columns of numbers with a unit, or with marks between thousands, into numbers."""
    for name in [name for name in table.text if not is_apart(name) or name in keep]:
        found = read_formatted(table.text[name])
        if found is not None:
            del table.text[name]
            table.add_columns([name], found.values[:, None])
            unit = f", in {found.unit}" if found.unit else ", with marks between thousands"
            table.notes.append(f"Column {name!r} is read as numbers{unit}")


def read_vector_column(table: Table) -> None:
    """Take a column of lists of numbers as the data, where it is the only one, and wider than the other numbers."""
    found = {name: matrix for name, values in table.text.items() if (matrix := read_vectors(values)) is not None}
    if len(found) != 1:
        return
    ((name, matrix),) = found.items()
    if matrix.shape[1] <= table.X.shape[1]:
        return
    del table.text[name]
    others = {other: column_of(table.X, place) for place, other in enumerate(table.names or [])}
    table.extra = table.extra.with_columns({**others, **table.text})
    table.text = {}
    table.X, table.names = matrix, [f"{name}[{place}]" for place in range(matrix.shape[1])]
    left = "; the other columns are not data, choose them with columns=" if others else ""
    table.notes.append(f"Column {name!r} is used as data, {matrix.shape[1]} numbers in each row{left}")


def note_total(table: Table) -> None:
    """Say that the last row is the sum of the others, as below tables for people."""
    if has_total(table):
        table.notes.append(
            "The last row is the sum of all others, and is used as a point like them; remove it from the file"
        )


def has_total(table: Table) -> bool:
    """Whether the last row of a text table is the sum of all others."""
    X = table.X
    if table.first_line is None or hasattr(X, "tocsr") or len(X) < _FEWEST_WITH_TOTAL or X.shape[1] < 2:
        return False
    for columns in (slice(0, 2), slice(None)):  # most tables are told by the first columns
        last, sums = X[-1, columns], np.nansum(X[:-1, columns], axis=0)
        moving = np.isfinite(last) & (sums != 0)
        if (np.abs(last - sums)[moving] > _ROUNDED_TOTALS * np.abs(sums)[moving]).any() or (last[~moving] > 0).any():
            return False
    return moving.sum() >= 2


def note_rounded(table: Table) -> None:
    """Say that a column has whole numbers too large to be told apart as floats, which are rather ids than data."""
    X = np.asarray(table.X[:2]) if not hasattr(table.X, "tocsr") and table.X.dtype.itemsize == _EXACT_BYTES else None
    large = [] if X is None else np.flatnonzero(((X >= _FIRST_ROUNDED) & (X < _LAST_OF_64_BITS)).all(axis=0)).tolist()
    for name in [(table.names or list(map(str, range(table.X.shape[1]))))[place] for place in large]:
        table.notes.append(
            f"Column {name!r} has numbers above {_FIRST_ROUNDED:,}, which are rounded as data; ids={name!r} keeps them "
            f"exactly, drop=[{name!r}] leaves them out"
        )


def note_few_rows(table: Table) -> None:
    """Say that there are hardly any points; where there are very many columns, these may be the points."""
    n, d = table.X.shape
    if n == 1 and d < _MANY_COLUMNS:
        table.notes.append("There is only 1 row, so the map is a single point")
    if n <= _FEW_ROWS and d >= _MANY_COLUMNS:
        table.notes.append(
            f"There {'is only 1 row' if n == 1 else f'are only {n} rows'} of {d} columns; if the columns are the points, add "
            "transpose=True"
        )


def is_apart(name: str) -> bool:
    """Whether a name is one of labels or ids, so that a reader keeps the column unconverted."""
    return name.lower() in LABEL_NAMES or is_id_name(name)


def as_numbers(values: np.ndarray) -> np.ndarray | None:
    """Numbers, NaN where one is missing; dates as days since 1970; None if there is anything else."""
    if values.dtype.kind in "buif":
        return values
    if values.dtype.kind == "M":
        return as_days(values)
    if not all(not word or is_number(word) for word in values):
        return None
    return np.array([float(word) if word else np.nan for word in values])
