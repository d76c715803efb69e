"""Which learning rate the sampler should have: J, agreement with the classes and seconds, at several rates and epochs.

Usage: SCE_DATA=folder python benchmarks/rates.py [mnist shuttle ijcnn] [--rates 1 1.5 2] [--epochs 100] [--seeds 3]

The graph and the start are SCE's defaults; the rate falls to 0 and also holds for the coarse maps. J has the attraction exact
and the repulsion from a sample of pairs, at r = 10, about where alpha = 0.1 ends. "auto" stands for the default. Where labels
are not classes, no agreement is given. Prints a table in Markdown: means over seeds, with the standard deviations of J and
AMI; seconds are those of coarse maps and layout.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from common import make_problem, objective, require_data, run_stages
from sce import datasets
from sce.core.parallel import Team
from sce.graph.build import GraphOptions, build_affinity
from sce.layout.coarse import make_levels
from sce.layout.plan import SAMPLER, Stage, choose_rate, make_plan
from sce.layout.problem import Problem
from sce.layout.scale import SCEScale
from sce.layout.settings import LayoutOptions
from sce.layout.start import starting_points
from sce.quality import class_agreement

R = 10.0
HEAD = "| data | points | rate | epochs | seconds | J | AMI | accuracy |\n|---|---|---|---|---|---|---|---|"


def plan(problem: Problem, rate: tuple[float, float] | None, epochs: int | None) -> list[Stage]:
    """The stages of SCE's defaults after the start, with so many epochs after the coarse maps if a number is given."""
    _, *stages = make_plan(problem, LayoutOptions(SCEScale(), learning_rate=rate), list(make_levels(problem)))
    return [s._replace(n_epochs=epochs) if epochs and s.kind == SAMPLER else s for s in stages]


def measure(name: str, arguments: argparse.Namespace, team: Team) -> None:
    """The lines of a data set."""
    X, y = datasets.load(name)
    P = build_affinity(X, GraphOptions(), team, seed=0).P
    first = make_problem(P, team)
    run_stages(first, plan(first, None, 1), starting_points(first, "auto", 2, X))  # compiles
    for rate in arguments.rates:
        for epochs in arguments.epochs:
            found = []
            for seed in range(arguments.seeds):
                problem = make_problem(P, team, seed)
                start, stages = starting_points(problem, "auto", 2, X), plan(problem, rate, epochs)
                begin = time.perf_counter()
                Y = run_stages(problem, stages, start).Y
                seconds = time.perf_counter() - begin
                agreement = class_agreement(Y, y) if datasets.about(name).labels_are_classes else None
                scores = (agreement.ami, agreement.accuracy) if agreement else (np.nan, np.nan)
                found.append((seconds, objective(P, Y, R), *scores))
            print(line(f"{name} | {len(X):,}", rate or choose_rate(len(X)), epochs, np.array(found)), flush=True)


def line(data: str, rate: tuple[float, float], epochs: int | None, found: np.ndarray) -> str:
    """Means over the seeds."""
    seconds, J, ami, accuracy = found.mean(axis=0)
    scores = "- | -" if np.isnan(ami) else f"{ami:.3f} ± {found[:, 2].std():.3f} | {accuracy:.4f}"
    return f"| {data} | {rate[0]:.2f} | {epochs or 'auto'} | {seconds:.2f} | {J:.4f} ± {found[:, 1].std():.4f} | {scores} |"


def rate_or_auto(text: str) -> tuple[float, float] | None:
    return None if text == "auto" else (float(text), 0.0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["mnist", "shuttle", "ijcnn"])
    parser.add_argument("--rates", nargs="+", type=rate_or_auto, default=[None, (1.0, 0.0), (1.5, 0.0), (2.0, 0.0)])
    parser.add_argument("--epochs", nargs="+", type=int, default=[None])
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    require_data()
    print(HEAD)
    with Team(2) as team:
        for name in arguments.names:
            measure(name, arguments, team)
