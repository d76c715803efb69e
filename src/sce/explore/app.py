"""The application that serves a session to the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from sce.errors import OutputError, SCEError
from sce.explore.naming_routes import NAMING_ROUTES
from sce.explore.quality_routes import QUALITY_ROUTES
from sce.explore.requests import RequestError
from sce.explore.routes import ROUTES
from sce.explore.session import Session

_LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104
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
    from sce.web.serving import serve  # type: ignore[import-not-found, import-untyped, unused-ignore]

    hosts = () if host in _EVERY_ADDRESS else (host,)

    def app_factory(token: str, port: int) -> Any:
        return make_app(session, token=token, port=port, hosts=hosts)

    serve(app_factory, host=host, port=port, open_browser=open_browser, say=say)


def make_app(
    session: Session, *, token: str, port: int, hosts: Sequence[str] = (), pages: Sequence[BaseRoute] = ()
) -> Any:
    """The explorer of a session, behind a guard that lets in only who has the token.

    Parameters
    ----------
    session : Session
    token : str
    port : int
        Where it will be served.
    hosts : sequence of str
        Names of this machine by which it may be reached, besides those of the machine itself.
    pages : sequence of routes
        The page and its files.
    """
    from sce.web.security import Guard  # type: ignore[import-not-found, import-untyped, unused-ignore]

    allowed = tuple(dict.fromkeys((*_LOCAL_HOSTS, *hosts)))
    return Guard(
        make_api(session, pages), token=token, port=port, hosts=allowed, max_body=_LARGEST_BODY + session.n // 4
    )


def make_api(session: Session, pages: Sequence[BaseRoute] = ()) -> Starlette:
    """The routes of a session, without a guard."""
    app = Starlette(
        routes=[*ROUTES, *QUALITY_ROUTES, *NAMING_ROUTES, *pages],
        exception_handlers={SCEError: _sentence, HTTPException: _status, MemoryError: _memory, Exception: _internal},
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


def _memory(request: Request, error: Any) -> Response:  # noqa: ARG001
    return JSONResponse({"error": "There is not enough memory for this."}, 507)


def _internal(request: Request, error: Any) -> Response:  # noqa: ARG001
    """What should not occur is answered, too; its traceback goes to the terminal."""
    return JSONResponse({"error": f"Internal error ({type(error).__name__}); the terminal shows more."}, 500)
