"""The engine of a name."""

from __future__ import annotations

from typing import Any

from sce.core.parallel import Team
from sce.engines.threads import ThreadEngine
from sce.errors import ParameterError
from sce.layout.engine import Engine

ENGINES = {"threads": ThreadEngine}  # name: what makes it from the threads of this process


def check_engine(engine: Any) -> str | Engine:
    """The name of an engine, or an engine itself."""
    is_engine = not isinstance(engine, str) and callable(getattr(engine, "open", None))
    if not is_engine and not (isinstance(engine, str) and engine in ENGINES):
        names = ", ".join(f'"{name}"' for name in ENGINES)
        raise ParameterError(f"engine must be {names} or an object with open(problem, start); got {engine!r}.")
    return engine


def make_engine(engine: str | Engine, team: Team) -> Engine:
    """The engine of a name, or the engine itself."""
    return ENGINES[engine](team) if isinstance(engine, str) else engine
