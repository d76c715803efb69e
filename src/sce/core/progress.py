"""What a fit shows on standard error: a line per stage when verbose, with a bar for each if a person is watching; and notes."""

from __future__ import annotations

import contextlib
import itertools
import sys
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from types import TracebackType
from typing import Protocol

from sce.core.meter import NOBODY_LOOKS, Meter
from sce.core.notebook import is_watched
from sce.core.screen import Screen, choose_screen, print_line

_silent: ContextVar[bool] = ContextVar("silent", default=False)
_verbose: ContextVar[bool] = ContextVar("verbose", default=False)


def note(text: str) -> None:
    """Print a line on standard error if a person is watching or the fit is verbose, unless within :func:`silence`."""
    if not _silent.get() and (_verbose.get() or is_watched(sys.stderr)):
        print_line(text)


@contextlib.contextmanager
def silence(wanted: bool = True) -> Iterator[None]:
    """No notes within, if that is wanted."""
    token = _silent.set(wanted or _silent.get())
    try:
        yield
    finally:
        _silent.reset(token)


class Record(Protocol):
    """What is shown of an epoch or an iteration."""

    @property
    def epoch(self) -> int:
        """Counted from 1."""

    @property
    def loss(self) -> float:
        """The I-divergence."""

    @property
    def r(self) -> float:
        """The repulsion weight."""


class Reporter:
    """Lines and a bar when verbose, silence otherwise. A context manager, so that the bar is closed in any case."""

    def __init__(self, verbose: bool) -> None:
        self._screen: Screen | None = choose_screen() if verbose else None
        self._last: Record | None = None
        self._planned: int | None = None
        self._since = time.perf_counter()

    def __enter__(self) -> Reporter:
        self._before = _verbose.set(self._screen is not None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _verbose.reset(self._before)
        if self._screen is not None:
            self._screen.end()
            if self._last is not None and error is None:
                self.stage(f"Layout: {_count(self._last.epoch, self._planned)}, {_figures(self._last)}")

    def stage(self, text: str) -> None:
        """Report what was just finished, and how long it took."""
        now = time.perf_counter()
        if self._screen is not None:
            self._screen.line(f"{text} ({now - self._since:.1f} s)")
        self._since = now

    def share(self, name: str, done: float = 0.0) -> Callable[[float], None] | None:
        """A function to call with the share of a stage that is done, or None; a part may have been done before."""
        if (screen := self._screen) is None:
            return None
        screen.begin(name, 1.0, "", done)
        return screen.move

    def wait(self, name: str) -> None:
        """Show that something has begun of which nobody knows how long it takes."""
        if self._screen is not None:
            self._screen.begin(name, None, "")

    def meter(self, name: str) -> Meter:
        """A meter of a stage."""
        if (screen := self._screen) is None:
            return NOBODY_LOOKS
        screen.begin(name, 1.0, "")
        return Meter(lambda done, part: screen.move(done, name=part or name))

    def epochs(self, total: int | None, iterations: int | None = None) -> Callable[[Record], None] | None:
        """A function that shows the record of an epoch, or None.

        Parameters
        ----------
        total : int or None
            The epochs of the sampler.
        iterations : int, optional
            Those of the full gradient that follow, if that is known.
        """
        self._planned = total
        if (screen := self._screen) is None:
            return None
        first = total or 0
        screen.begin("Layout", first + (iterations or 0) or None, "epochs" if total else "iterations")

        def show(record: Record) -> None:
            self._last = record
            beyond = record.epoch > first > 0 and not iterations
            if beyond and record.epoch == first + 1:
                screen.begin("Layout, to the minimum", None, "iterations")
            screen.move(record.epoch - (first if beyond else 0), _figures(record))

        return show

    def steps(self, total: int, unit: str, together: str = "") -> Callable[[str], None]:
        """A function to call with a short text as each of `total` things is done: it moves a bar, or prints a line.

        `together` is the line that takes the place of the bar, such as "33 maps", which it is by default.
        """
        if (screen := self._screen) is None:
            return lambda _: None
        count = itertools.count(1)
        name = f"{unit[:1].upper()}{unit[1:]}"
        screen.begin(name, total, unit)
        if not is_watched(sys.stderr):
            return lambda text: self.stage(f"{name} {next(count)} of {total}: {text}")

        def show(text: str) -> None:
            done = next(count)
            screen.move(done, text)
            if done == total:
                self.stage(together or f"{total} {unit}s")

        return show


def _count(done: int, planned: int | None) -> str:
    """The sampler's epochs, and the full gradient's iterations after them."""
    if planned is None:
        return f"{done} iterations"
    return f"{done} epochs" if done <= planned else f"{planned} epochs and {done - planned} iterations"


def _figures(record: Record) -> str:
    return f"loss {record.loss:.4f}, r {record.r:.4g}"
