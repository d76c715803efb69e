"""Missing and infinite values: where they are, and what to do about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from sce.core.hints import clipped
from sce.core.linalg import sample_rows
from sce.core.random import stream
from sce.core.validate import all_finite
from sce.data.content import in_short
from sce.data.table import Table
from sce.errors import InputError

_GAP_BLOCK_CELLS = 1 << 22  # numbers of X held at once, so that a memory-mapped array is never read as a whole
_FILL_ROWS = 10_000  # rows from which the fill values of columns without gaps are found
_SHOWN_WITH_GAPS = 20  # with missing values, in a message


class Gaps(NamedTuple):
    """Where values are missing."""

    rows: np.ndarray  # with a missing number or text
    columns: np.ndarray  # columns of X with a missing number
    words: dict[str, np.ndarray]  # of each column of text, the rows without a value


class Filling(NamedTuple):
    """What stands in for missing values, learned from the rows where they are present."""

    numbers: np.ndarray | None  # one for each column of X; None for sparse data, which cannot be filled
    words: dict[str, str]  # the most frequent value of each column of text


def blocks(X: Any) -> Iterator[tuple[int, int]]:
    """Consecutive (start, stop) of rows, a few megabytes each."""
    step = max(1, _GAP_BLOCK_CELLS // max(1, X.shape[1]))
    return ((start, min(start + step, X.shape[0])) for start in range(0, X.shape[0], step))


# ------------------------------------------------------------------------------------------------------------ finding


def find_gaps(table: Table) -> Gaps | None:
    """Where values are missing or infinite; None if none are."""
    if all_finite(table.X) and not any((values == "").any() for values in table.text.values()):
        return None
    rows, columns = _numeric_gaps(table.X)
    words = {name: np.flatnonzero(values == "") for name, values in table.text.items()}
    return Gaps(np.unique(np.concatenate([rows, *words.values()])).astype(np.int64), columns, words)


def _numeric_gaps(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """The rows and the columns of X with missing values."""
    if hasattr(X, "tocsr"):
        at = np.flatnonzero(np.isnan(X.data)) if X.dtype.kind == "f" else np.array([], np.int64)
        return np.unique(np.searchsorted(X.indptr, at, side="right") - 1), np.unique(X.indices[at])
    if X.dtype.kind != "f":
        return np.array([], np.int64), np.array([], np.int64)
    rows, columns = [], np.zeros(X.shape[1], bool)
    for start, stop in blocks(X):
        gaps = np.isnan(X[start:stop])
        if gaps.any():
            rows.append(start + np.flatnonzero(gaps.any(axis=1)))
            columns |= gaps.any(axis=0)
    return np.concatenate(rows) if rows else np.array([], np.int64), np.flatnonzero(columns)


# ------------------------------------------------------------------------------------------------------------ filling


def learn_filling(table: Table, gaps: Gaps | None, how: str) -> Filling:
    """The mean or median of every column, and the most frequent text.

    A column with gaps uses all its values; a column without gaps, in case new rows have some, up to 10,000 rows.
    """
    words = {name: _most_frequent(values) for name, values in table.text.items()}
    X = table.X
    if hasattr(X, "tocsr"):
        return Filling(None, words)
    sample = np.asarray(X[sample_rows(X.shape[0], _FILL_ROWS, stream(0, "fill values"))], np.float64)
    with np.errstate(invalid="ignore", over="ignore"):  # infinite values are refused later
        numbers = np.median(sample, axis=0) if how == "median" else sample.mean(axis=0)
    for c in [] if gaps is None else gaps.columns:
        present = X[~np.isnan(X[:, c]), c]
        value = np.median(present) if how == "median" else present.mean(dtype=np.float64)
        numbers[c] = X.dtype.type(value)
    return Filling(numbers, words)


def _most_frequent(values: np.ndarray) -> str:
    found, counts = np.unique(values[values != ""], return_counts=True)
    return str(found[counts.argmax()]) if len(found) else ""


def treat_gaps(table: Table, gaps: Gaps, how: str, filling: Filling | None, *, min_rows: int = 1) -> None:
    """Refuse missing values, leave their rows out, or fill them in; refuse infinite ones."""
    if len(gaps.rows):
        if how == "refuse":
            refuse_gaps(table, gaps, _columns_with_gaps(table, gaps))
        elif how == "drop":
            _drop(table, gaps, min_rows)
        else:
            assert filling is not None
            _fill(table, gaps, filling)
            table.notes.append(f"Filled in the {how} for missing values in {len(gaps.rows)} rows")
    refuse_infinity(table)


def _columns_with_gaps(table: Table, gaps: Gaps) -> list[str]:
    names = [table.names[c] if table.names else str(c) for c in gaps.columns.tolist()]
    return names + [name for name, at in gaps.words.items() if len(at)]


def refuse_gaps(table: Table, gaps: Gaps, columns: list[str]) -> None:
    """Refuse missing values, and say where they are."""
    some = ", ".join(table.shown_row(int(r)) for r in gaps.rows[:3]) + (", ..." if len(gaps.rows) > 3 else "")
    names = in_short(columns)
    named = ", ".join(repr(clipped(name)) for name in names[:_SHOWN_WITH_GAPS])
    more = f" and {len(names) - _SHOWN_WITH_GAPS} more" if len(names) > _SHOWN_WITH_GAPS else ""
    raise InputError(
        f"{table.path} has missing values in {len(gaps.rows)} of {table.X.shape[0]} rows ({some}), in "
        f"column{'s' if len(columns) > 1 else ''} {named}{more}: add "
        'missing="median" or missing="mean" to fill them in, or missing="drop" to leave these rows out.'
    )


def _drop(table: Table, gaps: Gaps, min_rows: int) -> None:
    rows = np.setdiff1d(np.arange(table.X.shape[0]), gaps.rows)
    if len(rows) < min_rows:
        raise InputError(
            f'{table.path} has only {len(rows)} rows without missing values; use missing="median" to fill them in.'
        )
    table.keep_rows(rows)
    table.notes.append(f"Left out {len(gaps.rows)} rows with missing values")


def _fill(table: Table, gaps: Gaps, filling: Filling) -> None:
    if len(gaps.columns):
        if filling.numbers is None or hasattr(table.X, "tocsr"):
            raise InputError(
                f'{table.path} is sparse, and missing values in it cannot be filled in; use missing="drop".'
            )
        X = np.array(table.X)
        for c in gaps.columns:
            X[np.isnan(X[:, c]), c] = filling.numbers[c]
        table.X = X
    for name, at in gaps.words.items():
        table.text[name] = table.text[name].copy()
        table.text[name][at] = filling.words[name]


# ----------------------------------------------------------------------------------------------------------- infinity


def refuse_infinity(table: Table) -> None:
    """Refuse infinite values, and name the first."""
    place = _first_infinity(table.X) if table.X.dtype.kind == "f" else None
    if place is not None:
        row, column = place
        raise InputError(
            f"{table.path} has infinite values, first in column {table.shown_name(column)}, {table.shown_row(row)}; correct "
            "or leave out these rows."
        )


def _first_infinity(X: Any) -> tuple[int, int] | None:
    """The row and the column of the first infinite value."""
    if hasattr(X, "tocsr"):
        at = np.flatnonzero(np.isinf(X.data))
        return (int(np.searchsorted(X.indptr, at[0], side="right") - 1), int(X.indices[at[0]])) if len(at) else None
    for start, stop in blocks(X):
        bad = np.isinf(X[start:stop])
        if bad.any():
            row, column = np.argwhere(bad)[0]
            return start + int(row), int(column)
    return None
