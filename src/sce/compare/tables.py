"""The table of results as CSV, JSON and Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sce.compare.columns import best, groups, is_best, present, shown
from sce.compare.store import Row, Status, Store, write_json, write_text

_LEADING_COLUMNS = ("data", "method", "title", "takes", "status", "reason", "versions")


def write_tables(folder: Path, stores: Sequence[Store]) -> None:
    """table.csv, table.json and table.md, with the rows of all data sets."""
    every = [(store, store.rows()) for store in stores]
    records = [record(store.name, row) for store, rows in every for row in rows]
    write_text(folder / "table.csv", _csv(records))
    write_json(folder / "table.json", records)
    write_text(folder / "table.md", "\n".join(markdown(store.name, rows) for store, rows in every))


def record(name: str, row: Row) -> dict[str, Any]:
    """A row with all its numbers, as a flat dictionary."""
    first = dict(
        zip(
            _LEADING_COLUMNS,
            (name, row.method, row.title, row.takes, row.status, row.reason, _versions(row)),
            strict=True,
        )
    )
    return {**first, **(row.values if row.status == Status.DONE else {})}


def markdown(name: str, rows: Sequence[Row]) -> str:
    """A table for each question, with the best value of each column in bold.

    Examples
    --------
    >>> rows = [Row("a", "A", "graph", "", facts={"seconds": 2.0}), Row("b", "B", "graph", "", "failed", "no memory")]
    >>> print(markdown("noise", rows).splitlines()[6])
    | A | P | 2.0 |
    """
    lines = [f"## {name}", ""]
    for group in groups():
        columns = present(group, rows)
        if not columns:
            continue
        tops = [best(column, rows) for column in columns]
        lines += [f"{group.title}", "", f"| method | on | {' | '.join(column.title for column in columns)} |"]
        lines += [f"|---|---|{'---|' * len(columns)}"]
        for row in rows:
            if row.status != Status.DONE:
                continue
            cells = [
                f"**{shown(column, row)}**" if is_best(column, row, top) else shown(column, row)
                for column, top in zip(columns, tops, strict=True)
            ]
            lines.append(f"| {row.title} | {'P' if row.takes == 'graph' else 'vectors'} | {' | '.join(cells)} |")
        lines.append("")
    lines += [f"- {row.title}: {row.status}, {row.reason}" for row in rows if row.status != Status.DONE]
    return "\n".join([*lines, ""])


def _versions(row: Row) -> str:
    versions = row.facts.get("versions", {})
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _csv(records: Sequence[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(name for one in records for name in one))
    text = io.StringIO()
    writer = csv.DictWriter(text, names or _LEADING_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()
