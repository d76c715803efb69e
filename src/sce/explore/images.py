"""Rows that are images: which data they are in, and their pixels."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import numpy as np

from sce.errors import InputError, ParameterError

_PIXEL_NAME = re.compile(r"(pixel|px|pix)[ _-]?[0-9]+([ _x,-][0-9]+)?", re.IGNORECASE)
_SMALLEST_SIDE, _LARGEST_SIDE = 8, 512  # of an image that is recognised; of one that is asked for
_IMAGES_LOOKED_AT = 200
_SCALES = (1.0, 16.0, 255.0)  # of pixels: the first that holds the values is white


class Images(NamedTuple):
    """Rows of `X` that are images, row by row of pixels; the value `white` is the brightest."""

    X: Any
    width: int
    height: int
    white: float

    def pixels(self, rows: np.ndarray) -> np.ndarray:
        """The images of some rows, of shape (k, height, width), 0 to 255."""
        values = self.X[rows]
        values = np.asarray(values.toarray() if hasattr(values, "toarray") else values, np.float64)
        scaled = np.nan_to_num(values * (255.0 / self.white), nan=0.0, posinf=255.0, neginf=0.0)
        return np.clip(np.rint(scaled), 0, 255).astype(np.uint8).reshape(len(rows), self.height, self.width)


def find_images(X: Any, names: list[str] | None, wanted: str = "auto") -> Images | None:
    """The images in the rows of a matrix.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    names : list of str or None
        Of the columns.
    wanted : str, default="auto"
        WIDTHxHEIGHT; "no" for none; "auto" recognises square images of at least 8 x 8 pixels: by the names of their columns,
        or in columns without names as whole numbers from 0 to 255.

    Examples
    --------
    >>> images = find_images(np.tile(np.arange(64), (3, 1)), None)
    >>> images.width, images.white
    (8, 255.0)
    >>> find_images(np.tile(np.arange(64) / 7, (3, 1)), None) is None
    True
    """
    size = size_of_images(wanted)
    if wanted == "no":
        return None
    d = X.shape[1]
    if size is not None:
        width, height = size
        if width * height != d:
            raise InputError(
                f"The rows have {d} columns, but images of {width} x {height} have {width * height} pixels; give another "
                "size as images, or no."
            )
        return Images(X, width, height, _white(_some_rows(X)))
    side = math.isqrt(d)
    if side * side != d or not _SMALLEST_SIDE <= side <= _LARGEST_SIDE:
        return None
    some = _some_rows(X)
    named = names is not None and names != [str(place) for place in range(d)]
    if named and not all(_PIXEL_NAME.fullmatch(name) for name in names or []):
        return None
    if not np.isfinite(some).all() or some.min() < 0 or some.max() > _SCALES[-1] or some.max() == some.min():
        return None
    return Images(X, side, side, _white(some)) if named or (some % 1 == 0).all() else None


def _some_rows(X: Any) -> np.ndarray:
    """Rows spread evenly over the data."""
    rows = np.unique(np.linspace(0, X.shape[0] - 1, _IMAGES_LOOKED_AT).astype(np.int64))
    values = X[rows]
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, np.float64)


def _white(values: np.ndarray) -> float:
    top = float(np.nanmax(values, initial=0.0))
    return next((scale for scale in _SCALES if top <= scale), top)


def size_of_images(wanted: str) -> tuple[int, int] | None:
    """The width and the height in WIDTHxHEIGHT; None for "auto" and "no".

    >>> size_of_images("28x20")
    (28, 20)
    """
    if wanted in ("auto", "no"):
        return None
    found = re.fullmatch(r"([0-9]{1,4})[xX]([0-9]{1,4})", wanted)
    if found is None:
        raise ParameterError(f"images must be a size as 28x28, or no; got {wanted!r}.")
    width, height = int(found[1]), int(found[2])
    if not (1 <= width <= _LARGEST_SIDE and 1 <= height <= _LARGEST_SIDE):
        raise ParameterError(f"images must have sides of 1 to {_LARGEST_SIDE} pixels; got {wanted!r}.")
    return width, height
