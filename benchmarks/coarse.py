"""What coarse maps add: J, agreement with the classes and seconds, without them, with them, and with the full gradient after.

Usage: SCE_DATA=folder python benchmarks/coarse.py [shuttle mnist ijcnn flow_hipc] [--rows 10000] [--seeds 3]

The graph is built with SCE's defaults. J is exact, at r = 10, about where alpha = 0.1 ends. SCE_DATA is a folder of .npz files.
Prints a table in Markdown: means over seeds, with the standard deviation of J.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from common import make_problem, require_data, run_stages
from sce import datasets
from sce.core.parallel import Team
from sce.graph.build import GraphOptions, build_affinity
from sce.layout.coarse import make_levels
from sce.layout.gradient.terms import Gradient
from sce.layout.plan import Stage, gradient_stage, make_plan
from sce.layout.problem import Problem
from sce.layout.scale import SCEScale
from sce.layout.settings import LayoutOptions
from sce.layout.start import starting_points
from sce.quality import class_agreement

R = 10.0
HEAD = "| data | points | layout | seconds | J | AMI | accuracy |\n|---|---|---|---|---|---|---|"


def ways(problem: Problem) -> dict[str, list[Stage]]:
    """Ways from a start to a map."""
    options = LayoutOptions(SCEScale(), optimizer="sampler")
    _, sampler = make_plan(problem, options, [])
    _, *coarse = make_plan(problem, options, list(make_levels(problem)))
    return {
        "sampler": [sampler],
        "sampler, 4 times the epochs": [sampler._replace(n_epochs=4 * sampler.n_epochs)],
        "coarse maps, sampler": coarse,
        "coarse maps, sampler, gradient": [*coarse, gradient_stage(problem, options, None)],
    }


def measure(name: str, rows: int, seeds: int, team: Team) -> None:
    """The lines of a data set."""
    X, y = datasets.load(name)[:2]
    kept = np.sort(np.random.default_rng(0).permutation(len(X))[:rows])
    X, y = X[kept], y[kept]
    P = build_affinity(X, GraphOptions(), team, seed=0).P
    problems = [make_problem(P, team, seed) for seed in range(seeds)]
    plans = [ways(problem) for problem in problems]
    gradient = Gradient(problems[0].graph)
    for what in plans[0]:
        run_stages(problems[0], plans[0][what], starting_points(problems[0], "auto", 2, X))  # compiles
        found = []
        for problem, plan in zip(problems, plans, strict=True):
            start = starting_points(problem, "auto", 2, X)
            begin = time.perf_counter()
            Y = run_stages(problem, plan[what], start).Y
            seconds = time.perf_counter() - begin
            terms = gradient(Y.astype(np.float64))
            agreement = class_agreement(Y, y)
            found.append((seconds, terms.attraction + R * terms.mean_q_U, agreement.ami, agreement.accuracy))
        seconds, J, ami, accuracy = np.mean(found, axis=0)
        spread = np.std([one[1] for one in found])
        print(
            f"| {name} | {len(X):,} | {what} | {seconds:.2f} | {J:.4f} ± {spread:.4f} | {ami:.3f} | {accuracy:.4f} |",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["shuttle", "mnist", "ijcnn", "flow_hipc"])
    parser.add_argument("--rows", type=int, default=10**9, help="the most rows of a data set")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    require_data()
    print(HEAD)
    with Team(2) as team:
        for name in arguments.names:
            measure(name, arguments.rows, arguments.seeds, team)
