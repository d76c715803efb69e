"""What a command says, and where: stages and notes on standard error, the result on standard output."""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any, TextIO


class Talk:
    """Says things as --quiet and --json want it, and remembers what was said for the JSON."""

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self.quiet, self.as_json = quiet, as_json
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
            _print(json.dumps({**facts, **said}, ensure_ascii=False, allow_nan=False), sys.stdout)
        elif not self.quiet:
            _print(text, sys.stdout)

    def listen(self) -> None:
        """From now on, say all warnings of Python in a line each."""
        warnings.simplefilter("default")
        warnings.showwarning = self.warn  # type: ignore[assignment]


def _print(text: str, stream: TextIO) -> None:
    print(text, file=stream, flush=True)
