"""The order of the points: shuffled, or, if there are too many for the cache, with near points in the same block.

In random blocks a task finds few edges between its two blocks, each somewhere else in memory: with millions of points every
step waits for two cache lines. Where the start already has the large structure, points that are close in it are mostly
neighbours in P. When they are divided along a curve through the plane, the points form blocks that contain nearly all edges, so
a thread pulls a block together while it is in its cache, and reads the others in sequence, to push. Within a block the points
are shuffled, so that a run of pushes moves points from all over the block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.core.compiled import kernel
from sce.core.random import permutation, stream


def order_points(starts: np.ndarray, seed: int, places: np.ndarray | None = None) -> np.ndarray:
    """The points in the sampler's order: row k of its coordinates belongs to point order[k].

    Parameters
    ----------
    starts : int64 array of shape (B + 1,)
        The first point of each block, and the number of points.
    seed : int
    places : ndarray of shape (N, d), optional
        Coordinates by which points are near one another; d is 1, 2 or 3.

    Examples
    --------
    >>> places = np.array([[0.0, 0.0], [9.0, 9.0], [0.1, 0.0], [9.0, 9.1]])
    >>> [sorted(block.tolist()) for block in np.split(order_points(np.array([0, 2, 4]), 0, places), 2)]
    [[0, 2], [1, 3]]
    """
    shuffled = permutation(stream(seed, "order of points"), int(starts[-1]))
    if places is None:
        return shuffled
    n_blocks = len(starts) - 1
    block = np.empty(len(shuffled), np.min_scalar_type(n_blocks - 1))  # few bytes are sorted by counting
    block[np.argsort(along_curve(places), kind="stable")] = np.repeat(np.arange(n_blocks), np.diff(starts))
    return shuffled[np.argsort(block[shuffled], kind="stable")]


def along_curve(places: np.ndarray) -> np.ndarray:
    """The position of each place along a Z-order curve: the bits of its coordinates, interleaved."""
    low = places.min(axis=0).astype(np.float64)
    extent = float((places.max(axis=0) - low).max()) or 1.0
    codes = np.empty(len(places), np.uint64)
    _interleave(places, low, 0xFFFF / extent, codes)
    return codes


@kernel
def _interleave(places: Any, low: Any, scale: Any, codes: Any) -> None:
    """Bit k of coordinate c, of 16 bits each, becomes bit k d + c of the code."""
    d = places.shape[1]
    for i in range(places.shape[0]):
        code = np.uint64(0)
        for c in range(d):
            x = np.uint64((places[i, c] - low[c]) * scale)
            for k in range(16):
                code |= ((x >> np.uint64(k)) & np.uint64(1)) << np.uint64(k * d + c)
        codes[i] = code
