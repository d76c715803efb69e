"""Starting coordinates: random, from the principal axes of X, from the graph, or given.

The starts that use the data replace each axis by its ranks, so that far outliers do not squeeze all other points into
one spot, and give it a standard deviation of 1: large against the kernel's core, small against the final map. All starts
but a given one add a little noise, which separates points that coincide.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.core.parallel import Team
from sce.core.random import normal_array, stream
from sce.errors import InputError, ParameterError
from sce.layout.problem import Problem
from sce.layout.similarities import Similarities

START_NOISE = 0.01  # the standard deviation of the paper's random start
DIFFUSION_STEPS = 100  # of the random walk that smooths a spectral start
ORTHOGONAL_EVERY = 5  # steps of that walk
PCA_START_ROWS = 2048  # from which principal axes are taken: those of a start need not be exact
FARTHEST_START = 1e6  # coordinates beyond which float32 leaves no room to move
STARTS = ("auto", "pca", "spectral", "random")


def starting_points(problem: Problem, init: str | np.ndarray, n_components: int, vectors: Any = None) -> np.ndarray:
    """The first coordinates, (n, n_components) float32.

    Parameters
    ----------
    problem : Problem
    init : {"auto", "pca", "spectral", "random"} or array of shape (n, n_components)
        "auto" is "pca" where there are vectors, else "spectral". An array is used as it is.
    n_components : int
    vectors : array or sparse matrix, optional
        X, where there are vectors.
    """
    n, team = problem.n_points, problem.graph.team
    if not isinstance(init, str):
        return _given(init, n, n_components)
    if init == "pca" and vectors is None:
        raise ParameterError(
            'init="pca" needs vectors, and X is a graph or distances here; use "spectral" or "random".'
        )
    noise = START_NOISE * normal_array(stream(problem.seed, "start"), (n, n_components))
    if init == "random":
        return noise.astype(np.float32)
    if init == "pca" or (init == "auto" and vectors is not None):
        axes = pca_start(vectors, n_components, problem.seed, team)
    else:
        axes = spectral_start(problem.graph, n_components, problem.seed)
    noise[:, : axes.shape[1]] += spread(axes)
    return noise.astype(np.float32)


def spread(axes: np.ndarray) -> np.ndarray:
    """Each column replaced by its ranks, ties sharing a rank, with mean 0 and standard deviation 1 (0 if all are equal).

    Examples
    --------
    >>> spread(np.array([[5.0], [7.0], [7.0], [1e9]])).ravel().round(2).tolist()
    [-1.41, 0.0, 0.0, 1.41]
    """
    ranks = np.empty(axes.shape, np.float64)
    for column in range(axes.shape[1]):
        _, inverse, counts = np.unique(axes[:, column], return_inverse=True, return_counts=True)
        ranks[:, column] = (np.cumsum(counts) - 0.5 * counts)[inverse.ravel()]
    ranks -= ranks.mean(axis=0)
    deviation = ranks.std(axis=0)
    return ranks / np.where(deviation > 0, deviation, 1.0)


def pca_start(X: Any, n_components: int, seed: int, team: Team) -> np.ndarray:
    """The coordinates of X along its first principal axes (as many as it has columns, at most n_components)."""
    from sce.core.principal import principal_axes, project

    mean, axes, _ = principal_axes(X, min(n_components, X.shape[1]), seed, team, n_sample=PCA_START_ROWS)
    return project(X, mean, axes, team)


def spectral_start(graph: Similarities, n_components: int, seed: int) -> np.ndarray:
    """Random axes smoothed by the lazy random walk on P, made orthogonal to one another and to the constant.

    This is subspace iteration towards the slowest modes of the walk, stopped early: there is no eigensolver that might fail
    to converge, and on a P in many components each component just gathers in a spot of its own.
    """
    degree = graph.row_sums()
    total = degree.sum()
    U = normal_array(stream(seed, "spectral start"), (graph.n_points, n_components))
    smooth = np.empty_like(U)
    if total == 0:
        return U
    for step in range(DIFFUSION_STEPS):
        graph.walk(degree, U, smooth)
        U, smooth = smooth, U
        if step % ORTHOGONAL_EVERY == 0 or step == DIFFUSION_STEPS - 1:
            _orthonormalise(U, degree / total)
    return U


def _orthonormalise(U: np.ndarray, weight: np.ndarray) -> None:
    """Gram-Schmidt in place, in the inner product of the weights, which sum to 1; the constant comes first."""
    for c in range(U.shape[1]):
        U[:, c] -= (weight * U[:, c]).sum()
        for before in range(c):
            U[:, c] -= (weight * U[:, c] * U[:, before]).sum() * U[:, before]
        norm = np.sqrt((weight * U[:, c] ** 2).sum())
        if norm > 1e-12:
            U[:, c] /= norm


def _given(init: Any, n: int, n_components: int) -> np.ndarray:
    """A given start, checked and copied."""
    try:
        start = np.array(init)
        start = start.astype(np.float64, casting="same_kind" if start.dtype.kind in "fc" else "unsafe")
    except (TypeError, ValueError):
        raise InputError("init must be the name of a start or an array of numbers; it is neither.") from None
    if start.shape != (n, n_components):
        raise InputError(f"init must have the shape ({n}, {n_components}) of the embedding; it has {start.shape}.")
    bad = np.flatnonzero(~np.isfinite(start).all(axis=1))
    if len(bad):
        raise InputError(f"init has NaN or infinity in {len(bad)} rows, the first of them row {bad[0]}; replace them.")
    if np.abs(start).max() > FARTHEST_START:
        raise InputError(
            f"init has coordinates beyond {FARTHEST_START:g}, too far out to recover; centre and scale it."
        )
    Y = np.ascontiguousarray(start, np.float32)
    if n > 1 and (Y[0] == Y).all():
        raise InputError(
            "init puts all points in one spot, where no force can separate them; add a little noise to it."
        )
    return Y
