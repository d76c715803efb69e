"""One job, and its process: started, told what to do, and killed."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from sce.web.array_files import ArrayFiles, dump


class Job:
    """What is known about a job."""

    def __init__(self, kind: str, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.kind, self.function, self.args = kind, function, args
        self.state, self.message, self.progress = "waiting", "", 0.0
        self.result: Any = None
        self.process: subprocess.Popen[bytes] | None = None

    def described(self) -> dict[str, Any]:
        """What the page is told."""
        return {"state": self.state, "message": self.message, "progress": self.progress}


@contextlib.contextmanager
def started(said: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """A worker, which Ctrl-C does not reach; it has ended when this has. What it prints goes to a file."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTHONSAFEPATH": "1",  # no modules from the folder that the user happens to be in (Python 3.11)
    }
    with subprocess.Popen(
        [sys.executable, "-m", "sce.web.job_worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=said,
        env=environment,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            kill(process)
            with contextlib.suppress(BrokenPipeError):
                assert process.stdin is not None
                process.stdin.close()


def send(process: subprocess.Popen[bytes], job: Job, args: tuple[Any, ...], output: Path, files: ArrayFiles) -> None:
    """Tell a worker what to do; the pipe stays open, for the worker ends with it."""
    assert process.stdin is not None
    text = io.BytesIO()
    pickle.dump((job.function.__module__, job.function.__qualname__, str(output)), text)
    dump(args, text, files.save)
    with contextlib.suppress(BrokenPipeError):  # it has ended; what it said tells why
        process.stdin.write(text.getbuffer())
        process.stdin.flush()


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a worker and what it may have started."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform != "win32":
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
