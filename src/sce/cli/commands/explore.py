"""`sce explore`: a map in the browser, to see, question and name its clusters."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from sce.cli.console import Console
from sce.cli.options import UsageError
from sce.errors import ParameterError

_LARGEST_PORT = 65_535


def run(args: Any, console: Console) -> None:
    """Open the map, serve the page until Ctrl-C."""
    _check_usage(args)
    from sce.explore.app import serve_session
    from sce.explore.opening import open_session

    session = open_session(
        args.map,
        data=args.data,
        graph=args.graph,
        columns=args.columns,
        images=args.images,
        labels=args.labels,
        say=console.say,
        verbose=console.verbose,
        n_jobs=args.n_jobs,
    )
    console.stage("open", f"{session.path}: {session.n:,} points, {_kept(session)}")
    for note in session.notes:
        console.note(note)
    if session.keeper.note:
        console.say(session.keeper.note)
    serve_session(session, host=args.host, port=args.port, open_browser=not args.no_browser, say=console.say)
    clusters = len(session.keeper.document.clusters)
    facts = {"map": str(session.path), "points": session.n, "clusters": clusters, "file": str(session.keeper.path)}
    console.result(facts, f"{session.path}: {_kept(session)}")


def _kept(session: Any) -> str:
    clusters = len(session.keeper.document.clusters)
    return f"{clusters} named cluster{'s' * (clusters != 1)}{f' in {session.keeper.path}' if clusters else ''}"


def _check_usage(args: Any) -> None:
    if not 0 <= args.port <= _LARGEST_PORT:
        raise UsageError(f"--port takes a number from 0 to {_LARGEST_PORT}, not {args.port}.")
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise ParameterError(f"The explorer needs {' and '.join(missing)}; install it with: pip install 'sce[web]'")
