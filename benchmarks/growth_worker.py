"""One fit of growth.py in a process of its own: seconds and memory of each stage, and whatever else the job asks for."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from measured import limit, wrap
from memory import Sampled
from sce.core.memory import peak_memory

RECALL_ROWS = 500  # whose true neighbours are searched for


class Taken:
    """What is kept of a fit in passing: the neighbours of a sample of rows; the start, epochs and seed of the last sampler."""

    def __init__(self) -> None:
        self.queries = self.near = np.empty(0, np.int64)
        self.start, self.n_epochs, self.seed = np.empty((0, 2), np.float32), 0, 0

    def neighbors(self, function: Any) -> Any:
        """The search, of whose result a sample is kept."""
        from sce.quality.check import sampled

        def search(X: Any, *args: Any, **options: Any) -> Any:
            found = function(X, *args, **options)
            self.queries = sampled(X.shape[0], RECALL_ROWS, 0)
            self.near = found.indices[self.queries].astype(np.int64)
            return found

        return search

    def sampler(self, function: Any) -> Any:
        """The sampler, whose start, epochs and seed are kept."""

        def begin(problem: Any, stage: Any, engine: Any, start: np.ndarray, *others: Any) -> Any:
            self.start, self.n_epochs, self.seed = start, stage.n_epochs, problem.seed
            return function(problem, stage, engine, start, *others)

        return begin


def fit(X: np.ndarray, parameters: dict[str, Any], threads: int) -> tuple[Any, Taken, dict[str, Any]]:
    """Fit; the model, what was kept, and seconds and memory by stage."""
    from numba.core.event import install_recorder

    sampled, taken = Sampled(), Taken()
    from sce import SCE

    wrap("sce.graph.index:nearest_neighbors", taken.neighbors)
    wrap("sce.layout.lay_out:Sampler", taken.sampler)
    sampled.watch_fit()
    began = time.perf_counter()
    with install_recorder("numba:compile") as compiled:
        model = SCE(random_state=0, n_jobs=threads, **parameters).fit(X)
    seconds = time.perf_counter() - began
    facts = {
        "fit": seconds,
        "peak": peak_memory(),
        "compiled": len(compiled.buffer) > 0,
        "stages": sampled.figures(),
        "epochs": model.n_epochs_,
        "method": model.neighbor_method_,
        "own_recall": model.neighbor_recall_,
    }
    return model, taken, facts


def equal_steps(model: Any, epochs: int, threads: int) -> float:
    """Seconds of the sampler alone, with the same steps per point whatever the number of points."""
    from common import make_problem, run
    from sce.core.parallel import Team
    from sce.layout.scale import SCEScale

    with Team(threads) as team:
        began = time.perf_counter()
        run(make_problem(model.affinity_, team), SCEScale(), "sampler", model.embedding_, n_epochs=epochs)
        return time.perf_counter() - began


def recall(X: np.ndarray, taken: Taken, threads: int) -> float:
    """The share of true neighbours among those found, by an exact search for a sample of rows."""
    from sce.core.parallel import Team
    from sce.quality.ranks import ranks

    with Team(threads) as team:
        place = np.array(ranks(X, "euclidean", taken.queries, taken.near, team))
    return float((place <= len(taken.near[0])).mean())


def against_twice(model: Any, taken: Taken, threads: int) -> dict[str, float]:
    """J of the map, and of one with twice the steps of the layout from the same start, both at the r of the first."""
    from common import make_problem, objective, run
    from sce.core.parallel import Team
    from sce.layout.scale import SCEScale

    with Team(threads) as team:
        began = time.perf_counter()
        problem = make_problem(model.affinity_, team, taken.seed)
        twice = run(problem, SCEScale(), "auto", taken.start, n_epochs=2 * taken.n_epochs)
        seconds = time.perf_counter() - began
    J = [objective(model.affinity_, Y, model.scale_) for Y in (model.embedding_, twice.Y)]
    return {"J": J[0], "J_twice": J[1], "r": model.scale_, "r_twice": twice.r, "twice": seconds}


def main(job: dict[str, Any]) -> None:
    """Fit, and write what that took."""
    limit(job["time_limit"])
    X = np.load(job["data"], mmap_mode="r")
    model, taken, facts = fit(X, job["parameters"], job["threads"])
    facts["recall"] = recall(X, taken, job["threads"])
    if job.get("epochs"):
        facts["equal"] = equal_steps(model, job["epochs"], job["threads"])
    if job.get("twice"):
        facts |= against_twice(model, taken, job["threads"])
    Path(job["result"]).write_text(json.dumps(facts), encoding="utf-8")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
