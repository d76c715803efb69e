"""What the full gradient adds to the sampler, at every alpha of SCE: J, r and seconds against the sampler at more epochs.

Usage: SCE_DATA=folder python benchmarks/polish.py [digits shuttle mnist] [--most 40]

"auto" is the sampler with its default epochs, then the full gradient. All J are exact, at the r of the map of "auto", so that
they can be compared; r is also compared with Eq. (6) at the exact means of the same map. SCE_DATA is a folder of .npz files;
digits need none. The runs use 3,000 rows of SHUTTLE and 20,000 of MNIST. Prints tables in Markdown.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from common import run
from family import DATA, prepare, warm_up
from sce.core.parallel import Team
from sce.layout.gradient.terms import Gradient
from sce.layout.plan import choose_epochs
from sce.layout.problem import Problem
from sce.layout.scale import SCEScale
from sce.layout.start import starting_points

ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
MULTIPLES = (1, 2, 4, 10, 40)  # of the default epochs
HEAD = (
    "| alpha | optimizer | epochs and iterations | seconds | J at the r of auto | above auto's, % | r | off Eq. (6), % |\n"
    "|---|---|---|---|---|---|---|---|"
)


def compare(problem: Problem, start: np.ndarray, alpha: float, times: list[int]) -> None:
    """The lines of one alpha."""
    rule, graph = SCEScale(alpha), problem.graph
    gradient, default = Gradient(graph), choose_epochs(graph.n_points, graph.n_edges)
    runs = [("auto", "auto", None), *((f"sampler x {k}", "sampler", k * default) for k in times)]
    weight, lowest = np.nan, np.nan
    for name, optimizer, n_epochs in runs:
        begin = time.perf_counter()
        layout = run(problem, rule, optimizer, start, n_epochs=n_epochs)
        seconds = time.perf_counter() - begin
        terms = gradient(layout.Y.astype(np.float64), 1e-6)
        if optimizer == "auto":
            weight = layout.r
        J = terms.attraction + weight * terms.mean_q_U
        lowest = J if optimizer == "auto" else lowest
        off = layout.r / rule.weight(terms.mean_q_P, terms.mean_q_U) - 1.0
        print(
            f"| {alpha:g} | {name} | {len(layout.history)} | {seconds:.2f} | {J:.5g} | {100 * (J / lowest - 1):+.2f} "
            f"| {layout.r:.4g} | {100 * off:+.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=max(MULTIPLES), help="the largest multiple of the default epochs")
    parser.add_argument("names", nargs="*", default=list(DATA))
    arguments = parser.parse_args()
    with Team(2) as team:
        for name in arguments.names:
            X, problem = prepare(name, *DATA[name], team)
            start = starting_points(problem, "pca", 2, X)
            warm_up(problem, start)
            print(f"\n{name}: {problem.n_points} points, {problem.graph.n_edges} edges\n\n{HEAD}", flush=True)
            for alpha in ALPHAS:
                compare(problem, start, alpha, [k for k in MULTIPLES if k <= arguments.most])
