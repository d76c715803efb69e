"""What a command says, and where: stages and notes on standard error, the result on standard output."""

from __future__ import annotations

import contextlib
import json
import sys
import time
import warnings
from typing import Any

from sce.errors import OutputError, SCEWarning


class Talk:
    """Says things as --quiet and --json want it, and remembers what was said for the JSON."""

    def __init__(self, *, quiet: bool, as_json: bool, debug: bool = False) -> None:
        self.quiet, self.as_json, self.debug = quiet, as_json, debug
        self.notes: list[str] = []
        self.warnings: list[str] = []
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    @property
    def verbose(self) -> bool:
        """Whether the stages are shown."""
        return not self.quiet

    def stage(self, name: str, text: str | None = None) -> None:
        """Note what was just finished, and how long it took; say it where there is a text."""
        now = time.perf_counter()
        self.seconds[name] = round(now - self._since, 3)
        if text and not self.quiet:
            _print(f"{text} ({now - self._since:.1f} s)", sys.stderr)
        self._since = now

    def note(self, text: str) -> None:
        """Say what was decided on the way."""
        self.notes.append(text)
        self.say(f"{text}.")

    def say(self, text: str) -> None:
        """Say something to whoever is watching."""
        if not self.quiet:
            _print(text, sys.stderr)

    def warn(self, message: Warning | str, *_: Any, **__: Any) -> None:
        """Say a warning, once; in the place of warnings.showwarning."""
        text = " ".join(str(message).split())
        if text not in self.warnings:
            self.warnings.append(text)
            _print(f"Warning: {text}", sys.stderr)

    def result(self, facts: dict[str, Any], text: str) -> None:
        """The result: JSON for scripts, a text for people."""
        if self.as_json:
            said = {"seconds": self.seconds, "notes": self.notes, "warnings": self.warnings}
            text = json.dumps({**facts, **said}, allow_nan=False)
        elif self.quiet:
            return
        try:
            _print(text, sys.stdout)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"The result cannot be written to standard output: {error.strerror}.") from None

    def listen(self) -> None:
        """From now on, say our warnings in a line each, and let nobody who stops listening stop the work."""
        if not self.debug:
            warnings.simplefilter("ignore")  # other libraries warn of their own future
        warnings.simplefilter("always", SCEWarning)
        warnings.showwarning = self.warn  # type: ignore[assignment]
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # whatever the other end cannot write
        sys.stderr = _Patient(sys.stderr)  # type: ignore[assignment]


class _Patient:
    """A stream whose reader may go away, as that of `sce ... 2>&1 | head` does, without harm to the work."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, or do nothing."""
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush, or do nothing."""
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _print(text: str, stream: Any) -> None:
    print(text, file=stream, flush=True)
