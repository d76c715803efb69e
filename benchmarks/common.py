"""What the benchmarks share: graphs of the data sets, layouts of a graph, the objective for large N."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from sce import datasets
from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.core.random import below, below_low, bits, stream
from sce.engines.threads import ThreadEngine
from sce.graph.build import GraphOptions, build_affinity
from sce.layout.lay_out import lay_out
from sce.layout.plan import Stage
from sce.layout.problem import Problem
from sce.layout.records import NOBODY, Layout, Watch
from sce.layout.scale import ScaleRule
from sce.layout.settings import LayoutOptions
from sce.layout.similarities import Similarities
from sce.layout.state import State

# The similarities of the paper's experiments.
PAPER = {name: GraphOptions(**datasets.about(name).similarities) for name in ("mnist", "shuttle", "ijcnn")}


def require_data() -> None:
    if not os.environ.get("SCE_DATA"):
        raise SystemExit(
            "Set SCE_DATA to a folder of .npz files with X and y (mnist.npz, shuttle.npz, ijcnn.npz, ...)."
        )


def load_graph(name: str, options: GraphOptions | None = None) -> tuple[np.ndarray, sp.csr_matrix]:
    """The vectors of a data set and its P, by default as in the paper."""
    X = datasets.load(name).X
    with Team(os.cpu_count() or 1) as team:
        return X, build_affinity(X, options or PAPER[name], team, seed=0).P


def make_problem(P: sp.csr_matrix, team: Team, seed: int = 0) -> Problem:
    """P, to be laid out by the threads of a team."""
    return Problem(Similarities(P, team), seed=seed)


def run(
    problem: Problem, rule: ScaleRule, optimizer: str, start: np.ndarray, watch: Watch = NOBODY, **options: Any
) -> Layout:
    """The layout from given coordinates, without coarse maps."""
    chosen = LayoutOptions(rule, optimizer=optimizer, init=start, n_components=start.shape[1], **options)
    return lay_out(problem, chosen, ThreadEngine(problem.graph.team), watch=watch)


def run_stages(problem: Problem, stages: Iterable[Stage], start: np.ndarray) -> Layout:
    """The layout from given coordinates by given stages."""
    plan = tuple(stages)
    options = LayoutOptions(plan[-1].rule)
    return lay_out(problem, options, ThreadEngine(problem.graph.team), state=State(plan, Y=start))


@kernel
def _attraction(P_starts: Any, P_ids: Any, P_data: Any, Y: Any) -> Any:
    total = 0.0
    for i in range(Y.shape[0]):
        for e in range(P_starts[i], P_starts[i + 1]):
            square = 0.0
            for c in range(Y.shape[1]):
                square += (Y[i, c] - Y[P_ids[e], c]) ** 2
            total += P_data[e] * np.log1p(square)
    return total


@kernel
def _mean_q(Y: Any, key: Any, pairs: Any) -> Any:
    total, count = 0.0, 0
    for t in range(pairs):
        random = bits(key, np.uint64(t))
        i, j = below(random, Y.shape[0]), below_low(random, Y.shape[0])
        if i != j:
            square = 0.0
            for c in range(Y.shape[1]):
                square += (Y[i, c] - Y[j, c]) ** 2
            total += 1.0 / (1.0 + square)
            count += 1
    return total / count


def objective(P: sp.csr_matrix, Y: np.ndarray, r: float, pairs: int = 20_000_000) -> float:
    """J(Y; r): the attraction exactly, the repulsion from a sample of pairs."""
    return float(_attraction(P.indptr, P.indices, P.data, Y) + r * _mean_q(Y, stream(0, "objective"), pairs))
