"""Compiling ahead: in the first fit of an environment, processes beside it compile what its layout will need.

Numba compiles one kernel at a time in a process, whatever the number of threads. So that fit starts processes that lay out
small random graphs, which compiles the kernels and keeps them on disk, while the fit itself compiles those of its graph; when
that is done it helps. A file beside the kernels remembers each part, and later fits only look whether these files are there.
"""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np

from sce.core.compiled import cache_folder
from sce.core.parallel import Team, available_cores
from sce.core.sources import PACKAGE

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

    def remember(self) -> None:
        """Note that they are on disk, if they can be."""
        if self.mark is not None:
            with contextlib.suppress(OSError):  # a full disk
                self.mark.touch()


_FOR_MANY_POINTS = ("grid", "levels")  # what only fits of many points need
_LAYOUT_PARTS = (
    "grid",
    "sampler",
    "pairs",
    "start",
    "levels",
)  # the longest first, and last what the others do nearly all of
_EVERYTHING = tuple(map(Part, ("forest", *_LAYOUT_PARTS, "graph")))


def is_compiled() -> bool:
    """Whether fits of vectors with the defaults find their kernels on disk."""
    return not _missing(_EVERYTHING)


def compile_ahead() -> bool:
    """Compile all that fits of vectors with the defaults need; whether there was anything to do."""
    missing = _missing(_EVERYTHING)
    with Ahead(missing, available_cores() - 1) as ahead:
        ahead.finish(alone=True)
    return bool(missing)


def compile_for(n_points: int, n_components: int, X: Any, n_jobs: int) -> Ahead:
    """Begin to compile what a layout needs, if something is not on disk that this fit needs, and there is a core for it.

    The fit compiles by itself what its graph needs, as it starts with that.
    """
    if cache_folder() is None or numba.config.DISABLE_JIT:
        return Ahead()
    dtype = "float64" if hasattr(X, "tocsr") else str(X.dtype)
    parts = [Part(name, n_components, dtype if name == "start" else "float64") for name in _LAYOUT_PARTS]
    needed = [part for part in parts if n_points > _LEVELS_ABOVE_POINTS or part.name not in _FOR_MANY_POINTS]
    processes = min(n_jobs, available_cores()) - 1
    if processes <= 0 or not _missing(needed):
        return Ahead()
    return Ahead(_missing(parts), processes)


def _missing(parts: Sequence[Part]) -> list[Part]:
    return [part for part in parts if not part.is_done()]


class Ahead:
    """Processes that compile parts, each taking the next that nobody has; a context manager that leaves none behind."""

    def __init__(self, parts: Sequence[Part] = (), processes: int = 0) -> None:
        self._parts = list(parts)
        self._running: list[subprocess.Popen[bytes]] = []
        self._folder: Path | None = None
        self._collects = gc.isenabled()
        if self._parts:
            self._folder = Path(tempfile.mkdtemp(prefix="sce-"))
            started = (_start(self._parts, self._folder) for _ in range(min(processes, len(self._parts))))
            self._running = [child for child in started if child is not None]

    def __enter__(self) -> Ahead:
        if self._parts:
            gc.disable()  # a compiler makes millions of objects that stay: looking through them takes a tenth of its time
        return self

    def __exit__(self, *_: object) -> None:
        for child in self._running:
            child.kill()
            child.wait()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        if self._collects:
            gc.enable()

    def finish(self, alone: bool = False) -> None:
        """Help to compile, from the end, until all is done; a process that takes too long is given up.

        Where no process could be started, nothing is done unless `alone`: then a fit compiles just what it needs.
        """
        if self._folder is None or not (self._running or alone):
            return
        with contextlib.suppress(Exception):  # what fails here may not be needed
            _work(self._parts[::-1], self._folder)
        deadline = time.monotonic() + _LONGEST_WAIT
        for child in self._running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(max(0.0, deadline - time.monotonic()))


def _start(parts: Sequence[Part], folder: Path) -> subprocess.Popen[bytes] | None:
    """A process that works on parts, without any output; None where none can be started."""
    names = [tuple(part) for part in parts]
    code = f"import gc; gc.disable(); from sce.warm import work; work({names!r}, {str(folder)!r})"
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


def work(parts: Sequence[tuple[str, int, str]], folder: str) -> None:
    """What a process does."""
    _work([Part(*part) for part in parts], Path(folder))


def _work(parts: Sequence[Part], folder: Path) -> None:
    """Rehearse the parts that nobody has taken, one after the other."""
    for part in parts:
        with contextlib.suppress(FileExistsError, FileNotFoundError):  # taken, or given up
            (folder / part.name).open("x").close()
            rehearse(part)


# ------------------------------------------------------------------------------------------------------------ rehearsals


def rehearse(part: Part) -> None:
    """Do what needs the kernels of a part, on random data, and remember it."""
    with Team(1) as team:
        _REHEARSALS[part.name](part, np.random.default_rng(0), team)
    part.remember()


def _lay_out(n_points: int, init: bool = False, **options: Any) -> Callable[[Part, np.random.Generator, Team], None]:
    """A layout of a random graph, from given coordinates if `init`."""

    def rehearsal(part: Part, rng: np.random.Generator, team: Team) -> None:
        from sce.engines.threads import ThreadEngine
        from sce.layout.lay_out import lay_out
        from sce.layout.problem import Problem
        from sce.layout.settings import layout_options
        from sce.layout.similarities import Similarities

        X = (9.0 * rng.normal(size=(n_points, _COLUMNS))).astype(part.dtype)
        if init:
            options["init"] = X[:, : part.n_components].astype(float)
        problem = Problem(Similarities(_random_graph(n_points, rng), team))
        settings = layout_options(n_components=part.n_components, **options)
        lay_out(problem, settings, ThreadEngine(team), vectors=X)

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
    "pairs": _lay_out(300, init=True, optimizer="gradient", tol=0.1),
    "sampler": _lay_out(300, init=True, optimizer="sampler", n_epochs=3),
    "start": _lay_out(300, optimizer="sampler", n_epochs=3),
    "grid": _lay_out(5000, init=True, optimizer="gradient", tol=0.1),  # the repulsion is summed on a grid
    "levels": _lay_out(5000),  # with coarse maps
    "graph": _make_graph(300, 12),  # by comparing all pairs
    "forest": _make_graph(20_000, 56),
}
