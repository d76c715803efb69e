"""A map as a page in one file, that opens from disk and needs no network: points, ids, labels, columns, thumbnails."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from sce.core.write import atomic, check_writable
from sce.explore.point_columns import cells, column_parts, read_content
from sce.explore.session import Session
from sce.web.join import join_modules
from sce.web.one_page import page
from sce.web.packing import pack, quantize

_FOLDERS = ("sce.web", "sce.explore")  # whose static files make the page


def write_html(session: Session, path: str | Path, *, thumbnails: bool = False) -> Path:
    """Write a page with a map, whole or not at all.

    Parameters
    ----------
    session : Session
        The map; its label, and the columns that were asked for, go into the page.
    path : str or Path
        The name of the page, ending in .html.
    thumbnails : bool
        Whether images of the rows go into the page, too: as many bytes as pixels, before compression.
    """
    path = check_writable(path, (".html",), [session.path])
    sources = read_sources()
    scripts = {name: text for name, text in sources.items() if name.endswith(".js")}
    made = page(
        sources["index.html"], join_modules(scripts, "main.js"), sources["style.css"], _data(session, thumbnails)
    )
    with atomic(path) as file:
        file.write(made.encode())
    return path


def read_sources() -> dict[str, str]:
    """The files of the page by name: modules, the page itself, its style."""
    found = {}
    for folder in _FOLDERS:
        for file in files(folder).joinpath("static").iterdir():
            found[file.name] = file.read_text(encoding="utf-8")
    return found


def _data(session: Session, thumbnails: bool) -> bytes:
    """Everything that the page shows, in one container."""
    arrays: dict[str, np.ndarray] = {}
    places = []
    for k in range(session.n_frames):
        arrays[f"xy{k}"], low, step = quantize(session.coordinates(k))
        places.append({"n": session.n, "dims": session.dims, "low": low.tolist(), "step": step})
    listed, columns = [], []
    for column in session.columns.values():
        if column.kind == "text":
            continue
        facts, parts = column_parts(read_content(column))
        arrays |= {f"{name}{len(columns)}": values for name, values in parts.items()}
        columns.append({"name": column.name, **facts})
        listed.append(column.facts())
    images = session.attached.images if thumbnails else None
    if images is not None:
        arrays["thumbnails"] = images.pixels(np.arange(session.n))
    about = {**session.about(), "notes": []}
    has = {"data": False, "graph": False, "thumbnails": about["has"]["thumbnails"] if images is not None else None}
    meta: dict[str, Any] = {
        "about": {**about, "columns": listed, "has": has},
        "points": places,
        "columns": columns,
        "ids": None if session.ids_are_rows else [str(each) for each in cells(session.result.ids)],
    }
    return pack(meta, arrays)
