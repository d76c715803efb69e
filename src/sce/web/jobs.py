"""Heavy work for a page, in worker processes: one at a time of each kind, watched, and stopped on request.

Written by hand: concurrent.futures cannot cancel work that has begun, takes a killed worker for the end of the whole pool, and
imports the user's script again; multiprocessing tells neither memory nor progress.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from sce.core.memory import process_memory
from sce.core.processes import explain_end, last_line
from sce.errors import ParameterError
from sce.web.array_files import ArrayFiles, load
from sce.web.worker_process import Job, kill, send, started

MOST_WAITING = 20  # jobs of a kind
_REMEMBERED = 50  # jobs that have ended, whose state and result can be asked for
_LOOK_SECONDS = 0.1  # between two looks at the memory of a worker
ENDED = ("done", "failed", "cancelled", "killed")


class Jobs:
    """Jobs by id. A context manager, so that no worker outlives it.

    Parameters
    ----------
    limit_bytes : int, optional
        A worker that holds more memory is stopped, where the system tells (Linux). Pages of mapped files do not count.

    Examples
    --------
    >>> with Jobs() as jobs:
    ...     job = jobs.start("sums", sum, [1, 2, 3])
    ...     jobs.wait(job)["state"], jobs.result(job)
    ('done', 6)
    """

    def __init__(self, limit_bytes: int | None = None) -> None:
        self.limit_bytes = limit_bytes
        self._folder = tempfile.TemporaryDirectory(prefix="sce-jobs-", ignore_cleanup_errors=True)  # the user's alone
        self._files = ArrayFiles(Path(self._folder.name))
        self._jobs: dict[str, Job] = {}
        self._waiting: dict[str, deque[Job]] = {}
        self._changed = threading.Condition()
        self._closed = False

    def __enter__(self) -> Jobs:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, kind: str, function: Callable[..., Any], *args: Any) -> str:
        """Begin a job, now or when those before it of the same kind have ended.

        Parameters
        ----------
        kind : str
        function : function at the top of a module
            The worker imports it. It may call :func:`sce.web.job_worker.report`.
        *args
            Pickled, but for large arrays, which travel by files that both sides map, also in the result; an array that is sent
            again is not written again. It must not be changed.

        Returns
        -------
        str
            The id of the job.

        Raises
        ------
        ParameterError
            If too many jobs of this kind wait, or the function cannot be imported.
        """
        if function.__module__ == "__main__" or "<" in function.__qualname__:
            raise ParameterError(f"A worker cannot import {function.__qualname__}; put it at the top of a module.")
        job, name = Job(kind, function, args), secrets.token_hex(8)
        with self._changed:
            if self._closed:
                raise ParameterError("The server is ending; no more jobs can be started.")
            queue = self._waiting.get(kind)
            if queue is not None and len(queue) >= MOST_WAITING:
                raise ParameterError("Too many jobs are waiting; try again when some of them have ended.")
            self._forget_old()
            self._jobs[name] = job
            if queue is None:  # its thread ends, and takes the queue away, when the queue is empty
                queue = self._waiting[kind] = deque()
                threading.Thread(target=self._work, args=(kind,), daemon=True).start()
            queue.append(job)
        return name

    def state(self, name: str) -> dict[str, Any]:
        """How a job is: "state", "message" and "progress".

        Raises
        ------
        KeyError
            If there is no such job, or it ended long ago.
        """
        with self._changed:
            return self._jobs[name].described()

    def wait(self, name: str, seconds: float | None = None) -> dict[str, Any]:
        """The state of a job once it has ended, or when the time is over."""
        with self._changed:
            job = self._jobs[name]
            self._changed.wait_for(lambda: job.state in ENDED, seconds)
            return job.described()

    def result(self, name: str) -> Any:
        """What the function returned.

        Raises
        ------
        KeyError, ParameterError
            If there is no such job, or it is not done.
        """
        with self._changed:
            job = self._jobs[name]
            if job.state != "done":
                raise ParameterError(f"The job has no result; it is {job.state}. {job.message}".rstrip())
            return job.result

    def cancel(self, name: str) -> bool:
        """Stop a job; False if it had ended before."""
        with self._changed:
            return self._stop(self._jobs[name], "cancelled", "The computation was cancelled.")

    def close(self) -> None:
        """Stop all jobs, and wait for their processes."""
        with self._changed:
            self._closed = True
            for job in self._jobs.values():
                self._stop(job, "cancelled", "The server has ended.")
            self._changed.wait_for(lambda: not self._waiting)
        self._folder.cleanup()

    def _stop(self, job: Job, state: str, message: str) -> bool:
        """Set how a job ends, and kill its process; the caller holds the lock."""
        if job.state in ENDED:
            return False
        self._end(job, state, message)
        if job.process is not None:
            kill(job.process)
        return True

    def _end(self, job: Job, state: str, message: str = "") -> None:
        job.state, job.message, job.args = state, message, ()
        self._changed.notify_all()

    def _forget_old(self) -> None:
        ended = [name for name, job in self._jobs.items() if job.state in ENDED]
        for name in ended[: max(0, len(ended) - _REMEMBERED)]:
            del self._jobs[name]

    def _work(self, kind: str) -> None:
        """Run the jobs of a kind, one after the other, until there are no more."""
        while True:
            with self._changed:
                if not self._waiting[kind]:
                    del self._waiting[kind]
                    self._changed.notify_all()
                    return
                job = self._waiting[kind].popleft()
                if job.state != "waiting":
                    continue
                job.state = "running"
            try:
                self._run(job)
            except Exception as error:  # noqa: BLE001  (arguments that cannot be pickled, no processes left)
                with self._changed:
                    self._stop(job, "failed", f"The computation could not be started: {error}")

    def _run(self, job: Job) -> None:
        output = Path(self._folder.name) / secrets.token_hex(8)
        with tempfile.TemporaryFile() as said, started(said) as process:
            try:
                with self._changed:
                    job.process, args = process, job.args
                    if job.state != "running":  # cancelled in between
                        return
                if self.limit_bytes is not None:
                    threading.Thread(target=self._watch, args=(job, process, self.limit_bytes), daemon=True).start()
                send(process, job, args, output, self._files)
                last = self._listen(job, process)
                code = process.wait() if not last else None
                self._conclude(job, last, output, code, said)
            finally:
                with self._changed:
                    job.process = None
                kill(process)
                output.unlink(missing_ok=True)
                if job.state != "done":
                    process.wait()
                    for part in output.parent.glob(f"{output.name}.*"):  # arrays of a result that nobody gets
                        part.unlink(missing_ok=True)

    def _listen(self, job: Job, process: subprocess.Popen[bytes]) -> dict[str, Any]:
        """Note progress, and return the last word of a worker; empty if it died without one."""
        assert process.stdout is not None
        for line in process.stdout:
            if not line.endswith(b"\n"):  # killed in the middle of it
                break
            said: dict[str, Any] = json.loads(line)
            if "progress" not in said:
                return said
            with self._changed:
                if job.state == "running":
                    job.progress, job.message = said["progress"], said["message"]
        return {}

    def _conclude(self, job: Job, last: dict[str, Any], output: Path, code: int | None, said: IO[bytes]) -> None:
        result = None
        if "done" in last:
            with output.open("rb") as file:
                result = load(file, self._files.fetch)
        with self._changed:
            if job.state != "running":  # cancelled, or stopped for its memory
                return
            if "done" in last:
                job.result, job.progress = result, 1.0
                self._end(job, "done")
            elif "failed" in last:
                self._end(job, "failed", last["failed"])
            elif code is not None and code < 0:
                self._end(job, "killed", f"The computation was {explain_end(code)}.")
            else:
                self._end(job, "failed", f"The computation ended early: {explain_end(code or 0, last_line(said))}")

    def _watch(self, job: Job, process: subprocess.Popen[bytes], most: int) -> None:
        """Stop a worker that takes too much memory."""
        message = f"The computation was stopped, for it needed more than {most / 1e9:.2g} GB of memory."
        while (used := process_memory(process.pid)) is not None:
            if used > most:
                with self._changed:
                    self._stop(job, "killed", message)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK_SECONDS)
                return
