"""Compiling ahead: the kernels of a layout, in a process of their own beside the search for neighbours.

Numba compiles one kernel at a time in a process, whatever the number of threads. So the first fit of an environment starts
a process that lays out a small random graph, which compiles the layout's kernels and keeps them on disk, while the fit
itself compiles those of the graph; when it comes to the layout it finds them there. A file beside the kernels remembers that
this was done, and later fits only look whether it is there.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np

from sce.core.compiled import cache_folder
from sce.core.parallel import Team, available_cores
from sce.core.sources import PACKAGE

NOTE = "Compiling, once per environment"
_LEVELS_ABOVE_POINTS = 1000  # fits of fewer points have no coarse maps
_EDGES_PER_POINT = 10  # of the random graph
_COLUMNS = 12  # of the random rows
_LONGEST_WAIT = 300.0  # seconds, after which a fit compiles by itself


class Part(NamedTuple):
    """Kernels that are compiled together, by doing on random data what needs them."""

    name: str
    n_components: int = 2
    dtype: str = "float64"

    @property
    def mark(self) -> Path | None:
        """The file that says that they are on disk; None where nothing is kept."""
        folder = cache_folder()
        return None if folder is None else Path(folder) / f"{'-'.join(map(str, self))}.compiled"

    def is_done(self) -> bool:
        """Whether they are on disk."""
        return self.mark is not None and self.mark.exists()


_EVERYTHING = tuple(map(Part, ("layout", "levels", "graph", "forest")))


def is_compiled() -> bool:
    """Whether fits of vectors with the defaults find their kernels on disk."""
    return all(part.is_done() for part in _EVERYTHING)


def compile_ahead(say: Callable[[str], Any] = lambda _: None) -> bool:
    """Compile all that fits of vectors with the defaults need; whether there was anything to do."""
    missing = [part for part in _EVERYTHING if not part.is_done()]
    if missing:
        say(NOTE)
        with Ahead(missing, available_cores()) as ahead:
            ahead.wait()
    return bool(missing)


def compile_layout(n_points: int, n_components: int, X: Any, n_jobs: int, say: Callable[[str], Any]) -> Ahead:
    """Begin to compile what the layout of so many points will need, if it is not on disk and there is a core for it."""
    names = ["layout", "levels"] if n_points > _LEVELS_ABOVE_POINTS else ["layout"]
    dtype = "float64" if hasattr(X, "tocsr") else str(X.dtype)
    missing = [part for part in (Part(name, n_components, dtype) for name in names) if not part.is_done()]
    if not missing or cache_folder() is None or numba.config.DISABLE_JIT:
        return Ahead([], 0)
    say(NOTE)
    return Ahead(missing, min(n_jobs, available_cores()) - 1)


class Ahead:
    """Processes that compile parts, at most `processes` at once; a context manager that leaves none behind."""

    def __init__(self, parts: Sequence[Part], processes: int) -> None:
        shares = [parts[first::processes] for first in range(min(processes, len(parts)))]
        self._running = [child for child in map(_start, shares) if child is not None]

    def __enter__(self) -> Ahead:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self._running:
            child.kill()
            child.wait()

    def wait(self) -> None:
        """Until all have ended; one that takes too long is given up."""
        deadline = time.monotonic() + _LONGEST_WAIT
        for child in self._running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(max(0.0, deadline - time.monotonic()))


def _start(parts: Sequence[Part]) -> subprocess.Popen[bytes] | None:
    """A process that rehearses parts, without any output; None where none can be started."""
    code = f"from sce.warm import Part, rehearse; [rehearse(part) for part in {list(parts)!r}]"
    environment = {**os.environ, "NUMBA_CACHE_DIR": numba.config.CACHE_DIR, "PYTHONWARNINGS": "ignore"}
    nowhere = subprocess.DEVNULL
    try:
        return subprocess.Popen(  # noqa: S603 (our own code)
            [sys.executable, "-c", code],
            cwd=PACKAGE.parent,  # from where this very package is imported
            env=environment,
            stdin=nowhere,
            stdout=nowhere,
            stderr=nowhere,
        )
    except OSError:  # no Python of its own, or no more processes
        return None


# ------------------------------------------------------------------------------------------------------------ rehearsals


def rehearse(part: Part) -> None:
    """Do what needs the kernels of a part, on random data, and remember it."""
    rng = np.random.default_rng(0)
    with Team(1) as team:
        _REHEARSALS[part.name](part, rng, team)
    if part.mark is not None:
        part.mark.touch()


def _lay_out(n_points: int) -> Callable[[Part, np.random.Generator, Team], None]:
    def rehearsal(part: Part, rng: np.random.Generator, team: Team) -> None:
        from sce.engines.threads import ThreadEngine
        from sce.layout.lay_out import lay_out
        from sce.layout.problem import Problem
        from sce.layout.settings import layout_options
        from sce.layout.similarities import Similarities

        X = (9.0 * rng.normal(size=(n_points, _COLUMNS))).astype(part.dtype)
        problem = Problem(Similarities(_random_graph(n_points, rng), team))
        options = layout_options(n_components=part.n_components)
        lay_out(problem, options, ThreadEngine(team), vectors=X)

    return rehearsal


def _random_graph(n_points: int, rng: np.random.Generator) -> Any:
    """P that joins each of some random points in the plane to its nearest ones, as a fit would make it."""
    import scipy.sparse as sp
    from scipy.spatial import KDTree

    near = KDTree(rng.normal(size=(n_points, 2))).query(rng.normal(size=(n_points, 2)), _EDGES_PER_POINT)[1]
    rows = np.repeat(np.arange(n_points), _EDGES_PER_POINT)
    P = sp.csr_matrix((np.ones(near.size, np.float32), (rows, near.ravel())), (n_points, n_points))
    P = sp.csr_matrix(P + P.T)
    P.setdiag(0)
    P.eliminate_zeros()
    P.data /= P.data.sum()
    return P


def _make_graph(n_rows: int, n_columns: int) -> Callable[[Part, np.random.Generator, Team], None]:
    def rehearsal(part: Part, rng: np.random.Generator, team: Team) -> None:
        from sce.graph.build import GraphOptions, build_affinity

        build_affinity(rng.normal(size=(n_rows, n_columns)).astype(part.dtype), GraphOptions(), team, seed=0)

    return rehearsal


_REHEARSALS = {
    "layout": _lay_out(300),
    "levels": _lay_out(5000),  # with coarse maps, and the repulsion summed on a grid
    "graph": _make_graph(300, 12),  # by comparing all pairs
    "forest": _make_graph(20_000, 56),
}
