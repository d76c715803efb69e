"""What the figures of quality have in common: checks, and samples of points."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from sce.core.validate import coordinates_of, refuse_not_finite
from sce.errors import InputError


def map_points(Y: Any) -> np.ndarray:
    """The finite coordinates that Y is or has, in float64."""
    points = np.asarray(coordinates_of(Y))
    if points.ndim != 2 or points.dtype.kind not in "buif" or not len(points):
        raise InputError(
            f"Y must be coordinates, a row for each point; it is {points.dtype} of shape {points.shape}: give an array, a "
            "fitted SCE or a map."
        )
    refuse_not_finite(points, "Y")
    return points.astype(np.float64)


def check_rows(X: Any, n: int, metric: Any = None) -> None:
    """Refuse data that are not finite, or not for as many points as the map has."""
    shape = np.shape(X) if not sp.issparse(X) else X.shape
    if len(shape) != 2:
        raise InputError(f"The data must be 2-D, a row for each point; their shape is {shape}.")
    if shape[0] != n:
        raise InputError(f"The map has {n} points and the data have {shape[0]} rows; give the data that were embedded.")
    if isinstance(metric, str) and metric == "precomputed" and shape[1] != n:
        raise InputError(
            f"A graph or distances must be square, a row and a column for each point; the shape is {shape}."
        )
    refuse_not_finite(X, "X")


def check_classes(values: Any, n: int, name: str) -> np.ndarray:
    """One value for each point, as codes from 0 on."""
    given = np.asarray(values)
    if given.shape != (n,):
        raise InputError(f"{name} must be as many as the points, {n}; their shape is {given.shape}.")
    return np.unique(given, return_inverse=True)[1].reshape(-1)


def sampled(n: int, size: int, random_state: int | list[int]) -> np.ndarray:
    """The numbers of `size` points drawn at random without replacement, rising; all of them if there are fewer."""
    if size >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state).choice(n, size, replace=False))
