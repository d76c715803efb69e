"""Columns that cannot be embedded as they are: all of them in one message, with what to do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from sce.core.hints import alternatives, clipped
from sce.data.gaps import Gaps, refuse_gaps
from sce.data.table import Table
from sce.errors import InputError

MAX_CATEGORIES = 100  # different values of a column of text that becomes columns of 0 and 1
_SHOWN_VALUES = 3  # of a column of text, in a message
_SHOWN_OF_A_KIND = 8  # of a kind, in a message


class UnusableError(InputError):
    """Columns cannot be used as they are; with the parameter in `remedy`, the preparation finds a way."""

    remedy = "auto=True"


class _Kind(NamedTuple):
    """Columns with the same trouble."""

    what: str
    columns: dict[str, str]  # and something about each


def empty_columns(table: Table, gaps: Gaps | None) -> list[str]:
    """The columns without any value."""
    dense = not hasattr(table.X, "tocsr")
    places = [] if gaps is None else gaps.columns.tolist()
    names = [plain_name(table, c) for c in places if dense and np.isnan(table.X[:, c]).all()]
    return names + [name for name, values in table.text.items() if (values == "").all()]


def plain_name(table: Table, column: int) -> str:
    """The name of a column of X, or its number."""
    return table.names[column] if table.names else str(column)


def refuse_unusable(table: Table, gaps: Gaps | None, *, missing: str, one_hot: bool) -> None:
    """Refuse columns of text and of missing values that the preparation does nothing about."""
    empty = empty_columns(table, gaps)
    kinds = [_Kind("no values", dict.fromkeys(empty, "")), *_text_kinds(table, empty, one_hot=one_hot)]
    holes = _counts(table, gaps, empty) if missing == "refuse" and gaps is not None else {}
    if not any(kind.columns for kind in kinds):
        if holes:
            assert gaps is not None
            refuse_gaps(table, gaps, list(holes))
        return
    kinds.append(_Kind("missing values", {name: f"{count} rows" for name, count in holes.items()}))
    found = "; ".join(f"{kind.what} in {_listed(kind.columns)}" for kind in kinds if kind.columns)
    ways = alternatives(_ways(kinds, missing=missing, one_hot=one_hot))
    raise UnusableError(
        f"{table.path} has columns that cannot be used as they are: {found}. Add auto=True, which deals with them all, or "
        f"{ways}."
    )


def _text_kinds(table: Table, empty: list[str], *, one_hot: bool) -> list[_Kind]:
    """Columns of text: those of a few values, where they are not made numbers, and those of too many."""
    few: dict[str, str] = {}
    many: dict[str, str] = {}
    for name in table.text:
        if name in empty:
            continue
        distinct = np.unique(table.text[name][table.text[name] != ""])
        shown = ", ".join(clipped(value, 20) for value in distinct[:_SHOWN_VALUES])
        about = f"{len(distinct)} values: {shown}{', ...' if len(distinct) > _SHOWN_VALUES else ''}"
        if len(distinct) > MAX_CATEGORIES:
            many[name] = about
        elif not one_hot:
            few[name] = about
    if one_hot:
        return [_Kind(f"text of more than {MAX_CATEGORIES} different values", many)]
    return [_Kind("text", {name: {**few, **many}[name] for name in table.text if name in few or name in many})]


def _counts(table: Table, gaps: Gaps, empty: list[str]) -> dict[str, int]:
    """The number of missing values in each column that has some."""
    X = table.X
    dense = not hasattr(X, "tocsr")
    counts = {}
    for c in gaps.columns.tolist():
        column = X[:, c] if dense else X[:, [c]].data
        counts[plain_name(table, c)] = int(np.isnan(column).sum())
    counts |= {name: len(at) for name, at in gaps.words.items() if len(at)}
    return {name: count for name, count in counts.items() if name not in empty}


def _ways(kinds: list[_Kind], *, missing: str, one_hot: bool) -> Iterable[str]:
    """What may be done about each kind."""
    empty, text, holes = (list(kind.columns) for kind in kinds)
    few = [name for name in text if not one_hot and int(kinds[1].columns[name].split()[0]) <= MAX_CATEGORIES]
    if few:
        yield "one_hot=True for a column of 0 and 1 for each value of a text"
        yield f"labels={few[0]!r} to colour by it"
    if holes and missing == "refuse":
        yield 'missing="median" to fill in missing values'
        yield 'missing="drop" to leave their rows out'
    out = empty + text
    if out:
        yield f"drop={out[:_SHOWN_OF_A_KIND]!r}"


def _listed(columns: dict[str, str]) -> str:
    shown = [
        f"{clipped(name)!r}{f' ({about})' if about else ''}" for name, about in list(columns.items())[:_SHOWN_OF_A_KIND]
    ]
    more = len(columns) - len(shown)
    return ", ".join(shown) + (f" and {more} more columns" if more > 0 else "")
