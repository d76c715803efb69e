"""A process for each method, with a time limit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any, NamedTuple

from sce.core.processes import explain_end, last_line

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
        return Ended(True) if code == 0 else Ended(False, reason=explain_end(code, last_line(output)))


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
