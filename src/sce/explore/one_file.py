"""A map as a page in one file, that opens from disk and needs no network: points, ids, labels, columns, thumbnails."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from sce.core.write import atomic, check_writable
from sce.data.labels import Classes
from sce.errors import InputError
from sce.explore.near import NEIGHBORS_SHOWN, near_every_row
from sce.explore.point_columns import cells, column_parts, read_content
from sce.explore.session import Session
from sce.web.join import join_modules
from sce.web.one_page import page
from sce.web.packing import pack, quantize

NAMED_CLUSTERS = "named clusters"
_FOLDERS = ("sce.web", "sce.explore")  # whose static files make the page


def write_html(
    session: Session,
    path: str | Path,
    *,
    columns: bool = False,
    thumbnails: bool = False,
    neighbors: bool = False,
) -> Path:
    """Write a page with a map, whole or not at all.

    Parameters
    ----------
    session : Session
        The map; its ids, labels and named clusters go into the page.
    path : str or Path
        The name of the page, ending in .html.
    columns : bool
        Whether the columns of the session go into the page, too.
    thumbnails : bool
        Whether images of the rows do: as many bytes as pixels, before compression.
    neighbors : bool
        Whether the nearest rows in the data, or in the graph, do: 60 bytes a row, before compression.
    """
    if neighbors and session.X is None and not session.has_graph:
        raise InputError(
            f"{session.path} holds neither the data nor the graph, which neighbours are found in; name the data with data=."
        )
    path = check_writable(path, (".html",), [session.path])
    sources = read_sources()
    scripts = {name: text for name, text in sources.items() if name.endswith(".js")}
    data = _data(session, columns=columns, thumbnails=thumbnails, neighbors=neighbors)
    made = page(sources["index.html"], join_modules(scripts, "main.js"), sources["style.css"], data)
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


def _data(session: Session, *, columns: bool, thumbnails: bool, neighbors: bool) -> bytes:
    """Everything that the page shows, in one container."""
    arrays: dict[str, np.ndarray] = {}
    places = []
    for k in range(session.n_frames):
        arrays[f"xy{k}"], low, step = quantize(session.places(k))
        places.append({"n": session.n, "dims": session.dims, "low": low.tolist(), "step": step})
    packed = _columns(session, every=columns)
    for k, (_, parts) in enumerate(packed):
        arrays |= {f"{name}{k}": values for name, values in parts.items()}
    images = session.attached.images if thumbnails else None
    if images is not None:
        arrays["thumbnails"] = images.pixels(np.arange(session.n))
    if neighbors:
        P = session.graph() if session.X is None else None
        arrays["near"] = near_every_row(session.X, P, session.metric, NEIGHBORS_SHOWN)
    about = session.about()
    listed = [{name: facts[name] for name in ("name", "kind", "role")} for facts, _ in packed]
    from_what = None if not neighbors else "graph" if session.X is None else "data"
    has = {
        "data": False,
        "graph": False,
        "neighbors": from_what,
        "thumbnails": about["has"]["thumbnails"] if images is not None else None,
    }
    ids = session.result.ids
    numbered = ids.dtype.kind in "iu" and np.array_equal(ids, np.arange(session.n))
    meta = {
        "about": {**about, "notes": [], "columns": listed, "has": has},
        "points": places,
        "columns": [facts for facts, _ in packed],
        "ids": None if numbered else [str(each) for each in cells(ids)],
    }
    return pack(meta, arrays)


def _columns(session: Session, *, every: bool) -> list[tuple[dict[str, Any], dict[str, np.ndarray]]]:
    """The label, the named clusters, and the other columns: what is told of each, and its arrays."""
    found = []
    for column in session.columns.values():
        if column.kind != "text" and (every or column.role == "label"):
            facts, arrays = column_parts(read_content(column))
            found.append(({**column.facts(), **facts}, arrays))
    document = session.keeper.document
    if document.clusters:
        names = [cluster.name for cluster in document.clusters]
        facts, arrays = column_parts(Classes(document.places(), names, "no cluster"))
        chosen = [cluster.color or usual for cluster, usual in zip(document.clusters, facts["colors"], strict=True)]
        told = {"name": NAMED_CLUSTERS, "role": "named", "colors": chosen, "dark_colors": chosen}
        found.append(({**facts, **told}, arrays))
    return found
