"""The application that serves a session to the page."""

from __future__ import annotations

from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sce.errors import OutputError, SCEError
from sce.explore.requests import RequestError
from sce.explore.routes import ROUTES
from sce.explore.session import Session


def make_api(session: Session) -> Starlette:
    """The routes of a session alone, without the page and without a guard."""
    app = Starlette(
        routes=ROUTES,
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
