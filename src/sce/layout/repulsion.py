"""The repulsion of all pairs, in time that hardly depends on how they lie: sum_j q_ij and sum_j q_ij^2 (y_i - y_j).

The potential of a point, q = 1 / (1 + d^2), is the sum of a smooth part and a short-ranged one (Ewald's trick),

    1/u = (1 - exp(-T u)) / u + exp(-T u) / u,        u = 1 + d^2.

The smooth part is as fine as a grid with meshes of some size shows it, for T = _SHARPNESS / step^2, and goes by
:mod:`sce.layout.grid`; of the other part only near pairs count, which are summed one by one. While the map is small against
the grid, the kernel itself is smooth enough, and there is no other part. A large map has a grid of bounded size all the
same: then points are far apart, and near pairs few. The force is minus half the slope of the potential.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sce.compiled import kernel
from sce.layout.grid import Grid, make_grid, smooth_field, spectrum
from sce.parallel import Team

_SHARPNESS = 0.2
_FINEST = 0.2  # meshes below which the kernel itself is smooth
_NEGLIGIBLE = 1e-6  # what may be left out of the short-ranged part, of its value at distance 0
_LEAST_NODES, _MOST_NODES = 24, 1024  # of a side of the grid


class Field(NamedTuple):
    """Sums over all other points: of q, and of q^2 (y_i - y_j)."""

    potential: np.ndarray  # (n,)
    force: np.ndarray  # (n, 2)


class Split(NamedTuple):
    """How the kernel is split; T is infinite where all of it is smooth on the grid."""

    grid: Grid
    T: float
    cutoff: float


def choose_split(Y: np.ndarray, most_nodes: int = _MOST_NODES) -> Split:
    """A grid for the points Y, of bounded size, and the split of the kernel that it allows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> choose_split(rng.normal(size=(100, 2))).T, choose_split(1e4 * rng.normal(size=(100, 2))).cutoff > 1
    (inf, True)
    """
    extent = float((Y.max(axis=0) - Y.min(axis=0)).max())
    step = max(min(_FINEST, extent / _LEAST_NODES), extent / most_nodes, 1e-300)
    T = _SHARPNESS / step**2 if step > _FINEST else math.inf
    reach = -math.log(_NEGLIGIBLE) / T - 1.0
    if reach <= 0:
        return Split(make_grid(Y, step), math.inf, 0.0)
    return Split(make_grid(Y, step), T, math.sqrt(reach))


def repulsion(Y: np.ndarray, charges: np.ndarray, split: Split, team: Team) -> Field:
    """The repulsion that each point feels from all others, each as strong as its charge.

    Parameters
    ----------
    Y : ndarray of shape (n, 2), float64
    charges : ndarray of shape (n,), float64
    split : Split
        Of these points.
    team : Team
    """
    T = split.T

    def smooth(square: np.ndarray) -> np.ndarray:
        u = 1.0 + square
        return -square / u if math.isinf(T) else -np.expm1(-T * u) / u  # q - 1: of small maps only that varies

    potential, slope = smooth_field(Y, charges, split.grid, spectrum(split.grid, smooth), team)
    potential += charges.sum() - charges if math.isinf(T) else math.expm1(-T) * charges
    field = Field(potential, -0.5 * slope)
    if split.cutoff > 0:
        _add_near(Y, charges, split, field, team)
    return field


# ---------------------------------------------------------------------------------------------------------- near pairs


class _Cells(NamedTuple):
    """Points sorted into cells, row by row; `order` has their numbers, `starts` the first of each cell."""

    x: np.ndarray
    y: np.ndarray
    charges: np.ndarray
    order: np.ndarray
    starts: np.ndarray
    rows: int
    columns: int


def _add_near(Y: np.ndarray, charges: np.ndarray, split: Split, field: Field, team: Team) -> None:
    """Add the short-ranged part, by comparing each point with those in its own and the eight cells around."""
    low = Y.min(axis=0)
    side = max(split.cutoff, float((Y.max(axis=0) - low).max()) / (4.0 * math.sqrt(len(Y)) + 1.0))
    place = ((Y - low) / side).astype(np.int64)
    rows, columns = (int(k) + 1 for k in place.max(axis=0))
    cell = place[:, 0] * columns + place[:, 1]
    order = np.argsort(cell, kind="stable")
    starts = np.searchsorted(cell[order], np.arange(rows * columns + 1))
    x, y = np.ascontiguousarray(Y[order, 0]), np.ascontiguousarray(Y[order, 1])
    cells = _Cells(x, y, charges[order], order, starts, rows, columns)
    team.sweep(lambda first, last: _near(cells, first, last, split.T, field.potential, field.force), rows, 1)


@kernel(fused=True)
def _exponential(x: Any) -> Any:
    """exp(-x) for x from 0 to 40, to a relative 1e-5 up to 14, in operations that the compiler does several at a time."""
    t = x * (1.0 / 64.0)
    e = 1.0 - t * (1.0 - t * (0.5 - t * (1.0 / 6.0 - t * (1.0 / 24.0 - t * (1.0 / 120.0)))))
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    return e * e


@kernel(fused=True)
def _near(cells: Any, first: Any, last: Any, T: Any, potential: Any, force: Any) -> None:
    """Add exp(-T u) / u and its force, for the points in rows first to last of the cells."""
    x, y, charges, starts, columns = cells.x, cells.y, cells.charges, cells.starts, cells.columns
    scale = math.exp(-T)
    for row in range(first, last):
        for column in range(columns):
            left, right = max(column - 1, 0), min(column + 1, columns - 1)
            for i in range(starts[row * columns + column], starts[row * columns + column + 1]):
                total, along, across = -charges[i], 0.0, 0.0  # without the point itself
                for other in range(max(row - 1, 0), min(row + 1, cells.rows - 1) + 1):
                    for j in range(starts[other * columns + left], starts[other * columns + right + 1]):
                        a, b = x[i] - x[j], y[i] - y[j]
                        square = a * a + b * b
                        q = 1.0 / (1.0 + square)
                        e = charges[j] * q * _exponential(min(T * square, 40.0))
                        total += e
                        along += e * (q + T) * a
                        across += e * (q + T) * b
                k = cells.order[i]
                potential[k] += scale * total
                force[k, 0] += scale * along
                force[k, 1] += scale * across
