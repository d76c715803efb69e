"""Sums over pairs, one by one: of all pairs, and of near ones for a short-ranged kernel.

Several points are summed side by side, in the lanes of vector registers; each adds the others in one fixed order, so results
depend neither on threads nor on the register width. The kernel of a pair at squared distance s, and its force,

    exp(-T s) / (1 + s),        exp(-T s) / (1 + s) (1 / (1 + s) + T) (y_i - y_j),

is for T = 0 the repulsion itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.layout.gradient.tiles import Tiles, embed

_PAIR_LANES = 32
_WIDE, _NARROW = (
    (0,) * _PAIR_LANES,
    (0,) * 8,
)  # points that are summed up for at once: kernels are compiled for their lengths
_WORK_PIECES = 64  # of the work, whatever the number of threads


def exact_field(Y: np.ndarray, charges: np.ndarray, team: Team) -> np.ndarray:
    """Sum over all pairs, in time that grows with their number.

    Parameters
    ----------
    Y : ndarray of shape (n, d), d = 1, 2 or 3
    charges : ndarray of shape (n,)
    team : Team

    Returns
    -------
    ndarray of shape (n, 4)
        Potential and force, the latter along the axes of :data:`sce.layout.gradient.tiles.AXES`.

    Examples
    --------
    >>> with Team(1) as team:
    ...     exact_field(np.array([[0.0], [1.0]]), np.ones(2), team)[:, [0, 3]].tolist()
    [[0.5, -0.25], [0.5, 0.25]]
    """
    points, field = np.ascontiguousarray(embed(Y).T), np.empty((len(Y), 4))
    deep = (0,) * (Y.shape[1] - 2)  # empty unless there is a third axis

    def add(start: int, stop: int) -> None:
        _all_pairs(points, charges, deep, start, stop, field)

    team.sweep(add, len(Y), _PAIR_LANES * max(1, len(Y) // (_PAIR_LANES * _WORK_PIECES)))
    return field


def add_near(
    tiles: Tiles, wanted: np.ndarray, d: int, T: float, cutoff_scale: float, field: np.ndarray, team: Team
) -> None:
    """Add `cutoff_scale` times the short-ranged kernel, and minus twice its force, for the points of all wanted tiles.

    Tiles are at least as wide as the range of the kernel: each point is compared with those in its own tile and in those
    around.
    """
    deep = (0,) * (d - 2)
    work = np.where(wanted, pairs_per_tile(tiles), 0).ravel()
    ends = np.cumsum(work)
    cuts = np.unique(np.searchsorted(ends, np.linspace(0, ends[-1], _WORK_PIECES + 1)[1:]) + 1)
    cuts = np.concatenate([[0], np.minimum(cuts, work.size)])
    flags = np.ascontiguousarray(work > 0)

    def add(first: int, last: int) -> None:
        for piece in range(first, last):
            _near(tiles, flags, deep, (cuts[piece], cuts[piece + 1]), T, cutoff_scale, field)

    if ends[-1] > 0:
        team.sweep(add, len(cuts) - 1, 1)


def pairs_per_tile(tiles: Tiles) -> np.ndarray:
    """The number of pairs of a point in each tile and a point in it or around it."""
    counts = np.diff(tiles.starts).reshape(tiles.shape)
    return np.asarray(counts * around(counts))


def around(counts: np.ndarray) -> np.ndarray:
    """Sums over each tile and all tiles that touch it.

    Examples
    --------
    >>> around(np.array([[[1, 2, 3, 4]]])).tolist()
    [[[3, 6, 9, 7]]]
    """
    for axis in range(3):
        counts = np.moveaxis(counts, axis, 0)
        total = counts.copy()
        total[1:] += counts[:-1]
        total[:-1] += counts[1:]
        counts = np.moveaxis(total, 0, axis)
    return counts


@kernel(fused=True)
def _exponential(x: Any) -> Any:
    """exp(-x) for x from 0 to 40, to a relative 1e-10 up to 7 and 1e-6 up to 23, without a branch or a table."""
    t = x * (1.0 / 64.0)
    e = 1.0 / 24.0 - t * (1.0 / 120.0 - t * (1.0 / 720.0 - t * (1.0 / 5040.0)))
    e = 1.0 - t * (1.0 - t * (0.5 - t * (1.0 / 6.0 - t * e)))
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    return e * e


@kernel(fused=True)
def _start(points: Any, first: Any, last: Any, lanes: Any, scratch: Any) -> None:
    """Load points first to last into the lanes, filling up with copies of the last, and clear the sums."""
    L = len(lanes)
    for lane in range(L):
        i = min(first + lane, last - 1)
        scratch[lane], scratch[L + lane], scratch[2 * L + lane] = points[2, i], points[1, i], points[0, i]
        for k in range(3, 7):
            scratch[k * L + lane] = 0.0


@kernel(fused=True)
def _add_all(points: Any, charges: Any, deep: Any, own: Any, run: Any, lanes: Any, scratch: Any) -> None:
    """Add the points run[0] to run[1] to the sums in all lanes; if they are the lanes' `own` points, none is added to itself.

    A point is left out rather than subtracted later: for points far apart, nothing but rounding error would be left.
    """
    L = len(lanes)
    for j in range(run[0], run[1]):
        x, y, z, strength = points[2, j], points[1, j], points[0, j], charges[j]
        for lane in range(L):
            a, b = scratch[lane] - x, scratch[L + lane] - y
            c = scratch[2 * L + lane] - z if len(deep) > 0 else 0.0
            q = 1.0 / (1.0 + (a * a + b * b + c * c))
            e = strength * q
            if len(own) > 0:
                e = e if lane != j - run[0] else 0.0
            scratch[3 * L + lane] += e
            e *= q
            scratch[4 * L + lane] += e * a
            scratch[5 * L + lane] += e * b
            if len(deep) > 0:
                scratch[6 * L + lane] += e * c


@kernel(fused=True)
def _add_run(points: Any, charges: Any, deep: Any, own: Any, run: Any, T: Any, lanes: Any, scratch: Any) -> None:
    """The same for the short-ranged kernel."""
    L = len(lanes)
    for j in range(run[0], run[1]):
        x, y, z, strength = points[2, j], points[1, j], points[0, j], charges[j]
        for lane in range(L):
            a, b = scratch[lane] - x, scratch[L + lane] - y
            c = scratch[2 * L + lane] - z if len(deep) > 0 else 0.0
            square = a * a + b * b + c * c
            q = 1.0 / (1.0 + square)
            e = strength * q * _exponential(min(T * square, 40.0))
            if len(own) > 0:
                e = e if lane != j - run[0] else 0.0
            scratch[3 * L + lane] += e
            e *= q + T
            scratch[4 * L + lane] += e * a
            scratch[5 * L + lane] += e * b
            if len(deep) > 0:
                scratch[6 * L + lane] += e * c


@kernel(fused=True)
def _all_pairs(points: Any, charges: Any, deep: Any, start: Any, stop: Any, field: Any) -> None:
    """Potential and force at points start to stop."""
    L = _PAIR_LANES
    scratch = np.empty(7 * L)
    for first in range(start, stop, L):
        last = min(first + L, stop)
        _start(points, first, last, _WIDE, scratch)
        _add_all(points, charges, deep, (), (0, first), _WIDE, scratch)
        _add_all(points, charges, deep, (0,), (first, last), _WIDE, scratch)
        _add_all(points, charges, deep, (), (last, charges.size), _WIDE, scratch)
        for i in range(first, last):
            lane = i - first
            field[i, 0] = scratch[3 * L + lane]
            for axis in range(3):
                field[i, 3 - axis] = scratch[(4 + axis) * L + lane]


@kernel(fused=True)
def _near(tiles: Any, flags: Any, deep: Any, part: Any, T: Any, scale: Any, field: Any) -> None:
    """The short-ranged sums at the points of tiles part[0] to part[1] that are flagged."""
    scratch = np.empty(7 * _PAIR_LANES)
    for tile in range(part[0], part[1]):
        if not flags[tile]:
            continue
        first, stop = tiles.starts[tile], tiles.starts[tile + 1]
        while first < stop:
            if stop - first >= _PAIR_LANES:
                last = first + _PAIR_LANES
                _near_block(tiles, tile, deep, (first, last), T, scale, _WIDE, scratch, field)
            else:
                last = min(first + 8, stop)
                _near_block(tiles, tile, deep, (first, last), T, scale, _NARROW, scratch, field)
            first = last


@kernel(fused=True)
def _near_block(
    tiles: Any, tile: Any, deep: Any, block: Any, T: Any, scale: Any, lanes: Any, scratch: Any, field: Any
) -> None:
    """The short-ranged sums at the points of a block, all of one tile, from that tile and those around."""
    L = len(lanes)
    rows, middle, columns = tiles.shape
    row, column = tile // columns, tile % columns
    left, right = max(column - 1, 0), min(column + 1, columns - 1)
    _start(tiles.points, block[0], block[1], lanes, scratch)
    for a in range(max(row // middle - 1, 0), min(row // middle + 2, rows)):
        for b in range(max(row % middle - 1, 0), min(row % middle + 2, middle)):
            base = (a * middle + b) * columns
            start, stop = tiles.starts[base + left], tiles.starts[base + right + 1]
            if start <= block[0] < stop:
                _add_run(tiles.points, tiles.charges, deep, (), (start, block[0]), T, lanes, scratch)
                _add_run(tiles.points, tiles.charges, deep, (0,), block, T, lanes, scratch)
                start = block[1]
            _add_run(tiles.points, tiles.charges, deep, (), (start, stop), T, lanes, scratch)
    for i in range(block[0], block[1]):
        lane = i - block[0]
        field[i, 0] += scale * scratch[3 * L + lane]
        for axis in range(3):
            field[i, 3 - axis] -= 2.0 * scale * scratch[(4 + axis) * L + lane]
