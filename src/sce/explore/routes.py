"""The routes of the explorer: what the page asks for about points. Thin: a route checks the request and calls the session."""

from __future__ import annotations

from typing import Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sce.explore.point_columns import cells, pack_column, read_content
from sce.explore.requests import RequestError, read_json, row_numbers, whole_number, words
from sce.explore.session import Session
from sce.web.packing import pack, quantize

_MOST_IDS, _MOST_ROWS, _MOST_THUMBNAILS = 10_000, 1000, 256
_LONGEST_NAME_ASKED = 1000  # characters


def session_of(request: Request) -> Session:
    """The session that the application serves."""
    session: Session = request.app.state.session
    return session


def binary(content: bytes) -> Response:
    """A container as an answer."""
    return Response(content, media_type="application/octet-stream")


def chosen_frame(request: Request, session: Session) -> int:
    """The frame that a request names, or the first one to show."""
    return whole_number(request, "frame", session.first_frame, 0, session.n_frames - 1)


async def about(request: Request) -> Response:
    """The first answer: what the map is and what is known about its points."""
    session = session_of(request)
    return JSONResponse(await run_in_threadpool(session.about))


async def points(request: Request) -> Response:
    """The coordinates of a frame."""
    session = session_of(request)
    return binary(await run_in_threadpool(pack_points, session, chosen_frame(request, session)))


def pack_points(session: Session, frame: int) -> bytes:
    """The coordinates of a frame as they travel."""
    q, low, step = quantize(session.places(frame))
    return pack({"n": session.n, "dims": session.dims, "low": low.tolist(), "step": step}, {"xy": q})


async def column(request: Request) -> Response:
    """A column to colour by."""
    session = session_of(request)
    name = words(request, "name", _LONGEST_NAME_ASKED)
    found = session.columns.get(name)
    if found is None:
        raise RequestError("There is no column of this name.", 404)
    if found.kind == "text":
        raise RequestError("This column holds a different text in most rows; it cannot be coloured by.")
    return binary(await run_in_threadpool(lambda: pack_column(read_content(found))))


async def ids(request: Request) -> Response:
    """The ids of a range of rows."""
    session = session_of(request)
    start = whole_number(request, "start", 0, 0, session.n)
    stop = whole_number(request, "stop", min(start + _MOST_IDS, session.n), start, start + _MOST_IDS)
    return JSONResponse({"ids": cells(session.result.ids[start:stop])})


async def rows(request: Request) -> Response:
    """The cells of some rows."""
    session = session_of(request)
    wanted = row_numbers((await read_json(request, 0)).get("rows"), session.n, _MOST_ROWS)
    return JSONResponse(await run_in_threadpool(cells_of_rows, session, wanted))


def cells_of_rows(session: Session, wanted: np.ndarray) -> dict[str, Any]:
    """Row number, id, and the value of every column, of some rows."""
    parts = [cells(column.take(wanted)) for column in session.columns.values()]
    table = zip(wanted.tolist(), cells(session.result.ids[wanted]), *parts, strict=True)
    return {"columns": ["row", "id", *session.columns], "rows": [list(row) for row in table]}


async def thumbnails(request: Request) -> Response:
    """The images of some rows."""
    session = session_of(request)
    images = session.attached.images
    if images is None:
        raise RequestError("The rows are not images.", 404)
    parts = request.query_params.get("rows", "").split(",")[: _MOST_THUMBNAILS + 1]
    listed = [int(part) if part.isascii() and part.isdigit() and len(part) < 16 else -1 for part in parts]
    wanted = row_numbers(listed, session.n, _MOST_THUMBNAILS)
    pixels = await run_in_threadpool(images.pixels, wanted)
    return binary(pack({"width": images.width, "height": images.height}, {"pixels": pixels}))


ROUTES = [
    Route("/api/about", about),
    Route("/api/points", points),
    Route("/api/column", column),
    Route("/api/ids", ids),
    Route("/api/rows", rows, methods=["POST"]),
    Route("/api/thumbnails", thumbnails),
]
