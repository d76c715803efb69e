"""Where progress is shown: lines that stay, and a bar beneath them for what is going on.

On a terminal the bar is tqdm's. In a notebook lines and bar are one output that is replaced, which needs no widgets; what it
shows at the end is kept in the file. Elsewhere there are lines only.
"""

from __future__ import annotations

import contextlib
import html
import shutil
import sys
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol

from sce.core.notebook import is_watched, notebook_shell

_TERMINAL_SECONDS, _NOTEBOOK_SECONDS = 0.1, 0.25  # between two pictures of a bar
_PERCENT = "{desc}: {percentage:3.0f}%|{bar:20}| [{elapsed}<{remaining}{postfix}]"
_COUNTED = "{desc}: {percentage:3.0f}%|{bar:20}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}{postfix}]"
_ENDLESS = "{desc}: {n_fmt} {unit} [{elapsed}{postfix}]"
_WAITING = "{desc} [{elapsed}]"


class Screen(Protocol):
    """Shows lines and at most one bar."""

    def line(self, text: str) -> None:
        """Show a line that stays, in the place of the bar if there is one."""

    def begin(self, name: str, total: float | None, unit: str, done: float = 0.0) -> None:
        """Show a bar; without a total only the number of units, and without a unit the share in percent."""

    def move(self, done: float, text: str = "", name: str = "") -> None:
        """Move the bar, and change its text and name; often nothing is drawn, because little time has passed."""

    def end(self) -> None:
        """Remove the bar."""


def choose_screen() -> Screen:
    """The screen for whoever looks at standard error, if anybody does."""
    if not is_watched(sys.stderr):
        return Lines()
    return Terminal() if notebook_shell() is None else Notebook()


class Lines:
    """Lines on standard error, and no bar."""

    def line(self, text: str) -> None:
        """Print a line."""
        print_line(text)

    def begin(self, name: str, total: float | None, unit: str, done: float = 0.0) -> None:
        """Nothing."""

    def move(self, done: float, text: str = "", name: str = "") -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""


# ------------------------------------------------------------------------------------------------------------- terminal

_bar_on_terminal: ContextVar[Any] = ContextVar("bar_on_terminal", default=None)


def print_line(text: str) -> None:
    """Print a line on standard error, above the bar if there is one."""
    with _cleared():
        print(text, file=sys.stderr, flush=True)  # noqa: T201


@contextlib.contextmanager
def _cleared() -> Iterator[None]:
    bar = _bar_on_terminal.get()
    if bar is None:
        yield
        return
    bar.clear()
    try:
        yield
    finally:
        bar.refresh()


class Terminal:
    """Lines, and a bar of tqdm beneath them."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._drawn = 0.0

    def line(self, text: str) -> None:
        """Print a line in the place of the bar."""
        self.end()
        print_line(text)

    def begin(self, name: str, total: float | None, unit: str, done: float = 0.0) -> None:
        """Show a bar."""
        from tqdm import tqdm

        self.end()
        form = (_ENDLESS if unit else _WAITING) if total is None else (_COUNTED if unit else _PERCENT)
        width, height = shutil.get_terminal_size()  # also where the terminal does not know its own
        self._bar = tqdm(
            total=total,
            initial=int(done) if unit else done,
            desc=name,
            unit=unit,
            file=sys.stderr,
            leave=False,
            bar_format=form,
            ncols=width - 1,
            nrows=height,
        )
        _bar_on_terminal.set(self._bar)

    def move(self, done: float, text: str = "", name: str = "") -> None:
        """Move the bar."""
        now = time.perf_counter()
        if self._bar is None or now - self._drawn < _TERMINAL_SECONDS:
            return
        self._drawn = now
        self._bar.n = done
        self._bar.set_postfix_str(text, refresh=False)
        if name:
            self._bar.set_description_str(name, refresh=False)
        self._bar.refresh()

    def end(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            _bar_on_terminal.set(None)
            self._bar.close()
            self._bar = None


# ------------------------------------------------------------------------------------------------------------- notebook


class _Shown(NamedTuple):
    """A bar in a notebook."""

    name: str
    total: float | None
    unit: str
    done: float = 0.0
    text: str = ""

    def plain(self) -> str:
        """The bar as text."""
        return f"{self.name}: {', '.join(filter(None, (self._count(), self.text)))}"

    def page(self) -> str:
        """The bar as HTML."""
        share = "" if self.total is None else f' value="{min(1.0, self.done / self.total if self.total else 1.0):.3f}"'
        bar = f'<progress{share} style="width: 15em; vertical-align: middle"></progress>'
        return f"{html.escape(self.name)} {bar} {html.escape(', '.join(filter(None, (self._count(), self.text))))}"

    def _count(self) -> str:
        if self.total is None:
            return f"{self.done:.0f} {self.unit}" if self.unit else "..."
        return f"{self.done:.0f}/{self.total:.0f}" if self.unit else f"{100 * self.done / self.total:.0f} %"


class Notebook:
    """Lines and a bar in one output of a cell, which is replaced as they change."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._bar: _Shown | None = None
        self._handle: Any = None
        self._drawn = 0.0

    def line(self, text: str) -> None:
        """Add a line in the place of the bar."""
        self._lines.append(text)
        self._bar = None
        self._draw()

    def begin(self, name: str, total: float | None, unit: str, done: float = 0.0) -> None:
        """Show a bar."""
        self._bar = _Shown(name, total, unit, done)
        self._draw()

    def move(self, done: float, text: str = "", name: str = "") -> None:
        """Move the bar."""
        if self._bar is None:
            return
        self._bar = self._bar._replace(done=done, text=text, name=name or self._bar.name)
        if time.perf_counter() - self._drawn >= _NOTEBOOK_SECONDS:
            self._draw()

    def end(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar = None
            self._draw()

    def _draw(self) -> None:
        from IPython.display import display

        self._drawn = time.perf_counter()
        pages = [*map(html.escape, self._lines), *([] if self._bar is None else [self._bar.page()])]
        plain = [*self._lines, *([] if self._bar is None else [self._bar.plain()])]
        styled = f'<div style="font-family: monospace; font-size: 90%">{"<br>".join(pages)}</div>'
        bundle = {"text/plain": "\n".join(plain), "text/html": styled}
        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)
