"""The application that serves a session to the page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount

import sce.explore
import sce.web
from sce.errors import OutputError, SCEError
from sce.explore.heavy import Underway
from sce.explore.job_routes import JOB_ROUTES
from sce.explore.naming_routes import NAMING_ROUTES
from sce.explore.quality_routes import QUALITY_ROUTES
from sce.explore.requests import RequestError
from sce.explore.routes import ROUTES
from sce.explore.session import Session
from sce.web.security import LOOPBACK, Guard
from sce.web.serving import allowed_hosts, serve
from sce.web.static_files import StaticFiles, read_static

STATIC_FOLDERS = [Path(sce.web.__file__).parent / "static", Path(sce.explore.__file__).parent / "static"]
_LARGEST_BODY = 1 << 20  # bytes, besides a bitmap of the points


def serve_session(session: Session, *, host: str, port: int, open_browser: bool, say: Callable[[str], None]) -> None:
    """Serve a session until Ctrl-C.

    Parameters
    ----------
    session : Session
    host : str
        The address to serve at.
    port : int
        0 for a free one.
    open_browser : bool
        Whether to open the page.
    say : function of a sentence
        Called with the address.
    """
    hosts, page = allowed_hosts(host), StaticFiles(read_static(STATIC_FOLDERS))

    def app_factory(token: str, port: int) -> Any:
        return make_app(session, token=token, port=port, hosts=hosts, page=page)

    serve(app_factory, host=host, port=port, open_browser=open_browser, say=say)


def make_app(session: Session, *, token: str, port: int, hosts: Sequence[str] = LOOPBACK, page: Any = None) -> Any:
    """The explorer of a session, behind a guard that lets in only who has the token.

    Parameters
    ----------
    session : Session
    token : str
    port : int
        Where it will be served.
    hosts : sequence of str
        Names of this machine by which it may be reached.
    page : ASGI application, optional
        The page and its files.
    """
    most = _LARGEST_BODY + session.n // 4
    return Guard(make_api(session, page), token=token, port=port, hosts=hosts, max_body=most)


def make_api(session: Session, page: Any = None) -> Starlette:
    """The routes of a session, without a guard. When the server ends, so does what is being computed."""

    @asynccontextmanager
    async def while_serving(app: Starlette) -> AsyncIterator[None]:  # noqa: ARG001
        yield
        session.heavy.close()

    known = {SCEError: _sentence, HTTPException: _status, Underway: _underway, MemoryError: _memory}
    pages = [] if page is None else [Mount("", app=page)]
    app = Starlette(
        routes=[*ROUTES, *QUALITY_ROUTES, *NAMING_ROUTES, *JOB_ROUTES, *pages],
        exception_handlers={**known, Exception: _internal},
        lifespan=while_serving,
    )
    app.state.session = session
    return app


def _sentence(request: Request, error: Any) -> Response:  # noqa: ARG001
    """Our own errors say what is wrong in a sentence."""
    refused = error if isinstance(error, RequestError) else None
    status = refused.status if refused else 500 if isinstance(error, OutputError) else 400
    return JSONResponse({"error": str(error), **(refused.more if refused else {})}, status)


def _status(request: Request, error: Any) -> Response:
    said = {404: f"There is nothing at {request.url.path[:200]}.", 405: f"{request.method} is not possible here."}
    return JSONResponse({"error": said.get(error.status_code, str(error.detail))}, error.status_code, error.headers)


def _underway(request: Request, working: Any) -> Response:  # noqa: ARG001
    return JSONResponse({"job": working.job, "what": working.what}, 202)


def _memory(request: Request, error: Any) -> Response:  # noqa: ARG001
    return JSONResponse({"error": "There is not enough memory for this."}, 507)


def _internal(request: Request, error: Any) -> Response:  # noqa: ARG001
    """What should not occur is answered, too; its traceback goes to the terminal."""
    return JSONResponse({"error": f"Internal error ({type(error).__name__}); the terminal shows more."}, 500)
