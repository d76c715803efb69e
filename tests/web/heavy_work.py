"""Jobs for the tests: a worker imports them."""

import mmap
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from sce.errors import InputError
from sce.web.job_worker import report


def add(a, b):
    """Both."""
    print("noise that is no progress")
    return a + b


def note(path, text, seconds=0.0):
    """Write a line when it begins and one when it ends."""
    with Path(path).open("a") as file:
        file.write(f"{text} begins\n")
        file.flush()
        time.sleep(seconds)
        file.write(f"{text} ends\n")


def sleep(seconds, path=None):
    """Report, and say which process this is."""
    report(0.25, "half asleep")
    if path is not None:
        child = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({seconds})"])
        Path(path).write_text(f"{os.getpid()} {child.pid}")
    time.sleep(seconds)
    return "slept"


def die(how):
    """End as no function should."""
    if how == "signal":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "exit":
        print("last words", file=sys.stderr)
        sys.stderr.flush()
        os._exit(7)
    if how == "input":
        raise InputError("The table has no rows; choose another file.")
    if how == "memory":
        raise MemoryError
    if how == "unpicklable":
        return lambda: 0
    raise ZeroDivisionError("a fault\nof the test")


def fill(n_bytes):
    """Take memory, slowly enough to be seen."""
    kept = []
    for _ in range(n_bytes // 20_000_000):
        kept.append(np.ones(20_000_000, np.uint8))
        time.sleep(0.05)
    time.sleep(5)


def read_mapped(path):
    """Touch all pages of a mapped file."""
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        total = int(np.frombuffer(mapped, np.uint8)[::4096].sum())
        time.sleep(0.3)
    return total


def safe_path():
    """Where modules are looked for first."""
    return sys.path[0]
