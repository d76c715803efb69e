"""A process for each method, with a time limit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any, NamedTuple

# Environment variables that tell the libraries below the methods how many threads to use.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Ended(NamedTuple):
    """How a process ended."""

    done: bool
    too_slow: bool = False
    reason: str = ""


def run_worker(job: dict[str, Any], time_limit: float) -> Ended:
    """Run a job of :mod:`sce.compare.worker`; its process ends in any case."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTHONUNBUFFERED": "1",
        **dict.fromkeys(_THREAD_VARIABLES, str(job["n_jobs"])),
    }
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "sce.compare.worker"],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            env=environment,
        )
        try:
            _send(process, {**job, "started": time.time()})
            code = process.wait(time_limit)
        except subprocess.TimeoutExpired:
            return Ended(False, True, f"more than {time_limit:g} s")
        finally:
            process.kill()
            process.wait()
            _close(process)
        return Ended(True) if code == 0 else Ended(False, reason=_reason(code, _last_line(output)))


def _send(process: subprocess.Popen[bytes], job: dict[str, Any]) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(json.dumps(job, default=dict).encode() + b"\n")
        process.stdin.flush()
    except BrokenPipeError:  # it has ended; its output says why
        pass


def _close(process: subprocess.Popen[bytes]) -> None:
    try:
        if process.stdin is not None:
            process.stdin.close()
    except BrokenPipeError:
        pass


def _last_line(output: Any) -> str:
    output.seek(max(0, output.seek(0, os.SEEK_END) - 4000))
    lines = [line.strip() for line in output.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _reason(code: int, last_line: str) -> str:
    """Why a process failed, in one line."""
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"ended by {name}{', possibly out of memory' if name == 'SIGKILL' else ''}"
    return last_line[:300] or f"ended with code {code}"
