"""Groups drawn closer together, where white space between them would take most of the picture.

On a map, groups that share hardly any neighbours lie far apart, and how far is mostly chance: only weak forces hold them. Drawn
where they are, such groups are specks. Here each group moves towards the middle, as a whole and without turning, until it would
come too close to another one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_FINEST = 512  # squares along the longer side; the points of a square move together
_ROUNDS = 6  # at most: once groups are closer together, narrower gaps can be told apart
_WORTHWHILE = 0.95  # a round that leaves more than this share of the longer side is the last
_NARROWEST_GAP = 0.05  # between groups, as a share of the longer side
_GAP_OF_ONE_GROUP = 0.3  # as the same share; the gap falls with the square root of the number of groups
_WIDEST_GAP = 0.25  # as the same share: where it would be wider, all stays as it is
_SPACINGS = 4.0  # a gap is at least this many times as wide as most points are from their nearest one
_MOST_SPACED = 0.9  # the share of the points that "most" means
_HALF_GAP = 4  # in cells of the board on which groups move
_MOST_GROUPS = 400


def draw_together(Y: np.ndarray) -> np.ndarray:
    """Where to draw the points of a map in the plane: within each group as they lie, with less white space between groups.

    Examples
    --------
    >>> square = np.random.default_rng(0).uniform(size=(500, 2))
    >>> drawn = draw_together(np.vstack([square, square + 50.0]))
    >>> bool(np.ptp(drawn) < 5.0), np.allclose(drawn[500:] - drawn[500], square - square[0])
    (True, True)
    """
    Y = np.asarray(Y, np.float64)
    low, side = Y.min(axis=0), _side(Y)
    if not side > 0.0:
        return Y
    column, row = np.minimum((Y - low) / side * _FINEST, _FINEST - 1).astype(np.int64).T
    square = row * _FINEST + column
    counts = np.bincount(square, minlength=_FINEST**2)
    used = np.flatnonzero(counts)
    start = (np.column_stack([used % _FINEST, used // _FINEST]) + 0.5) / _FINEST
    spacing = _spacing(start, counts[used])
    places = start
    for _ in range(_ROUNDS):
        before = _side(places)
        places = _move_groups(places, counts[used], spacing)
        if _side(places) > _WORTHWHILE * before:
            break
    number = np.zeros(_FINEST**2, np.int64)
    number[used] = np.arange(len(used))
    return Y + side * (places - start)[number[square]]


def _side(places: np.ndarray) -> float:
    return float(np.ptp(places, axis=0).max())


def _spacing(places: np.ndarray, counts: np.ndarray) -> float:
    """How far most points are from their nearest one, given the squares in which they lie and the number in each."""
    from scipy.spatial import KDTree

    if len(places) < 2:
        return 0.0
    nearest = np.where(counts > 1, 0.0, KDTree(places).query(places, 2)[0][:, 1])
    return float(np.quantile(np.repeat(nearest, counts), _MOST_SPACED))


class _Groups(NamedTuple):
    """Places divided where gaps are, each group with half a gap around it, on a board of small cells."""

    cell: float  # the side of a cell
    areas: list[np.ndarray]  # the cells of each group, (number, 2)
    of_place: np.ndarray  # the group of each place


def _divide(places: np.ndarray, gap: float) -> _Groups:
    from scipy import ndimage

    cell = gap / (2 * _HALF_GAP)
    cells = tuple((((places - places.min(axis=0)) / cell).astype(np.int64) + _HALF_GAP).T)
    taken = np.zeros([int(axis.max()) + _HALF_GAP + 1 for axis in cells], dtype=bool)
    taken[cells] = True
    around, _ = ndimage.label(ndimage.distance_transform_edt(~taken) <= _HALF_GAP, np.ones((3, 3)))
    boxes = ndimage.find_objects(around)
    corners = [[part.start for part in box] for box in boxes]
    areas = [np.argwhere(around[box] == k + 1) + corners[k] for k, box in enumerate(boxes)]
    return _Groups(cell, areas, around[cells] - 1)


def _move_groups(places: np.ndarray, counts: np.ndarray, spacing: float) -> np.ndarray:
    """Places after each group has moved towards the middle as far as it could."""
    side = _side(places)
    least = max(_NARROWEST_GAP * side, _SPACINGS * spacing)
    if not least < _WIDEST_GAP * side:
        return places
    shares = np.bincount(_divide(places, least).of_place, counts) / counts.sum()
    number = 1.0 / float((shares**2).sum())  # of groups, small ones counting less
    gap = max(least, _GAP_OF_ONE_GROUP / number**0.5 * side)
    if not gap < _WIDEST_GAP * side:
        return places
    groups = _divide(places, gap)
    if not 1 < len(groups.areas) <= _MOST_GROUPS:
        return places
    return places + groups.cell * _slide(groups.areas)[groups.of_place]


def _slide(areas: list[np.ndarray]) -> np.ndarray:
    """How far to move each group, in cells, so that none overlap: all at once, and each as long as its way is free."""
    centers = np.array([cells.mean(axis=0) for cells in areas])
    way = np.average(centers, axis=0, weights=[len(cells) for cells in areas]) - centers
    n_steps = 1 + int(np.abs(way).max())
    margin = int(max(cells.max() for cells in areas)) + 1
    board = np.zeros((3 * margin, 3 * margin), dtype=bool)
    for cells in areas:
        board[tuple((cells + margin).T)] = True
    steps = np.zeros(len(areas), np.int64)
    inner_first = np.argsort((way**2).sum(axis=1), kind="stable")
    moved = True
    while moved:
        moved = False
        for k in inner_first[steps[inner_first] < n_steps]:
            here, there = (_moved(areas[k], way[k] * (steps[k] + i) / n_steps, margin) for i in (0, 1))
            board[here] = False
            free = not board[there].any()
            board[there if free else here] = True
            steps[k] += free
            moved |= free
    return np.round(way * steps[:, None] / n_steps)


def _moved(cells: np.ndarray, move: np.ndarray, margin: int) -> tuple[np.ndarray, ...]:
    """Where cells are on the board after a move."""
    return tuple((cells + margin + np.round(move).astype(np.int64)).T)
