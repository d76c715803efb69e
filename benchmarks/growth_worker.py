"""One fit of growth.py in a process of its own: seconds and memory of each stage, and what else is asked for."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from measured import limit
from memory import Watch
from sce.core.memory import peak_memory

K_RECALL = 500  # rows whose true neighbours are looked for
STAGES = (
    ("sce.graph.index", "nearest_neighbors", "neighbours"),
    ("sce.graph.affinity", "entropic_affinity", "affinity"),
    ("sce.graph.affinity", "knn_affinity", "affinity"),
    ("sce.estimator", "starting_points", "start"),
    ("sce.estimator", "coarse_start", "coarse maps"),
    ("sce.estimator", "optimize", "layout"),
)


class Taken:
    """What is taken out of a fit as it goes by: the neighbours of a sample of rows, and the arguments of the layout."""

    def __init__(self) -> None:
        self.queries = self.near = np.empty(0, np.int64)
        self.layout: tuple[Any, ...] = ()

    def neighbors(self, function: Any) -> Any:
        """The search, of which a sample is kept."""
        from sce.quality.check import sampled

        def search(X: Any, *args: Any, **options: Any) -> Any:
            found = function(X, *args, **options)
            self.queries = sampled(X.shape[0], K_RECALL, 0)
            self.near = found.indices[self.queries].astype(np.int64)
            return found

        return search

    def start(self, function: Any) -> Any:
        """The layout, whose arguments are kept."""

        def lay_out(P: Any, start: Any, options: Any, *others: Any) -> Any:
            self.layout = (start, options)
            return function(P, start, options, *others)

        return lay_out


def fit(X: np.ndarray, parameters: dict[str, Any], threads: int) -> tuple[Any, Taken, dict[str, Any]]:
    """Fit; the model, what was taken out, and seconds and memory by stage."""
    import importlib

    from numba.core.event import install_recorder

    watch, taken = Watch(), Taken()
    from sce import SCE, estimator
    from sce.graph.build import neighbors

    neighbors.nearest_neighbors = taken.neighbors(neighbors.nearest_neighbors)
    setattr(estimator, "optimize", taken.start(getattr(estimator, "optimize")))  # noqa: B009, B010
    for module, name, stage in STAGES:
        place = importlib.import_module(module)
        setattr(place, name, watch.around(getattr(place, name), stage))
    began = time.perf_counter()
    with install_recorder("numba:compile") as compiled:
        model = SCE(random_state=0, n_jobs=threads, **parameters).fit(X)
    seconds = time.perf_counter() - began
    stages = [*watch.stages, ["end", time.perf_counter(), 0.0, 0.0]]
    facts = {
        "fit": seconds,
        "peak": peak_memory(),
        "compiled": len(compiled.buffer) > 0,
        "stages": [
            [name, stop - start, resident, anonymous]
            for (name, start, resident, anonymous), (_, stop, *_) in pairwise(stages)
        ],
        "epochs": model.n_epochs_,
        "method": model.neighbor_method_,
        "own_recall": model.neighbor_recall_,
    }
    return model, taken, facts


def equal_steps(model: Any, epochs: int, threads: int) -> float:
    """Seconds of the sampler alone, at as many steps for each point whatever their number."""
    from sce.core.parallel import Team
    from sce.engines.threads import ThreadEngine
    from sce.layout.records import LayoutOptions
    from sce.layout.sampler.epochs import sample
    from sce.layout.scale import SCEScale

    with Team(threads) as team:
        began = time.perf_counter()
        sample(model.affinity_, model.embedding_, LayoutOptions(SCEScale(), epochs), ThreadEngine(team), team)
        return time.perf_counter() - began


def recall(X: np.ndarray, taken: Taken, threads: int) -> float:
    """The share of true neighbours among those found, by exact search for a sample of rows."""
    from sce.core.parallel import Team
    from sce.quality.ranks import ranks

    with Team(threads) as team:
        place = np.array(ranks(X, "euclidean", taken.queries, taken.near, team))
    return float((place <= len(taken.near[0])).mean())


def against_twice(model: Any, taken: Taken, threads: int) -> dict[str, float]:
    """J of the map, and of one with twice the steps of the layout from the same start, both at the r of the first."""
    from common import objective
    from sce.core.parallel import Team
    from sce.engines.threads import ThreadEngine
    from sce.layout.optimize import optimize, plan_epochs

    start, options = taken.layout
    epochs = plan_epochs(model.affinity_, options, "auto")
    with Team(threads) as team:
        began = time.perf_counter()
        more = replace(options, n_epochs=2 * (epochs or 0))
        twice = optimize(model.affinity_, start, more, "auto", ThreadEngine(team), team)
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
