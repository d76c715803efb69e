"""Find rows by a text: by id first, then by number, by label and by columns of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sce.core.missing import as_text
from sce.data.labels import Classes
from sce.explore.point_columns import PointColumn, cell, read_content
from sce.explore.session import Session

_ROWS_SEARCHED_AT_ONCE = 50_000
_SEARCHED_KINDS = ("classes", "text")


def search(session: Session, query: str, limit: int) -> dict[str, Any]:
    """Up to `limit` rows in which the query occurs, in capitals or not, and whether there are more.

    A row whose id is the query comes first, then the row of that number, then ids that hold the query, labels and other text.
    """
    found: dict[int, str] = {}
    for row, where in _hits(session, " ".join(query.split())):
        if row not in found:
            if len(found) == limit:
                return {"found": _listed(session, found), "more": True}
            found[row] = where
    return {"found": _listed(session, found), "more": False}


def _listed(session: Session, found: dict[int, str]) -> list[dict[str, Any]]:
    ids = session.result.ids
    return [
        {"row": row, "id": cell(ids[row].item() if hasattr(ids[row], "item") else ids[row]), "text": text}
        for row, text in found.items()
    ]


def _hits(session: Session, query: str) -> Iterator[tuple[int, str]]:
    """(row, where it was found), the best first; a row may come several times."""
    ids = session.result.ids
    yield from ((row, "") for row in _equal_ids(ids, query))
    if query.isascii() and query.isdigit() and len(query) < 12 and int(query) < session.n:
        yield int(query), f"row {int(query)}"
    if ids.dtype.kind not in "iu":
        yield from ((row, "") for row, _ in _containing(lambda part: ids[part], session.n, query))
    for name, column in session.columns.items():
        if column.kind in _SEARCHED_KINDS:
            yield from ((row, f"{name}: {cell(text)}") for row, text in _in_column(column, session.n, query))


def _equal_ids(ids: np.ndarray, query: str) -> list[int]:
    if ids.dtype.kind in "iu":
        digits = query.removeprefix("-")
        is_number = digits.isascii() and digits.isdigit() and len(digits) < 19
        return np.flatnonzero(ids == int(query)).tolist() if is_number else []
    return np.flatnonzero(ids == query).tolist()


def _in_column(column: PointColumn, n: int, query: str) -> Iterator[tuple[int, str]]:
    """Rows whose class, or text, holds the query."""
    if column.kind == "text":
        yield from _containing(column.take, n, query)
        return
    content = read_content(column)
    assert isinstance(content, Classes)
    meant = [code for code, name in enumerate(content.names) if query.casefold() in name.casefold()]
    if meant:
        for row in np.flatnonzero(np.isin(content.codes, meant)).tolist():
            yield row, content.names[content.codes[row]]


def _containing(take: Any, n: int, query: str) -> Iterator[tuple[int, str]]:
    """Rows whose text holds the query, in blocks, so that the search ends early."""
    sought = query.casefold()
    for start in range(0, n, _ROWS_SEARCHED_AT_ONCE):
        texts = as_text(take(slice(start, start + _ROWS_SEARCHED_AT_ONCE)))
        for place, text in enumerate(texts.tolist()):
            if sought in text.casefold():
                yield start + place, text
