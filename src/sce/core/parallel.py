"""Python threads that run kernels side by side: created for one fit and gone after it.

Kernels release the GIL (see :mod:`sce.core.compiled`), so ordinary threads are all that is needed. Nothing here is global:
two fits at once, a fit after a fork and more threads than cores all just work.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from sce.core.meter import NOBODY_LOOKS, Meter
from sce.errors import ParameterError


def available_cores() -> int:
    """The number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def resolve_n_jobs(n_jobs: int | None) -> int:
    """The number of threads for `n_jobs` as in scikit-learn, except that None means all cores: results do not differ.

    Examples
    --------
    >>> resolve_n_jobs(3)
    3
    """
    if n_jobs is None:
        return available_cores()
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__") or n_jobs == 0:
        raise ParameterError(
            f"n_jobs must be None, a positive number, or -1 for all cores, -2 for all but one; got {n_jobs!r}."
        )
    n = n_jobs.__index__()
    return n if n > 0 else max(1, available_cores() + 1 + n)


class Team:
    """A team of threads: the caller's and `n_jobs - 1` more.

    Parameters
    ----------
    n_jobs : int
    meter : Meter, optional
        Shows what is done of the sweeps that have a share.
    """

    def __init__(self, n_jobs: int, meter: Meter = NOBODY_LOOKS) -> None:
        self.n_jobs = n_jobs
        self.meter = meter
        self._pool = ThreadPoolExecutor(n_jobs - 1, thread_name_prefix="sce") if n_jobs > 1 else None

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def split(self, function: Callable[[int, int], Any], n: int) -> None:
        """Call function(start, stop) once per thread, on even parts of range(n)."""
        parts = min(self.n_jobs, n)
        self._run(function, [(n * p // parts, n * (p + 1) // parts) for p in range(parts)])

    def sweep(self, function: Callable[[int, int], Any], n: int, grain: int, share: float = 0.0) -> None:
        """Call function(start, stop) on pieces of range(n) of at most `grain`, each taken by the next free thread.

        It is a share of the present part of the meter, which only the calling thread moves.
        """
        tell, caller = self.meter.part_of_sweep(share), threading.get_ident()
        if n <= grain:
            if n > 0:
                function(0, n)
            return
        pieces = iter([(start, min(n, start + grain)) for start in range(0, n, grain)])
        stopped = threading.Event()

        def work() -> None:
            try:
                for start, stop in pieces:  # next() on a list iterator is atomic
                    if stopped.is_set():
                        return
                    function(start, stop)
                    if tell is not None and threading.get_ident() == caller:
                        tell(stop / n)
            except BaseException:
                stopped.set()
                raise

        self._run(work, [()] * min(self.n_jobs, -(-n // grain)), stopped)

    def _run(self, function: Callable[..., Any], calls: list[Any], stopped: threading.Event | None = None) -> None:
        """Run all calls, the last one in this thread; leave none running, even on Ctrl-C."""
        if not calls:
            return
        futures: list[Future[Any]] = []
        try:
            if self._pool is not None:
                futures += [self._pool.submit(copy_context().run, function, *call) for call in calls[:-1]]
                calls = calls[-1:]
            for call in calls:
                function(*call)
        finally:
            _join(futures, stopped)
        for future in futures:
            future.result()


def _join(futures: Iterable[Future[Any]], stopped: threading.Event | None) -> None:
    """Wait until every future has ended; a Ctrl-C meanwhile stops them all at the next piece and is raised after that."""
    interrupt: KeyboardInterrupt | None = None
    for future in futures:
        while not future.done():
            try:
                future.exception()
            except KeyboardInterrupt as error:  # noqa: PERF203
                interrupt = error
                if stopped is not None:
                    stopped.set()
    if interrupt is not None:
        raise interrupt
