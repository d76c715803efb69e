"""B-splines: points are spread on the nodes of a grid, and values at the nodes are interpolated at points.

Kernels process points in blocks, one in each lane of vector registers. The data of a loop over lanes are copied to a scratch
array at constant offsets, because only then does the compiler see that nothing overlaps.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel

Orders = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]

_SPLINE_LANES = 32
_HIGHEST_ORDER = 16  # the highest order
_AXIS_ROOM = _HIGHEST_ORDER * _SPLINE_LANES
# Offsets in the scratch array, of what there is for each lane but for the coefficients.
_COEFFICIENTS = 0  # of one node, by power
_PLACE = _COEFFICIENTS + _HIGHEST_ORDER  # of a point in its mesh, from the middle
_RESULT = _PLACE + _SPLINE_LANES
_FIRST_AXIS = _RESULT + _SPLINE_LANES  # weight and slope of the present node of each of the first two axes
_SECOND_AXIS = _FIRST_AXIS + 2 * _SPLINE_LANES
_WEIGHTS = _SECOND_AXIS + 2 * _SPLINE_LANES  # of all nodes along the last axis
_SLOPES = _WEIGHTS + _AXIS_ROOM
_NODE_ROW = _SLOPES + _AXIS_ROOM  # nodes along the last axis
_PLANE = _NODE_ROW + _AXIS_ROOM  # sums over the last two axes: of values, and of their slopes along the two
_NODE_SUMS = _PLANE + 3 * _SPLINE_LANES  # over all: of values, and of their slopes along the three axes
_CHARGES = _NODE_SUMS + 4 * _SPLINE_LANES
_SCRATCH = _CHARGES + _SPLINE_LANES


class Block(NamedTuple):
    """What is worked on for a block of points."""

    table: Any  # coefficients: (2, order, order)
    places: Any  # (3, lanes)
    bases: Any  # (lanes,): the first node of each point
    weights: Any  # (2, 2, width, lanes): weights and slopes, along the first two axes, by node
    scratch: Any


@lru_cache(maxsize=8)
def coefficients(order: int) -> np.ndarray:
    """Polynomials in f - 1/2 that give B-spline weights, and their slopes, at the nodes around a point.

    The point lies a fraction f of a mesh beyond a node.

    Returns
    -------
    ndarray of shape (2, order, order)
        For weights and slopes, and each power, the coefficients at all nodes.

    Examples
    --------
    >>> coefficients(3)[0, 0]  # midway between two nodes
    array([0.125, 0.75 , 0.125])
    """
    polynomial = np.polynomial.polynomial
    zero = np.zeros(1)
    pieces = [np.ones(1)]
    for k in range(1, order):  # Cox and de Boor, at f = 1/2 + x
        below, above = [zero, *pieces], [*pieces, zero]
        pieces = [
            polynomial.polyadd(
                polynomial.polymul([0.5 + k - m, 1.0], below[m]), polynomial.polymul([0.5 + m, -1.0], above[m])
            )
            / k
            for m in range(k + 1)
        ]
    table = np.zeros((2, order, order))
    for node, piece in enumerate(pieces):
        table[0, : len(piece), node] = piece
        table[1, : len(piece) - 1, node] = polynomial.polyder(piece)
    return table


@kernel
def _settle(mesh: Any, first: Any, last: Any, shape: Any, block: Any) -> None:
    """Put points first to last in the lanes, fill up with copies of the last, and find the first node of each."""
    for lane in range(_SPLINE_LANES):
        i = min(first + lane, last - 1)
        a, b, c = int(mesh[0, i]), int(mesh[1, i]), int(mesh[2, i])
        block.places[0, lane] = mesh[0, i] - a - 0.5
        block.places[1, lane] = mesh[1, i] - b - 0.5
        block.places[2, lane] = mesh[2, i] - c - 0.5
        block.bases[lane] = (a * shape[1] + b) * shape[2] + c


@kernel(fused=True)
def _weigh(block: Any, which: Any, order: Any, axis: Any, out: Any) -> None:
    """Weights (which = 0) or slopes (1) of the nodes along an axis; the order is the length of a tuple."""
    scratch, p = block.scratch, len(order)
    for lane in range(_SPLINE_LANES):
        scratch[_PLACE + lane] = block.places[axis, lane]
    for t in range(p):
        for k in range(p):
            scratch[_COEFFICIENTS + k] = block.table[which, k, t]
        for lane in range(_SPLINE_LANES):
            value = scratch[_COEFFICIENTS + p - 1]
            for k in range(1, p):
                value = value * scratch[_PLACE + lane] + scratch[_COEFFICIENTS + p - 1 - k]
            scratch[_RESULT + lane] = value
        for lane in range(_SPLINE_LANES):
            out[t, lane] = scratch[_RESULT + lane]
    if p == 1:  # the map has no such axis
        out[0, :] = 1.0 - which


@kernel(fused=True)
def _weigh_all(block: Any, which: Any, orders: Any) -> None:
    """Weights or slopes along all axes."""
    start = _SLOPES if which else _WEIGHTS
    _weigh(block, which, orders[0], 0, block.weights[which, 0])
    _weigh(block, which, orders[1], 1, block.weights[which, 1])
    _weigh(block, which, orders[2], 2, block.scratch[start : start + _AXIS_ROOM].reshape(_HIGHEST_ORDER, _SPLINE_LANES))


@kernel
def _pick(block: Any, axis: Any, node: Any) -> None:
    """Copy weight and slope of a node of one of the first two axes to where they are used."""
    start = _SECOND_AXIS if axis else _FIRST_AXIS
    for which in range(2):
        for lane in range(_SPLINE_LANES):
            block.scratch[start + which * _SPLINE_LANES + lane] = block.weights[which, axis, node, lane]


@kernel
def _block(table: Any) -> Any:
    """Empty arrays."""
    places, bases, weights = (
        np.zeros((3, _SPLINE_LANES)),
        np.zeros(_SPLINE_LANES, np.int64),
        np.zeros((2, 2, _HIGHEST_ORDER, _SPLINE_LANES)),
    )
    return Block(table, places, bases, weights, np.zeros(_SCRATCH))


@kernel
def spread(mesh: Any, charges: Any, table: Any, orders: Any, part: Any, density: Any) -> None:
    """Add the splines of points part[0] to part[1] to the nodes around them."""
    block, flat, shape = _block(table), density.reshape(-1), density.shape
    for first in range(part[0], part[1], _SPLINE_LANES):
        last = min(first + _SPLINE_LANES, part[1])
        _settle(mesh, first, last, shape, block)
        _weigh_all(block, 0, orders)
        for i in range(first, last):
            block.scratch[_CHARGES + i - first] = charges[i]
        for r in range(len(orders[0])):
            _pick(block, 0, r)
            for s in range(len(orders[1])):
                _pick(block, 1, s)
                _fill_row(orders[2], block.scratch)
                start = (r * shape[1] + s) * shape[2]
                for lane in range(last - first):
                    _drop(flat, block.bases[lane] + start, orders[2], lane, block.scratch)


@kernel(fused=True)
def _fill_row(order: Any, scratch: Any) -> None:
    """What the points of a block add to a row of nodes."""
    for lane in range(_SPLINE_LANES):
        weight = scratch[_CHARGES + lane] * scratch[_FIRST_AXIS + lane] * scratch[_SECOND_AXIS + lane]
        for t in range(len(order)):
            scratch[_NODE_ROW + t * _SPLINE_LANES + lane] = weight * scratch[_WEIGHTS + t * _SPLINE_LANES + lane]


@kernel
def _drop(flat: Any, start: Any, order: Any, lane: Any, scratch: Any) -> None:
    """Add to a row of nodes what a point adds."""
    for t in range(len(order)):
        flat[start + t] += scratch[_NODE_ROW + t * _SPLINE_LANES + lane]


@kernel
def gather(mesh: Any, table: Any, orders: Any, part: Any, scale: Any, values: Any, field: Any) -> None:
    """Read potential and slope off the grid at points part[0] to part[1]."""
    block, flat, shape = _block(table), values.reshape(-1), values.shape
    for first in range(part[0], part[1], _SPLINE_LANES):
        last = min(first + _SPLINE_LANES, part[1])
        _settle(mesh, first, last, shape, block)
        _weigh_all(block, 0, orders)
        _weigh_all(block, 1, orders)
        block.scratch[_NODE_SUMS : _NODE_SUMS + 4 * _SPLINE_LANES] = 0.0
        for r in range(len(orders[0])):
            _pick(block, 0, r)
            block.scratch[_PLANE : _PLANE + 3 * _SPLINE_LANES] = 0.0
            for s in range(len(orders[1])):
                _pick(block, 1, s)
                start = (r * shape[1] + s) * shape[2]
                for lane in range(_SPLINE_LANES):
                    _lift(flat, block.bases[lane] + start, orders[2], lane, block.scratch)
                _add_row(orders[2], block.scratch)
            _add_plane(block.scratch)
        for i in range(first, last):
            field[i, 0] = block.scratch[_NODE_SUMS + i - first]
            for axis in range(3):
                field[i, 1 + axis] = scale * block.scratch[_NODE_SUMS + (1 + axis) * _SPLINE_LANES + i - first]


@kernel
def _lift(flat: Any, start: Any, order: Any, lane: Any, scratch: Any) -> None:
    """Copy a row of nodes around a point."""
    for t in range(len(order)):
        scratch[_NODE_ROW + t * _SPLINE_LANES + lane] = flat[start + t]


@kernel(fused=True)
def _add_row(order: Any, scratch: Any) -> None:
    """Add a row of nodes to the sums over a plane."""
    for lane in range(_SPLINE_LANES):
        value, rise = 0.0, 0.0
        for t in range(len(order)):
            value += scratch[_WEIGHTS + t * _SPLINE_LANES + lane] * scratch[_NODE_ROW + t * _SPLINE_LANES + lane]
            rise += scratch[_SLOPES + t * _SPLINE_LANES + lane] * scratch[_NODE_ROW + t * _SPLINE_LANES + lane]
        scratch[_PLANE + lane] += scratch[_SECOND_AXIS + lane] * value
        scratch[_PLANE + _SPLINE_LANES + lane] += scratch[_SECOND_AXIS + _SPLINE_LANES + lane] * value
        scratch[_PLANE + 2 * _SPLINE_LANES + lane] += scratch[_SECOND_AXIS + lane] * rise


@kernel(fused=True)
def _add_plane(scratch: Any) -> None:
    """Add the sums over a plane to those over all nodes."""
    for lane in range(_SPLINE_LANES):
        weight, value = scratch[_FIRST_AXIS + lane], scratch[_PLANE + lane]
        scratch[_NODE_SUMS + lane] += weight * value
        scratch[_NODE_SUMS + _SPLINE_LANES + lane] += scratch[_FIRST_AXIS + _SPLINE_LANES + lane] * value
        scratch[_NODE_SUMS + 2 * _SPLINE_LANES + lane] += weight * scratch[_PLANE + _SPLINE_LANES + lane]
        scratch[_NODE_SUMS + 3 * _SPLINE_LANES + lane] += weight * scratch[_PLANE + 2 * _SPLINE_LANES + lane]
