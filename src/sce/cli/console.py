"""What a command prints, and where: stages, notes and warnings on standard error, the result on standard output."""

from __future__ import annotations

import contextlib
import json
import sys
import time
import warnings
from typing import Any

from sce.cli.spelling import as_options
from sce.core.screen import print_line
from sce.errors import OutputError, ScalingWarning, SCEWarning


class Console:
    """Prints as --quiet and --json ask, and keeps notes and warnings for the JSON and the result file."""

    def __init__(self, *, quiet: bool, as_json: bool, debug: bool = False) -> None:
        self.quiet, self.as_json, self.debug = quiet, as_json, debug
        self.notes: list[str] = []
        self.warnings: list[str] = []
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    @property
    def verbose(self) -> bool:
        """Whether stages are printed."""
        return not self.quiet

    def stage(self, name: str, text: str | None = None) -> None:
        """Record how long a finished stage took, and print a text about it if there is one."""
        now = time.perf_counter()
        self.seconds[name] = round(now - self._since, 3)
        if text:
            self.say(f"{text} ({now - self._since:.1f} s)")
        self._since = now

    def note(self, text: str) -> None:
        """Print and record a decision."""
        text = as_options(text)
        self.notes.append(text)
        self.say(f"{text}.")

    def say(self, text: str) -> None:
        """Print a line on standard error."""
        if not self.quiet:
            _print(as_options(text), sys.stderr)

    def warn(self, message: Warning | str, *_: Any, **__: Any) -> None:
        """Print a warning, once; stands in for warnings.showwarning."""
        text = as_options(" ".join(str(message).split()))
        if text not in self.warnings:
            self.warnings.append(text)
            _print(f"Warning: {text}", sys.stderr)

    def result(self, facts: dict[str, Any], text: str) -> None:
        """Print the result on standard output: JSON for scripts, or text for people."""
        if self.as_json:
            told = {"seconds": self.seconds, "notes": self.notes, "warnings": self.warnings}
            text = json.dumps({**facts, **told}, allow_nan=False)
        elif self.quiet:
            return
        try:
            _print(text, sys.stdout)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"The result cannot be written to standard output: {error.strerror}.") from None

    def install(self) -> None:
        """Print warnings of sce from now on, one line each, and survive a closed standard error."""
        if not self.debug:
            warnings.simplefilter("ignore")  # deprecations of other libraries
        warnings.simplefilter("always", SCEWarning)
        warnings.simplefilter("ignore", ScalingWarning)  # the preparation has a note about it
        warnings.showwarning = self.warn  # type: ignore[assignment]
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # for characters that the terminal cannot show
        sys.stderr = _TolerantStream(sys.stderr)  # type: ignore[assignment]


class _TolerantStream:
    """A stream that ignores a closed pipe, as after `sce ... 2>&1 | head`."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, if anybody reads."""
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush, if anybody reads."""
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _print(text: str, stream: Any) -> None:
    if stream is sys.stderr:
        print_line(text)
    else:
        print(text, file=stream, flush=True)
