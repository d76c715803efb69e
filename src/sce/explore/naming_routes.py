"""The routes of named clusters: see them, change them, describe them, take them along."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sce.explore import exports
from sce.explore.describe import alone_in_graph, describe_rows, in_graph
from sce.explore.document import Document
from sce.explore.keeper import Keeper, StaleError
from sce.explore.operations import NamingError
from sce.explore.quality_routes import found_labels, found_names
from sce.explore.requests import RequestError, read_json, rows_of_bitmap, whole_number
from sce.explore.routes import binary, chosen_frame, session_of
from sce.explore.session import Session
from sce.quality import clusters_in_graph
from sce.web.packing import pack


def told(keeper: Keeper, document: Document) -> dict[str, Any]:
    """The named clusters as the page lists them."""
    sizes = document.sizes().tolist()
    clusters = [
        {"id": each.id, "name": each.name, "color": each.color, "size": size, "made": each.made}
        for each, size in zip(document.clusters, sizes, strict=True)
    ]
    return {
        "revision": document.revision,
        "writable": keeper.writable,
        "undo": document.past is not None,
        "redo": document.future is not None,
        "clusters": clusters,
        "note": keeper.note,
        "file": keeper.path.name,
    }


async def naming(request: Request) -> Response:
    """The named clusters, and that of each point."""
    keeper = session_of(request).keeper
    document = await run_in_threadpool(keeper.refreshed)
    codes = (document.places() + 1).astype(np.min_scalar_type(len(document.clusters)))
    return binary(pack(told(keeper, document), {"codes": codes}))


async def change(request: Request) -> Response:
    """Do an operation; the answer comes when it is on the disk."""
    session = session_of(request)
    keeper = session.keeper
    body = await read_json(request, session.n)
    if not keeper.writable:
        raise RequestError(keeper.note, 423)
    op = body.get("op")
    if not isinstance(op, dict):
        raise RequestError("op must be an object with a kind.")
    op = {key: value for key, value in op.items() if key != "clusters"}
    if "rows" in op:
        op["rows"] = rows_of_bitmap(op["rows"], session.n)
    if op.get("kind") == "start_from_found":
        op |= await _found_as_clusters(session, op.get("frame"))
    try:
        document = await run_in_threadpool(keeper.submit, body.get("base"), op)
    except StaleError as error:
        raise RequestError(str(error), 409, **told(keeper, keeper.document)) from None
    return JSONResponse(told(keeper, document))


async def _found_as_clusters(session: Session, frame: Any) -> dict[str, Any]:
    """The clusters in the picture of a frame, as the operation takes them."""
    frame = session.first_frame if frame is None else frame
    if type(frame) is not int or not 0 <= frame < session.n_frames:
        raise NamingError(f"frame must be a number from 0 to {session.n_frames - 1}.")
    labels = await found_labels(session, frame)
    clusters = [{"name": name, "rows": np.flatnonzero(labels == k)} for k, name in enumerate(found_names(labels))]
    return {"frame": frame, "clusters": clusters}


async def describe(request: Request) -> Response:
    """What a cluster, or a selection, is; without what the graph says where the body has "graph": false."""
    session = session_of(request)
    body = await read_json(request, session.n)
    document = session.keeper.document
    if "cluster" in body:
        cluster = document.find(body["cluster"])
        rows, code = document.rows(cluster.id), document.clusters.index(cluster)
        labels, names = document.places(), [each.name for each in document.clusters]
    else:
        rows = rows_of_bitmap(body.get("rows"), session.n)
        if not len(rows):
            raise RequestError("Nothing is selected.")
        code, names = len(document.clusters), [*(each.name for each in document.clusters), "the selection"]
        labels = document.places()
        labels[rows] = code
    P = await run_in_threadpool(session.graph) if body.get("graph", True) else None
    graph = None
    if P is not None:
        key = "Comparing the clusters with the graph"
        every = await session.heavy.result((key, "every", _digest(labels)), clusters_in_graph, P, labels)
        alone = await session.heavy.result((key, "alone", _digest(rows)), alone_in_graph, P, rows)
        graph = in_graph(alone, every, code, names)
    found = await run_in_threadpool(describe_rows, session, rows)
    return JSONResponse({**found, "graph": graph})


def _digest(array: np.ndarray) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(array).tobytes(), digest_size=16).digest()


async def export(request: Request) -> Response:
    """A file to take along: of the named clusters, or of the rows in the body."""
    session = session_of(request)
    what, form = (request.query_params.get(name, "") for name in ("what", "format"))
    if request.method == "POST":
        body = await read_json(request, session.n)
        exports.check_form("rows", str(body.get("format", "csv")))
        rows = rows_of_bitmap(body.get("rows"), session.n)
        content = await run_in_threadpool(exports.row_table, session, rows, form := str(body.get("format", "csv")))
        return _download(session, "rows", form, content)
    exports.check_form(what, form)
    frame, document = chosen_frame(request, session), session.keeper.document
    if what == "labels":
        content = await run_in_threadpool(exports.label_table, session, document, frame, form)
    elif what == "map":
        content = await run_in_threadpool(exports.map_file, session, document, frame)
    elif what == "rows":
        cluster = document.find(whole_number(request, "cluster", -1, 0, 1 << 31))
        content = await run_in_threadpool(exports.row_table, session, document.rows(cluster.id), form)
    else:
        content = await _figures(session, document, frame)
    return _download(session, what, form, content)


async def _figures(session: Session, document: Document, frame: int) -> bytes:
    """The figures of quality, computed once for each set of clusters."""
    P = await run_in_threadpool(session.graph)
    labels, Y = document.places(), session.coordinates(frame)
    given = (session.path.name, Y, session.X, P, labels, session.result.labels, session.metric)
    key = ("Measuring the quality of the map", frame, _digest(labels))
    return bytes(await session.heavy.result(key, exports.figures_file, *given))


def _download(session: Session, what: str, form: str, content: bytes) -> Response:
    """A file for the browser to save."""
    stem = Path(session.path.name).name.removesuffix(".npz")
    name = f"{stem}.named.npz" if form == "npz" else f"{stem}.{what}.{form}"
    plain = "".join(each if each.isascii() and (each.isalnum() or each in "._- ") else "_" for each in name)
    headers = {"Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"}
    return Response(content, media_type=exports.DOWNLOAD_TYPES[form], headers=headers)


NAMING_ROUTES = [
    Route("/api/naming", naming),
    Route("/api/naming", change, methods=["POST"]),
    Route("/api/describe", describe, methods=["POST"]),
    Route("/api/export", export, methods=["GET", "POST"]),
]
