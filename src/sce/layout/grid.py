"""Smooth potentials of many points by B-splines on a grid and FFT (smooth particle-mesh summation), in the plane.

Points are spread on a grid by B-splines, the grid is convolved with the kernel by FFT, zeros around it keep the ends apart,
and potential and its slope are read off at the points by the same splines. The spectrum of the kernel is divided by that
of the splines, twice. What is left as an error is that part of the kernel which is finer than the grid. Where FFT joins the
ends, beyond all distances between points, the kernel is brought to zero smoothly: a kink there would be felt everywhere.

A row of the grid is written by one task, its points in a fixed order; so the result does not depend on threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sce.compiled import kernel
from sce.parallel import Team

ORDER = 6  # of the splines: they span as many nodes
_FADE = 24  # nodes over which the kernel fades where the ends meet
_BAND = 16  # rows of the grid a task writes
_GRAIN = 4096  # points a task reads off


class Grid(NamedTuple):
    """A grid of square meshes that holds all points, with room for splines, and its size with the zeros around it."""

    low: np.ndarray  # the lower left node
    step: float
    nodes: tuple[int, int]
    padded: tuple[int, int]


def make_grid(Y: np.ndarray, step: float) -> Grid:
    """The grid of a given mesh size around the points Y of shape (n, 2).

    Examples
    --------
    >>> make_grid(np.array([[0.0, 0.0], [10.0, 1.0]]), 0.5).nodes
    (27, 9)
    """
    from scipy.fft import next_fast_len

    low = Y.min(axis=0)
    rows, columns = (int(extent / step) + ORDER + 1 for extent in Y.max(axis=0) - low)
    padded = [next_fast_len(2 * (nodes + _FADE), real=True) for nodes in (rows, columns)]
    return Grid(low, step, (rows, columns), (padded[0], padded[1]))


def spectrum(grid: Grid, potential: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The spectrum of a kernel, given as a function of the squared distance, over that of the splines."""
    from scipy import fft

    far = [np.minimum(np.arange(m), m - np.arange(m)) for m in grid.padded]
    values = potential((far[0][:, None] ** 2 + far[1][None, :] ** 2) * grid.step**2)
    rows, columns = (_fade(k, nodes, m) for k, nodes, m in zip(far, grid.nodes, grid.padded, strict=True))
    values *= rows[:, None] * columns[None, :]
    splines = np.sinc(fft.fftfreq(grid.padded[0]))[:, None] * np.sinc(fft.rfftfreq(grid.padded[1]))[None, :]
    return np.asarray(fft.rfft2(values).real / splines ** (2 * ORDER))


def _fade(far: np.ndarray, nodes: int, padded: int) -> np.ndarray:
    """One for the distances of nodes, then down to zero, as smoothly as the room allows."""
    from scipy.special import erfc

    middle, half = (nodes + padded / 2) / 2, (padded / 2 - nodes) / 2
    return np.asarray(0.5 * erfc(4.0 * (far - middle) / half))


def smooth_field(
    Y: np.ndarray, charges: np.ndarray, grid: Grid, shape: np.ndarray, team: Team
) -> tuple[np.ndarray, np.ndarray]:
    """The potential at each point, its own included, and its slope, from the spectrum of the kernel.

    Returns
    -------
    potential : ndarray of shape (n,)
    slope : ndarray of shape (n, 2)
    """
    from scipy import fft

    order = np.argsort(_rows(Y, grid), kind="stable")
    points, strengths = Y[order], charges[order]
    starts = np.searchsorted(_rows(points, grid), np.arange(grid.nodes[0] + 1))
    density = np.zeros(grid.padded)

    def write(first: int, last: int) -> None:
        _spread(points, strengths, starts, first, last, grid.low, 1.0 / grid.step, density)

    team.sweep(write, grid.nodes[0], _BAND)
    transformed = fft.rfft2(density, workers=team.n_jobs)
    transformed *= shape
    values = fft.irfft2(transformed, s=grid.padded, workers=team.n_jobs)
    potential, slope = np.empty(len(Y)), np.empty((len(Y), 2))

    def read(start: int, stop: int) -> None:
        _gather(points, order, start, stop, grid.low, 1.0 / grid.step, values, potential, slope)

    team.sweep(read, len(Y), _GRAIN)
    return potential, slope


def _rows(Y: np.ndarray, grid: Grid) -> np.ndarray:
    """The first row that the spline of each point touches."""
    return ((Y[:, 0] - grid.low[0]) * (1.0 / grid.step)).astype(np.int32)


@kernel
def spline(f: Any, w: Any, slope: Any) -> None:
    """B-spline weights of order w.size at the nodes around a point, which is the part f of a mesh beyond one, and slopes."""
    p = w.size
    w[0], w[1] = 1.0 - f, f
    for k in range(2, p):
        if k == p - 1:  # the slope of a spline is the difference of two of one order less
            slope[0], slope[p - 1] = -w[0], w[p - 2]
            for j in range(1, p - 1):
                slope[j] = w[j - 1] - w[j]
        w[k] = f * w[k - 1] / k
        for j in range(1, k):
            w[k - j] = ((f + j) * w[k - j - 1] + (k - j + 1 - f) * w[k - j]) / k
        w[0] = (1.0 - f) * w[0] / k


@kernel
def _spread(Y: Any, charges: Any, starts: Any, first: Any, last: Any, low: Any, scale: Any, density: Any) -> None:
    """Add the splines of all points that touch rows first to last of the grid, to these rows only."""
    w, v, unused = np.empty(ORDER), np.empty(ORDER), np.empty(ORDER)
    for i in range(starts[max(first - ORDER + 1, 0)], starts[last]):
        a, b = (Y[i, 0] - low[0]) * scale, (Y[i, 1] - low[1]) * scale
        row, column = int(a), int(b)
        spline(a - row, w, unused)
        spline(b - column, v, unused)
        for s in range(max(first - row, 0), min(last - row, ORDER)):
            strength = charges[i] * w[s]
            for t in range(ORDER):
                density[row + s, column + t] += strength * v[t]


@kernel
def _gather(
    Y: Any, order: Any, start: Any, stop: Any, low: Any, scale: Any, values: Any, potential: Any, slope: Any
) -> None:
    """Read potential and slope off the grid at points start to stop, and write them in the order of the data."""
    w, v, dw, dv = np.empty(ORDER), np.empty(ORDER), np.empty(ORDER), np.empty(ORDER)
    for i in range(start, stop):
        a, b = (Y[i, 0] - low[0]) * scale, (Y[i, 1] - low[1]) * scale
        row, column = int(a), int(b)
        spline(a - row, w, dw)
        spline(b - column, v, dv)
        height, along, across = 0.0, 0.0, 0.0
        for s in range(ORDER):
            value, rise = 0.0, 0.0
            for t in range(ORDER):
                value += v[t] * values[row + s, column + t]
                rise += dv[t] * values[row + s, column + t]
            height += w[s] * value
            along += dw[s] * value
            across += w[s] * rise
        potential[order[i]] = height
        slope[order[i], 0], slope[order[i], 1] = along * scale, across * scale
