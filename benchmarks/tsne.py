"""t-SNE by the full gradient against openTSNE: the same P, the same start, two threads each, in the same process.

Usage: [SCE_DATA=folder] python benchmarks/tsne.py [--data digits|mnist] [--method auto|fft|bh]

P has perplexity 30, and the start is along the principal axes; openTSNE gets it with a standard deviation of 1e-4, its own
convention, and runs with its defaults. By default it also chooses how to sum the repulsion: Barnes-Hut below 10,000 points,
where that is faster and ends lower, else the FFT. Only the optimisation is timed, after a few iterations that compile and
plan. On a busy machine openTSNE's two threads are slower than one, so only a quiet machine is fair to it. The divergence of
every map is computed by the same code. The second table is t-SNE with exaggeration 12 throughout. SCE_DATA is a folder of
.npz files; digits need none. Prints tables in Markdown.
"""

from __future__ import annotations

import argparse
import math
import time
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from common import run
from family import prepare, warm_up
from sce.core.parallel import Team
from sce.graph.build import GraphOptions
from sce.layout.divergence import divergence_constants
from sce.layout.gradient.terms import Gradient, Terms
from sce.layout.problem import Problem
from sce.layout.records import Watch
from sce.layout.scale import ScaleRule, SNEScale
from sce.layout.start import starting_points

try:
    import openTSNE
except ImportError:
    raise SystemExit("This benchmark needs openTSNE, which is not installed: pip install openTSNE.") from None

N_JOBS = 2
EXAGGERATION = 12.0  # of the second table, and of openTSNE's first phase
RACE = (
    "| | iterations | seconds | KL | above openTSNE's, % | r | at openTSNE's KL after seconds | at iteration "
    "| openTSNE's seconds / seconds |\n|---|---|---|---|---|---|---|---|---|"
)
EXAGGERATED = (
    "| | iterations | seconds | E_U | off openTSNE's, % | attraction | off openTSNE's, % | r |\n"
    "|---|---|---|---|---|---|---|---|"
)


class Result(NamedTuple):
    """A map, what it took, and the seconds, number and loss of each iteration."""

    name: str
    Y: np.ndarray
    iterations: int
    seconds: float
    course: list[tuple[float, int, float]]


def peer(P: sp.csr_matrix, start: np.ndarray, method: str, phases: list[dict[str, Any]]) -> Result:
    """openTSNE, one phase after the other."""
    # It multiplies P by the exaggeration in place, so it gets a copy.
    own = sp.csr_matrix((P.data.astype(np.float64), P.indices.astype(np.int32), P.indptr.astype(np.int32)), P.shape)
    affinities = openTSNE.affinity.PrecomputedAffinities(own, normalize=False)
    embedding = openTSNE.TSNEEmbedding(
        1e-4 * start.astype(np.float64) / start[:, 0].std(),
        affinities,
        negative_gradient_method=method,
        n_jobs=N_JOBS,
        random_state=0,
    )
    begin = time.perf_counter()
    for phase in phases:
        embedding = embedding.optimize(**phase)
    seconds = time.perf_counter() - begin
    return Result("openTSNE", np.array(embedding), sum(phase["n_iter"] for phase in phases), seconds, [])


def peer_phases(late: float) -> list[dict[str, Any]]:
    """The phases of openTSNE's defaults, with the given exaggeration in the second."""
    defaults = openTSNE.TSNE()
    return [
        {
            "n_iter": defaults.early_exaggeration_iter,
            "exaggeration": EXAGGERATION,
            "momentum": defaults.initial_momentum,
        },
        {"n_iter": defaults.n_iter, "exaggeration": late, "momentum": defaults.final_momentum},
    ]


def ours(name: str, problem: Problem, rule: ScaleRule, optimizer: str, start: np.ndarray) -> Result:
    """A run of ours."""
    course: list[tuple[float, int, float]] = []
    begin = time.perf_counter()
    watch = Watch(lambda epoch, _, __, loss: course.append((time.perf_counter() - begin, epoch, loss)))
    layout = run(problem, rule, optimizer, start, watch)
    return Result(name, layout.Y, len(layout.history), time.perf_counter() - begin, course)


def divergence(problem: Problem, terms: Terms) -> float:
    """D_KL(P || Q): sum P ln P - E_P[ln q] + ln sum q, where sum q = N (N - 1) E_U."""
    n_pairs, entropy = divergence_constants(problem)
    return entropy + terms.attraction + math.log(terms.mean_q_U * n_pairs)


def arrival(result: Result, goal: float) -> tuple[str, str]:
    """The seconds and the iteration at which the loss first reaches the goal; it is above KL until r is t-SNE's own."""
    for seconds, iteration, loss in result.course:
        if loss <= goal:
            return f"{seconds:.2f}", str(iteration)
    return "-", "-"


def race(problem: Problem, start: np.ndarray, method: str) -> None:
    """t-SNE itself."""
    results = [
        peer(problem.graph.P, start, method, peer_phases(1.0)),
        ours("full gradient", problem, SNEScale(), "gradient", start),
        ours("sampler, then full gradient", problem, SNEScale(), "auto", start),
    ]
    gradient = Gradient(problem.graph)
    every = [gradient(result.Y.astype(np.float64), 1e-6) for result in results]
    goal = divergence(problem, every[0])
    print(f"\n{RACE}")
    for result, terms in zip(results, every, strict=True):
        kl = divergence(problem, terms)
        print(
            f"| {result.name} | {result.iterations} | {result.seconds:.2f} | {kl:.4f} | {100 * (kl / goal - 1):+.2f} "
            f"| {1.0 / terms.mean_q_U:.4g} | {' | '.join(arrival(result, goal))} "
            f"| {results[0].seconds / result.seconds:.2f} |",
            flush=True,
        )


def exaggerated(problem: Problem, start: np.ndarray, method: str) -> None:
    """Exaggeration from the first iteration to the last."""
    results = [
        peer(problem.graph.P, start, method, peer_phases(EXAGGERATION)),
        ours("full gradient", problem, SNEScale(EXAGGERATION), "gradient", start),
    ]
    gradient = Gradient(problem.graph)
    first = gradient(results[0].Y, 1e-6)
    print(f"\nExaggeration {EXAGGERATION:g} throughout:\n\n{EXAGGERATED}")
    for result in results:
        terms = gradient(result.Y.astype(np.float64), 1e-6)
        print(
            f"| {result.name} | {result.iterations} | {result.seconds:.2f} "
            f"| {terms.mean_q_U:.5g} | {100 * (terms.mean_q_U / first.mean_q_U - 1):+.2f} "
            f"| {terms.attraction:.5g} | {100 * (terms.attraction / first.attraction - 1):+.2f} "
            f"| {1.0 / (EXAGGERATION * terms.mean_q_U):.4g} |",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", choices=("digits", "mnist"), default="digits")
    parser.add_argument("--method", choices=("auto", "fft", "bh"), default="auto", help="openTSNE's repulsion")
    arguments = parser.parse_args()
    name, method = arguments.data, arguments.method
    with Team(N_JOBS) as team:
        X, problem = prepare(name, GraphOptions("entropic", perplexity=30.0), None, team)
        graph, start = problem.graph, starting_points(problem, "pca", 2, X)
        warm_up(problem, start)
        peer(graph.P, start, method, [{"n_iter": 3, "exaggeration": EXAGGERATION, "momentum": 0.8}])
        print(
            f"{name}: {graph.n_points} points, {graph.n_edges} edges, {N_JOBS} threads, openTSNE {openTSNE.__version__}"
        )
        race(problem, start, method)
        exaggerated(problem, start, method)
