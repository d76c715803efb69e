"""One job in a process of its own: ``python -m sce.web.job_worker``, told what to do by :mod:`sce.web.jobs`.

The job comes on standard input as pickles, from the process that started this one and nobody else: the name of the function,
where to put the result, then its arguments. Large arrays lie in files, also those of the result. What it has to say goes to
standard output as lines of JSON; whatever the function prints goes to standard error instead. The input stays open while the
parent lives; when it closes, this process ends.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import json
import os
import pickle
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from sce.web.array_files import dump, load, map_array, save_array

_NICENESS = 5  # the page comes first
_say: Callable[[dict[str, Any]], None] | None = None


def report(progress: float, message: str = "") -> None:
    """Tell the page how far a job has come; does nothing outside of a worker.

    Parameters
    ----------
    progress : float
        The share that is done, from 0 to 1.
    message : str
        What is being done.
    """
    if _say is not None:
        _say({"progress": min(1.0, max(0.0, float(progress))), "message": message})


def main() -> int:
    """Run the job given on standard input; return the exit code."""
    global _say  # noqa: PLW0603  (report is called from anywhere below the function)
    _say = _speaker()
    _step_back()
    try:
        module, name, output = pickle.load(sys.stdin.buffer)  # noqa: S301  (from our own parent)
        function: Any = importlib.import_module(module)
        for part in name.split("."):
            function = getattr(function, part)
        args = load(sys.stdin.buffer, map_array)
        threading.Thread(target=_end_with_parent, args=(sys.stdin.buffer,), daemon=True).start()
        result = function(*args)
        with open(output, "wb") as file:  # noqa: PTH123  (in the folder of the jobs, which is the user's own)
            dump(result, file, _saver(output))
    except BaseException as error:  # noqa: BLE001  (any error becomes a sentence on the page)
        _say({"failed": _sentence(error)})
        return 1
    _say({"done": True})
    return 0


def _saver(output: str) -> Callable[[Any], str]:
    """A function that puts an array of the result into a file beside it, and returns its path."""
    numbers = itertools.count()

    def save(array: Any) -> str:
        save_array(path := f"{output}.{next(numbers)}", array)
        return path

    return save


def _sentence(error: BaseException) -> str:
    from sce.errors import SCEError

    if isinstance(error, SCEError):
        return str(error)
    if isinstance(error, MemoryError):
        return "There is not enough memory for this computation."
    import traceback

    traceback.print_exc()
    text = " ".join(str(error).split())
    return f"Internal error: {type(error).__name__}{f': {text}' if text else ''}"


def _speaker() -> Callable[[dict[str, Any]], None]:
    """A function that writes a line of JSON where standard output was; what others print goes to standard error."""
    channel = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    lock = threading.Lock()

    def say(line: dict[str, Any]) -> None:
        with lock:
            channel.write(json.dumps(line) + "\n")
            channel.flush()

    return say


def _step_back() -> None:
    """Leave the processor to the page, and be the first whom a system without memory ends."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(_NICENESS)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:  # noqa: PTH123
        file.write("1000")


def _end_with_parent(pipe: BinaryIO) -> None:
    """Exit when the input is closed: nobody is waiting for the result any more."""
    pipe.read()
    os._exit(3)


if __name__ == "__main__":
    # under its own name, so that functions that report find the same module
    from sce.web.job_worker import main as run

    sys.exit(run())
