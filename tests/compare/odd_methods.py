"""Methods for the tests: they count their calls, sleep, fail, or give back nonsense."""

import os
import time
from pathlib import Path

import numpy as np

from sce.compare import Made, Method


def quick(problem, shift=0.0):
    """The first two columns; notes each call in the file named by COUNT."""
    if "COUNT" in os.environ:
        with Path(os.environ["COUNT"]).open("a") as file:
            file.write(f"{problem.P.shape[0]}\n")
    return Made(problem.X[:, :2] + np.float32(shift), facts={"shift": shift})


def slow(problem):
    """Leaves its process id in the file named by PID, and sleeps."""
    if "PID" in os.environ:
        Path(os.environ["PID"]).write_text(str(os.getpid()))
    time.sleep(600)


def failing(problem):
    """Fails, with a reason of two lines."""
    if "COUNT" in os.environ:
        with Path(os.environ["COUNT"]).open("a") as file:
            file.write("failing\n")
    raise ValueError("the moon <is>\nfull")


def broken(problem):
    """A map with NaN."""
    return Made(np.full((problem.P.shape[0], 2), np.nan))


def method(name, takes="graph", **options):
    """A method of this module."""
    options = {"warm_up": None, **options}
    return Method(name, name.upper(), takes, f"{name}, for the tests", f"odd_methods:{name}", **options)


QUICK, SLOW, FAILING, BROKEN = (method(name) for name in ("quick", "slow", "failing", "broken"))
ABSENT = Method(
    "absent", "Absent", "graph", "not there", "odd_methods:quick", needs={"no_such_module": "no-such-package"}
)
