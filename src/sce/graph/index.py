"""The k nearest rows of every row, by the quickest of several ways."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from sce.core.parallel import Team
from sce.core.warn import warn
from sce.errors import DataWarning, InputError, ParameterError
from sce.graph.distances import Neighbors, neighbors_from_distances, neighbors_graph
from sce.graph.forest import SKETCH_ABOVE, forest_neighbors, rank
from sce.graph.inplace import keep_rows
from sce.graph.kernels import exact_neighbors, pad_columns
from sce.graph.rows import Copies, Rows, centred_rows, find_copies, unit_rows

__all__ = [
    "Neighbors",
    "check_metric",
    "metric_names",
    "nearest_neighbors",
    "neighbors_from_distances",
    "neighbors_graph",
]

_BRUTE_FORCE_BELOW = 2e10  # n n d up to which comparing all pairs takes less than a second
_BRUTE_FORCE_RATHER_BELOW = 5e11  # n n d up to which it is to be preferred to a poor result: some ten seconds
_POOR = 0.9
_TREE_BELOW = 4  # columns up to which a k-d tree is quicker than the forest, whatever the data
_GRAIN = 4096  # rows that a thread takes at once
_SLOW_ABOVE = 50_000  # rows above which a metric that only scikit-learn has is slow
_ALIASES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}
_OWN = ("euclidean", "sqeuclidean", "manhattan", "cosine", "correlation")


class _Found(NamedTuple):
    """Neighbours among prepared rows, with distances between these, or the squares of them."""

    ids: np.ndarray
    distances: np.ndarray
    squared: bool
    method: str
    recall: float


def nearest_neighbors(
    X: Any, k: int, *, metric: str | Callable[..., float] = "euclidean", seed: int = 0, team: Team
) -> Neighbors:
    """The k nearest rows of every row of X.

    Parameters
    ----------
    X : array or scipy sparse matrix of shape (n, d)
        Finite numbers; never changed.
    k : int
        At least 1 and at most n - 1.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine", "correlation" and "manhattan" are quick. Any other that scikit-learn's NearestNeighbors
        takes is exact and slow, and so is every metric on a sparse X.
    seed : int, default=0
        The forest's randomness.
    team : Team
        The threads to use; the result does not depend on their number.

    Returns
    -------
    Neighbors

    Examples
    --------
    >>> near = nearest_neighbors(np.array([[0.0], [1.0], [3.0]]), 1, team=Team(1))
    >>> near.indices.ravel(), near.distances.ravel()
    (array([1, 0, 1], dtype=int32), array([1., 1., 2.], dtype=float32))
    """
    name = _ALIASES.get(metric, metric) if isinstance(metric, str) else metric
    n = X.shape[0]
    if not 1 <= k < n:
        raise ParameterError(f"n_neighbors must be between 1 and the number of rows less one, {n - 1}; got {k}.")
    if sparse.issparse(X) or name not in _OWN:
        return _by_scikit_learn(X, k, name, team)
    found, unit = _search(X, k, str(name), seed, team)  # the prepared rows are gone from here on
    distances = _as_asked(found.distances, found.squared, unit, str(name), team)
    return Neighbors(found.ids, distances, found.method, found.recall)


def _search(X: np.ndarray, k: int, metric: str, seed: int, team: Team) -> tuple[_Found, float]:
    """Prepare, set masses of copies aside, and search; also what the distances are to be multiplied by."""
    n, d = X.shape
    angular = metric in ("cosine", "correlation")
    manhattan = metric == "manhattan"
    width = d + 1 if angular else d
    exact = float(n) * n * pad_columns(width) <= _BRUTE_FORCE_BELOW or k > n // 16
    tree = not exact and d <= _TREE_BELOW
    dtype, columns = (np.float64, width) if tree else (np.float32, pad_columns(width))
    if angular:
        rows = unit_rows(X, columns, dtype, metric == "correlation", team)
    else:
        rows = centred_rows(X, columns, dtype, team, plainly=d > SKETCH_ABOVE)

    def search(rows: Rows) -> _Found:
        if exact or k > len(rows.values) // 16:
            return _by_brute_force(rows.values.astype(np.float32, copy=False), k, manhattan, team)
        if tree:
            return _by_tree(rows.values, k, manhattan, team)
        return _by_forest(rows, k, manhattan, seed, team)

    return _search_among_copies(rows, k, search, team), rows.unit


def _as_asked(distances: np.ndarray, squared: bool, unit: float, metric: str, team: Team) -> np.ndarray:
    """Distances of the metric from those between prepared rows, which may be overwritten."""

    def convert(found: np.ndarray) -> np.ndarray:
        wide = np.sqrt(found, dtype=np.float64) if squared else found.astype(np.float64)
        if metric in ("cosine", "correlation"):
            return wide * wide / 2
        return (wide * unit) ** 2 if metric == "sqeuclidean" else wide * unit

    return _converted(distances, convert, team)


def _converted(distances: np.ndarray, convert: Callable[[np.ndarray], np.ndarray], team: Team) -> np.ndarray:
    """Distances, some rows at a time in float64, in float32 at the end if none of them overflows or vanishes there.

    What is given may be overwritten with the result.
    """
    n = len(distances)
    least, most = np.full(-(-n // _GRAIN), np.inf), np.zeros(-(-n // _GRAIN))

    def measure(start: int, stop: int) -> None:
        with np.errstate(over="ignore", under="ignore"):
            part = convert(distances[start:stop])
        least[start // _GRAIN] = part[part > 0].min(initial=np.inf)
        most[start // _GRAIN] = part.max(initial=0.0)

    team.sweep(measure, n, _GRAIN)
    dtype = np.float32 if least.min(initial=np.inf) > 1e-30 and most.max(initial=0.0) < 1e30 else np.float64
    result = distances if distances.dtype == dtype else np.empty(distances.shape, dtype)

    def write(start: int, stop: int) -> None:
        with np.errstate(over="ignore", under="ignore"):
            result[start:stop] = convert(distances[start:stop])

    team.sweep(write, n, _GRAIN)
    return result


# -------------------------------------------------------------------------------------------------------------- copies


def _search_among_copies(rows: Rows, k: int, search: Callable[[Rows], _Found], team: Team) -> _Found:
    """Search among at most k + 1 copies of each row; rows with more copies than that get copies as neighbours.

    More copies can change no distance, and thousands of equal rows would fill whole leaves of any tree. What is left of
    `rows`, where they are a copy, are those that were searched.
    """
    copies = find_copies(rows.values, team)
    n = len(rows.values)
    keep = np.flatnonzero(copies.rank <= k).astype(np.int32)
    if len(keep) == n:
        del copies, keep
        return search(rows)
    kept = keep_rows(rows.values, keep, team) if rows.own else rows.values[keep]
    part = search(rows._replace(values=kept, own=True))
    ids = np.empty((n, k), np.int32)
    distances = np.zeros((n, k), part.distances.dtype)
    ids[keep] = keep[part.ids]
    distances[keep] = part.distances
    many = np.flatnonzero(copies.sizes() > k)

    def work(start: int, stop: int) -> None:
        ids[many[start:stop]] = _next_copies(copies, many[start:stop], k)
        distances[many[start:stop]] = 0

    team.sweep(work, len(many), _GRAIN)
    return part._replace(ids=ids, distances=distances)


def _next_copies(copies: Copies, rows: np.ndarray, k: int) -> np.ndarray:
    """The k copies after each row in its group, as on a ring: no copy is the neighbour of more than k others."""
    group = copies.group[rows]
    first, size = copies.starts[group], copies.starts[group + 1] - copies.starts[group]
    place = (copies.rank[rows][:, None] + np.arange(1, k + 1)) % size[:, None]
    return np.asarray(copies.order[first[:, None] + place])


# ---------------------------------------------------------------------------------------------------------------- ways


def _by_brute_force(values: np.ndarray, k: int, manhattan: bool, team: Team) -> _Found:
    numbers = np.arange(len(values))
    candidates = exact_neighbors(values, numbers, k, manhattan, team)
    near = rank(values, candidates, k, numbers.astype(np.int32), manhattan, team)
    return _Found(near.ids, near.distances, not manhattan, "brute force", 1.0)


def _by_forest(rows: Rows, k: int, manhattan: bool, seed: int, team: Team) -> _Found:
    near, recall = forest_neighbors(rows.values, k, manhattan=manhattan, seed=seed, team=team, own=rows.own)
    if recall < _POOR and float(len(rows.values)) * rows.values.size <= _BRUTE_FORCE_RATHER_BELOW:
        return _by_brute_force(rows.values, k, manhattan, team)  # nothing but noise defeats the trees
    return _Found(near.ids, near.distances, not manhattan, "forest", recall)


def _by_tree(values: np.ndarray, k: int, manhattan: bool, team: Team) -> _Found:
    from scipy.spatial import cKDTree

    tree = cKDTree(values, leafsize=24, balanced_tree=False, compact_nodes=True)
    ids, distances = np.empty((len(values), k), np.int32), np.empty((len(values), k))

    def work(start: int, stop: int) -> None:  # by our own threads, which stop on Ctrl-C: scipy's would not
        d, j = tree.query(values[start:stop], k + 1, p=1 if manhattan else 2)
        ids[start:stop], distances[start:stop] = _without_self(j, d, np.arange(start, stop))

    team.sweep(work, len(values), _GRAIN)
    return _Found(ids, distances, False, "k-d tree", 1.0)


def _without_self(ids: np.ndarray, distances: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Drop each row itself from its k + 1 nearest, or the last where copies have pushed it out."""
    itself = ids == rows[:, None]
    itself[~itself.any(axis=1), -1] = True
    n, k = ids.shape
    return ids[~itself].reshape(n, k - 1), distances[~itself].reshape(n, k - 1)


def _by_scikit_learn(X: Any, k: int, metric: str | Callable[..., float], team: Team) -> Neighbors:
    from sklearn.neighbors import NearestNeighbors
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    check_metric(metric)
    n = X.shape[0]
    name = metric if isinstance(metric, str) else "your own metric"
    if n > _SLOW_ABOVE:
        kind = "sparse data" if sparse.issparse(X) else f"metric {name!r}"
        warn(
            f"The neighbours of {n} rows are searched exactly through scikit-learn for {kind}, which is slow: "
            "'euclidean', 'cosine', 'correlation' and 'manhattan' on dense data are quick.",
            DataWarning,
        )
    X = X.tocsr() if sparse.issparse(X) else X
    ids, distances = np.empty((n, k), np.int32), np.empty((n, k))

    def work(start: int, stop: int) -> None:
        # One OpenMP thread per call, or ties would be settled by the order in which threads arrive.
        with threadpool_limits(1, user_api="openmp"):
            d, j = model.kneighbors(X[start:stop], k + 1)
        ids[start:stop], distances[start:stop] = _without_self(j, d, np.arange(start, stop))

    try:
        model = NearestNeighbors(n_neighbors=k + 1, metric=metric, n_jobs=1).fit(X)
        team.sweep(work, n, 1024)
    except (ValueError, TypeError, SystemError) as error:
        raise ParameterError(f"scikit-learn cannot search these data with metric {name!r}: {error}") from error
    if not np.isfinite(distances).all():
        raise InputError(f"The metric {name!r} gives distances that are not finite on these data.")
    return Neighbors(ids, _converted(distances, lambda part: part, team), "scikit-learn exact", 1.0)


def metric_names() -> list[str]:
    """The names that `metric` may have, "precomputed" apart."""
    from sklearn.neighbors import VALID_METRICS

    names = {name for group in VALID_METRICS.values() for name in group if isinstance(name, str)}
    return sorted((names | set(_OWN)) - {"precomputed", "pyfunc", "mahalanobis", "seuclidean"})  # these take matrices


def check_metric(metric: object) -> None:
    """Raise ParameterError unless `metric` is a function or the name of a metric."""
    if callable(metric) or metric == "precomputed" or (isinstance(metric, str) and metric in (*_OWN, *_ALIASES)):
        return
    names = metric_names()
    if isinstance(metric, str) and metric in names:
        return
    near = difflib.get_close_matches(str(metric), names, 3, 0.5)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"it can be one of {', '.join(names)}."
    raise ParameterError(f"metric={metric!r} is not known; {hint}")
