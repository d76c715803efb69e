"""Whether this is a notebook, found out without importing anything of it."""

from __future__ import annotations

import io
import sys
from typing import Any


def notebook_shell() -> Any:
    """IPython's shell if a kernel runs it, as in Jupyter, papermill and nbconvert; None in scripts and terminals."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell if getattr(shell, "kernel", None) is not None else None


def is_watched(stream: Any) -> bool:
    """Whether a person sees at once what is written to a stream: it is a terminal, or the output of a notebook's cell.

    Examples
    --------
    >>> is_watched(io.StringIO())
    False
    """
    if stream is None:
        return False
    try:
        if stream.isatty():
            return True
    except (AttributeError, ValueError):  # not a whole stream, or closed
        return False
    is_file = isinstance(stream, io.StringIO | io.TextIOWrapper)  # where %%capture or a script has sent it
    return notebook_shell() is not None and not is_file
