"""One method in its own process: ``python -m sce.compare.worker``, with the job as a line of JSON on standard input.

The input stays open while the parent process lives; when it closes, this process ends.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sce.compare.interface import Made, Problem
from sce.compare.methods import Method
from sce.core.memory import peak_memory


def main() -> int:
    """Run the job given on standard input; return the exit code."""
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        run(job)
    except BaseException as error:  # noqa: BLE001  (any error becomes the reason in a row)
        import traceback

        traceback.print_exc()
        text = " ".join(str(error).split()) or "no reason given"
        print(f"\n{type(error).__name__}: {text}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


def run(job: dict[str, Any]) -> None:
    """Fit, measure, and save the map."""
    from sce.core.parallel import Team
    from sce.layout.gradient.terms import Gradient
    from sce.layout.similarities import Similarities

    method = Method(**job["method"])
    fit = method.load()
    for module in method.needs:
        importlib.import_module(module)
    problem = _read(job)
    if method.warm_up is not None:
        _warm_up(fit, method, problem, method.warm_up)
    start = time.perf_counter()
    made = fit(problem, **method.parameters)
    seconds = time.perf_counter() - start
    facts = {
        "seconds": seconds,
        "process_seconds": time.time() - job["started"],
        "peak_memory": peak_memory(),
    }
    Y = np.ascontiguousarray(made.Y, np.float32)
    if Y.shape != (problem.P.shape[0], 2) or not np.isfinite(Y).all():
        raise ValueError(f"the map has the wrong shape, {Y.shape}, or numbers that are not finite")
    with Team(problem.n_jobs) as team:
        terms = Gradient(Similarities(problem.P, team))(Y.astype(np.float64), 1e-6)
    facts |= {"mean_q_P": terms.mean_q_P, "mean_q_U": terms.mean_q_U}
    _save(job, method, made, Y, facts)


def _save(job: dict[str, Any], method: Method, made: Made, Y: np.ndarray, facts: dict[str, Any]) -> None:
    from sce.results.maps import Map

    r = made.r
    if r is None and method.exaggeration is not None:
        r = 1.0 / (method.exaggeration * facts["mean_q_U"])
    known = {**made.facts, **facts, "method": method.key, "fingerprint": job["fingerprint"], "source": job["name"]}
    result = Map(Y=Y, ids=np.arange(len(Y)), parameters=dict(method.parameters), facts=known)
    if r is not None:
        result.r = r
    result.save(job["output"])


def _read(job: dict[str, Any]) -> Problem:
    """The data, read into memory rather than mapped: kernels would be compiled again for read-only arrays."""
    from sce.results.graphs import read_graph

    X: Any = None
    if job["vectors"]:
        from scipy import sparse

        path = Path(job["vectors"])
        X = np.load(path) if path.suffix == ".npy" else sparse.load_npz(path)
    return Problem(X, read_graph(job["graph"]), job["seed"], job["n_jobs"])


def _warm_up(fit: Any, method: Method, problem: Problem, others: Mapping[str, Any]) -> None:
    """Fit a few random points, so that compiling and loading on first use is not timed."""
    from scipy import sparse
    from sklearn.neighbors import kneighbors_graph

    from sce.core.random import normal_array, stream

    columns = 4 if problem.X is None else min(problem.X.shape[1], 50)
    X = normal_array(stream(0, "warm up"), (method.warm_up_points, columns)).astype(np.float32)
    near = kneighbors_graph(X, 15)
    near = near.maximum(near.T)
    P = sparse.csr_matrix(near / near.sum(), dtype=problem.P.dtype)
    P.indices, P.indptr = P.indices.astype(problem.P.indices.dtype), P.indptr.astype(problem.P.indptr.dtype)
    few = Problem(None if problem.X is None else X, P, problem.seed, problem.n_jobs)
    fit(few, **{**method.parameters, **others})


def _end_with_parent() -> None:
    """Exit when the input is closed: nobody is waiting for the result any more."""
    sys.stdin.read()
    os._exit(3)


if __name__ == "__main__":
    sys.exit(main())
