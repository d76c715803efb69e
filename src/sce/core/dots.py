"""Size and opacity of dots, from how many of them overlap in the picture."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sce.core.raster import Frame, blocks, overlap

# The opacity of a single dot falls between these overlaps of the most crowded places. Less is invisible, more a solid blot.
_SPARSE_OVERLAP, _DENSE_OVERLAP = 4.0, 400.0
_OPACITY_IF_SPARSE = 0.75
_OPACITY_IF_DENSE, _COLORED_OPACITY_IF_DENSE = 0.35, 0.5  # faint colours are hard to tell apart
MAX_OPACITY = 0.97  # of the most crowded places
_MIN_DIAMETER, _MAX_DIAMETER = 0.85, 6.0  # of a dot, in points of 1/72 inch
_USUAL_DIAMETER, _USUAL_PLACES, _USUAL_SIDE = 3.3, 1000.0, 475.0  # of the dots of so many points on so large a page
_OUTLINED_DIAMETER, _MOST_OUTLINED = 1.8, 20_000  # larger dots of fewer points are opaque, with an outline
_SHRINKING, _MOST_SHRUNK = 0.15, 0.55  # where dots hide one another: the power of the crowding, and the least factor
_NO_CROWD = 1.5  # dots in a square as wide as a dot
_OUTLINE_SHARE = 0.1  # of the diameter
_CELLS_ACROSS = 3.0  # pixels across a dot when overlaps are counted
_MAX_CELLS = 2000.0  # pixels across the picture then
_CROWDED_QUANTILE = 0.995  # of the pixels under dots; those above it are the most crowded places


@dataclass(frozen=True)
class Tone:
    """Opacity as a function of overlap.

    Without `crowd`, dots of a given opacity are composited. With it, opacity grows with the logarithm of the overlap, from that
    of a single dot to MAX_OPACITY where `crowd` dots overlap: places that differ by a factor in density then differ by the same
    step of grey, however dense they are.
    """

    opacity: float
    crowd: float | None = None

    def __call__(self, D: np.ndarray) -> np.ndarray:
        """Opacity where D dots overlap; D is below 1 at the rim of a dot."""
        if self.crowd is None:
            return 1.0 - (1.0 - self.opacity) ** D
        above = np.log(np.maximum(D, 1.0)) * ((MAX_OPACITY - self.opacity) / np.log(self.crowd))
        return np.minimum(np.minimum(D, 1.0) * self.opacity + above, 1.0)

    def of_one(self, D: np.ndarray) -> np.ndarray:
        """Opacity of each of D overlapping dots that together have the opacity of the tone."""
        D = np.maximum(D, 1.0)
        return 1.0 - (1.0 - self(D)) ** (1.0 / D)


def fit_tone(crowd: float, *, colored: bool = False) -> Tone:
    """The tone in which a single dot is visible and places where `crowd` dots overlap are nearly opaque.

    Examples
    --------
    >>> fit_tone(1.0)
    Tone(opacity=0.97, crowd=None)
    >>> tone = fit_tone(1000.0)
    >>> [round(float(tone(D)), 3) for D in (1.0, 30.0, 1000.0)]
    [0.35, 0.655, 0.97]
    """
    opacity = 1.0 - (1.0 - MAX_OPACITY) ** (1.0 / max(crowd, 1.0))
    least = least_opacity(crowd, colored=colored)
    return Tone(opacity) if opacity >= least else Tone(least, crowd)


def least_opacity(crowd: float, *, colored: bool = False) -> float:
    """The least opacity of a single dot: lower the more dots overlap elsewhere, to leave room for darker places."""
    dense = _COLORED_OPACITY_IF_DENSE if colored else _OPACITY_IF_DENSE
    ends = np.log([_SPARSE_OVERLAP, _DENSE_OVERLAP])
    return float(np.interp(np.log(max(crowd, 1.0)), ends, [_OPACITY_IF_SPARSE, dense]))


def dot_size(Y: np.ndarray, frame: Frame) -> float:
    """The area of a dot, in points squared; the diameter falls with the fifth root of the number of points.

    So dots shrink more slowly than the distances between points, and a few points don't become blobs. The number of points is
    averaged with the number of places that they occupy: many points in tiny clusters are drawn like fewer points. Where dots
    would hide one another they are smaller.
    """
    side = math.sqrt(frame.points.prod())
    places = _occupied(Y, frame, side / _MIN_DIAMETER)
    typical = math.sqrt(len(Y) * float(places))
    diameter = _USUAL_DIAMETER * (_USUAL_PLACES / typical) ** 0.2 * math.sqrt(side / _USUAL_SIDE)
    diameter *= max(_crowding(Y, frame, diameter) ** -_SHRINKING, _MOST_SHRUNK)
    return min(max(diameter, _MIN_DIAMETER), _MAX_DIAMETER) ** 2


def _crowding(Y: np.ndarray, frame: Frame, diameter: float) -> float:
    """How many dots share a square as wide as a dot, on average, beyond the few that always do; at least 1."""
    squares = _occupied(Y, frame, math.sqrt(frame.points.prod()) / diameter)
    return max(len(Y) / squares / _NO_CROWD, 1.0)


def outline(size: float, n: int) -> float:
    """The width of the outline of n dots of this area, in points; 0 if they are too small for one, or too many."""
    diameter = math.sqrt(size)
    return _OUTLINE_SHARE * diameter if diameter >= _OUTLINED_DIAMETER and n <= _MOST_OUTLINED else 0.0


def _occupied(Y: np.ndarray, frame: Frame, side: float) -> int:
    """The number of occupied squares, if the picture is divided into side x side squares."""
    scale = side / math.sqrt(frame.points.prod())
    height, width = frame.shape(scale)
    occupied = np.zeros(height * width, dtype=bool)
    for part in blocks(len(Y)):
        occupied[frame.cells(Y[part], scale)] = True
    return int(occupied.sum())


def crowd(D: np.ndarray) -> float:
    """The overlap of the most crowded places: a high quantile over all pixels under a dot."""
    covered = D[D >= 0.5]
    return float(np.quantile(covered, _CROWDED_QUANTILE)) if len(covered) else 1.0


def overlap_of_points(Y: np.ndarray, frame: Frame, diameter: float) -> tuple[np.ndarray, float]:
    """The overlap at each point, and that of the most crowded places."""
    scale = min(_CELLS_ACROSS / diameter, _MAX_CELLS / float(frame.points.max()))
    D = overlap(Y, frame, scale, scale * diameter / 2)
    return D.ravel()[frame.cells(Y, scale)], crowd(D)
