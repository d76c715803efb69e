"""The routes of work that is under way in a worker process: how it is, and stop it."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sce.explore.requests import RequestError
from sce.explore.routes import session_of
from sce.web.jobs import Jobs


async def job(request: Request) -> Response:
    """How a job is: state, message and progress."""
    return JSONResponse(_named(request)[0])


async def cancel(request: Request) -> Response:
    """Stop a job; how it is then."""
    _, jobs, name = _named(request)
    await run_in_threadpool(jobs.cancel, name)
    return JSONResponse(jobs.state(name))


def _named(request: Request) -> tuple[dict[str, Any], Jobs, str]:
    """How a job is, all jobs, and its name."""
    heavy, name = session_of(request).heavy, str(request.path_params["name"])
    try:
        if heavy.apart:
            return heavy.jobs.state(name), heavy.jobs, name
    except KeyError:
        pass
    raise RequestError("There is no such computation; it may have ended long ago.", 404)


JOB_ROUTES = [Route("/api/jobs/{name}", job), Route("/api/jobs/{name}/cancel", cancel, methods=["POST"])]
