"""How the quality of a map looks in notebooks: the story, then a table of the figures with their meanings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sce.core.html_page import page, sentences, table


def quality_page(quality: Any, meanings: Mapping[str, str]) -> str:
    """The page of whatever has figures, and perhaps a story and a list of what is missing."""
    figures = quality.figures()
    rows = []
    for name, value in figures.items():
        if name.endswith("_null"):
            continue
        null = figures.get(f"{name}_null")
        rows.append((name, f"{value:.4g}", "" if null is None else f"{null:.3g}", meanings.get(name, "")))
    told = quality.story() if hasattr(quality, "story") else []
    with_nulls = any(row[2] for row in rows)
    heads = ("figure", "value", "if relabelled", "meaning") if with_nulls else ("figure", "value", "meaning")
    shown = rows if with_nulls else [(name, value, meaning) for name, value, _, meaning in rows]
    parts = [sentences([line]) for line in told]
    return page(
        "Quality of the map", *parts, table(shown, heads), sentences(quality.missing) if quality.missing else ""
    )
