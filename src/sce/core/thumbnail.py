"""A small picture of a map as the address of a PNG, for pages; drawn without a drawing library."""

from __future__ import annotations

import base64
import math
import struct
import zlib

import numpy as np

from sce.core import dots, raster
from sce.core.palette import MISSING_COLOR

_SHARPNESS = 2  # pixels of the picture for each pixel of the page: screens are fine
_POINTS_PER_PIXEL = 0.75  # of the page, in 1/72 inch
_MOST_POINTS = 200_000  # are drawn; of more, evenly spread rows
_PLAIN_COLOR = np.array([0.29, 0.55, 0.80])  # visible on white and on black
_SHARE_OUTSIDE = (
    0.002  # of the points, on each side, that may lie on the border where the others are then drawn much larger
)
_MUCH_LARGER = 2.0  # times
_SQUARE_MARGIN = 0.04  # around the points, of their longer side
_UPWARD = 0.6180339887498949  # the golden ratio, whose multiples are spread evenly


def thumbnail(Y: np.ndarray, paint: raster.Paint | None = None, width: int = 180) -> str:
    """The points of a map on a transparent square.

    Parameters
    ----------
    Y : array of shape (n, 1..3)
        A map in depth is seen along its third axis; one on a line is spread up and down.
    paint : Paint, optional
        The colours of its points.
    width : int, default=180
        Of the picture, in pixels of the page.

    Returns
    -------
    str
        The address of a PNG, which holds the picture itself.

    Examples
    --------
    >>> thumbnail(np.random.default_rng(0).normal(size=(50, 2)))[:22]
    'data:image/png;base64,'
    """
    step = -(-len(Y) // _MOST_POINTS)
    points = _in_plane(np.asarray(Y[::step], np.float64))
    plain = raster.Paint(
        np.zeros(len(points), np.int8),
        np.zeros((1, 0)),
        lambda means: np.broadcast_to(_PLAIN_COLOR, (*means.shape[:-1], 3)),
        MISSING_COLOR,
    )
    paint = plain if paint is None else paint._replace(codes=paint.codes[::step])
    low, high = _corners(points)
    frame = raster.Frame(low, high, np.full(2, width * _POINTS_PER_PIXEL))
    scale = _SHARPNESS / _POINTS_PER_PIXEL
    inside = np.clip(points, low, high)
    image = raster.image(
        inside,
        paint,
        frame,
        scale,
        scale * math.sqrt(dots.dot_size(inside, frame)) / 2,
        lambda D: dots.fit_tone(dots.crowd(D), colored=paint.colored),
    )
    return f"data:image/png;base64,{base64.b64encode(png(image[::-1])).decode()}"


def _in_plane(Y: np.ndarray) -> np.ndarray:
    if Y.shape[1] > 1:
        return Y[:, :2]
    span = float(np.ptp(Y)) or 1.0
    rank = np.argsort(np.argsort(Y[:, 0], kind="stable"), kind="stable")
    return np.column_stack([Y[:, 0], 0.4 * span * np.mod(0.5 + rank * _UPWARD, 1.0)])


def _corners(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A square around the points, or around nearly all of them where a few lie far out."""
    least, most = Y.min(axis=0), Y.max(axis=0)
    inner = np.quantile(Y, [_SHARE_OUTSIDE, 1.0 - _SHARE_OUTSIDE], axis=0)
    reach = 0.25 * float((inner[1] - inner[0]).max())
    if 0.0 < _MUCH_LARGER * 6.0 * reach < float((most - least).max()):
        least, most = inner[0] - reach, inner[1] + reach
    middle = (least + most) / 2
    half = (0.5 + _SQUARE_MARGIN) * float((most - least).max())
    half = half if half > 1e-12 * float(np.abs(middle).max()) else max(1e-6, 1e-3 * float(np.abs(middle).max()))
    return middle - half, middle + half


def png(image: np.ndarray) -> bytes:
    """An image as a PNG file.

    Parameters
    ----------
    image : array of shape (rows, columns, 4), uint8
        RGBA, the highest row first.
    """
    rows, columns = image.shape[:2]
    lines = np.zeros((rows, 1 + 4 * columns), np.uint8)  # each line begins with its filter, 0 for none
    lines[:, 1:] = image.reshape(rows, 4 * columns)
    head = struct.pack(">IIBBBBB", columns, rows, 8, 6, 0, 0, 0)  # eight bits, RGBA
    parts = (b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
