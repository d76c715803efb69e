"""Exact nearest neighbours by scikit-learn, for the metrics that we do not compute ourselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from sce.core.parallel import Team
from sce.core.warn import warn
from sce.errors import DataWarning, InputError, ParameterError
from sce.graph.checks import check_list_length, check_new_rows
from sce.graph.found import Neighbors, compact, drawn, sort_ties, without_self
from sce.graph.kernels import row_keys
from sce.graph.metrics import OWN_METRICS, is_metric, metric_sentence

_SLOW_ABOVE_ROWS = 50_000  # above which a search by scikit-learn is slow enough for a warning
_SCIKIT_LEARN_TASK_ROWS = 1024  # rows a thread takes at once
_TIES_TASK_ROWS = 64  # rows whose ties are found at once: there may be as many as rows
_TIE_ROUNDING = 1e-9  # distances that differ by less, relatively, differ by rounding
_QUICK = ", ".join(map(repr, OWN_METRICS))
_METHOD = "scikit-learn exact"


class ScikitLearnIndex:
    """Dense or sparse rows under any metric that scikit-learn's NearestNeighbors takes: exact, and slow.

    Parameters
    ----------
    X : array or scipy sparse matrix of shape (n, d)
        Finite numbers; never changed.
    metric : str or callable
    seed : int
        Decides ties among the indexed rows.
    """

    def __init__(self, X: Any, metric: str | Callable[..., float], seed: int) -> None:
        if not is_metric(metric):
            raise ParameterError(metric_sentence(metric))
        self._X = X.tocsr() if sparse.issparse(X) else X
        self._metric, self._seed = metric, seed
        self._name = metric if isinstance(metric, str) else "your own metric"
        self._model: tuple[int, Any] | None = None  # of the last query: its number of neighbours, and what was fitted

    @property
    def n_rows(self) -> int:
        """The number of indexed rows."""
        return int(self._X.shape[0])

    def self_neighbors(self, k: int, team: Team) -> Neighbors:
        """The k nearest other rows of every indexed row."""
        n = self.n_rows
        check_list_length(k, n - 1, "the number of rows less one")
        if n > _SLOW_ABOVE_ROWS:
            warn(
                f"The neighbours of {n} rows are searched exactly through scikit-learn for metric {self._name!r}, which is "
                f"slow: {_QUICK} are quick.",
                DataWarning,
            )
        ids, distances = np.empty((n, k), np.int32), np.empty((n, k))
        model, count = self._fitted(k + 1), min(n, k + 2)

        def keep(start: int, stop: int, j: np.ndarray, d: np.ndarray) -> None:
            numbers = np.arange(start, stop)
            others, theirs = without_self(j, d, numbers)
            ids[start:stop], distances[start:stop] = others[:, :k], theirs[:, :k]
            if count > k + 1:
                self._settle(model, numbers[theirs[:, k] == theirs[:, k - 1]], ids, distances)

        self._search(model, self._X, count, keep, team)
        self._check_finite(distances)
        return Neighbors(ids, compact(distances, lambda part: part, team), _METHOD, 1.0)

    def query(self, rows: Any, k: int, team: Team) -> Neighbors:
        """The k nearest of the indexed rows for each new row, independent of the other new rows.

        A copy of an indexed row has that row first, at distance 0. Distances are float64.
        """
        new = check_new_rows(rows, self._X.shape[1], as_sparse=sparse.issparse(self._X))
        check_list_length(k, self.n_rows, "the number of indexed rows")
        if self._model is None or self._model[0] != k:
            self._model = k, self._fitted(k)
        ids, distances = np.empty((new.shape[0], k), np.int32), np.empty((new.shape[0], k))

        def keep(start: int, stop: int, j: np.ndarray, d: np.ndarray) -> None:
            ids[start:stop], distances[start:stop] = sort_ties(j, d)

        self._search(self._model[1], new, k, keep, team)
        self._check_finite(distances)
        return Neighbors(ids, distances, _METHOD, 1.0)

    def _settle(self, model: Any, numbers: np.ndarray, ids: np.ndarray, distances: np.ndarray) -> None:
        """Draw the last of the neighbours of some rows from all rows at the distance of the k-th."""
        numbers = numbers[np.argsort(distances[numbers, -1], kind="stable")]  # those with similar distances together
        for start in range(0, len(numbers), _TIES_TASK_ROWS):
            part = numbers[start : start + _TIES_TASK_ROWS]
            farthest = distances[part[-1], -1] * (1 + _TIE_ROUNDING)
            found = model.radius_neighbors(self._X[part], farthest)
            for i, key, d, j in zip(part, row_keys(self._seed, part), *found, strict=True):
                last = distances[i, -1]
                nearer = ids[i, distances[i] < last * (1 - _TIE_ROUNDING)]
                tied = j[(np.abs(d - last) <= _TIE_ROUNDING * last) & (j != i) & ~np.isin(j, nearer)]
                if len(nearer) + len(tied) >= ids.shape[1]:  # fewer only by rounding errors
                    ids[i, len(nearer) :] = drawn(tied, ids.shape[1] - len(nearer), key)

    def _fitted(self, k: int) -> Any:
        from sklearn.neighbors import NearestNeighbors

        with self._explained():
            return NearestNeighbors(n_neighbors=k, metric=self._metric, n_jobs=1).fit(self._X)

    def _search(self, model: Any, rows: Any, k: int, keep: Callable[..., None], team: Team) -> None:
        """Call keep(start, stop, ids, distances) with the k nearest of some rows at a time."""
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        def work(start: int, stop: int) -> None:
            # One OpenMP thread per call, or ties would be settled by the order in which threads arrive.
            with threadpool_limits(1, user_api="openmp"):
                distances, ids = model.kneighbors(rows[start:stop], k)
            keep(start, stop, ids, distances)

        with self._explained():
            team.sweep(work, rows.shape[0], _SCIKIT_LEARN_TASK_ROWS, share=1.0)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Errors of scikit-learn as a ParameterError that names the metric."""
        try:
            yield
        except (ValueError, TypeError, SystemError) as error:
            advice = f" Sparse data need {_QUICK}, or X.toarray()." if sparse.issparse(self._X) else ""
            raise ParameterError(
                f"scikit-learn cannot search these data with metric {self._name!r}: {error}{advice}"
            ) from error

    def _check_finite(self, distances: np.ndarray) -> None:
        if not np.isfinite(distances).all():
            raise InputError(
                f"The metric {self._name!r} gives distances that are not finite on these data; if their values are huge, "
                "divide X by a constant."
            )
