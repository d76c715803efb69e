"""Results that take long to compute: made once, one at a time, away from the event loop.

Every function that is given to :meth:`Heavy.result` is found at the top of a module and has plain arguments, so that a worker
process could run it as well as a thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

_MOST_RESULTS = 24  # that are kept: columns of a number for each point, pictures, descriptions


class Heavy:
    """A cache of results by key, and the one turn in which they are computed."""

    def __init__(self) -> None:
        self._results: OrderedDict[Hashable, Any] = OrderedDict()
        self._turn = threading.RLock()
        self._guard = threading.Lock()

    def known(self, key: Hashable) -> Any:
        """A result that was computed before, or None."""
        with self._guard:
            if key in self._results:
                self._results.move_to_end(key)
            return self._results.get(key)

    def compute(self, key: Hashable, function: Callable[..., Any], *args: Any) -> Any:
        """The result of a function, computed now if it is not known; waits for its turn."""
        found = self.known(key)
        if found is not None:
            return found
        with self._turn:
            found = self.known(key)
            if found is None:
                found = function(*args)
                with self._guard:
                    self._results[key] = found
                    while len(self._results) > _MOST_RESULTS:
                        self._results.popitem(last=False)
        return found

    async def result(self, key: Hashable, function: Callable[..., Any], *args: Any) -> Any:
        """The result of a function, computed in a thread if it is not known."""
        found = self.known(key)
        return found if found is not None else await asyncio.to_thread(self.compute, key, function, *args)
