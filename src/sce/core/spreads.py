"""The spread of columns: whether a few of them, because their numbers are large, determine all distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sce.core.linalg import sample_rows
from sce.core.mmap import take
from sce.core.random import stream
from sce.core.warn import warn
from sce.errors import ScalingWarning

_SAMPLED_ROWS = 10_000  # from which spreads are estimated
_FEWEST_COMPONENTS = 6  # fewer columns may fall in spread from first to last by chance
_FALLING = 0.85  # rank correlation of place and spread from which the columns are taken for principal components

# Metrics in which a column counts by the size of its numbers.
_METRICS = frozenset(
    [
        "euclidean",
        "sqeuclidean",
        "l2",
        "manhattan",
        "l1",
        "cityblock",
        "minkowski",
        "chebyshev",
        "cosine",
        "correlation",
    ]
)


def warn_of_unequal_spreads(X: Any, names: Sequence[Any] | None, metric: Any) -> None:
    """Warn where a few columns with large values determine all distances.

    Nothing is said of sparse data, which are counts or weights of one kind, nor of metrics to which the size of the numbers
    means nothing.
    """
    found = unequal_columns(X) if isinstance(metric, str) and metric in _METRICS else None
    if found is not None:
        large, small = (f"{k if names is None else repr(names[k])}: {spread:.3g}" for k, spread in found)
        warn(
            f"Columns of X differ widely in spread (standard deviations {large}, {small}), so a few of them determine the map: "
            "bring them to one scale, for example with sklearn.preprocessing.StandardScaler or RobustScaler. If they are meant "
            'to be as they are: warnings.filterwarnings("ignore", category=sce.ScalingWarning).',
            ScalingWarning,
        )


def unequal_columns(X: Any) -> list[tuple[int, float]] | None:
    """The columns of the largest and the median spread, with their spreads, if a few columns determine all distances.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> unequal_columns(X), [column for column, _ in unequal_columns(X * [1, 1000, 1])]
    (None, [1, 0])
    """
    if hasattr(X, "tocsr") or X.ndim != 2 or X.shape[1] < 2:
        return None
    spread = _sampled_spreads(X)
    columns = unequal_spreads(spread)
    return None if columns is None else [(column, float(spread[column])) for column in columns]


def _sampled_spreads(X: np.ndarray) -> np.ndarray:
    """The standard deviation of each column among up to 10,000 rows, where there are values."""
    sample = take(X, sample_rows(X.shape[0], _SAMPLED_ROWS, stream(0, "spreads")), np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isnan(sample).any():
            return np.asarray(np.ma.masked_invalid(sample).std(axis=0).filled(0.0))
        return np.asarray(sample.std(axis=0))


def unequal_spreads(spread: np.ndarray) -> tuple[int, int] | None:
    """The columns of the largest and the median spread, if the largest few outweigh all others together.

    Columns whose spreads fall from first to last are principal components, whose spreads are as they should be.

    Examples
    --------
    >>> unequal_spreads(np.array([1.0, 1000.0, 2.0, 1.5])), unequal_spreads(np.array([1.0, 2.0, 3.0]))
    ((1, 3), None)
    >>> unequal_spreads(1000 / np.arange(1, 50) ** 2)
    """
    moving = np.flatnonzero(spread > 0)
    if len(moving) < 2 or not np.isfinite(spread).all() or _fall(spread[moving]):
        return None
    order = moving[np.argsort(spread[moving], kind="stable")]
    large, middle = int(order[-1]), int(order[(len(order) - 1) // 2])
    share = np.cumsum(np.sort((spread / spread[large]) ** 2)[::-1])
    few = int(np.searchsorted(share, 0.9 * share[-1])) + 1  # columns that hold nine tenths of the variance
    return (large, middle) if spread[large] > 5 * spread[middle] and few <= max(1, len(moving) // 3) else None


def _fall(spread: np.ndarray) -> bool:
    """Whether spreads fall from the first to the last, by their ranks."""
    d = len(spread)
    if d < _FEWEST_COMPONENTS:
        return False
    ranks = np.empty(d)
    ranks[np.argsort(-spread, kind="stable")] = np.arange(d)
    return 1 - 6 * float(np.square(ranks - np.arange(d)).sum()) / (d * (d * d - 1)) > _FALLING
