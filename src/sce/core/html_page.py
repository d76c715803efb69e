"""Short pages of HTML for notebooks: a heading, a table, pictures.

Colours are those of the surroundings, so that pages are legible on light and on dark; without their style, as some sites show
them, they are plain tables. Everything from outside is escaped.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

_BORDER_LINE = "1px solid rgba(128, 128, 128, 0.35)"
_CELL = "text-align: left; vertical-align: top; padding: 0.15em 1.2em 0.15em 0; border: none; background: none"
_FAINT = "opacity: 0.7"


class Picture(NamedTuple):
    """A picture in a page: its address, its width in pixels of the page, what it shows, and a line beneath it."""

    address: str
    width: int
    meaning: str
    caption: str = ""
    marked: bool = False


def page(title: str, *parts: str) -> str:
    """A page with a heading."""
    return f'<div style="line-height: 1.4; max-width: 72em"><b>{html.escape(title)}</b>{"".join(parts)}</div>'


def facts(rows: Mapping[str, object]) -> str:
    """A table of names and values; those that are None are left out.

    Examples
    --------
    >>> "<i>" in facts({"source": "<i>.csv", "labels": None})
    False
    """
    return table([(name, str(value)) for name, value in rows.items() if value is not None])


def table(rows: Iterable[Sequence[str]], heads: Sequence[str] = ()) -> str:
    """A table of text; the first column is fainter unless there are headings."""
    first = "" if heads else f"; {_FAINT}"
    lines = []
    if heads:
        cells = "".join(
            f'<th style="{_CELL}; {_FAINT}; font-weight: normal">{html.escape(head)}</th>' for head in heads
        )
        lines.append(f'<tr style="background: none; border-bottom: {_BORDER_LINE}">{cells}</tr>')
    for name, *values in rows:
        cells = f'<td style="{_CELL}; white-space: nowrap{first}">{html.escape(name)}</td>'
        cells += "".join(f'<td style="{_CELL}">{html.escape(value)}</td>' for value in values)
        lines.append(f'<tr style="background: none">{cells}</tr>')
    return f'<table style="border: none; margin: 0.3em 0; border-collapse: collapse">{"".join(lines)}</table>'


def beside(picture: Picture, *parts: str) -> str:
    """A picture, and other parts to the right of it."""
    return (
        '<div style="display: flex; gap: 1.5em; align-items: flex-start; flex-wrap: wrap; margin-top: 0.4em">'
        f"{_image(picture)}<div>{''.join(parts)}</div></div>"
    )


def strip(pictures: Iterable[Picture]) -> str:
    """Pictures in a row, with their captions."""
    shown = "".join(
        f'<div style="text-align: center; font-size: 85%">{_image(picture)}<div style="{"" if picture.marked else _FAINT}">'
        f"{'<b>' if picture.marked else ''}{html.escape(picture.caption)}{'</b>' if picture.marked else ''}</div></div>"
        for picture in pictures
    )
    return f'<div style="display: flex; gap: 0.6em; flex-wrap: wrap; margin: 0.4em 0">{shown}</div>'


def sentences(lines: Iterable[str]) -> str:
    """A paragraph."""
    return f'<p style="margin: 0.3em 0">{html.escape(" ".join(lines))}</p>'


def _image(picture: Picture) -> str:
    frame = "2px solid currentColor" if picture.marked else _BORDER_LINE
    return (
        f'<img src="{picture.address}" alt="{html.escape(picture.meaning)}" width="{picture.width}" '
        f'style="border: {frame}; border-radius: 4px; margin: 0; display: inline-block; max-width: none"/>'
    )
