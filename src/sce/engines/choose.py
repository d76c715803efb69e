"""Engines by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sce.errors import ParameterError

if TYPE_CHECKING:  # loaded on demand, because the help of the command line lists the engines
    from sce.core.parallel import Team
    from sce.layout.engine import Engine


def _threads(team: Team) -> Engine:
    from sce.engines.threads import ThreadEngine

    return ThreadEngine(team)


# Name: what makes the engine from the threads of this process.
ENGINES: dict[str, Callable[[Team], Engine]] = {"threads": _threads}


def check_engine(engine: Any) -> str | Engine:
    """The name of an engine, or an engine itself."""
    is_engine = not isinstance(engine, str) and callable(getattr(engine, "open", None))
    if not is_engine and not (isinstance(engine, str) and engine in ENGINES):
        names = ", ".join(f'"{name}"' for name in ENGINES)
        raise ParameterError(
            f"engine must be {names} or an object with open(problem, start, coordinates); got {engine!r}."
        )
    return engine


def make_engine(engine: str | Engine, team: Team) -> Engine:
    """The engine with this name, or the engine itself."""
    return ENGINES[engine](team) if isinstance(engine, str) else engine
