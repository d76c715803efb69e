"""How large and how opaque a dot is, from how many lie over one another in the picture."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sce.core.raster import Frame, blocks, overlap

# Opacity of a dot on its own where dots hardly overlap and where very many do: less is dust, more is a blot.
_FEW, _MANY = 4.0, 400.0
_OPAQUE, _FAINT, _FAINT_COLOR = 0.75, 0.35, 0.5  # a faint colour is hard to tell from another
FULL = 0.97  # opacity of the most crowded places: more is a blot
_SMALLEST, _LARGEST = 0.85, 6.0  # diameter of a dot, in points
_FILL = 0.45  # the area of all dots, as a part of that of the picture if there are points everywhere
_CELLS = 3.0  # pixels across a dot, to count overlaps


@dataclass(frozen=True)
class Tone:
    """Opacity from overlap: compositing of dots of an opacity or, with a `crowd`, the logarithm of the overlap.

    The logarithm goes from the opacity of one dot to nearly full where the overlap is `crowd`, so that places that differ
    by a factor in density differ by the same step of grey anywhere in between.
    """

    opacity: float
    crowd: float | None = None

    def __call__(self, D: np.ndarray) -> np.ndarray:
        """Opacity where D dots overlap; D below 1 is the rim of a dot."""
        if self.crowd is None:
            return 1.0 - (1.0 - self.opacity) ** D
        above = np.log(np.maximum(D, 1.0)) * ((FULL - self.opacity) / np.log(self.crowd))
        return np.minimum(np.minimum(D, 1.0) * self.opacity + above, 1.0)

    def of_one(self, D: np.ndarray) -> np.ndarray:
        """Opacity of each of D dots, so that together they have the opacity of the tone."""
        D = np.maximum(D, 1.0)
        return 1.0 - (1.0 - self(D)) ** (1.0 / D)


def fit_tone(crowd: float, *, colored: bool = False) -> Tone:
    """The tone that makes places with an overlap of `crowd` nearly full and leaves a dot on its own visible.

    Examples
    --------
    >>> fit_tone(1.0)
    Tone(opacity=0.97, crowd=None)
    >>> tone = fit_tone(1000.0)
    >>> [round(float(tone(D)), 3) for D in (1.0, 30.0, 1000.0)]
    [0.35, 0.655, 0.97]
    """
    opacity = 1.0 - (1.0 - FULL) ** (1.0 / max(crowd, 1.0))
    least = least_opacity(crowd, colored=colored)
    return Tone(opacity) if opacity >= least else Tone(least, crowd)


def least_opacity(crowd: float, *, colored: bool = False) -> float:
    """The opacity that a dot on its own needs: less where more dots overlap elsewhere, to leave room above it."""
    faint = _FAINT_COLOR if colored else _FAINT
    return float(np.interp(np.log(max(crowd, 1.0)), np.log([_FEW, _MANY]), [_OPAQUE, faint]))


def dot_size(Y: np.ndarray, frame: Frame) -> float:
    """The size of a dot, in points squared: all dots side by side would fill a part of the picture.

    That part falls with the root of the part where there are points: dots that filled always as much of it would be lost
    in a picture with a few small clusters. For the same reason n points on few places count as a mean of both, nearer to
    the places: a hundred clusters, each smaller than a dot, are drawn nearly as a hundred points would be.
    """
    fill = _FILL * math.sqrt(_occupied(Y, frame, min(max(math.sqrt(len(Y)) / 2, 4.0), 100.0))[0])
    places = _occupied(Y, frame, math.sqrt(frame.points.prod()) / _SMALLEST)[1]
    diameter = math.sqrt(4 / math.pi * fill * float(frame.points.prod()) / (len(Y) * float(places) ** 3) ** 0.25)
    return min(max(diameter, _SMALLEST), _LARGEST) ** 2


def _occupied(Y: np.ndarray, frame: Frame, side: float) -> tuple[float, int]:
    """The share and the number of squares with points in them, of side x side squares over the picture."""
    scale = side / math.sqrt(frame.points.prod())
    height, width = frame.shape(scale)
    some = np.zeros(height * width, dtype=bool)
    for part in blocks(len(Y)):
        some[frame.cells(Y[part], scale)] = True
    return float(some.mean()), int(some.sum())


def crowd(D: np.ndarray) -> float:
    """The overlap of the most crowded places: of all pixels under a dot, all but one in two hundred have less."""
    covered = D[D >= 0.5]
    return float(np.quantile(covered, 0.995)) if len(covered) else 1.0


def overlap_of_points(Y: np.ndarray, frame: Frame, diameter: float) -> tuple[np.ndarray, float]:
    """The overlap at each point, and that of the most crowded places."""
    scale = min(_CELLS / diameter, 2000.0 / float(frame.points.max()))
    D = overlap(Y, frame, scale, scale * diameter / 2)
    return D.ravel()[frame.cells(Y, scale)], crowd(D)
