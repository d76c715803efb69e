"""What coarse maps add: J, agreement with the classes and seconds, with and without them, and with the full gradient after.

Usage: SCE_DATA=folder python benchmarks/coarse.py [shuttle mnist ijcnn flow_hipc] [--rows 10000] [--seeds 3]

The graph is that of SCE's defaults. J is exact, at r = 10, about where alpha = 0.1 ends. SCE_DATA is a folder of .npz
files. Prints a table in Markdown: means over seeds, with the standard deviation of J.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from common import require_data
from sce import datasets
from sce.core.parallel import Team
from sce.engines.threads import ThreadEngine
from sce.graph.build import GraphOptions, build_affinity
from sce.layout.coarse import coarse_start
from sce.layout.gradient.continuation import descend
from sce.layout.gradient.terms import Gradient
from sce.layout.records import LayoutOptions
from sce.layout.sampler.epochs import choose_epochs, sample
from sce.layout.scale import SCEScale
from sce.layout.start import starting_points
from sce.quality import class_agreement

R = 10.0
HEAD = "| data | points | layout | seconds | J | AMI | accuracy |\n|---|---|---|---|---|---|---|"


def ways(P, team: Team) -> dict[str, Callable[[np.ndarray, LayoutOptions], np.ndarray]]:
    """Ways from a start to a map."""
    engine = ThreadEngine(team)
    epochs = choose_epochs(P.shape[0], P.nnz // 2)

    def coarse(Y: np.ndarray, options: LayoutOptions) -> np.ndarray:
        start, options, _ = coarse_start(P, Y, options, engine, team)
        return sample(P, start, options, engine, team).Y

    return {
        "sampler": lambda Y, options: sample(P, Y, options, engine, team).Y,
        "sampler, 4 times the epochs": lambda Y, options: (
            sample(P, Y, replace(options, n_epochs=4 * epochs), engine, team).Y
        ),
        "coarse maps, sampler": coarse,
        "coarse maps, sampler, gradient": lambda Y, options: descend(P, coarse(Y, options), options, team).Y,
    }


def measure(name: str, rows: int, seeds: int, team: Team) -> None:
    """The lines of a data set."""
    X, y = datasets.load(name)[:2]
    kept = np.sort(np.random.default_rng(0).permutation(len(X))[:rows])
    X, y = X[kept], y[kept]
    P = build_affinity(X, GraphOptions(), team, seed=0).P
    gradient = Gradient(P, None, team)
    for what, layout in ways(P, team).items():
        found = []
        for seed in range(-1, seeds):  # the first run compiles
            start = starting_points("auto", X, P, 2, max(seed, 0), team)
            begin = time.perf_counter()
            Y = layout(start, LayoutOptions(SCEScale(), seed=max(seed, 0)))
            seconds = time.perf_counter() - begin
            terms = gradient(Y.astype(np.float64))
            agreement = class_agreement(Y, y)
            found.append((seconds, terms.attraction + R * terms.mean_q_U, agreement.ami, agreement.accuracy))
        seconds, J, ami, accuracy = np.mean(found[1:], axis=0)
        spread = np.std([one[1] for one in found[1:]])
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
