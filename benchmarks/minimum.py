"""How near the minimum the defaults end: J against that of a long run of the full gradient from the same map.

Usage: SCE_DATA=folder python benchmarks/minimum.py [NAME ...] [--iterations 300] [--seconds 120]

NAME is a data set, or "planted30000": four clouds of that many rows in all. The long run goes on until J falls no longer, or
until its iterations or seconds are over. Both J are at its r. Components of P move as they like, so repulsion counts only
within them, on both sides. The last column is how far the r of the defaults is from Eq. (6) at the exact means of its map.
Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

from common import make_problem, require_data, run
from planted import clouds
from sce import SCE, datasets
from sce.core.parallel import Team
from sce.layout.gradient.repulsion import Repulsion
from sce.layout.gradient.terms import Gradient
from sce.layout.problem import Problem
from sce.layout.scale import SCEScale

NAMES = ("flow_hipc", "shuttle", "planted30000", "planted100000", "mnist", "cytof_bcrxl", "ijcnn", "mocap_120k")
ITERATIONS_AT_ONCE = 50
SETTLED = 1e-5  # the relative decrease of J over so many iterations at which a run has ended
HEAD = "| | points | components | J | J of the long run | above, % | r | r off Eq. (6), % |\n|---|---|---|---|---|---|---|---|"


def load(name: str) -> np.ndarray:
    """The rows of a data set."""
    if name.startswith("planted"):
        return clouds(np.random.default_rng(0), int(name.removeprefix("planted")), 2)[0]
    return np.ascontiguousarray(datasets.load(name).X)


def objective(problem: Problem, Y: np.ndarray, r: float) -> float:
    """J(Y; r) without the repulsion between components."""
    graph, Y = problem.graph, Y.astype(np.float64)
    component = graph.components()
    order = np.argsort(component, kind="stable")
    total = 0.0
    for members in np.split(order, np.cumsum(np.bincount(component))[:-1]):
        if len(members) > 1:
            total += float(Repulsion(np.ones(len(members)), graph.team)(Y[members], 1e-6).potential.sum())
    return graph.attract(Y).value + r * total / (graph.n_points * (graph.n_points - 1.0))


def long_run(
    problem: Problem, Y: np.ndarray, rule: SCEScale, iterations: int, seconds: float
) -> tuple[np.ndarray, float]:
    """A map from which J falls no longer, and its r; or what there is when the time is over."""
    begin, before = time.perf_counter(), np.inf
    for _ in range(0, iterations, ITERATIONS_AT_ONCE):
        layout = run(problem, rule, "gradient", Y, n_epochs=ITERATIONS_AT_ONCE, tol=0.0)
        Y, J = layout.Y, objective(problem, layout.Y, layout.r)
        if before * (1.0 - SETTLED) < J or time.perf_counter() - begin > seconds:
            break
        before = J
    return Y, layout.r


def measure(name: str, iterations: int, seconds: float, team: Team) -> None:
    """The line of a data set."""
    X = load(name)
    model = SCE(random_state=0).fit(X)
    problem, rule = make_problem(model.affinity_, team), SCEScale(model.alpha)
    Y = model.embedding_
    terms = Gradient(problem.graph)(Y.astype(np.float64), 1e-6)
    off = model.scale_ / rule.weight(terms.mean_q_P, terms.mean_q_U) - 1.0
    lowest, r = long_run(problem, Y, rule, iterations, seconds)
    J, least = objective(problem, Y, r), objective(problem, lowest, r)
    print(
        f"| {name} | {len(X):,} | {problem.graph.components().max() + 1} | {J:.4f} | {least:.4f} | {100 * (J / least - 1):.2f} "
        f"| {model.scale_:.3f} | {100 * off:+.3f} |",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("names", nargs="*", default=list(NAMES))
    arguments = parser.parse_args()
    require_data()
    print(HEAD, flush=True)
    with Team(os.cpu_count() or 1) as each_team:
        for each in arguments.names:
            measure(each, arguments.iterations, arguments.seconds, each_team)
