"""The part of a map that a picture shows.

A few near copies, tied to all other rows by weak similarities only, end far away on a map; if the frame followed them, all
clusters would be drawn small. So a few points may be drawn on the border of the picture instead. And small groups far apart
would leave most of the page empty, so they may be drawn closer together. Either is said beneath the picture.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.errors import ParameterError
from sce.plot.islands import draw_together

FRAMES = "auto", "near", "all"
_OUTSIDE_AT_MOST = 0.005  # of the points
_LARGER_AT_LEAST = 2.0  # times, or all points are drawn where they are; the tails of a normal cloud reach less far
_CLOSER_LARGER_AT_LEAST = 4.0  # times, or groups are drawn where they lie: white space shows how tight they are
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
    together: bool = False  # whether groups are drawn closer together than they lie


def check_frame(frame: Any) -> None:
    """Refuse what is no frame."""
    if not (isinstance(frame, str) and frame in FRAMES):
        raise ParameterError(f"frame must be 'auto', 'near' or 'all'; got {frame!r}.")


def view(Y: np.ndarray, frame: str = "auto", ratio: float | None = None) -> View:
    """A frame around all points or, in the plane, around nearly all of them, with groups closer together where that pays.

    Parameters
    ----------
    Y : array of shape (n, columns)
    frame : {"auto", "near", "all"}
        Whether groups may be drawn closer together, and far points on the border; only the latter; or neither.
    ratio : float, optional
        Width over height of a frame in the plane; by default that of the map, from 1:2 to 2:1.

    Examples
    --------
    >>> Y = np.vstack([np.random.default_rng(0).uniform(size=(1000, 2)), [[100.0, 0.0]]])
    >>> near, far = view(Y), view(Y, "all")
    >>> near.outside, near.high.round(2).tolist(), far.outside, far.high.round(2).tolist()
    (1, [1.03, 1.03], 0, [103.0, 27.0])
    """
    if Y.shape[1] != 2:
        return View(*_around(*_corners(Y), None), Y, 0)
    near = np.ones(len(Y), dtype=bool) if frame == "all" else _near(Y)
    drawn, together = _close(Y[near]) if frame == "auto" else (Y[near], False)
    low, high = _corners(drawn)
    if near.all():
        held = drawn
    else:
        border = _BORDER * float((high - low).max())
        held = np.clip(Y, low - border, high + border)
        held[near] = drawn
    return View(*_around(low, high, ratio or _own_ratio(low, high)), held, int((~near).sum()), together)


def _near(Y: np.ndarray) -> np.ndarray:
    """Which points do not lie far out: all, unless few do, and the others can be drawn much larger without them."""
    inner = np.quantile(Y, (_OUTSIDE_AT_MOST / 4, 1.0 - _OUTSIDE_AT_MOST / 4), axis=0).astype(np.float64)
    reach = _NEAR * float((inner[1] - inner[0]).max())
    near = ((inner[0] - reach <= Y) & (inner[1] + reach >= Y)).all(axis=1)
    if reach > 0.0 and not near.all() and _LARGER_AT_LEAST * _side(Y[near]) < _side(Y):
        return np.asarray(near)
    return np.ones(len(Y), dtype=bool)


def _close(Y: np.ndarray) -> tuple[np.ndarray, bool]:
    """Where to draw points, and whether that is closer together than they lie: where groups are then much larger."""
    together = draw_together(Y)
    return (together, True) if _CLOSER_LARGER_AT_LEAST * _side(together) < _side(Y) else (Y, False)


def _side(Y: np.ndarray) -> float:
    least, most = _corners(Y)
    return float((most - least).max())


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


def remark(shown: View) -> str:
    """What is said beneath a picture that does not show all points where they are; nothing beneath others.

    Examples
    --------
    >>> remark(View(*np.zeros((3, 2)), 1))
    '1 point on the border lies farther out'
    >>> remark(View(*np.zeros((3, 2)), 0, True))
    'groups are drawn closer together than they lie'
    """
    said = ["groups are drawn closer together than they lie"] if shown.together else []
    if (n := shown.outside) > 0:
        said.append(f"{n:,} point{'' if n == 1 else 's'} on the border lie{'s' if n == 1 else ''} farther out")
    return "; ".join(said)
