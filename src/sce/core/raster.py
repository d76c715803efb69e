"""Points to pixels: how many dots cover each pixel, and the image that results.

A dot is a disc. The overlap of a pixel is the number of discs that cover it; a disc that covers it partly counts partly. It is
the convolution of the number of points in each pixel with a disc, so a crowded pixel costs as much as an empty one, and the
memory needed is that of a few images, whatever the number of points and classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

POINTS_AT_ONCE = 1 << 20  # per pass, which bounds the memory of intermediate arrays


class Paint(NamedTuple):
    """The colours of points, in channels that can be averaged: classes mix their colours, numbers their values."""

    codes: np.ndarray  # the row of `channels` of each point; -1 for none
    channels: np.ndarray  # (rows, number of channels)
    to_rgb: Callable[[np.ndarray], np.ndarray]  # (..., channels) -> (..., 3)
    missing: np.ndarray  # colour of points without a row

    @property
    def colored(self) -> bool:
        """Whether points differ in colour."""
        return self.channels.shape[1] > 0

    def colors(self) -> np.ndarray:
        """A colour for each point, (n, 3)."""
        rgb = np.vstack([self.to_rgb(self.channels), self.missing])
        return rgb[self.codes]


class Frame(NamedTuple):
    """A rectangle of the map and the size at which it is drawn."""

    low: np.ndarray  # lower left corner in the map, (2,)
    high: np.ndarray  # upper right corner
    points: np.ndarray  # width and height on paper, in points of 1/72 inch

    def shape(self, scale: float) -> tuple[int, int]:
        """(rows, columns) of the grid with `scale` pixels per point of 1/72 inch."""
        width, height = np.maximum(np.round(self.points * scale), 1).astype(int)
        return int(height), int(width)

    def cells(self, Y: np.ndarray, scale: float) -> np.ndarray:
        """The pixel of each point of the map, numbered row by row from the lowest row; points outside get the nearest one."""
        height, width = self.shape(scale)
        Z = (Y - self.low) / (self.high - self.low)
        column = np.clip((Z[:, 0] * width).astype(np.int64), 0, width - 1)
        row = np.clip((Z[:, 1] * height).astype(np.int64), 0, height - 1)
        return row * width + column


def blocks(n: int) -> Iterator[slice]:
    """0, ..., n - 1 in slices of at most POINTS_AT_ONCE."""
    return (slice(start, min(start + POINTS_AT_ONCE, n)) for start in range(0, n, POINTS_AT_ONCE))


def disc(radius: float) -> np.ndarray:
    """A disc of a radius in pixels: 1 inside, 0 outside, and about the covered share at the rim."""
    reach = int(np.ceil(radius + 0.5)) - 1
    i = np.arange(-reach, reach + 1)
    return np.clip(radius + 0.5 - np.hypot(i[:, None], i), 0.0, 1.0).astype(np.float32)


def spread(sums: np.ndarray, radius: float) -> np.ndarray:
    """Replace each unit in a pixel by a disc of a radius in pixels."""
    from scipy import ndimage, signal

    dot = disc(radius)
    if dot.shape[0] <= 9:
        return ndimage.convolve(sums, dot, mode="constant")
    return np.maximum(signal.oaconvolve(sums.astype(np.float64), dot, mode="same"), 0.0).astype(np.float32)


def overlap(Y: np.ndarray, frame: Frame, scale: float, radius: float) -> np.ndarray:
    """How many discs of a radius in pixels cover each pixel, (rows, columns) from the lowest row."""
    return spread(_sums(Y, frame, scale, np.ones((1, 1)), np.zeros(len(Y), np.int8))[0], radius)


def image(
    Y: np.ndarray,
    paint: Paint,
    frame: Frame,
    scale: float,
    radius: float,
    choose_tone: Callable[[np.ndarray], Callable[[np.ndarray], np.ndarray]],
) -> np.ndarray:
    """Draw all points, those without a colour beneath the others.

    Parameters
    ----------
    Y : array of shape (n, 2)
        The map.
    paint : Paint
        The colours of its points.
    frame : Frame
        The rectangle to draw.
    scale : float
        Pixels per point of 1/72 inch.
    radius : float
        Radius of a dot in pixels.
    choose_tone : callable
        Takes the overlaps of all pixels; returns the function from overlap to opacity.

    Returns
    -------
    image : array of shape (rows, columns, 4), uint8
        RGBA, not premultiplied, the lowest row first.
    """
    grey = paint.codes < 0
    D, rgb = _layer(Y, paint, frame, scale, radius)
    if not grey.any():
        return _to_bytes(_rgba(rgb, choose_tone(D)(D)))
    beneath = overlap(Y[grey], frame, scale, radius)
    tone = choose_tone(D + beneath)
    return _to_bytes(over(_rgba(rgb, tone(D)), _rgba(np.broadcast_to(paint.missing, rgb.shape), tone(beneath))))


def over(upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """One RGBA image over another (Porter and Duff, 1984)."""
    a, b = upper[..., 3:], lower[..., 3:] * (1 - upper[..., 3:])
    alpha = a + b
    rgb = (a * upper[..., :3] + b * lower[..., :3]) / np.maximum(alpha, 1e-9)
    return np.concatenate([rgb, alpha], axis=-1)


def _layer(Y: np.ndarray, paint: Paint, frame: Frame, scale: float, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Overlap and colour of each pixel, from the points that have a colour."""
    weights = np.column_stack([np.ones(len(paint.channels)), paint.channels])
    D, *sums = (spread(x, radius) for x in _sums(Y, frame, scale, weights, paint.codes))
    means = np.stack([x / np.maximum(D, 1e-6) for x in sums], axis=-1) if sums else np.zeros((*D.shape, 0))
    return D, np.clip(paint.to_rgb(means), 0.0, 1.0)


def _sums(Y: np.ndarray, frame: Frame, scale: float, weights: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The sum of each column of weights over the points in each pixel; points with a negative code do not count."""
    shape = frame.shape(scale)
    total = np.zeros((weights.shape[1], shape[0] * shape[1]))
    table = np.vstack([weights, np.zeros(weights.shape[1])])
    for part in blocks(len(Y)):
        cells, rows = frame.cells(Y[part], scale), codes[part]
        for k, column in enumerate(table.T):
            total[k] += np.bincount(cells, column[rows], minlength=total.shape[1])
    return total.reshape(-1, *shape).astype(np.float32)


def _rgba(rgb: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    return np.concatenate([rgb, alpha[..., None]], axis=-1, dtype=np.float32)


def _to_bytes(rgba: np.ndarray) -> np.ndarray:
    return np.round(255.0 * rgba).astype(np.uint8)
