"""What all quality figures share: checks of the input, samples of points, shuffled labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from sce.core.compiled import kernel
from sce.core.dataframes import as_column, as_matrix
from sce.core.linalg import sample_rows
from sce.core.missing import as_text
from sce.core.random import below, bits, stream
from sce.core.validate import coordinates_of, draw_seed, refuse_not_finite
from sce.errors import InputError


def map_points(Y: Any) -> np.ndarray:
    """The coordinates of a map, a model or an array, all finite, in float64."""
    points = np.asarray(coordinates_of(Y))
    if points.ndim != 2 or points.dtype.kind not in "buif" or not len(points):
        raise InputError(
            f"Y must be coordinates, one row per point; it is {points.dtype} of shape {points.shape}: give an array, a "
            "fitted SCE or a map."
        )
    refuse_not_finite(points, "Y")
    return points.astype(np.float64)


def held(Y: Any, name: str, given: Any) -> Any:
    """The given value, or else the one that a map or a model holds; an array holds none."""
    return given if given is not None or hasattr(Y, "__array__") else getattr(Y, name, None)


def check_rows(X: Any, n: int, metric: Any = None) -> Any:
    """The data as a matrix; refuses those that are not finite, or that do not have as many rows as the map has points."""
    frame = as_matrix(X)
    X = X if frame is None else frame.X
    shape = np.shape(X) if not sp.issparse(X) else X.shape
    if len(shape) != 2:
        raise InputError(f"The data must be 2-D, one row per point; their shape is {shape}.")
    if shape[0] != n:
        raise InputError(f"The map has {n} points and the data have {shape[0]} rows; give the data that were embedded.")
    if isinstance(metric, str) and metric == "precomputed" and shape[1] != n:
        raise InputError(
            f"A graph or a distance matrix must be square, one row and column per point; the shape is {shape}."
        )
    refuse_not_finite(X, "X")
    return X


def check_classes(values: Any, n: int, name: str) -> np.ndarray:
    """One value for each point, as codes 0, 1, ..."""
    given = np.asarray(as_column(values))
    if given.dtype.kind == "O":  # numbers and text do not compare, nor does None with either
        given = as_text(given).astype(str)
    if given.shape != (n,):
        raise InputError(f"{name} must hold one value for each of the {n} points; the shape is {given.shape}.")
    return np.unique(given, return_inverse=True)[1].reshape(-1)


def sampled(n: int, size: int, random_state: Any, purpose: str = "sample") -> np.ndarray:
    """The numbers of `size` points drawn at random without replacement, ascending; all points if there are no more.

    Each purpose has its own stream of random numbers, so that two figures do not share a sample.

    Examples
    --------
    >>> sampled(3, 5, 0)
    array([0, 1, 2])
    >>> len(sampled(1000, 5, 0))
    5
    """
    return sample_rows(n, size, stream(draw_seed(random_state), purpose)) if size < n else np.arange(n)


@kernel
def shuffled(values: Any, key: Any) -> Any:
    """A copy of an array in random order, by the Fisher-Yates shuffle.

    A million values take 5 ms; sorting random keys takes 140 ms.
    """
    out = values.copy()
    for i in range(out.size - 1, 0, -1):
        j = below(bits(key, np.uint64(i)), i + 1)
        out[i], out[j] = out[j], out[i]
    return out
