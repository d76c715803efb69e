"""The comparison: P once, every method in its own process, quality figures; what is still valid is not done again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sce.compare.code import code_of, own_code
from sce.compare.dataset import Data, fingerprint
from sce.compare.methods import Method, choose
from sce.compare.process import Ended, run_worker
from sce.compare.store import VECTORS_FILE, Row, Status, Store
from sce.errors import ParameterError

QUALITY_MODULES = ("sce.quality.report",)  # whose code, with all that they import, decides the quality figures


class Settings(NamedTuple):
    """How to run the methods."""

    time_limit: float
    seed: int
    n_jobs: int
    retry: bool


def compare(
    data: Data,
    folder: str | Path,
    methods: Iterable[str | Method] | None = None,
    *,
    time_limit: float = 1800.0,
    random_state: int = 0,
    n_jobs: int | None = None,
    retry: bool = False,
    blocks: bool = False,
    say: Callable[[str], Any] | None = None,
) -> list[Row]:
    """Compare methods on some data; writes maps, a figure, a table and a report to a folder.

    Results that are in the folder already are used again if they were made from the same data, P and parameters, by the same
    version and the same code of the method.

    Parameters
    ----------
    data : Data
        Vectors or a graph, with a name.
    folder : str or Path
        Where to write everything; it may hold comparisons of other data.
    methods : iterable of str or Method, optional
        Names of :data:`sce.compare.METHODS`, such as "tsne", or "gsne:r=10" with a parameter, or your own; all by default.
    time_limit : float, default=1800.0
        Seconds allowed for the process of each method.
    random_state : int, default=0
        The seed of P and of all methods that take one.
    n_jobs : int or None, default=None
        Threads for each method; None means all cores.
    retry : bool, default=False
        Run methods again that failed or were too slow.
    blocks : bool, default=False
        Also draw P ordered by the clusters of SCE and of t-SNE.
    say : callable, optional
        Called with a line of text at each step.

    Returns
    -------
    rows : list of Row
        One for each method, in the given order.

    Examples
    --------
    >>> import tempfile
    >>> from sce.compare import Data, compare
    >>> X = np.random.default_rng(0).normal(size=(90, 4)) + np.repeat([0, 20, 40], 30)[:, None]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = compare(Data("three", X=X), folder, ["sce"])
    >>> rows[0].status, int(rows[0].figures["n_clusters"])
    ('done', 3)
    """
    from sce.compare.block_panels import write_blocks
    from sce.compare.page import write_report
    from sce.compare.panels import write_figure
    from sce.compare.shared_graph import make_graph
    from sce.core.parallel import resolve_n_jobs

    chosen = choose(methods)
    settings = _check(time_limit, random_state, resolve_n_jobs(n_jobs), retry)
    tell = say or (lambda _: None)
    store = Store(Path(folder), data.name)
    with store.lock():
        P = make_graph(data, store, settings, tell)
        comparison = _Comparison(data, P, store, settings, tell)
        rows = [comparison.row(method) for method in chosen]
        write_figure(Path(folder) / f"{data.name}.png", data, store.rows(), store)
        if blocks:
            write_blocks(Path(folder) / f"{data.name}-blocks.png", P, store)
        write_report(folder)
    return rows


def _check(time_limit: Any, seed: Any, n_jobs: int, retry: bool) -> Settings:
    if isinstance(time_limit, bool) or not isinstance(time_limit, int | float) or not time_limit > 0:
        raise ParameterError(f"time_limit must be a number of seconds above 0; got {time_limit!r}.")
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or not 0 <= seed < 2**32:
        raise ParameterError(f"random_state must be a whole number from 0 to 2**32 - 1; got {seed!r}.")
    return Settings(float(time_limit), int(seed), n_jobs, bool(retry))


class _Comparison:
    """Makes the rows of one data set."""

    def __init__(self, data: Data, P: Any, store: Store, settings: Settings, say: Callable[[str], Any]) -> None:
        self.data, self.P, self.store, self.settings, self.say = data, P, store, settings, say
        self.classes = data.classes()
        self._facts = store.read_comparison()
        self._vectors: str | None = None

    def row(self, method: Method) -> Row:
        """The row of a method: from the folder if it is valid, else made now."""
        row = Row(method.key, method.title, method.takes, method.about, fingerprint=self._fingerprint(method))
        old = self.store.read_row(method.key)
        if self.store.map_fingerprint(method.key) == row.fingerprint:
            return self._assess(row, old, fresh=False)
        if old is not None and old.fingerprint == row.fingerprint and not self._may_try_again(old):
            self.say(f"{method.key}: {old.status} before, {old.reason}; retry=True tries again")
            return old
        problem = self._obstacle(method)
        if problem is None:
            ended = self._run(method, row)
            problem = None if ended.done else (Status.TOO_SLOW if ended.too_slow else Status.FAILED, ended.reason)
        if problem is not None:
            row.status, row.reason = problem
            row.facts = {"time_limit": self.settings.time_limit}
            self.store.write_row(row)
            self.say(f"{method.key}: {row.status}, {row.reason}")
            return row
        return self._assess(row, old, fresh=True)

    def _may_try_again(self, old: Row) -> bool:
        """Whether a method without a map may have one now."""
        longer = old.status == Status.TOO_SLOW and self.settings.time_limit > old.facts.get("time_limit", 0)
        return self.settings.retry or longer or old.status not in (Status.FAILED, Status.TOO_SLOW)

    def _obstacle(self, method: Method) -> tuple[str, str] | None:
        """Why a method cannot be run at all, or None."""
        if method.takes == "vectors" and self.data.X is None:
            return Status.NO_VECTORS, "there is only a graph"
        package = method.missing()
        if package is not None:
            return Status.NOT_INSTALLED, f"{package} is not installed: pip install 'sce[peers]'"
        return None

    def _fingerprint(self, method: Method) -> dict[str, Any]:
        """Everything that a map depends on."""
        versions = {} if method.missing() else method.versions()
        parameters = {name: value for name, value in method.parameters.items() if value is not None}
        return {
            "data": self._facts["data"],
            "graph": self._facts["graph"]["fingerprint"],
            "function": method.function,
            "parameters": parameters,
            "versions": versions,
            "code": code_of(method.function),
            "seed": self.settings.seed,
            "n_jobs": self.settings.n_jobs,
        }

    def _run(self, method: Method, row: Row) -> Ended:
        job = {
            "name": self.data.name,
            "method": method._asdict(),
            "fingerprint": row.fingerprint,
            "vectors": self._write_vectors(),
            "graph": str(self.store.graph_path),
            "output": str(self.store.map_path(method.key)),
            "seed": self.settings.seed,
            "n_jobs": self.settings.n_jobs,
        }
        if self.store.read_row(method.key) is not None:
            self.store.map_path(method.key).unlink(missing_ok=True)  # it is ours, even if it is damaged
        self.say(f"{method.key} ...")
        return run_worker(job, self.settings.time_limit)

    def _write_vectors(self) -> str | None:
        """The file of the vectors for the processes, written once, and only if a process is run."""
        if self._vectors is None and self.data.X is not None:
            from sce.core.write import atomic

            sparse = hasattr(self.data.X, "tocsr")
            path = self.store.folder / f"{VECTORS_FILE}.{'npz' if sparse else 'npy'}"
            with atomic(path) as file:
                if sparse:
                    from scipy.sparse import save_npz

                    save_npz(file, self.data.X)
                else:
                    np.save(file, self.data.X)
            self._vectors = str(path)
        return self._vectors

    def _assess(self, row: Row, old: Row | None, *, fresh: bool) -> Row:
        """Fill in the facts of the map file and the quality figures; figures made before are used again if they are valid."""
        from sce.results.maps import load

        found = load(self.store.map_path(row.method), whole=False)
        row.facts = {
            name: value for name, value in found.facts.items() if name not in ("fingerprint", "method", "source")
        }
        row.facts["versions"] = row.fingerprint["versions"]
        if np.isfinite(found.r):
            row.facts["r"] = found.r
        row.assessed = fingerprint(
            found.Y, self.classes, self.data.metric, repr(row.fingerprint), own_code(QUALITY_MODULES)
        )
        if old is not None and old.status == Status.DONE and old.assessed == row.assessed:
            self.say(f"{row.method}: {row.facts['seconds']:.1f} s, done before")
            row.figures = old.figures
            if old != row:
                self.store.write_row(row)
            return row
        row.figures = self._figures(row, found.Y)
        self.store.write_row(row)
        self.say(f"{row.method}: {row.facts['seconds']:.1f} s{'' if fresh else ', map made before'}")
        return row

    def _figures(self, row: Row, Y: np.ndarray) -> dict[str, float]:
        """All quality figures; an error here must not stop the comparison."""
        from sce.quality import assess

        try:
            quality = assess(
                Y,
                X=self.data.X,
                P=self.P,
                classes=self.classes,
                metric=self.data.metric,
                random_state=self.settings.seed,
                n_jobs=self.settings.n_jobs,
            )
        except Exception as error:  # noqa: BLE001
            row.facts["not_assessed"] = " ".join(f"{type(error).__name__}: {error}".split())
            return {}
        return {name: float(value) for name, value in quality.figures().items()}
