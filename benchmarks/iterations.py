"""Seconds per iteration of the full gradient, against the number of points and the extent of the map.

Usage: SCE_DATA=folder python benchmarks/iterations.py [--most 1000000]
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

from common import make_problem, require_data, run
from sce import datasets
from sce.core.parallel import Team
from sce.graph.build import GraphOptions, build_affinity
from sce.layout.gradient.descent import Descent
from sce.layout.gradient.precondition import Preconditioner
from sce.layout.gradient.terms import Gradient
from sce.layout.problem import Problem
from sce.layout.scale import FixedScale
from sce.layout.start import starting_points

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
EXTENTS = (1e-3, 1.0, 10.0, 60.0, 200.0, 1e3, 1e4, 1e6)


def drawn(X: np.ndarray, team: Team, d: int) -> tuple[Problem, np.ndarray]:
    """The 15-NN graph of X and the sampler's map at r = 1."""
    problem = make_problem(build_affinity(X, GraphOptions("knn", n_neighbors=15), team, seed=0).P, team)
    start = starting_points(problem, "pca", d, X)
    return problem, run(problem, FixedScale(1.0), "sampler", start).Y.astype(np.float64)


def seconds(problem: Problem, Y: np.ndarray, n_iterations: int = 6) -> tuple[float, float]:
    """The median of some iterations at the map's own r, and the megabytes that the repulsion keeps."""
    gradient = Gradient(problem.graph)
    descent = Descent(gradient, Preconditioner(problem.graph), Y)
    rule = FixedScale(min(max(descent.natural_weight(), 1e-6), 1e30))
    times = []
    for _ in range(n_iterations + 1):
        began = time.perf_counter()
        descent.step(rule)
        times.append(time.perf_counter() - began)
    return float(np.median(times[1:])), gradient.n_bytes / 2**20


def by_size(most: int, d: int) -> None:
    X = datasets.load("mocap_1m").X
    order = np.random.default_rng(0).permutation(len(X))
    print(
        f"\n{d}-D, by points (rows of mocap_1m, 15-NN):\n\n| points | extent | ms an iteration | MB |\n|---|---|---|---|"
    )
    with Team(os.cpu_count() or 1) as team:
        for n in SIZES:
            if n <= most:
                problem, Y = drawn(X[np.sort(order[:n])], team, d)
                took, kept = seconds(problem, Y)
                print(f"| {n:,} | {np.ptp(Y):.0f} | {1000 * took:.1f} | {kept:.0f} |", flush=True)


def by_extent(d: int) -> None:
    X = datasets.load("mnist").X
    print(f"\n{d}-D, by extent (MNIST, 15-NN, 70,000 points):\n\n| extent | ms an iteration | MB |\n|---|---|---|")
    with Team(os.cpu_count() or 1) as team:
        problem, Y = drawn(X, team, d)
        for extent in EXTENTS:
            took, kept = seconds(problem, Y * (extent / np.ptp(Y)))
            print(f"| {extent:g} | {1000 * took:.1f} | {kept:.0f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=max(SIZES))
    most = parser.parse_args().most
    require_data()
    by_size(most, 2)
    by_extent(2)
    by_size(min(most, 100_000), 3)
    by_extent(3)
