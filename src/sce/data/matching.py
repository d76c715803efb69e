"""The columns of new rows, by the names that they had in the table to which a preparation was fitted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sce.core.missing import as_text
from sce.data.roles import as_numbers
from sce.data.source import hint_at
from sce.data.table import Table
from sce.errors import InputError


def match_columns(table: Table, names: list[str] | None, n_columns: int, text: list[str]) -> Table:
    """A copy of the table with these columns of numbers, in this order, and these columns of text.

    A column may also be among the labels, ids or extras, because in other rows it was recognised as such. Where the columns
    have no names, their number must be the same.
    """
    table = replace(table, text=dict(table.text), notes=list(table.notes))
    if names is None:
        if table.X.shape[1] != n_columns:
            raise InputError(
                f"{table.path} has {table.X.shape[1]} columns, but the preparation was fitted to {n_columns}; give the "
                "same columns."
            )
        return table
    if table.names is None:  # a matrix, of which the fit used some columns
        table.names = [str(place) for place in range(table.X.shape[1])]
    _refuse_missing(table, [*names, *text])
    words = {name: _words(table, name) for name in text}
    if table.names != names:
        _pick_numbers(table, names)
    table.text = words
    return table


def _column(table: Table, name: str) -> np.ndarray | None:
    """The values of a column, whatever its role."""
    if table.labels is not None and name == table.label_name:
        return table.labels
    if table.ids is not None and name == table.id_name:
        return table.ids
    return table.look_up(name)


def _refuse_missing(table: Table, names: list[str]) -> None:
    known = {*(table.names or []), *table.text, *table.extra, table.label_name, table.id_name}
    missing = [name for name in names if name not in known]
    if missing:
        shown = ", ".join(map(repr, missing[:3])) + (", ..." if len(missing) > 3 else "")
        hint = hint_at(missing[0], [*(table.names or []), *table.text, *table.extra], len(table.names or []))
        raise InputError(
            f"{table.path} lacks {len(missing)} of the {len(names)} columns to which the preparation was fitted ({shown}); "
            f"{hint}"
        )


def _words(table: Table, name: str) -> np.ndarray:
    """A column of text; numbers are written as text."""
    values = _column(table, name)
    assert values is not None
    if values.dtype.kind == "f":
        values = np.array([int(value) if value % 1 == 0 else value for value in values.tolist()], object)
    return as_text(values)


def _pick_numbers(table: Table, names: list[str]) -> None:
    """Put the columns of these names into X, in this order."""
    own = {name: place for place, name in enumerate(table.names or [])}
    if all(name in own for name in names):
        table.X = table.X[:, [own[name] for name in names]]
    else:
        columns = [_numbers(table, name) for name in names]
        table.X = np.stack(columns, axis=1) if columns else np.empty((table.X.shape[0], 0))
    table.names = list(names)


def _numbers(table: Table, name: str) -> np.ndarray:
    """A column of numbers; text is refused."""
    values = _column(table, name)
    assert values is not None
    numbers = as_numbers(values)
    if numbers is None:
        raise InputError(
            f"Column {name!r} of {table.path} holds text, but it held numbers when the preparation was fitted; give the same "
            "columns."
        )
    return numbers
