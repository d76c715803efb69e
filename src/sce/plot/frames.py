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
_HALF = 0.53  # of what is shown: half of it, and a margin
_BORDER = 0.52  # where points are drawn that lie farther out


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


def view(Y: np.ndarray, frame: str = "auto") -> View:
    """A frame with sides of equal length, around all points or, in the plane, around nearly all of them.

    Examples
    --------
    >>> Y = np.vstack([np.random.default_rng(0).uniform(size=(1000, 2)), [[100.0, 0.0]]])
    >>> near, far = view(Y), view(Y, "all")
    >>> near.outside, near.high.round(2).tolist(), far.outside, far.high.round(2).tolist()
    (1, [1.03, 1.03], 0, [103.0, 53.5])
    """
    least, most = Y.min(axis=0).astype(np.float64), Y.max(axis=0).astype(np.float64)
    if frame == "auto" and Y.shape[1] == 2:
        inner = np.quantile(Y, (_OUTSIDE_AT_MOST / 4, 1.0 - _OUTSIDE_AT_MOST / 4), axis=0).astype(np.float64)
        side = float((inner[1] - inner[0]).max())
        if 0.0 < _LARGER_AT_LEAST * side < float((most - least).max()):
            middle = inner.mean(axis=0)
            held = np.clip(Y, middle - _BORDER * side, middle + _BORDER * side)
            outside = int((held != Y).any(axis=1).sum())
            return View(middle - _HALF * side, middle + _HALF * side, held, outside)
    middle = (least + most) / 2
    span, far = float((most - least).max()), float(np.abs(middle).max())
    half = _HALF * span if span > max(1e-12 * far, 1e-150) else max(0.01 * far, 1e-6)
    return View(middle - half, middle + half, Y, 0)


def remark(outside: int) -> str:
    """What is said beneath a picture with points on its border.

    Examples
    --------
    >>> remark(1), remark(1021)
    ('1 point on the border lies farther out', '1,021 points on the border lie farther out')
    """
    return f"{outside:,} point{'' if outside == 1 else 's'} on the border lie{'s' if outside == 1 else ''} farther out"
