"""Smooth potentials of many points by B-splines on a grid and FFT (smooth particle-mesh summation), in 1, 2 or 3 dimensions.

Points are spread on a grid by B-splines, the grid is convolved with the kernel by FFT, padded with zeros so that the ends do
not interact, and the potential and its slope are interpolated at the points by the same splines. The spectrum of the kernel is
divided twice by that of the splines. The error is the part of the kernel that is finer than the grid. Where the FFT joins the
ends, beyond all distances between points, the kernel fades smoothly to a constant: a kink there would affect everything.

A row of tiles is spread by one task, its points in a fixed order, even rows before odd ones; transforms use blocks of fixed
size. So the result does not depend on threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sce.core.parallel import Team
from sce.layout.gradient.splines import Orders, coefficients, gather, spread
from sce.layout.gradient.tiles import Tiles

_POINTS_READ_AT_ONCE = 4096  # points a task reads off
_COLUMNS_TRANSFORMED = 32  # columns that are transformed together
_NODES_TRANSFORMED = 1 << 15  # nodes that are transformed together along the other axes
_SIZES_PER_OCTAVE = 12  # sizes of a padded grid from one power of two to the next: few, so that spectra are found again


class Grid(NamedTuple):
    """A grid of square meshes that holds all points, with room for splines, and its size with the zeros around it.

    An axis that the map lacks has one node, without zeros around it and without splines.
    """

    low: np.ndarray  # (3,): the first node
    step: float
    order: int  # of the splines: they span as many nodes
    fade: int  # nodes over which the kernel fades where the ends meet
    nodes: tuple[int, int, int]
    padded: tuple[int, int, int]

    @property
    def orders(self) -> Orders:
        """A tuple for each axis, as long as the order of its splines: kernels are compiled for their lengths."""
        a, b, c = ((0,) * (self.order if m > 1 else 1) for m in self.padded)
        return a, b, c

    @property
    def distance(self) -> float:
        """Where the kernel, along the longest axis, is in the middle of its fade."""
        return (max(self.padded) - self.fade) / 2 * self.step


class Workspace:
    """Arrays that are kept for the next call: fresh memory is slow at first touch."""

    def __init__(self) -> None:
        self._kept: dict[str, np.ndarray] = {}

    def take(self, name: str, shape: tuple[int, ...], dtype: type) -> np.ndarray:
        """An array with whatever is in it; the last of this name must not be used any more."""
        size = math.prod(shape)
        if name not in self._kept or self._kept[name].size < size:
            self._kept[name] = np.empty(size, dtype)
        return self._kept[name][:size].reshape(shape)

    @property
    def n_bytes(self) -> int:
        """The memory in use."""
        return sum(array.nbytes for array in self._kept.values())


def padded_length(nodes: int, reach: float, fade: int) -> int:
    """The zero-padded length of an axis, for a kernel of range `reach` nodes: even, with small factors, and one of few.

    Examples
    --------
    >>> padded_length(100, 1e9, 20), padded_length(100, 30, 20)
    (256, 160)
    """
    from scipy.fft import next_fast_len

    if nodes == 1:
        return 1
    near = int(min(nodes, reach)) + 1
    least = max(2 * (near + fade), nodes + near + fade)
    rung = math.ceil(2 ** (math.ceil(math.log2(least) * _SIZES_PER_OCTAVE - 1e-9) / _SIZES_PER_OCTAVE))
    return 2 * int(next_fast_len((max(least, rung) + 1) // 2, real=True))


def make_grid(
    low: np.ndarray,
    extents: np.ndarray,
    axes: tuple[int, ...],
    step: float,
    order: int,
    fade: int = 24,
    reach: float = math.inf,
) -> Grid:
    """The grid of a given mesh size around points that differ along `axes`; `reach` is the range of the kernel.

    Examples
    --------
    >>> make_grid(np.zeros(3), np.array([0.0, 10.0, 1.0]), (1, 2), 0.5, 6).nodes
    (1, 27, 9)
    """
    a, b, c = (int(extents[k] * (1.0 / step)) + order + 1 if k in axes else 1 for k in range(3))
    p, q, r = (padded_length(nodes, reach / step, fade) for nodes in (a, b, c))
    return Grid(low, step, order, fade, (a, b, c), (p, q, r))


def spectrum(grid: Grid, potential: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The spectrum of a kernel, given as a function of the squared distance, over that of the splines.

    It is real and even. Of the first axis of the map only the first half is kept, of the last one FFT has no other.
    """
    from scipy import fft

    far = [np.arange(m // 2 + 1, dtype=np.float64) for m in grid.padded]
    shaped = [k.reshape([-1 if axis == own else 1 for axis in range(3)]) for own, k in enumerate(far)]
    values = potential((shaped[0] ** 2 + shaped[1] ** 2 + shaped[2] ** 2) * grid.step**2)
    for k, m in zip(shaped, grid.padded, strict=True):
        if m > 1:
            values *= _fade(k, m, grid.fade)
    for axis, (k, m) in enumerate(zip(shaped, grid.padded, strict=True)):
        if m > 1:  # the FFT of an even sequence from its half
            values = fft.dct(values, type=1, axis=axis, overwrite_x=True)
            values *= _unspread(k / m, grid.order)
    if grid.padded[0] == 1:
        return np.ascontiguousarray(values.transpose(1, 0, 2))
    middle = grid.padded[1]
    return np.ascontiguousarray(values[:, np.minimum(np.arange(middle), middle - np.arange(middle))])


def _unspread(frequency: np.ndarray, order: int) -> np.ndarray:
    """The factor that undoes spreading and interpolation by splines with the least error (Hockney and Eastwood), along an axis.

    A wave and its aliases on the grid are spread with the factors W. Dividing by W^2 alone would overweight the finest waves,
    which cannot be told from their aliases.
    """
    aliases = [np.sinc(frequency + k) ** (2 * order) for k in range(-2, 3)]
    return np.asarray(aliases[2] / sum(aliases) ** 2)


def _fade(far: np.ndarray, padded: int, fade: int) -> np.ndarray:
    """One at all distances between points, then down to zero, as smoothly as the space allows."""
    from scipy.special import erfc

    return np.asarray(0.5 * erfc(4.4 * (far - (padded - fade) / 2) / (fade / 2)))


def smooth_field(tiles: Tiles, grid: Grid, shape: np.ndarray, team: Team, space: Workspace) -> np.ndarray:
    """The potential at each point, its own included, and its slope, from the spectrum of the kernel.

    Returns
    -------
    ndarray of shape (n, 4)
        Potential and slope along the three axes, for the points in the order of tiles.
    """
    density = space.take("density", grid.nodes, np.float64)
    _spread_all(tiles, grid, density, team)
    _convolve(density, grid, shape, team, space)
    field = np.empty((tiles.charges.size, 4))

    def read(start: int, stop: int) -> None:
        gather(tiles.mesh, coefficients(grid.order), grid.orders, (start, stop), 1.0 / grid.step, density, field)

    team.sweep(read, len(field), _POINTS_READ_AT_ONCE)
    return field


def _spread_all(tiles: Tiles, grid: Grid, density: np.ndarray, team: Team) -> None:
    """Spread rows of tiles: tiles are no smaller than splines, so that two even rows never touch the same node."""
    table, flat = coefficients(grid.order), density.reshape(-1)
    rows = tiles.shape[0] if grid.nodes[0] > 1 else tiles.shape[1]
    starts = tiles.starts[:: (tiles.starts.size - 1) // rows]
    team.sweep(lambda start, stop: flat[start:stop].fill(0.0), flat.size, -(-flat.size // 16))
    for parity in (0, 1):

        def write(first: int, last: int, parity: int = parity) -> None:
            for row in range(2 * first + parity, 2 * last + parity, 2):
                spread(tiles.mesh, tiles.charges, table, grid.orders, (starts[row], starts[row + 1]), density)

        team.sweep(write, (rows + 1 - parity) // 2, 1)


def _convolve(density: np.ndarray, grid: Grid, shape: np.ndarray, team: Team, space: Workspace) -> None:
    """Replace a density by the potential; rows of zeros are not transformed, nor are rows that nobody reads."""
    from scipy import fft

    (n, middle, last), (m, wide, long) = grid.nodes, grid.padded
    if n == 1:  # in the plane the second axis is the first
        (n, middle), (m, wide) = (middle, 1), (wide, 1)
        density = density.reshape(n, 1, last)
    half = long // 2 + 1
    waves = space.take("waves", (n, wide, half), np.complex128)
    columns, shapes = waves.reshape(n, wide * half), shape.reshape(len(shape), wide * half)

    def forward(start: int, stop: int) -> None:
        part = fft.rfft(density[start:stop], long, axis=2)
        waves[start:stop] = fft.fft(part, wide, axis=1) if wide > 1 else part

    def across(start: int, stop: int) -> None:
        part = fft.fft(columns[:, start:stop].T.copy(), m, axis=1)
        factors = shapes[:, start:stop].T
        part[:, : m // 2 + 1] *= factors
        part[:, m // 2 + 1 :] *= factors[:, (m - 1) // 2 : 0 : -1]
        columns[:, start:stop] = fft.ifft(part, axis=1, overwrite_x=True)[:, :n].T

    def back(start: int, stop: int) -> None:
        part = fft.ifft(waves[start:stop], axis=1)[:, :middle] if wide > 1 else waves[start:stop]
        density[start:stop] = fft.irfft(part, long, axis=2)[:, :, :last]

    slab = max(1, _NODES_TRANSFORMED // (wide * long))
    team.sweep(forward, n, slab)
    team.sweep(across, wide * half, _COLUMNS_TRANSFORMED if m > 1 else wide * half)
    team.sweep(back, n, slab)
