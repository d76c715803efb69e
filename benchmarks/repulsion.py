"""Seconds per call of the repulsion of all pairs, against the number of points, the extent of the map and the accuracy.

Usage: python benchmarks/repulsion.py [--repeats 5] [--quick]

Maps are clusters of several widths whose extent grows with the number of points, as that of real maps does: 20 sqrt(N / 1000)
in the plane, 20 (N / 1000)^(1/3) in space. The best of the repeats counts, because the machine may be busy. Prints tables in
Markdown; memory is that of the grid, its transform and the spectra that are kept.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from sce.core.parallel import Team, available_cores
from sce.layout.gradient.repulsion import Repulsion

ACCURACIES = (1e-4, 1e-7)
NUMBERS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
EXTENTS = (1.0, 10.0, 60.0, 200.0, 1e3, 1e4, 1e6)


def clusters(n: int, extent: float, d: int = 2) -> np.ndarray:
    """Ten clusters of several widths, all in a square or cube of the given extent, and some points between them."""
    rng = np.random.default_rng(0)
    which = rng.integers(10, size=n)
    width = 0.04 * extent * rng.uniform(0.3, 1.0, size=10)
    Y = rng.uniform(0.15, 0.85, size=(10, d))[which] * extent + width[which, None] * rng.normal(size=(n, d))
    Y[: n // 50] = rng.uniform(0, extent, size=(n // 50, d))
    return np.clip(Y, 0, extent)


def tight(n: int, extent: float, d: int = 2) -> np.ndarray:
    """Ten clusters that are no wider than 1, however far apart."""
    rng = np.random.default_rng(0)
    spread = min(0.5, 0.04 * extent)
    return rng.uniform(0, extent, size=(10, d))[rng.integers(10, size=n)] + spread * rng.normal(size=(n, d))


def outlier(n: int, extent: float, d: int = 2) -> np.ndarray:
    """All points but one within an extent of 10."""
    Y = clusters(n, 10.0, d)
    Y[0] = extent
    return Y


def call_time(Y: np.ndarray, accuracy: float, method: str, repeats: int, team: Team) -> tuple[float, float]:
    """Seconds and MB, after a first call that compiles and fills the kept spectra."""
    repulsion = Repulsion(np.ones(len(Y)), team, method)
    repulsion(Y, accuracy)
    best = np.inf
    for _ in range(repeats):
        begin = time.perf_counter()
        repulsion(Y, accuracy)
        best = min(best, time.perf_counter() - begin)
        if best > 1.0:
            break
    return best, repulsion.n_bytes / 1e6


def against_number(d: int, repeats: int, quick: bool, team: Team) -> None:
    print(
        f"\nd = {d}: milliseconds a call\n\n| N | extent | exact | 1e-4 | MB | 1e-7 | MB |\n|---|---|---|---|---|---|---|"
    )
    for n in NUMBERS[:-2] if quick else NUMBERS:
        extent = 20.0 * (n / 1000) ** (1 / d)
        Y = clusters(n, extent, d)
        cells = [f"{call_time(Y, 1e-4, 'exact', repeats, team)[0] * 1e3:.2f}" if n <= 30_000 else "-"]
        for accuracy in ACCURACIES:
            seconds, memory = call_time(Y, accuracy, "grid", repeats, team)
            cells += [f"{seconds * 1e3:.1f}", f"{memory:.0f}"]
        print(f"| {n} | {extent:.0f} | {' | '.join(cells)} |", flush=True)


def against_extent(n: int, d: int, repeats: int, team: Team) -> None:
    print(f"\nd = {d}, N = {n}: milliseconds a call at 1e-4 and 1e-7, and MB\n")
    print("| extent | clusters | tight clusters | one outlier |\n|---|---|---|---|")
    for extent in EXTENTS:
        cells = []
        for make in (clusters, tight, outlier):
            results = [call_time(make(n, extent, d), accuracy, "grid", repeats, team) for accuracy in ACCURACIES]
            cells.append(", ".join(f"{seconds * 1e3:.1f}" for seconds, _ in results) + f" ({results[1][1]:.0f} MB)")
        print(f"| {extent:g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="at most 100,000 points")
    arguments = parser.parse_args()
    with Team(available_cores()) as team:
        against_number(2, arguments.repeats, arguments.quick, team)
        against_extent(70_000, 2, arguments.repeats, team)
        against_number(3, arguments.repeats, True, team)
        against_extent(10_000 if arguments.quick else 70_000, 3, arguments.repeats, team)
