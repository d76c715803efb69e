"""Points sorted into square tiles, by counting: those of a tile are contiguous, and tiles are in row order.

Points have three coordinates; axes that a map lacks are zero, with one tile along them (see :data:`AXES`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team

AXES = {1: (2,), 2: (1, 2), 3: (0, 1, 2)}  # where the coordinates of a map go: the last is contiguous on a grid
_POINTS_SORTED_AT_ONCE = 16384  # points a task takes


class Tiles(NamedTuple):
    """Points in the order of their tiles."""

    shape: tuple[int, int, int]  # tiles along each axis
    starts: np.ndarray  # the first point of each tile, and the number of points
    order: np.ndarray  # the numbers of the points as they were given
    points: np.ndarray  # (3, n)
    mesh: np.ndarray  # (3, n): the same in meshes of the grid from its first node
    charges: np.ndarray  # (n,)


class Frame(NamedTuple):
    """Where meshes begin, how many there are in a unit of length, and how many make the side of a tile."""

    low: np.ndarray  # (3,)
    scale: float
    side: int
    shape: tuple[int, int, int]


def embed(Y: np.ndarray) -> np.ndarray:
    """Points with three coordinates: zeros where a map has fewer.

    Examples
    --------
    >>> embed(np.array([[1.0, 2.0]])).tolist()
    [[0.0, 1.0, 2.0]]
    """
    points = np.zeros((len(Y), 3))
    points[:, AXES[Y.shape[1]]] = Y
    return points


def sort_points(points: np.ndarray, charges: np.ndarray, frame: Frame, team: Team) -> Tiles:
    """Sort points into tiles; those of a tile keep their order.

    Examples
    --------
    >>> points = embed(np.array([[0.0, 9.0], [0.0, 1.0], [0.0, 8.0]]))
    >>> with Team(1) as team:
    ...     tiles = sort_points(points, np.ones(3), Frame(np.zeros(3), 1.0, 4, (1, 1, 3)), team)
    >>> tiles.order.tolist(), tiles.starts.tolist()
    ([1, 0, 2], [0, 1, 1, 3])
    """
    n = len(points)
    numbers, order = np.empty(n, np.int32), np.empty(n, np.int64)
    team.sweep(lambda start, stop: _number(points, frame, start, stop, numbers), n, _POINTS_SORTED_AT_ONCE)
    starts = np.zeros(frame.shape[0] * frame.shape[1] * frame.shape[2] + 1, np.int64)
    _sort(numbers, starts, order)
    placed, mesh, strengths = np.empty((3, n)), np.empty((3, n)), np.empty(n)

    def place(start: int, stop: int) -> None:
        _place(points, charges, frame, order, (start, stop), placed, mesh, strengths)

    team.sweep(place, n, _POINTS_SORTED_AT_ONCE)
    return Tiles(frame.shape, starts, order, placed, mesh, strengths)


def unsort(tiles: Tiles, found: np.ndarray, team: Team) -> np.ndarray:
    """Rows that belong to the sorted points, in the order in which the points were given.

    Examples
    --------
    >>> with Team(1) as team:
    ...     tiles = sort_points(np.array([[0.0, 0.0, 9.0], [0.0] * 3]), np.ones(2), Frame(np.zeros(3), 1.0, 4, (1, 1, 3)), team)
    ...     unsort(tiles, tiles.mesh.T.copy(), team)[:, 2].tolist()
    [9.0, 0.0]
    """
    rows = np.empty_like(found)
    team.sweep(lambda start, stop: _put_back(tiles.order, found, start, stop, rows), len(found), _POINTS_SORTED_AT_ONCE)
    return rows


@kernel
def bounds(points: Any) -> Any:
    """The least and the largest coordinates."""
    low, high = points[0].copy(), points[0].copy()
    for i in range(points.shape[0]):
        for axis in range(3):
            low[axis] = min(low[axis], points[i, axis])
            high[axis] = max(high[axis], points[i, axis])
    return low, high


@kernel
def _put_back(order: Any, found: Any, start: Any, stop: Any, rows: Any) -> None:
    """Write rows start to stop to where they belong."""
    for k in range(start, stop):
        for column in range(found.shape[1]):
            rows[order[k], column] = found[k, column]


@kernel
def _number(points: Any, frame: Any, start: Any, stop: Any, numbers: Any) -> None:
    """The tile of each point."""
    low, scale, side, shape = frame.low, frame.scale, frame.side, frame.shape
    for i in range(start, stop):
        a = int((points[i, 0] - low[0]) * scale) // side
        b = int((points[i, 1] - low[1]) * scale) // side
        c = int((points[i, 2] - low[2]) * scale) // side
        numbers[i] = (a * shape[1] + b) * shape[2] + c


@kernel
def _sort(numbers: Any, starts: Any, order: Any) -> None:
    """Sort by counting: `starts` is all zeros before, and holds the first place of each number afterwards."""
    for number in numbers:
        starts[number + 1] += 1
    for k in range(1, starts.size):
        starts[k] += starts[k - 1]
    free = starts[:-1].copy()
    for i in range(numbers.size):
        order[free[numbers[i]]] = i
        free[numbers[i]] += 1


@kernel
def _place(
    points: Any, charges: Any, frame: Any, order: Any, part: Any, placed: Any, mesh: Any, strengths: Any
) -> None:
    """Copy points part[0] to part[1] of the order to their places."""
    for k in range(part[0], part[1]):
        i = order[k]
        strengths[k] = charges[i]
        for axis in range(3):
            placed[axis, k] = points[i, axis]
            mesh[axis, k] = (points[i, axis] - frame.low[axis]) * frame.scale
