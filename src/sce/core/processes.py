"""How a process of ours has ended, in words."""

from __future__ import annotations

import os
import signal
from typing import IO

_MOST_SAID = 300  # characters of what a process said last
_TAIL_BYTES = 4000


def last_line(output: IO[bytes]) -> str:
    """The last line that a process wrote to a file, or nothing."""
    output.seek(max(0, output.seek(0, os.SEEK_END) - _TAIL_BYTES))
    lines = [line.strip() for line in output.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1] if lines else ""


def explain_end(code: int, said: str = "") -> str:
    """Why a process ended, by its exit code and what it said last.

    Examples
    --------
    >>> explain_end(1), explain_end(1, "no such file"), explain_end(-11)
    ('ended with code 1', 'no such file', 'ended by SIGSEGV')
    """
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"ended by {name}{', possibly out of memory' if name == 'SIGKILL' else ''}"
    return said[:_MOST_SAID] or f"ended with code {code}"
