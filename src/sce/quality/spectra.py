"""The smallest eigenvalues of the normalised Laplacian, by Chebyshev-filtered subspace iteration.

In each round a few vectors are multiplied by a polynomial of the walk matrix that damps all of the spectrum but its upper
end, and orthonormalised; the damped part of the spectrum is then extended up to the smallest Ritz value (Zhou, Saad,
Tiago and Chelikowsky, 2006). All sums are taken in a fixed order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.linalg import eigh, orthonormalize
from sce.core.parallel import Team
from sce.core.random import normal_array
from sce.quality.volume_graph import VolumeGraph

_WALK_ROWS_PER_TASK = 4096  # rows of the graph that a thread takes at a time
_SPARE_VECTORS = 4  # beyond those asked for, which makes these converge
_RESCALE_ABOVE = 1e100  # largest entry of the filtered vectors


class Spectrum(NamedTuple):
    """The lower end of the spectrum of the normalised Laplacian.

    `values`: eigenvalues, ascending from 0. `vectors`: the eigenvectors as columns, divided by the square root of the volume.
    `errors`: a bound of the distance of each value to a true eigenvalue.
    """

    values: np.ndarray
    vectors: np.ndarray
    errors: np.ndarray


def low_spectrum(
    graph: VolumeGraph,
    count: int,
    key: np.uint64,
    team: Team,
    *,
    rounds: int = 8,
    degree: int = 20,
    start: np.ndarray | None = None,
) -> Spectrum:
    """The `count` smallest eigenvalues of I - D^-1/2 A D^-1/2 and their vectors, to the accuracy that `rounds` rounds give.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sce.quality.volume_graph import as_graph
    >>> ring = as_graph(sp.csr_matrix(np.roll(np.eye(6), 1, 0) + np.roll(np.eye(6), -1, 0)))
    >>> low_spectrum(ring, 3, np.uint64(0), Team(1)).values.round(6)  # 1 - cos of 0, 60 and -60 degrees
    array([0. , 0.5, 0.5])
    """
    n = graph.n
    root = np.sqrt(np.maximum(graph.volume, np.finfo(np.float64).tiny))
    graph = graph._replace(data=graph.data / root[graph.indices])  # once, not in each round
    width = min(n, count + _SPARE_VECTORS)
    U = np.empty((n, width))
    U[:, 0] = root
    if width > 1:
        rest = normal_array(key, (n, width - 1))
        if start is not None:
            rest[:, : start.shape[1]] = (start * root[:, None])[:, : width - 1]
        U[:, 1:] = rest
    U = orthonormalize(U)
    cutoff, ritz, image = 0.0, np.ones(width), U
    for _ in range(rounds):
        U = orthonormalize(_filtered(graph, root, U, cutoff, degree, team))
        image = _walked(graph, root, U, team)
        ritz, turn = eigh(_gram(U, image))
        U, image = _small_product(U, turn), _small_product(image, turn)
        cutoff = float(np.clip(ritz[-1], -0.5, 0.9999))
        if width == n:
            break
    errors = np.sqrt(((image - U * ritz) ** 2).sum(axis=0))
    keep = slice(0, min(count, width))
    return Spectrum(np.maximum(0.0, 1.0 - ritz[keep]), (U / root[:, None])[:, keep], errors[keep])


def _walked(graph: VolumeGraph, root: np.ndarray, U: np.ndarray, team: Team) -> np.ndarray:
    """D^-1/2 A D^-1/2 U."""
    out = np.empty_like(U)
    team.sweep(lambda a, b: _walk(graph, root, U, (1.0, 0.0, 0.0), out, (a, b)), len(U), _WALK_ROWS_PER_TASK)
    return out


def _filtered(
    graph: VolumeGraph, root: np.ndarray, U: np.ndarray, cutoff: float, degree: int, team: Team
) -> np.ndarray:
    """U times the Chebyshev polynomial of the walk matrix that stays within [-1, 1] from -1 to the cutoff."""
    centre, half = (cutoff - 1.0) / 2.0, (cutoff + 1.0) / 2.0
    before, now = U.copy(), np.empty_like(U)
    team.sweep(
        lambda a, b: _walk(graph, root, before, (1 / half, -centre / half, 0.0), now, (a, b)),
        len(U),
        _WALK_ROWS_PER_TASK,
    )
    for _ in range(degree - 1):
        # In place: row i of the oldest vectors is read only when row i of the newest is written.
        step = (2 / half, -2 * centre / half, -1.0)
        team.sweep(lambda a, b: _walk(graph, root, now, step, before, (a, b)), len(U), _WALK_ROWS_PER_TASK)  # noqa: B023
        before, now = now, before
        peak = np.abs(now).max()
        if peak > _RESCALE_ABOVE:
            before, now = before / peak, now / peak
    return now


# ------------------------------------------------------------------------------------------------------------ kernels


@kernel
def _walk(graph: Any, root: Any, U: Any, weights: Any, out: Any, part: Any) -> None:
    """out = a N U + b U + c out in a range of rows, with N = D^-1/2 A D^-1/2 and weights (a, b, c); c = 0 ignores `out`.

    `graph` holds A D^-1/2. Four columns at a time are summed in registers, in less than half the time of rows in memory.
    """
    a, b, c = weights
    width = U.shape[1]
    row = np.empty(width)
    for i in range(part[0], part[1]):
        for k in range(0, width - 3, 4):
            s0 = s1 = s2 = s3 = 0.0
            for e in range(graph.indptr[i], graph.indptr[i + 1]):
                j, w = graph.indices[e], graph.data[e]
                s0 += w * U[j, k]
                s1 += w * U[j, k + 1]
                s2 += w * U[j, k + 2]
                s3 += w * U[j, k + 3]
            row[k], row[k + 1], row[k + 2], row[k + 3] = s0, s1, s2, s3
        for k in range(width - width % 4, width):
            row[k] = 0.0
            for e in range(graph.indptr[i], graph.indptr[i + 1]):
                row[k] += graph.data[e] * U[graph.indices[e], k]
        scale = a / root[i]
        for k in range(width):
            old = c * out[i, k] if c != 0.0 else 0.0
            out[i, k] = scale * row[k] + b * U[i, k] + old


@kernel
def _gram(U: Any, V: Any) -> Any:
    """The symmetric part of U'V."""
    width = U.shape[1]
    G = np.zeros((width, width))
    for i in range(U.shape[0]):
        for a in range(width):
            u = U[i, a]
            for b in range(width):
                G[a, b] += u * V[i, b]
    return 0.5 * (G + G.T)


@kernel
def _small_product(U: Any, T: Any) -> Any:
    """U T for a small square T."""
    width = U.shape[1]
    out = np.zeros_like(U)
    for i in range(U.shape[0]):
        for a in range(width):
            u = U[i, a]
            for b in range(width):
                out[i, b] += u * T[a, b]
    return out
