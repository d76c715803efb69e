"""What the benchmarks of time share: a fresh process with a time limit, a clock for the stages of a fit, tables in Markdown.

Nothing heavy is imported here: a process that measures how long its imports take imports this first.
"""

from __future__ import annotations

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

# Names by which the libraries beneath the methods are told how many threads to use.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
HERE = Path(__file__).parent
DONE, TOO_SLOW, FAILED = "done", "too slow", "failed"


class Ended(NamedTuple):
    """How a process ended, in a line why, where it did not do its job, and how many cores were busy with something else."""

    status: str
    reason: str
    busy: float


def run_fresh(script: str, job: dict[str, Any], threads: int, time_limit: float) -> Ended:
    """Run a script of this folder in a process of its own, with the job as JSON for its only argument.

    The job gets the time at which the process was started, and the time limit, which the process sets for itself with
    :func:`limit`: the system ends it, whatever it is doing.
    """
    environment = {**os.environ, **dict.fromkeys(THREADS, str(threads))}
    job = {**job, "threads": threads, "time_limit": time_limit, "started": time.time()}
    with tempfile.TemporaryFile() as said:
        command = [sys.executable, "-W", "ignore", str(HERE / script), json.dumps(job)]
        before, began = _others(), time.perf_counter()
        code = subprocess.run(command, check=False, stdout=said, stderr=said, env=environment).returncode
        busy = max(0.0, _others() - before) / (time.perf_counter() - began)
        if code == 0:
            return Ended(DONE, "", busy)
        if code == -signal.SIGALRM:
            return Ended(TOO_SLOW, f"more than {time_limit:g} s", busy)
        return Ended(FAILED, _reason(code, said), busy)


def _others() -> float:
    """The CPU seconds, of all cores since the machine was started, that this process's children did not use."""
    user, nice, system, _, _, *more = map(
        int, Path("/proc/stat").read_text(encoding="ascii").split("\n")[0].split()[1:9]
    )
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (user + nice + system + sum(more)) / os.sysconf("SC_CLK_TCK") - used.ru_utime - used.ru_stime


def _reason(code: int, said: Any) -> str:
    if code < 0:
        name = signal.Signals(-code).name
        return f"ended by {name}{', for want of memory perhaps' if name == 'SIGKILL' else ''}"
    said.seek(0)
    lines = [line.strip() for line in said.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1][:200] if lines else f"ended with code {code}"


def limit(seconds: float) -> None:
    """Let the system end this process after so many seconds from now, unless it is called again."""
    signal.setitimer(signal.ITIMER_REAL, seconds)


class Clock:
    """Adds up the seconds of functions, by stage; within one of them, those of another count for the other stage alone."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._running: list[str] = []
        self._since = 0.0

    def watch(self, place: str, stage: str) -> None:
        """Count the calls of "module:name" or "module:class.name" as a stage; a version without that name has no such stage."""
        module, path = place.split(":")
        *outer, name = path.split(".")
        holder: Any = importlib.import_module(module)
        for part in outer:
            holder = getattr(holder, part, None)
        if hasattr(holder, name):
            setattr(holder, name, self.around(getattr(holder, name), stage))

    def around(self, function: Callable[..., Any], stage: str) -> Callable[..., Any]:
        """The function, its seconds counted."""

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
        """The seconds so far, and begin again at 0."""
        found, self.seconds = self.seconds, {}
        return found

    def _credit(self) -> None:
        """What has passed since the last change is the stage's that was running."""
        now = time.perf_counter()
        if self._running:
            stage = self._running[-1]
            self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now


def machine() -> str:
    """The processor and its cores: seconds of another machine are other seconds."""
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
    """A number with three digits that count; "-" for none.

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
