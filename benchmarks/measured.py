"""What the benchmarks of time share: fresh processes with a time limit, a clock for the stages of a fit, tables in Markdown.

This module imports nothing heavy, because a process that times its own imports imports it first.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

# The environment variables that tell the libraries beneath the methods how many threads to use.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
HERE = Path(__file__).parent
DONE, TOO_SLOW, FAILED = "done", "too slow", "failed"


class Ended(NamedTuple):
    """How a process ended, the reason in a line if it failed, and how many cores were busy with something else."""

    status: str
    reason: str
    busy: float


def run_fresh(script: str, job: dict[str, Any], threads: int, time_limit: float) -> Ended:
    """Run a script of this folder in a process of its own, with the job as JSON for its only argument.

    The job is given the time at which the process was started, and the time limit. The process sets the limit itself, with
    :func:`limit`, and the system then ends it whatever it is doing.
    """
    environment = {**os.environ, **dict.fromkeys(THREADS, str(threads))}
    job = {**job, "threads": threads, "time_limit": time_limit, "started": time.time()}
    with tempfile.TemporaryFile() as output:
        command = [sys.executable, "-W", "ignore", str(HERE / script), json.dumps(job)]
        before, began = _others(), time.perf_counter()
        code = subprocess.run(command, check=False, stdout=output, stderr=output, env=environment).returncode
        busy = max(0.0, _others() - before) / (time.perf_counter() - began)
        if code == 0:
            return Ended(DONE, "", busy)
        if code == -signal.SIGALRM:
            return Ended(TOO_SLOW, f"more than {time_limit:g} s", busy)
        return Ended(FAILED, _reason(code, output), busy)


def _others() -> float:
    """The CPU seconds of all cores since the machine was started, less those that this process's children used."""
    user, nice, system, _, _, *more = map(
        int, Path("/proc/stat").read_text(encoding="ascii").split("\n")[0].split()[1:9]
    )
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (user + nice + system + sum(more)) / os.sysconf("SC_CLK_TCK") - used.ru_utime - used.ru_stime


def _reason(code: int, output: Any) -> str:
    if code < 0:
        name = signal.Signals(-code).name
        return f"ended by {name}{', possibly out of memory' if name == 'SIGKILL' else ''}"
    output.seek(0)
    lines = [line.strip() for line in output.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1][:200] if lines else f"ended with code {code}"


def limit(seconds: float) -> None:
    """Let the system end this process so many seconds from now; another call replaces the limit."""
    signal.setitimer(signal.ITIMER_REAL, seconds)


def wrap(place: str, wrapper: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replace the function "module:name" or "module:class.name" by what the wrapper makes of it."""
    module, path = place.split(":")
    *outer, name = path.split(".")
    holder: Any = importlib.import_module(module)
    for part in outer:
        holder = getattr(holder, part)
    setattr(holder, name, wrapper(getattr(holder, name)))


class Clock:
    """Adds up the seconds of functions by stage; where one calls another, the time counts for the inner one alone."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._running: list[str] = []
        self._since = 0.0

    def watch(self, place: str, stage: str) -> None:
        """Count the calls of a function, named as for :func:`wrap`, as a stage; versions of a library may lack it."""
        with contextlib.suppress(AttributeError):
            wrap(place, lambda function: self.around(function, stage))

    def around(self, function: Callable[..., Any], stage: str) -> Callable[..., Any]:
        """The function, with its seconds counted."""

        def timed(*args: Any, **options: Any) -> Any:
            self._credit()
            self._running.append(stage)
            try:
                return function(*args, **options)
            finally:
                self._credit()
                self._running.pop()

        return timed

    def take(self) -> dict[str, float]:
        """The seconds so far; the clock begins again at 0."""
        found, self.seconds = self.seconds, {}
        return found

    def _credit(self) -> None:
        """Credit the time since the last change to the stage that was running."""
        now = time.perf_counter()
        if self._running:
            stage = self._running[-1]
            self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now


def machine() -> str:
    """The processor and its cores, because times depend on the machine."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.machine()
    return f"{name}, {os.cpu_count()} cores"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table.

    >>> print(markdown(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [head, *rows]
    text = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([text[0], f"|{'---|' * len(head)}", *text[1:]])


def brief(number: float | None) -> str:
    """A number with three significant digits; "-" for none.

    >>> [brief(value) for value in (None, 0.01234, 1.5, 1234.5)]
    ['-', '0.0123', '1.50', '1234']
    """
    if number is None:
        return "-"
    size = abs(number)
    return (
        f"{number:.3g}"
        if size < 1
        else f"{number:.2f}"
        if size < 10
        else f"{number:.1f}"
        if size < 100
        else f"{number:.0f}"
    )
