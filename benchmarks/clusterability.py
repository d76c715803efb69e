"""How often clusters are found in a P that has none, and how many where their number is known.

Usage: python benchmarks/clusterability.py noise [--seeds 10]
       python benchmarks/clusterability.py planted [--seeds 5]
       SCE_DATA=... python benchmarks/clusterability.py real

The graphs are built with SCE's defaults. "noise" takes bodies without clusters; "planted" takes clouds at a known distance, in
standard deviations, and random graphs with known blocks; "real" takes the data sets with classes, at most 30,000 rows of each.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import adjusted_mutual_info_score

from sce.core.parallel import Team
from sce.graph.build import GraphOptions, build_affinity
from sce.quality import clusterability


def graph(X: np.ndarray) -> sp.csr_matrix:
    with Team(2) as team:
        return build_affinity(X, GraphOptions(), team, seed=0).P


def bodies(n: int, rng: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    """Data in one piece."""
    for d in (2, 3, 5, 10):
        yield f"uniform, {d}-d", rng.uniform(size=(n, d))
        yield f"Gaussian, {d}-d", rng.normal(size=(n, d))
    t = rng.uniform(0, 2 * np.pi, n)
    yield "ring, noisy", np.column_stack([np.cos(t), np.sin(t)]) + 0.1 * rng.normal(size=(n, 2))
    s = 1.5 * np.pi * (1 + 2 * rng.uniform(size=n))
    yield "Swiss roll", np.column_stack([s * np.cos(s), 21 * rng.uniform(size=n), s * np.sin(s)])
    yield "strip, 100 : 1", rng.uniform(size=(n, 2)) * [100, 1]
    yield "line", np.column_stack([np.sort(rng.uniform(size=n)), np.zeros(n)])


def noise(seeds: int) -> None:
    print("| | 1,000 points | 4,000 points |\n|---|---|---|")
    found: dict[str, dict[int, list[int]]] = {}
    for n in (1000, 4000):
        for seed in range(seeds):
            for name, X in bodies(n, np.random.default_rng([n, seed])):
                found.setdefault(name, {}).setdefault(n, []).append(clusterability(graph(X)).n_clusters)
    for name, counts in found.items():
        cells = [f"{sum(c > 1 for c in counts[n])} of {len(counts[n])}" for n in (1000, 4000)]
        print(f"| {name} | {cells[0]} | {cells[1]} |", flush=True)


def blocks(n: int, share: float, rng: np.random.Generator) -> tuple[sp.csr_matrix, np.ndarray]:
    """A random graph of ten blocks: each point has ten edges, of which this share stay within its block."""
    y = np.arange(n) % 10
    i = np.repeat(np.arange(n), 10)
    inside = rng.random(len(i)) < share
    j = np.where(inside, y[i] + 10 * rng.integers(0, n // 10, len(i)), rng.integers(0, n, len(i)))
    A = sp.csr_matrix((np.ones(len(i)), (i, j)), (n, n))
    A = A.maximum(A.T)
    A.setdiag(0)
    A.eliminate_zeros()
    return A / A.sum(), y


def planted(seeds: int) -> None:
    print("| | groups found | AMI |\n|---|---|---|")
    cases = [(f"10 blocks, {share:.0%} of the edges inside", share, None) for share in (0.9, 0.7, 0.6, 0.5, 0.4)]
    cases += [(f"10 clouds in 10-d, {gap} deviations apart", None, gap) for gap in (8, 6, 5, 4, 3)]
    for name, share, gap in cases:
        counts, agreement = [], []
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            if share is not None:
                P, y = blocks(4000, share, rng)
            else:
                y = np.arange(4000) % 10
                P = graph(rng.normal(size=(4000, 10)) + gap / np.sqrt(2) * np.eye(10)[y])
            able = clusterability(P)
            counts.append(able.n_clusters)
            agreement.append(adjusted_mutual_info_score(y, able.labels))
        print(f"| {name} | {', '.join(map(str, counts))} | {np.mean(agreement):.2f} |", flush=True)


def real() -> None:
    from defaults import DATA, ROWS, load

    print(
        "| | classes | groups | AMI | eigen-gap | communities | modularity | seconds |\n|---|---|---|---|---|---|---|---|"
    )
    for name in DATA:
        X, y = load(name, ROWS)
        P = graph(X)
        start = time.perf_counter()
        able = clusterability(P)
        seconds = time.perf_counter() - start
        print(
            f"| {name} | {len(np.unique(y))} | {able.n_clusters} | {adjusted_mutual_info_score(y, able.labels):.2f} | "
            f"{able.n_gap or 'none'} | {able.n_communities} | {able.modularity:.2f} | {seconds:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["noise", "planted", "real"])
    parser.add_argument("--seeds", type=int, default=10)
    args = parser.parse_args()
    {"noise": lambda: noise(args.seeds), "planted": lambda: planted(args.seeds), "real": real}[args.what]()
