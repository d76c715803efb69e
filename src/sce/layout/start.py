"""Starting coordinates: random, from the principal axes of X, from the graph, or given.

The starts that know the data replace each axis by its ranks, so that far outliers do not squeeze all other points into
one spot, and give it a standard deviation of 1: large against the kernel's core, small against the final map. All starts
but a given one add a little noise, which parts points that lie exactly on one another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.core.random import normal_array, stream
from sce.errors import InputError, ParameterError
from sce.graph.csr import arrays_of, row_sums

NOISE = 0.01  # the standard deviation of the paper's random start
DIFFUSION_STEPS = 100
SAMPLE = 2048  # rows, of which the principal axes are taken: those of a start need not be exact
FAR = 1e6
STARTS = ("auto", "pca", "spectral", "random")


def starting_points(
    init: str | np.ndarray, X: Any, P: sp.csr_matrix, n_components: int, seed: int, team: Team
) -> np.ndarray:
    """The first coordinates, (N, n_components) float32.

    Parameters
    ----------
    init : {"auto", "pca", "spectral", "random"} or array of shape (N, n_components)
        "auto" is "pca" where there are vectors, else "spectral". An array is used as it is.
    X : array, sparse matrix or None
        The vectors, where there are any.
    P : csr_matrix
        The similarities.
    """
    n = P.shape[0]
    if not isinstance(init, str):
        return _given(init, n, n_components)
    if init not in STARTS:
        raise ParameterError(f"init must be one of {', '.join(STARTS)} or an array of coordinates; got {init!r}.")
    if init == "pca" and X is None:
        raise ParameterError(
            'init="pca" needs vectors, and X is a graph or distances here; use "spectral" or "random".'
        )
    noise = NOISE * normal_array(stream(seed, "start"), (n, n_components))
    if init == "random":
        return noise.astype(np.float32)
    if init == "pca" or (init == "auto" and X is not None):
        axes = pca_start(X, n_components, seed, team)
    else:
        axes = spectral_start(P, n_components, seed, team)
    noise[:, : axes.shape[1]] += spread(axes)
    return noise.astype(np.float32)


def spread(axes: np.ndarray) -> np.ndarray:
    """Each column by its ranks, equal values alike, with mean 0 and standard deviation 1 (0 if all are equal).

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

    mean, axes, _ = principal_axes(X, min(n_components, X.shape[1]), seed, team, n_sample=SAMPLE)
    return project(X, mean, axes, team)


def spectral_start(P: sp.csr_matrix, n_components: int, seed: int, team: Team) -> np.ndarray:
    """Random axes smoothed by the lazy random walk on P, made orthogonal to one another and to the constant.

    This is subspace iteration towards the slowest modes of the walk, stopped early: no eigen-solver that might not
    converge, and on a P in many components each component just gathers in a spot of its own.
    """
    n = P.shape[0]
    degree = row_sums(arrays_of(P), team)
    total = degree.sum()
    U = normal_array(stream(seed, "spectral start"), (n, n_components))
    smooth = np.empty_like(U)
    if total == 0:
        return U
    for step in range(DIFFUSION_STEPS):

        def walk(start: int, stop: int, U: np.ndarray = U, smooth: np.ndarray = smooth) -> None:
            _walk(P.indptr, P.indices, P.data, degree, U, smooth, (start, stop))

        team.sweep(walk, n, 16_384)
        U, smooth = smooth, U
        if step % 5 == 0 or step == DIFFUSION_STEPS - 1:
            _orthonormalise(U, degree / total)
    return U


@kernel
def _walk(indptr: Any, indices: Any, data: Any, degree: Any, U: Any, out: Any, part: Any) -> None:
    """Half a step of the random walk for rows part[0], ..., part[1] - 1: out_i = (u_i + sum_j P_ij u_j / sum_j P_ij) / 2."""
    for i in range(part[0], part[1]):
        for c in range(U.shape[1]):
            out[i, c] = U[i, c]
        if degree[i] > 0:
            for c in range(U.shape[1]):
                mean = 0.0
                for e in range(indptr[i], indptr[i + 1]):
                    mean += data[e] * U[indices[e], c]
                out[i, c] = 0.5 * (U[i, c] + mean / degree[i])


def _orthonormalise(U: np.ndarray, weight: np.ndarray) -> None:
    """Gram and Schmidt in place, in the inner product of the weights, which sum to 1; first against the constant."""
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
        raise InputError("init must be a start by name or an array of numbers; it holds something else.") from None
    if start.shape != (n, n_components):
        raise InputError(f"init must have the shape ({n}, {n_components}) of the embedding; it has {start.shape}.")
    bad = np.flatnonzero(~np.isfinite(start).all(axis=1))
    if len(bad):
        raise InputError(f"init has NaN or infinity in {len(bad)} rows, the first of them row {bad[0]}; mend them.")
    if np.abs(start).max() > FAR:
        raise InputError(f"init has coordinates beyond {FAR:g}, from where nothing comes back; centre and scale it.")
    Y = np.ascontiguousarray(start, np.float32)
    if n > 1 and (Y[0] == Y).all():
        raise InputError("init puts all points into one spot, where no force can part them; add a little noise to it.")
    return Y
