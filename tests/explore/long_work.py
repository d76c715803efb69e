"""Work for worker processes in the tests, which ends when it is told to."""

import os
import time
from pathlib import Path

import numpy as np

from sce.errors import InputError


def clusters_when_told(Y):
    """The sign of the first coordinate, once there is a file `go` in the folder of the test; `process-ID` says who waits."""
    folder = Path(os.environ["SCE_TEST_FOLDER"])
    (folder / f"process-{os.getpid()}").touch()
    while not (folder / "go").exists():
        time.sleep(0.02)
    return (Y[:, 0] > np.median(Y[:, 0])).astype(np.int32)


def refuse(Y):
    """Fail as the library does."""
    raise InputError(f"There is nothing to be found in {len(Y)} points.")
