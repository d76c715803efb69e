"""The report: one self-contained HTML page with the figures and tables of all data sets of a folder."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from sce.compare.columns import Column, best, groups, is_best, present, shown
from sce.compare.store import COMPARISON, Row, Status, Store, write_text
from sce.compare.tables import write_tables

_PAGE_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #111; background: #fff; max-width: 62rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; border-top: 1px solid #ccc; padding-top: 1rem; }
h3 { font-size: 1rem; margin-bottom: .3rem; }
img { max-width: 100%; height: auto; display: block; margin: 1rem auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; }
th, td { padding: .2rem .6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid #ddd; }
th { vertical-align: bottom; border-bottom: 2px solid #888; font-weight: 600; }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; }
th:first-child, td:first-child { position: sticky; left: 0; background: #fff; }
tr.own td { border-top: 2px solid #bbb; }
dl { font-size: .85rem; columns: 24rem 2; column-gap: 2rem; } dt { break-after: avoid; } dd { break-inside: avoid; }
dt { font-weight: 600; } dd { margin: 0 0 .3rem 1rem; }
.small { font-size: .85rem; color: #444; }
@media (max-width: 40rem) {
  body { font-size: 15px; padding: .6rem; } th, td { padding: .2rem .4rem; }
  th:first-child, td:first-child { white-space: normal; max-width: 8rem; }
}
@media print {
  @page { size: A4; margin: 15mm; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .scroll { overflow: visible; } table { font-size: 7.5pt; page-break-inside: avoid; }
  th, td { padding: .1rem .3rem; white-space: normal; }
  h2 { page-break-before: always; border: 0; } h2.first { page-break-before: auto; } h3 { page-break-after: avoid; }
  img { max-height: 230mm; page-break-inside: avoid; }
}
"""


def write_report(folder: str | Path) -> Path:
    """Write report.html, table.csv, table.json and table.md from the comparisons in a folder.

    Returns
    -------
    path : Path
        The report.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_report(folder).name)
    report.html
    """
    folder = Path(folder)
    stores = [Store(folder, path.parent.name) for path in sorted(folder.glob(f"*/{COMPARISON}"))]
    write_tables(folder, stores)
    sections = [_section(folder, store, first=k == 0) for k, store in enumerate(stores)]
    path = folder / "report.html"
    write_text(path, _page(sections, [row for store in stores for row in store.rows()]))
    return path


def _page(sections: Sequence[str], rows: Sequence[Row]) -> str:
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>A comparison of maps</title><style>{_PAGE_STYLE}</style></head><body>",
            "<h1>A comparison of maps</h1>",
            _INTRODUCTION,
            *sections,
            _meanings(rows),
            _methods(rows),
            "</body></html>",
            "",
        ]
    )


_INTRODUCTION = """<p>Each panel is one method's map of the same data: black points, with the known labels as colours in the
small inset if there are any, and the seconds of the fit in the title. Methods <em>on P</em> all received the same similarity
graph; methods on <em>vectors</em> received the data and built their own graph, with their own defaults. In the tables the best
value of each column is <b>bold</b>; a number in brackets is the value for a random relabelling with the same cluster sizes: the
further the figure is from it, the more the clusters are in P.</p>"""


# ------------------------------------------------------------------------------------------------------------- data sets


def _section(folder: Path, store: Store, *, first: bool) -> str:
    facts, rows = store.read_comparison(), store.rows()
    parts = [f'<h2{" class=first" if first else ""} id="{escape(store.name)}">{escape(store.name)}</h2>', _data(facts)]
    for name, words in (
        (f"{store.name}.png", f"Maps of {store.name} by {len(rows)} methods"),
        (f"{store.name}-blocks.png", f"P of {store.name}, ordered by the clusters on the maps"),
    ):
        parts += [_image(folder / name, words)] if (folder / name).is_file() else []
    for group in groups():
        columns = present(group, rows)
        if columns:
            parts.append(f"<h3>{escape(group.title)}</h3>{_table(columns, rows)}")
    left = [row for row in rows if row.status != Status.DONE]
    if left:
        items = "".join(f"<li>{escape(row.title)}: {escape(row.status)}, {escape(row.reason)}</li>" for row in left)
        parts.append(f"<h3>Without a map</h3><ul class=small>{items}</ul>")
    notes = [f"{row.title}: {row.facts['not_assessed']}" for row in rows if "not_assessed" in row.facts]
    parts += [f"<p class=small>Not assessed: {escape('; '.join(notes))}</p>"] if notes else []
    return "\n".join(parts)


def _data(facts: dict[str, Any]) -> str:
    """A paragraph on the data, P, and the machine."""
    graph = facts.get("graph", {})
    options = graph.get("options", {})
    columns = f", {facts['columns']:,} columns" if facts.get("columns") else ""
    classes = f", {facts['classes']} classes" if facts.get("classes") else ""
    made = ", ".join(str(value) if name == "affinity" else f"{name} {_plain(value)}" for name, value in options.items())
    recall = graph.get("neighbor_recall")
    found = f"; neighbours by {graph['neighbors_method']}, recall {recall:.3f}" if recall is not None else ""
    sentences = [
        f"{facts['source'] + ': ' if facts.get('source') else ''}{facts.get('points', 0):,} points{columns}{classes}.",
        f"P: {made}, {graph.get('edges', 0):,} edges{found}; built in {graph.get('seconds', 0):.1f} s, which the times of "
        "methods on P do not include.",
        f"{facts.get('n_jobs')} threads per method, seed {facts.get('seed')}, time limit {facts.get('time_limit', 0):g} s.",
        f"{facts.get('machine', '')}.",
    ]
    text = " ".join(sentences)
    return f"<p class=small>{escape(text)}</p>"


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _image(path: Path, words: str) -> str:
    content = base64.b64encode(path.read_bytes()).decode("ascii")
    return f'<img alt="{escape(words)}" src="data:image/png;base64,{content}">'


def _table(columns: Sequence[Column], rows: Sequence[Row]) -> str:
    head = "".join(f'<th title="{escape(column.meaning)}">{escape(column.title)}</th>' for column in columns)
    tops = [best(column, rows) for column in columns]
    lines, before = [], None
    for row in rows:
        if row.status != Status.DONE:
            continue
        cells = "".join(_cell(column, row, top) for column, top in zip(columns, tops, strict=True))
        kind = " class=own" if before == "graph" and row.takes == "vectors" else ""
        on = "P" if row.takes == "graph" else "vectors"
        lines.append(f"<tr{kind}><td>{escape(row.title)}</td><td>{on}</td>{cells}</tr>")
        before = row.takes
    head = f"<thead><tr><th>method</th><th>on</th>{head}</tr></thead>"
    return f"<div class=scroll><table>{head}<tbody>{''.join(lines)}</tbody></table></div>"


def _cell(column: Column, row: Row, top: str | None) -> str:
    text, bracket, null = shown(column, row).partition(" (")
    text = f"<b>{escape(text)}</b>" if is_best(column, row, top) else escape(text)
    return f"<td>{text}{escape(bracket + null)}</td>"


# ------------------------------------------------------------------------------------------------------------ at the end


def _meanings(rows: Sequence[Row]) -> str:
    """What each column means."""
    columns = [column for group in groups() for column in present(group, rows)]
    items = "".join(f"<dt>{escape(column.title)}</dt><dd>{escape(column.meaning)}</dd>" for column in columns)
    return f"<h2>What the figures mean</h2><dl>{items}</dl>" if items else ""


def _methods(rows: Sequence[Row]) -> str:
    """A description of each method, with its version."""
    seen: dict[str, str] = {}
    for row in rows:
        versions = ", ".join(f"{name} {version}" for name, version in row.facts.get("versions", {}).items())
        on = "on P" if row.takes == "graph" else "on the vectors"
        if row.title not in seen or versions:
            seen[row.title] = f"{row.about}, {on}{f' ({versions})' if versions else ''}"
    items = "".join(f"<dt>{escape(title)}</dt><dd>{escape(text)}</dd>" for title, text in seen.items())
    return f"<h2>The methods</h2><dl>{items}</dl>" if items else ""
