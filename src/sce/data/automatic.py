"""A preparation that finds out what a table needs, and says what it does."""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.core.counting import DISTINCT_BY_CHANCE
from sce.core.hints import clipped
from sce.core.spreads import unequal_columns
from sce.data.gaps import blocks, find_gaps
from sce.data.roles import has_total
from sce.data.row_ids import is_sure_id_name, is_whole
from sce.data.table import Table
from sce.data.unusable import MAX_CATEGORIES, empty_columns, plain_name
from sce.errors import InputError

_MOST_MISSING = 0.5  # share of missing values above which a column is left out
_SHOWN_PER_REASON = 8  # that are left out for the same reason, in a note


def settle(table: Table, missing: str, normalize: str | None) -> dict[str, Any]:
    """Leave out the columns of a table that are of no use; returns options of a preparation that suit the others.

    Choices that were made already are not changed. Columns that were to be kept are in `table.kept`.
    """
    if has_total(table):
        table.keep_rows(np.arange(table.X.shape[0] - 1))
        table.notes = [note for note in table.notes if not note.startswith("The last row is the sum")]
        table.notes.append("Left out the last row, the sum of all others")
    reasons = _useless(table)
    _leave_out(table, {name: why for name, why in reasons.items() if name not in table.kept})
    if not table.X.shape[1] and not table.text:
        raise InputError(f"{table.path} has no column that can be embedded; choose some with columns= or keep=.")
    if normalize is None and not hasattr(table.X, "tocsr") and (table.text or unequal_columns(table.X)):
        normalize = "standard"
    return {
        "missing": "median" if missing == "refuse" else missing,
        "one_hot": bool(table.text),
        "normalize": normalize or "none",
    }


def _useless(table: Table) -> dict[str, str]:
    """The columns that are of no use, and why."""
    gaps = find_gaps(table)
    n = table.X.shape[0]
    reasons = dict.fromkeys(empty_columns(table, gaps), "no values")
    for name, values in table.text.items():
        present = values[values != ""]
        distinct = len(np.unique(present))
        if name in reasons:
            continue
        if len(present) < (1 - _MOST_MISSING) * n:
            reasons[name] = "mostly missing"
        elif distinct > MAX_CATEGORIES or (distinct > len(present) / 2 and distinct > DISTINCT_BY_CHANCE):
            reasons[name] = "text that is different in most rows" if distinct > n / 2 else "text of too many values"
        elif distinct == 1:
            reasons[name] = "the same everywhere"
    if hasattr(table.X, "tocsr"):
        return reasons
    for c in _constant(table.X):
        reasons.setdefault(plain_name(table, c), "the same everywhere")
    for c in [] if gaps is None else gaps.columns.tolist():
        if np.isnan(table.X[:, c]).mean() > _MOST_MISSING:
            reasons.setdefault(plain_name(table, c), "mostly missing")
    for place, name in enumerate(table.names or []):
        if is_sure_id_name(name) and is_whole(table.X[:, place]):
            reasons.setdefault(name, "ids by their names")
    return reasons


def _constant(X: np.ndarray) -> list[int]:
    """The columns that hold a single number, besides gaps."""
    low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    for start, stop in blocks(X):
        part = np.asarray(X[start:stop], np.float64)
        np.fmin(low, np.fmin.reduce(part, axis=0), out=low)
        np.fmax(high, np.fmax.reduce(part, axis=0), out=high)
    return np.flatnonzero(low == high).tolist() if X.shape[0] > 1 else []


def _leave_out(table: Table, reasons: dict[str, str]) -> None:
    """Make columns extras, and say why."""
    if not reasons:
        return
    if table.names is None:
        table.names = [str(place) for place in range(table.X.shape[1])]
    keep = [place for place, name in enumerate(table.names) if name not in reasons]
    moved = {name: table.text.pop(name) for name in list(table.text) if name in reasons}
    if len(keep) < len(table.names):
        moved |= {name: table.X[:, place] for place, name in enumerate(table.names) if name in reasons}
        table.X, table.names = table.X[:, keep], [table.names[place] for place in keep]
    table.extra = table.extra.with_columns(moved)
    for why in dict.fromkeys(reasons.values()):
        names = [name for name in reasons if reasons[name] == why]
        shown = ", ".join(clipped(name) for name in names[:_SHOWN_PER_REASON])
        more = f" and {len(names) - _SHOWN_PER_REASON} more" if len(names) > _SHOWN_PER_REASON else ""
        table.notes.append(f"Left out ({why}): {shown}{more}")
