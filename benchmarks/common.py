"""What the benchmarks share: graphs of the data sets, the objective for large N, threads."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse as sp

from sce import datasets
from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.core.random import below, below_low, bits, stream
from sce.engines.threads import ThreadEngine
from sce.graph.build import GraphOptions, build_affinity
from sce.layout.records import Layout, LayoutOptions
from sce.layout.sampler.epochs import sample
from sce.layout.scale import FixedScale

# The similarities of the paper's experiments.
PAPER = {name: GraphOptions(**datasets.about(name).similarities) for name in ("mnist", "shuttle", "ijcnn")}


def require_data() -> None:
    if not os.environ.get("SCE_DATA"):
        raise SystemExit(
            "Set SCE_DATA to a folder of .npz files with X and y (mnist.npz, shuttle.npz, ijcnn.npz, ...)."
        )


def load_graph(name: str, options: GraphOptions | None = None) -> tuple[np.ndarray, sp.csr_matrix]:
    """The vectors of a data set and its P, as in the paper unless told otherwise."""
    X = datasets.load(name).X
    with Team(os.cpu_count() or 1) as team:
        return X, build_affinity(X, options or PAPER[name], team, seed=0).P


def layout(
    P: sp.csr_matrix, start: np.ndarray, n_epochs: int, *, r: float = 1.0, seed: int = 0, n_jobs: int = 1
) -> Layout:
    """Our sampler with r fixed, and the paper's learning rate."""
    options = LayoutOptions(FixedScale(r), n_epochs, (1.0, 0.0), seed=seed)
    with Team(n_jobs) as team:
        return sample(P, start, options, ThreadEngine(team), team)


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
