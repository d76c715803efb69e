"""The part of a map that a picture shows.

A few near copies, tied to all other rows by weak similarities only, end far away on a map; if the frame followed them, all
clusters would be drawn small. So a few points may be drawn on the border of the picture instead, which says so.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.errors import ParameterError

FRAMES = "auto", "all"
_OUTSIDE_AT_MOST = 0.005  # of the points
_LARGER_AT_LEAST = 2.0  # times, or the frame holds all points; the tails of a normal cloud reach less far
_NEAR = 0.3  # times the longer side of the inner map: points within this distance from it are in the frame
_MARGIN = 0.03  # around the points, as a share of their longer side
_BORDER = 0.02  # where points are drawn that lie farther out, as the same share
_MOST_OBLONG = 2.0  # the longer side of a frame over the shorter one


class View(NamedTuple):
    """The corners of the frame, the points as they are drawn, and the number of those that are drawn on the border."""

    low: np.ndarray
    high: np.ndarray
    Y: np.ndarray
    outside: int


def check_frame(frame: Any) -> None:
    """Refuse what is no frame."""
    if not (isinstance(frame, str) and frame in FRAMES):
        raise ParameterError(f"frame must be {' or '.join(map(repr, FRAMES))}; got {frame!r}.")


def view(Y: np.ndarray, frame: str = "auto", ratio: float | None = None) -> View:
    """A frame around all points or, in the plane, around nearly all of them.

    Parameters
    ----------
    Y : array of shape (n, columns)
    frame : {"auto", "all"}
    ratio : float, optional
        Width over height of a frame in the plane; by default that of the map, from 1:2 to 2:1.

    Examples
    --------
    >>> Y = np.vstack([np.random.default_rng(0).uniform(size=(1000, 2)), [[100.0, 0.0]]])
    >>> near, far = view(Y), view(Y, "all")
    >>> near.outside, near.high.round(2).tolist(), far.outside, far.high.round(2).tolist()
    (1, [1.03, 1.03], 0, [103.0, 27.0])
    """
    least, most = _corners(Y)
    if Y.shape[1] != 2:
        return View(*_around(least, most, None), Y, 0)
    if frame == "auto":
        inner = np.quantile(Y, (_OUTSIDE_AT_MOST / 4, 1.0 - _OUTSIDE_AT_MOST / 4), axis=0).astype(np.float64)
        reach = _NEAR * float((inner[1] - inner[0]).max())
        near = ((inner[0] - reach <= Y) & (inner[1] + reach >= Y)).all(axis=1)
        if reach > 0.0 and not near.all():
            low, high = _corners(Y[near])
            side = float((high - low).max())
            if _LARGER_AT_LEAST * side < float((most - least).max()):
                held = np.clip(Y, low - _BORDER * side, high + _BORDER * side)
                return View(*_around(low, high, ratio or _own_ratio(low, high)), held, int((~near).sum()))
    return View(*_around(least, most, ratio or _own_ratio(least, most)), Y, 0)


def _corners(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return Y.min(axis=0).astype(np.float64), Y.max(axis=0).astype(np.float64)


def _own_ratio(least: np.ndarray, most: np.ndarray) -> float:
    """Width over height of a frame that fits the map, neither too wide nor too high."""
    width, height = (most - least) + 2 * _MARGIN * float((most - least).max())
    return min(max(width / height, 1 / _MOST_OBLONG), _MOST_OBLONG) if width > 0 and height > 0 else 1.0


def _around(least: np.ndarray, most: np.ndarray, ratio: float | None) -> tuple[np.ndarray, np.ndarray]:
    """The corners of a frame with a margin around these points; in the plane of a given ratio, in depth with equal sides."""
    middle = (least + most) / 2
    span, far = float((most - least).max()), float(np.abs(middle).max())
    if span <= max(1e-12 * far, 1e-150):
        half = np.full(len(middle), max(0.01 * far, 1e-6))
    else:
        half = (most - least) / 2 + _MARGIN * span
    if len(half) == 3:
        half[:] = half.max()
    elif ratio is not None:
        half = np.maximum(half, half[::-1] * [ratio, 1 / ratio])
    return middle - half, middle + half


def remark(outside: int) -> str:
    """What is said beneath a picture with points on its border.

    Examples
    --------
    >>> remark(1), remark(1021)
    ('1 point on the border lies farther out', '1,021 points on the border lie farther out')
    """
    return f"{outside:,} point{'' if outside == 1 else 's'} on the border lie{'s' if outside == 1 else ''} farther out"
