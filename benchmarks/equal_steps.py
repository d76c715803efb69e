"""J(r = 1) at equal steps from the same start: the block sampler against sequential Algorithm 1, means over seeds.

Usage: SCE_DATA=folder python benchmarks/equal_steps.py [mnist shuttle ijcnn] [--seeds 3] [--start auto|random]

From a random start single runs differ by several per cent, so that more seeds are needed to see a difference.
"""

from __future__ import annotations

import argparse

import numpy as np

from common import load_graph, make_problem, objective, require_data, run
from literal import algorithm_1, make_table
from sce.core.parallel import Team
from sce.layout.plan import STEPS_PER_POINT
from sce.layout.scale import FixedScale
from sce.layout.start import starting_points

EPOCHS = {"mnist": 70, "shuttle": 100, "ijcnn": 150}


def compare(name: str, seeds: int, init: str) -> None:
    X, P = load_graph(name)
    table, steps = make_table(P), EPOCHS[name] * STEPS_PER_POINT * P.shape[0]
    ours, papers = [], []
    for seed in range(seeds):
        with Team(2) as team:
            problem = make_problem(P, team, seed)
            start = starting_points(problem, init, 2, X)
            rate = (1.0, 0.0)  # the paper's
            Y = run(problem, FixedScale(1.0), "sampler", start, n_epochs=EPOCHS[name], learning_rate=rate).Y
        ours.append(objective(P, Y, 1.0))
        papers.append(objective(P, algorithm_1(table, start, steps, r=1.0, seed=seed), 1.0))
    ratio = np.mean(ours) / np.mean(papers)
    print(
        f"{name:8s} {init:7s} {steps:.2g} steps  blocks {np.mean(ours):.4f} ± {np.std(ours):.4f}  "
        f"Algorithm 1 {np.mean(papers):.4f} ± {np.std(papers):.4f}  ratio {ratio:.3f}",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--start", default="auto")
    parser.add_argument("names", nargs="*", default=list(EPOCHS))
    options = parser.parse_args()
    require_data()
    for name in options.names:
        compare(name, options.seeds, options.start)
