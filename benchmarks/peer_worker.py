"""One method of peers.py in a process of its own: a fit, and a second one if asked for, with the seconds of their stages.

The result of the first fit is written before the second begins, so that it is not lost if the second takes too long.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from measured import Clock, limit
from peer_methods import EVERY
from sce.core.memory import peak_memory


def main(job: dict[str, Any]) -> None:
    """Import, fit, and write what that took."""
    limit(job["time_limit"])
    method = EVERY[job["method"]]
    importlib.import_module(method.module)
    clock = Clock()
    for place, stage in method.stages:
        clock.watch(place, stage)
    imported = time.time()
    X = np.load(job["data"])
    read = time.time() - imported
    began = time.perf_counter()
    made = method.fit(X, job["seed"], job["threads"])
    facts = {
        "import": imported - job["started"],
        "first": time.perf_counter() - began,
        "process": time.time() - job["started"] - read,
        "cpu": time.process_time(),
        "peak": peak_memory(),
        "first_stages": clock.take(),
    }
    check(made, len(X))
    np.save(job["map"], made)
    Path(job["result"]).write_text(json.dumps(facts), encoding="utf-8")
    if facts["first"] < job["again_below"]:
        limit(job["time_limit"])
        began, used = time.perf_counter(), time.process_time()
        method.fit(X, job["seed"], job["threads"])
        facts |= {"warm": time.perf_counter() - began, "warm_cpu": time.process_time() - used}
        facts["warm_stages"] = clock.take()
        Path(job["result"]).write_text(json.dumps(facts), encoding="utf-8")


def check(made: np.ndarray, n: int) -> None:
    """Raise unless there is a row for each row of the data, and all numbers are finite."""
    if len(made) != n or not np.isfinite(made).all():
        raise ValueError(f"the result has the shape {made.shape}, or numbers that are not finite")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
