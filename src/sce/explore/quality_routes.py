"""The routes of what is computed about points: clusters found, figures of quality, neighbours, the block picture, search."""

from __future__ import annotations

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sce.clusters.hdbscan import find_clusters
from sce.data.labels import Classes, Numbers
from sce.explore.block_view import pack_blocks
from sce.explore.near import NEIGHBORS_SHOWN, heaviest_edges, nearest_rows
from sce.explore.point_columns import pack_column, read_content
from sce.explore.requests import RequestError, whole_number, words
from sce.explore.routes import binary, chosen_frame, session_of
from sce.explore.searching import search
from sce.explore.session import Session
from sce.quality import points

_BLOCK_PIXELS, _MOST_BLOCK_PIXELS = 500, 1000
_LONGEST_QUERY, _MOST_FOUND = 200, 1000
_NO_GRAPH = "There is no graph; open the map together with its graph or its data."


async def found(request: Request) -> Response:
    """The clusters that are visible in a frame."""
    session = session_of(request)
    labels = await found_labels(session, chosen_frame(request, session))
    return binary(pack_column(Classes(labels, found_names(labels), "no cluster")))


def found_names(labels: np.ndarray) -> list[str]:
    """What clusters that were found are called, the largest first."""
    return [f"cluster {k + 1}" for k in range(int(labels.max(initial=-1)) + 1)]


async def found_labels(session: Session, frame: int) -> np.ndarray:
    """The number of the visible cluster of each point, -1 for none."""
    labels: np.ndarray = await session.heavy.result(
        ("Looking for clusters", frame), find_clusters, session.coordinates(frame)
    )
    return labels


async def quality(request: Request) -> Response:
    """A figure of quality of every point."""
    session = session_of(request)
    name, frame = request.query_params.get("name", ""), chosen_frame(request, session)
    if name not in session.figures_of_points:
        known = ", ".join(session.figures_of_points) or "none, for there are neither data nor a graph"
        raise RequestError(f"There is no figure of this name for points; there are: {known}.", 404)
    labels = await found_labels(session, frame)
    P = await run_in_threadpool(session.graph)
    figures = await session.heavy.result(
        ("Measuring the quality at each point", frame),
        figures_of_points,
        session.coordinates(frame),
        session.X,
        P,
        labels,
        session.metric,
    )
    return binary(pack_column(Numbers(np.asarray(figures[name], np.float64))))


def figures_of_points(Y: np.ndarray, X: object, P: object, labels: np.ndarray, metric: str) -> dict[str, np.ndarray]:
    """The figures of points that `sce quality --points` writes."""
    return points(Y, X=X, P=P, labels=labels, metric=metric).columns()


async def neighbors(request: Request) -> Response:
    """The nearest neighbours of a row in the data, or its heaviest edges."""
    session = session_of(request)
    row = whole_number(request, "row", -1, 0, session.n - 1)
    if row < 0:
        raise RequestError("row is missing.")
    if session.X is not None:
        near = await run_in_threadpool(nearest_rows, session.X, session.metric, row, NEIGHBORS_SHOWN)
        source = "data"
    else:
        P = await run_in_threadpool(session.graph)
        if P is None:
            raise RequestError(_NO_GRAPH, 404)
        near, source = heaviest_edges(P, row, NEIGHBORS_SHOWN), "graph"
    return JSONResponse({"rows": near.tolist(), "from": source})


async def blocks(request: Request) -> Response:
    """The graph, ordered by cluster: by=named, found, or the name of a column of classes."""
    session = session_of(request)
    pixels = whole_number(request, "pixels", _BLOCK_PIXELS, 50, _MOST_BLOCK_PIXELS)
    P = await run_in_threadpool(session.graph)
    if P is None:
        raise RequestError(_NO_GRAPH, 404)
    document = session.keeper.document
    by = request.query_params.get("by") or ("named" if document.clusters else "found")
    if by == "named":
        names = [cluster.name for cluster in document.clusters]
        labels, colors = document.places(), [cluster.color for cluster in document.clusters]
        depends: tuple[object, ...] = (by, document.revision)
    elif by == "found":
        frame = chosen_frame(request, session)
        labels = await found_labels(session, frame)
        names = found_names(labels)
        colors, depends = [None] * len(names), (by, frame)
    else:
        content = await run_in_threadpool(_classes_of, session, by)
        labels, names = content.codes, content.names
        colors, depends = [None] * len(names), ("column", by)
    key = ("Ordering the graph by cluster", *depends, pixels)
    return binary(await session.heavy.result(key, pack_blocks, P, labels, names, colors, pixels))


def _classes_of(session: Session, name: str) -> Classes:
    column = session.columns.get(name)
    content = None if column is None or column.kind != "classes" else read_content(column)
    if not isinstance(content, Classes):
        raise RequestError("There is no column of classes of this name.", 404)
    return content


async def find(request: Request) -> Response:
    """Rows in which a text occurs."""
    session = session_of(request)
    query = words(request, "q", _LONGEST_QUERY)
    limit = whole_number(request, "limit", 50, 1, _MOST_FOUND)
    return JSONResponse(await run_in_threadpool(search, session, query, limit))


QUALITY_ROUTES = [
    Route("/api/found", found),
    Route("/api/quality", quality),
    Route("/api/neighbors", neighbors),
    Route("/api/blocks", blocks),
    Route("/api/search", find),
]
