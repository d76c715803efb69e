"""How much of a long task is done, for a progress bar."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator


class Meter:
    """How much of a task is done, where functions deep inside it each know their own part only.

    Parameters
    ----------
    show : callable, optional
        Called with the share that is done, and the name of the present part. It never falls.

    Examples
    --------
    >>> meter = Meter(lambda done, name: print(f"{done:.2f} {name}"))
    >>> with meter.part(0.5, "first"):
    ...     meter.part_of_sweep(1.0)(0.5)
    0.00 first
    0.25 first
    0.50 first
    """

    def __init__(self, show: Callable[[float, str], None] | None = None) -> None:
        self._show = show
        self._low, self._high = 0.0, 1.0  # what is left of the present part
        self._size = 1.0  # of the present part
        self._name = ""

    @contextlib.contextmanager
    def part(self, share: float, name: str = "") -> Iterator[None]:
        """What is done within is this share of the present part, and comes after what was done of it."""
        if self._show is None:
            yield
            return
        before = self._high, self._size, self._name
        self._high = min(self._high, self._low + share * self._size)
        self._size = self._high - self._low
        if name:
            self._name = name
            self._tell(self._low)
        try:
            yield
        finally:
            self._low = self._high
            self._tell(self._low)
            self._high, self._size, self._name = before

    def part_of_sweep(self, share: float) -> Callable[[float], None] | None:
        """A function to call with what is done of a share of the present part; None where nobody looks on."""
        if self._show is None or share == 0.0:
            return None
        low = self._low
        high = self._low = min(self._high, low + share * self._size)
        return lambda done: self._tell(low + done * (high - low))

    def _tell(self, done: float) -> None:
        if self._show is not None:
            self._show(done, self._name)


NOBODY_LOOKS = Meter()
