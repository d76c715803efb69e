"""The comparison: P once, every method in a process of its own, figures of quality, and all of it again only where needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sce.compare.code import code_of, own_code
from sce.compare.dataset import Data, fingerprint
from sce.compare.methods import Method, choose
from sce.compare.process import Ended, run_worker
from sce.compare.store import DONE, FAILED, NO_VECTORS, NOT_INSTALLED, TOO_SLOW, VECTORS, Row, Store
from sce.errors import ParameterError

OWN_CODE = ("estimator.py", "random.py", "linalg.py", "principal.py", "engines", "graph", "layout")
JUDGING_CODE = ("quality", "clusters.py", "spanning.py")


class Settings(NamedTuple):
    """How the methods are run."""

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
    """Compare methods on some data; leaves maps, a figure, a table and a report in a folder.

    What is in the folder already is used again if it was made from the same data, P, parameters and version of the method.

    Parameters
    ----------
    data : Data
        Vectors or a graph, with a name.
    folder : str or Path
        Where everything is written; it may hold the comparisons of other data.
    methods : iterable of str or Method, optional
        Of :data:`sce.compare.METHODS` by name, as "tsne", with parameters, as "gsne:r=10", or your own; all by default.
    time_limit : float, default=1800.0
        Seconds for the process of a method.
    random_state : int, default=0
        The seed of P and of all methods that take one.
    n_jobs : int or None, default=None
        Threads for each method; None is all cores.
    retry : bool, default=False
        Try again what failed or was too slow.
    blocks : bool, default=False
        Also draw P ordered by the clusters of SCE and of t-SNE.
    say : callable, optional
        Called with a line about each thing done.

    Returns
    -------
    rows : list of Row
        One for each method, in their order.

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
    from sce.compare.block_pictures import write_blocks
    from sce.compare.page import write_report
    from sce.compare.panels import write_figure
    from sce.compare.similarities import make_graph
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
        """The row of a method: from the folder, or made now."""
        row = Row(method.key, method.title, method.takes, method.about, fingerprint=self._fingerprint(method))
        old = self.store.read_row(method.key)
        if self.store.map_fingerprint(method.key) == row.fingerprint:
            return self._assess(row, old, fresh=False)
        if old is not None and old.fingerprint == row.fingerprint and not self._worth_a_try(old):
            self.say(f"{method.key}: {old.status} before, {old.reason}; --retry tries again")
            return old
        problem = self._hindrance(method)
        if problem is None:
            ended = self._run(method, row)
            problem = None if ended.done else (TOO_SLOW if ended.too_slow else FAILED, ended.reason)
        if problem is not None:
            row.status, row.reason = problem
            row.facts = {"time_limit": self.settings.time_limit}
            self.store.write_row(row)
            self.say(f"{method.key}: {row.status}, {row.reason}")
            return row
        return self._assess(row, old, fresh=True)

    def _worth_a_try(self, old: Row) -> bool:
        """Whether what was not done may be done now."""
        longer = old.status == TOO_SLOW and self.settings.time_limit > old.facts.get("time_limit", 0)
        return self.settings.retry or longer or old.status not in (FAILED, TOO_SLOW)

    def _hindrance(self, method: Method) -> tuple[str, str] | None:
        """What keeps a method from being run at all."""
        if method.takes == "vectors" and self.data.X is None:
            return NO_VECTORS, "there is only a graph"
        package = method.missing()
        if package is not None:
            return NOT_INSTALLED, f"{package} is not installed: pip install 'sce[peers]'"
        return None

    def _fingerprint(self, method: Method) -> dict[str, Any]:
        """All that a map depends on."""
        versions = {} if method.missing() else method.versions()
        made = {"data": self._facts["data"], "graph": self._facts["graph"]["fingerprint"]}
        code = [code_of(method.function)]
        if method.function.startswith("sce.compare.own:"):
            code.append(own_code(OWN_CODE))
        parameters = {name: value for name, value in method.parameters.items() if value is not None}
        return {
            **made,
            "function": method.function,
            "parameters": parameters,
            "versions": versions,
            "code": fingerprint(*code),
            "seed": self.settings.seed,
            "n_jobs": self.settings.n_jobs,
        }

    def _run(self, method: Method, row: Row) -> Ended:
        job = {
            "name": self.data.name,
            "method": asdict(method),
            "fingerprint": row.fingerprint,
            "vectors": self._write_vectors(),
            "graph": str(self.store.graph_path),
            "output": str(self.store.map_path(method.key)),
            "seed": self.settings.seed,
            "n_jobs": self.settings.n_jobs,
        }
        if self.store.read_row(method.key) is not None:
            self.store.map_path(method.key).unlink(missing_ok=True)  # ours, however damaged
        self.say(f"{method.key} ...")
        return run_worker(job, self.settings.time_limit)

    def _write_vectors(self) -> str | None:
        """The vectors as a file that the processes can map, once and only where a process is run."""
        if self._vectors is None and self.data.X is not None:
            from sce.core.write import atomic

            sparse = hasattr(self.data.X, "tocsr")
            path = self.store.folder / f"{VECTORS}.{'npz' if sparse else 'npy'}"
            with atomic(path) as file:
                if sparse:
                    from scipy.sparse import save_npz

                    save_npz(file, self.data.X)
                else:
                    np.save(file, self.data.X)
            self._vectors = str(path)
        return self._vectors

    def _assess(self, row: Row, old: Row | None, *, fresh: bool) -> Row:
        """Fill in what the map file says and the figures of quality, unless they were made from the same before."""
        from sce.results.maps import load

        found = load(self.store.map_path(row.method), whole=False)
        row.facts = {
            name: value for name, value in found.facts.items() if name not in ("fingerprint", "method", "source")
        }
        row.facts["versions"] = row.fingerprint["versions"]
        if np.isfinite(found.r):
            row.facts["r"] = found.r
        row.assessed = fingerprint(
            found.Y, self.classes, self.data.metric, repr(row.fingerprint), own_code(JUDGING_CODE)
        )
        if old is not None and old.status == DONE and old.assessed == row.assessed:
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
        """All figures of quality; one that cannot be computed must not stop the comparison."""
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
