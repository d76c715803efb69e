"""Whether the full gradient minimises J(Y; r) at every r: its own error, the gap in J that it closes, E_U along the family.

Usage: SCE_DATA=folder python benchmarks/family.py [digits shuttle mnist] [--quick]

SCE_DATA is a folder of .npz files; digits need none. The runs use 3,000 rows of SHUTTLE, 20,000 of MNIST, and the largest
component of every graph. The repulsion is forced onto the grid, and each run starts from the principal axes. For each r the
table has

- the error of the gradient, |fast - exact| / |exact|, at the first, the middle and the last map of the run;
- the share of the gap in J that the run closes, from the best scaling of the start to the best of several long runs with exact
  sums; "point" where the scaled start, the best run and the map found are all one point, to 1e-6 of J;
- E_U, and by how many per cent it exceeds the lowest at any smaller r (0 if it does not);
- iterations, seconds, extent, and why the run ended.

For MNIST the gap is left out: the long runs would take most of a day. Prints tables in Markdown.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import pdist

from common import make_problem, require_data, run
from sce import datasets
from sce.core.parallel import Team
from sce.graph.build import GraphOptions, build_affinity
from sce.layout.gradient.continuation import Continuation, descend
from sce.layout.gradient.descent import Descent
from sce.layout.gradient.precondition import Preconditioner
from sce.layout.gradient.terms import Gradient
from sce.layout.plan import Stage, gradient_stage
from sce.layout.problem import Problem
from sce.layout.records import Layout
from sce.layout.scale import FixedScale
from sce.layout.settings import LayoutOptions
from sce.layout.start import starting_points

DATA = {
    "digits": (GraphOptions("knn", n_neighbors=15), None),
    "shuttle": (GraphOptions("entropic", perplexity=30.0), 3_000),
    "mnist": (GraphOptions("knn", n_neighbors=15), 20_000),
}
DECADES = range(-4, 9)
SCALES = 10.0 ** np.arange(-6, 6.25, 0.25)  # by which the start is multiplied; the best counts
EXACT_ITERATIONS = 1000  # of the long runs with exact sums
HEAD = (
    "| log10 r | error at the first map | middle | last | gap closed | E_U | E_U above the lowest before, % | iterations "
    "| seconds | extent | end |\n|---|---|---|---|---|---|---|---|---|---|---|"
)


class Parts(NamedTuple):
    """The parts of J, as sums that lose no precision where the map is nearly a point."""

    attraction: float  # -E_P[ln q]
    away: float  # 1 - E_U[q]

    def excess(self, r: float) -> float:
        """J(Y; r) - r, which is 0 for a single point."""
        return self.attraction - r * self.away


def load_rows(name: str, n_rows: int | None) -> np.ndarray:
    """The vectors of a data set: all of them, or a random sample of `n_rows`."""
    if name == "digits":
        from sklearn.datasets import load_digits

        X = load_digits().data
    else:
        require_data()
        X = datasets.load(name).X
    if n_rows is None or n_rows >= len(X):
        return X
    return X[np.sort(np.random.default_rng(0).permutation(len(X))[:n_rows])]


def prepare(name: str, options: GraphOptions, n_rows: int | None, team: Team) -> tuple[np.ndarray, Problem]:
    """The largest component of a data set, or of a sample of it."""
    X = load_rows(name, n_rows)
    P = build_affinity(X, options, team, seed=0).P
    _, label = connected_components(P, directed=False)
    keep = np.flatnonzero(label == np.bincount(label).argmax())
    if len(keep) < len(X):
        P = sp.csr_matrix(P[keep][:, keep])
        P.data /= P.data.sum(dtype=np.float64)
    return X[keep], make_problem(P, team)


def parts(problem: Problem, Y: np.ndarray) -> Parts:
    """The parts of J from all pairs, 8 bytes each: for a few thousand points."""
    Y = np.asarray(Y, np.float64)
    edges = problem.graph.P.tocoo()
    near = np.square(Y[edges.row] - Y[edges.col]).sum(axis=1)
    far = pdist(Y, "sqeuclidean")
    return Parts(float(edges.data.astype(np.float64) @ np.log1p(near)), float(np.mean(far / (1.0 + far))))


def gradient_error(problem: Problem, Y: np.ndarray, r: float) -> float:
    """|fast - exact| / |exact| of the whole gradient, with the fast one at the accuracy that a descent would ask for here."""
    Y = np.asarray(Y, np.float64)
    fast, rule = Gradient(problem.graph, method="grid"), FixedScale(r)
    descent = Descent(fast, Preconditioner(problem.graph), Y)
    descent._adapt(descent.terms.pull + r * descent.terms.push, rule)  # noqa: SLF001
    found, true = fast(Y, descent._accuracy), Gradient(problem.graph, method="exact")(Y)  # noqa: SLF001
    exact = true.pull + r * true.push
    return float(np.linalg.norm(found.pull + r * found.push - exact) / np.linalg.norm(exact))


def descent_at(problem: Problem, r: float, iterations: int | None = None, tol: float | None = None) -> Stage:
    """The full gradient at some r."""
    return gradient_stage(problem, LayoutOptions(FixedScale(r), tol=tol), iterations)


def warm_up(problem: Problem, start: np.ndarray) -> None:
    """Compile whatever a run may need, whether its maps are a point or very wide."""
    run(problem, FixedScale(1.0), "sampler", start, n_epochs=3)
    for r in (1e-4, 10.0):
        descend(problem, descent_at(problem, r, 30), start, "grid")
    gradient = Gradient(problem.graph, method="grid")
    for scale in (1e-7, 1.0, 30.0, 1e5):
        gradient(scale * start.astype(np.float64))
    if len(start) <= 10_000:
        Gradient(problem.graph, method="exact")(start.astype(np.float64))


def follow(problem: Problem, start: np.ndarray, r: float) -> tuple[Layout, list[np.ndarray], float]:
    """A run on the grid: its result, the first, middle and last map, and its seconds."""
    maps, history, reason = [start], [], None
    begin = time.perf_counter()
    path = Continuation(problem, descent_at(problem, r), start, method="grid")
    while reason is None and (advanced := path.advance()) is not None:
        record, reason = advanced
        history.append(record)
        maps.append(path.coordinates())
    seconds = time.perf_counter() - begin
    layout = Layout(maps[-1], history[-1].r, history, reason or path.done_reason())
    return layout, [start, maps[len(maps) // 2], layout.Y], seconds


def best_excess(problem: Problem, start: np.ndarray, Y: np.ndarray, r: float, n_iterations: int) -> float:
    """The lowest J - r of long runs with exact sums: from the start, the sampler's map, the map found, a random start."""
    sampled = run(problem, FixedScale(min(r, 1.0)), "sampler", start).Y
    random = starting_points(problem._replace(seed=1), "random", 2)
    stage = descent_at(problem, r, n_iterations, tol=0.0)
    maps = [descend(problem, stage, first, "exact").Y for first in (start, sampled, Y, random)]
    return min(parts(problem, Y).excess(r) for Y in maps)


def gap_closed(first: float, found: float, best: float, r: float) -> str:
    """The share of the gap in J - r from first to best; the best may be the map found, or a single point, where J - r is 0."""
    best = min(found, best, 0.0)
    if max(abs(first), abs(found), abs(best)) < 1e-6 * r:
        return "point"
    return f"{(first - found) / (first - best):.4f}"


def compare(name: str, decades: range, n_iterations: int, team: Team) -> None:
    X, problem = prepare(name, *DATA[name], team)
    graph = problem.graph
    start = starting_points(problem, "pca", 2, X)
    dense = name != "mnist"
    warm_up(problem, start)
    scaled = [parts(problem, c * start.astype(np.float64)) for c in SCALES] if dense else []
    print(f"\n{name}: {graph.n_points} points, {graph.n_edges} edges\n\n{HEAD}", flush=True)
    lowest = np.inf
    for t in decades:
        r = 10.0**t
        layout, maps, seconds = follow(problem, start, r)
        errors = [f"{gradient_error(problem, Y, r):.1e}" for Y in maps]
        E_U = Gradient(graph, method="exact")(layout.Y.astype(np.float64)).mean_q_U
        gap = "-"
        if dense:
            first, found = min(p.excess(r) for p in scaled), parts(problem, layout.Y).excess(r)
            gap = gap_closed(first, found, best_excess(problem, start, layout.Y, r, n_iterations), r)
        rise = max(0.0, 100.0 * (E_U / lowest - 1.0))
        lowest = min(lowest, E_U)
        extent = np.ptp(layout.Y, axis=0).max()
        print(
            f"| {t} | {' | '.join(errors)} | {gap} | {E_U:.4g} | {rise:.2f} | {len(layout.history)} | {seconds:.1f} "
            f"| {extent:.3g} | {layout.stop_reason} |",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="digits at three r, exact runs of 100 iterations")
    parser.add_argument("names", nargs="*", default=list(DATA))
    arguments = parser.parse_args()
    with Team(2) as team:
        for name in ["digits"] if arguments.quick else arguments.names:
            compare(
                name,
                range(-4, 9, 6) if arguments.quick else DECADES,
                100 if arguments.quick else EXACT_ITERATIONS,
                team,
            )
