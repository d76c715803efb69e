"""What a verbose fit shows on standard error: a line per stage, and a bar for the epochs if a person is watching."""

from __future__ import annotations

import contextlib
import itertools
import sys
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Protocol

from sce.core.notebook import is_watched

_silent: ContextVar[bool] = ContextVar("silent", default=False)


def note(text: str) -> None:
    """Print a line on standard error if a person is watching, however little is asked to be shown; see :func:`silence`."""
    if not _silent.get() and is_watched(sys.stderr):
        print(text, file=sys.stderr, flush=True)  # noqa: T201


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
        self._verbose = verbose
        self._bar: Any = None
        self._last: Record | None = None
        self._planned: int | None = None
        self._since = time.perf_counter()

    def __enter__(self) -> Reporter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._last is not None and error is None:
            self.stage(f"Layout: {_count(self._last.epoch, self._planned)}, {_figures(self._last)}")

    def stage(self, text: str) -> None:
        """Report what was just finished, and how long it took."""
        now = time.perf_counter()
        if self._verbose:
            print(f"{text} ({now - self._since:.1f} s)", file=sys.stderr)  # noqa: T201
        self._since = now

    def epochs(self, total: int | None) -> Any:
        """A function that shows the record of an epoch, or None; `total` is the number of the sampler's epochs."""
        self._planned = total
        if not self._verbose:
            return None
        if not is_watched(sys.stderr):
            return self._remember
        from tqdm.auto import tqdm

        self._bar = tqdm(total=total, desc="Layout", unit="epoch", file=sys.stderr)

        def show(record: Record) -> None:
            if total is not None and record.epoch > total:
                self._bar.total = None  # how many iterations the full gradient takes is not known
            self._bar.set_postfix_str(_figures(record), refresh=False)
            self._bar.update()

        return show

    def steps(self, total: int, unit: str) -> Callable[[str], None]:
        """A function to call with a short text as each of `total` things is done: it moves a bar, or prints a line."""
        if not self._verbose:
            return lambda _: None
        count = itertools.count(1)
        if not is_watched(sys.stderr):
            return lambda text: self.stage(f"{unit[:1].upper()}{unit[1:]} {next(count)} of {total}: {text}")
        from tqdm.auto import tqdm

        if self._bar is not None:
            self._bar.close()
        self._bar = bar = tqdm(total=total, desc=f"{unit[:1].upper()}{unit[1:]}", unit=unit, file=sys.stderr)

        def show(text: str) -> None:
            bar.set_postfix_str(text, refresh=False)
            bar.update()
            if bar.n >= total:
                bar.close()

        return show

    def _remember(self, record: Record) -> None:
        self._last = record


def _count(done: int, planned: int | None) -> str:
    """The sampler's epochs, and the full gradient's iterations after them."""
    if planned is None:
        return f"{done} iterations"
    return f"{done} epochs" if done <= planned else f"{planned} epochs and {done - planned} iterations"


def _figures(record: Record) -> str:
    return f"loss {record.loss:.4f}, r {record.r:.4g}"
