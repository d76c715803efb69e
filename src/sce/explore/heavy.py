"""Results that take long to compute: made once, one at a time, away from the event loop.

Those of few points are made in a thread. Those of many are made by a job in a worker process, whose memory is watched and which
can be cancelled. Until it is done, asking raises :class:`Underway`; the page is told the id of the job, waits for it, and asks
again. Every function that is given to :meth:`Heavy.result` is found at the top of a module and has plain arguments.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from sce.core.memory import free_memory
from sce.web.jobs import Jobs

# A worker process takes a second more than a thread, for it imports and reads kernels first. Up to here the longest
# computations, the verdict of the graph and figures of points, take 2.5 s (two busy cores, 50 columns); of 70,000 points, 7 s.
MOST_POINTS_IN_A_THREAD = 20_000
_MOST_RESULTS = 24  # that are kept: columns of a number for each point, pictures, descriptions
_SHARE_OF_MEMORY = 0.75  # of what is free when the first worker starts, for a worker

Key = tuple[Any, ...]  # what is being done, in words for the user, and what it depends on


class Underway(Exception):  # noqa: N818  (no error)
    """A result is being computed by a job; ask again when that is done."""

    def __init__(self, job: str, what: str) -> None:
        super().__init__(what)
        self.job, self.what = job, what


class Heavy:
    """A cache of results by key, and the one turn in which they are computed.

    Parameters
    ----------
    apart : bool
        Whether to compute in a worker process.
    """

    def __init__(self, *, apart: bool = False) -> None:
        self.apart = apart
        self._results: OrderedDict[Key, Any] = OrderedDict()
        self._underway: dict[Key, str] = {}
        self._turn, self._guard = threading.RLock(), threading.Lock()
        self._jobs: Jobs | None = None

    @property
    def jobs(self) -> Jobs:
        """The worker processes."""
        with self._turn:
            if self._jobs is None:
                free = free_memory()
                self._jobs = Jobs(None if free is None else int(_SHARE_OF_MEMORY * free))
            return self._jobs

    def known(self, key: Key) -> Any:
        """A result that was computed before, or None."""
        with self._guard:
            if key in self._results:
                self._results.move_to_end(key)
            return self._results.get(key)

    def compute(self, key: Key, function: Callable[..., Any], *args: Any) -> Any:
        """The result of a function, computed now if it is not known; waits for its turn.

        Raises
        ------
        Underway
            If a worker process has to compute it first.
        """
        found = self.known(key)
        if found is not None:
            return found
        with self._turn:
            found = self.known(key)
            if found is None:
                found = self._from_worker(key, function, args) if self.apart else function(*args)
                with self._guard:
                    self._results[key] = found
                    while len(self._results) > _MOST_RESULTS:
                        self._results.popitem(last=False)
        return found

    async def result(self, key: Key, function: Callable[..., Any], *args: Any) -> Any:
        """The result of a function, computed away from the event loop if it is not known; raises as `compute` does."""
        found = self.known(key)
        return found if found is not None else await asyncio.to_thread(self.compute, key, function, *args)

    def close(self) -> None:
        """End the worker processes."""
        if self._jobs is not None:
            self._jobs.close()

    def _from_worker(self, key: Key, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """The result of a job that is done; else start one, unless it is under way."""
        job = self._underway.pop(key, "")
        try:
            state = self.jobs.state(job)["state"]
        except KeyError:  # there is none, or it ended so long ago that it is forgotten
            state = "forgotten"
        if state == "done":
            return self.jobs.result(job)
        if state not in ("waiting", "running"):
            job = self.jobs.start("heavy", function, *args)
        self._underway[key] = job
        raise Underway(job, key[0])
