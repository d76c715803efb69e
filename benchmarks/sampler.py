"""Nanoseconds per step: the block sampler on one and two threads against a literal port of Algorithm 1, in one run.

Usage: SCE_DATA=folder python benchmarks/sampler.py [--repeats 3]

The graphs are MNIST's 10-NN graph (70,000 points), IJCNN's entropic graph of perplexity 30 (126,701) and mocap_1m's 15-NN graph
(1,000,000). All take turns, and the best of the repeats counts, because the machine may be busy.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import scipy.sparse as sp

from common import load_graph, make_problem, require_data, run
from literal import Table, algorithm_1, make_table
from sce.core.parallel import Team
from sce.graph.build import GraphOptions
from sce.layout.plan import STEPS_PER_POINT
from sce.layout.records import Watch
from sce.layout.scale import FixedScale


def step_time(P: sp.csr_matrix, start: np.ndarray, n_epochs: int, n_jobs: int) -> float:
    """Nanoseconds per step from the end of the first epoch to that of the last."""
    times: list[float] = []
    watch = Watch(checkpoint=lambda _: times.append(time.perf_counter()))
    with Team(n_jobs) as team:
        run(make_problem(P, team), FixedScale(1.0), "sampler", start, watch, n_epochs=n_epochs + 1)
    _, first, *_, last, _ = times  # the start, the epochs, the end of the sampler
    return (last - first) / (n_epochs * STEPS_PER_POINT * P.shape[0]) * 1e9


def literal_step_time(table: Table, start: np.ndarray, n_epochs: int) -> float:
    steps = n_epochs * STEPS_PER_POINT * len(start)
    begin = time.perf_counter()
    algorithm_1(table, start, steps, r=1.0)
    return (time.perf_counter() - begin) / steps * 1e9


def compare(name: str, options: GraphOptions, n_epochs: int, repeats: int) -> None:
    _, P = load_graph(name, options)
    start = 0.01 * np.random.default_rng(0).normal(size=(P.shape[0], 2))
    table = make_table(P)
    algorithm_1(table, start, 10)  # compile
    ours = {1: np.inf, 2: np.inf}
    literal = np.inf
    for _ in range(repeats):
        ours = {n_jobs: min(best, step_time(P, start, n_epochs, n_jobs)) for n_jobs, best in ours.items()}
        literal = min(literal, literal_step_time(table, start, n_epochs))
    print(f"{name}: {P.shape[0]} points, {P.nnz // 2} edges")
    print(f"  literal port of Algorithm 1 {literal:6.1f} ns/step")
    print(f"  blocks, 1 thread            {ours[1]:6.1f} ns/step, {literal / ours[1]:.1f} times faster")
    print(
        f"  blocks, 2 threads           {ours[2]:6.1f} ns/step, {ours[1] / ours[2]:.2f} times faster than 1", flush=True
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    require_data()
    compare("mnist", GraphOptions("knn", n_neighbors=10), 70, repeats)
    compare("ijcnn", GraphOptions("entropic", perplexity=30.0), 20, repeats)
    compare("mocap_1m", GraphOptions("knn", n_neighbors=15), 5, repeats)
