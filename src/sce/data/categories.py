"""Columns of text as columns of 0 and 1, one for each value."""

from __future__ import annotations

import numpy as np

from sce.core.hints import clipped
from sce.data.table import Table
from sce.errors import InputError


def learn_categories(table: Table) -> dict[str, list[str]]:
    """The values of each column of text, in order."""
    return {name: [str(value) for value in np.unique(values)] for name, values in table.text.items()}


def apply_one_hot(table: Table, categories: dict[str, list[str]]) -> None:
    """Replace each column of text by a column of 0 and 1 for each of its values."""
    names, columns = [], []
    for name, values in table.text.items():
        _refuse_unknown(table, name, values, categories[name])
        for value in categories[name]:
            columns.append(values == value)
            names.append(f"{name}={value}")
    made = np.stack(columns, axis=1)
    table.add_columns(names, made.astype(np.float64) if hasattr(table.X, "tocsr") else made)
    table.notes.append(f"Columns of text as {len(columns)} columns of 0 and 1: {', '.join(table.text)}")
    table.text = {}


def _refuse_unknown(table: Table, name: str, values: np.ndarray, known: list[str]) -> None:
    """Refuse a value that did not occur in the rows from which the categories were learned."""
    unknown = set(values.tolist()) - set(known)
    if unknown:
        row = next(row for row, value in enumerate(values) if value in unknown)
        listed = ", ".join(map(clipped, known[:5])) + (", ..." if len(known) > 5 else "")
        raise InputError(
            f"Column {name!r} of {table.path} holds {clipped(values[row])!r} in {table.shown_row(row)}, which did not occur "
            f"when the preparation was fitted ({listed}); leave out these rows, or fit again with them."
        )
