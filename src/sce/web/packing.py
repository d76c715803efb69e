"""Arrays that travel to a page: one container of plain bytes, which JavaScript reads without copying.

Layout: ``b"SCEB"``, the length of the header as a little-endian 32-bit number, the header as JSON, zeros up to a multiple of 8,
and the arrays in C order, little-endian, each at a multiple of 8 bytes. The header is
``{"meta": ..., "arrays": [{"name", "dtype", "shape", "offset"}]}``; an offset counts from the start of the container.

Written by hand rather than .npz or Arrow: a browser's typed arrays need only an aligned offset, and it reads neither zip
archives nor Arrow files without a library of its own.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable
from typing import Any

import numpy as np

from sce.errors import InputError, ParameterError

MAGIC = b"SCEB"
LEVELS = 65_535  # steps of a quantised coordinate along the longest side
_ALIGNED = 8  # bytes: the largest element that JavaScript's typed arrays may have
_HEAD = struct.Struct("<4sI")
_ELEMENTS = ("u1", "u2", "u4", "i4", "f4")


def pack(meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    """A container of arrays, and of values that JSON can hold.

    Parameters
    ----------
    meta : dict
        Numbers must be finite: JavaScript's JSON has no NaN.
    arrays : dict of arrays
        Of 8, 16 or 32 bits without a sign, or of 32 bits with a sign or a fraction.

    Raises
    ------
    ParameterError
        If an array is of another kind, or `meta` is not JSON.

    Examples
    --------
    >>> meta, arrays = unpack(pack({"n": 2}, {"codes": np.array([3, 4], np.uint8)}))
    >>> meta, arrays["codes"].tolist()
    ({'n': 2}, [3, 4])
    """
    parts = [np.ascontiguousarray(array, _kind(name, array)).reshape(array.shape) for name, array in arrays.items()]
    places = [0]
    for part in parts:
        places.append(_aligned(places[-1] + part.nbytes))
    entries = [
        {"name": name, "dtype": part.dtype.str[1:], "shape": list(part.shape), "offset": place}
        for name, part, place in zip(arrays, parts, places, strict=False)
    ]
    header = _header(meta, entries)
    pieces: list[Any] = [header]
    for part, place, following in zip(parts, places, places[1:], strict=False):
        pieces += [part.reshape(-1).view(np.uint8), bytes(following - place - part.nbytes)]
    return b"".join(pieces)


def unpack(container: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The values and arrays of a container; the arrays are views of it.

    Raises
    ------
    InputError
        If the bytes are not a whole container.
    """
    try:
        magic, length = _HEAD.unpack_from(container)
        header = json.loads(bytes(container[_HEAD.size : _HEAD.size + length]).decode())
        arrays = {entry["name"]: _view(container, entry) for entry in header["arrays"]}
        meta = header["meta"]
    except (ValueError, KeyError, TypeError, struct.error, RecursionError):
        raise InputError("The bytes are not a whole container of arrays; ask for them again.") from None
    if magic != MAGIC or not isinstance(meta, dict):
        raise InputError("The bytes are not a container of arrays.")
    return meta, arrays


def common_grid(frames: Iterable[np.ndarray]) -> tuple[np.ndarray, float]:
    """The corner and the step of a grid that several maps of the same points share.

    Parameters
    ----------
    frames : iterable of arrays of shape (n, d)

    Returns
    -------
    low : array of shape (d,), float64
    step : float
        Of all axes, so that the shape is kept; 1 if all points are in one place.
    """
    corners = [np.array([frame.min(axis=0), frame.max(axis=0)], np.float64) for frame in frames if len(frame)]
    if not corners:
        raise ParameterError("There are no points to place on a grid.")
    low, high = np.min(corners, axis=(0, 1)), np.max(corners, axis=(0, 1))
    with np.errstate(over="ignore", invalid="ignore"):
        step = float((high - low).max() / LEVELS)
    if not np.isfinite(step):
        raise ParameterError("The map has coordinates that are not finite, or too far apart; make it again.")
    return low, step if step >= np.finfo(float).tiny else 1.0


def quantize(
    Y: np.ndarray, low: np.ndarray | None = None, step: float | None = None
) -> tuple[np.ndarray, np.ndarray, float]:
    """Coordinates as 16-bit steps from a corner: ``y`` is about ``low + step * q``, to half a step.

    Parameters
    ----------
    Y : array of shape (n, d)
    low, step : array of shape (d,) and float, optional
        A grid that holds all points, from :func:`common_grid`; by default the map's own.

    Returns
    -------
    q : array of shape (n, d), uint16
    low : array of shape (d,), float64
    step : float
        One for all axes, so that the shape is kept.

    Examples
    --------
    >>> q, low, step = quantize(np.array([[0.0, 5.0], [131.07, 5.0]]))
    >>> q.tolist(), low.tolist(), round(step, 6)
    ([[0, 0], [65535, 0]], [0.0, 5.0], 0.002)
    """
    if low is None or step is None:
        low, step = common_grid([Y])
    q = np.empty(Y.shape, np.uint16)
    for axis in range(Y.shape[1]):
        steps = (Y[:, axis].astype(np.float64) - low[axis]) / step
        q[:, axis] = np.rint(np.clip(steps, 0, LEVELS))
    return q, low, step


def _kind(name: str, array: np.ndarray) -> np.dtype:
    kind = array.dtype.str[1:]
    if kind not in _ELEMENTS:
        raise ParameterError(f"The array {name!r} is of {array.dtype}; a container holds {', '.join(_ELEMENTS)} only.")
    return np.dtype(f"<{kind}")


def _aligned(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def _header(meta: dict[str, Any], entries: list[dict[str, Any]]) -> bytes:
    """All that comes before the arrays; its length is part of their offsets, which may make it longer."""
    start = 0
    while True:
        placed = [{**entry, "offset": start + entry["offset"]} for entry in entries]
        try:
            # ASCII, for text from files may hold half a character, which UTF-8 cannot
            text = json.dumps({"meta": meta, "arrays": placed}, allow_nan=False, separators=(",", ":")).encode("ascii")
        except (TypeError, ValueError) as error:
            raise ParameterError(f"The values beside the arrays cannot be written as JSON: {error}.") from None
        needed = _aligned(_HEAD.size + len(text))
        if needed == start:
            return _HEAD.pack(MAGIC, len(text)) + text + bytes(start - _HEAD.size - len(text))
        start = needed


def _view(container: bytes, entry: dict[str, Any]) -> np.ndarray:
    shape, kind = tuple(entry["shape"]), entry["dtype"]
    if (
        kind not in _ELEMENTS
        or not all(type(side) is int and side >= 0 for side in shape)
        or entry["offset"] % _ALIGNED
    ):
        raise ValueError("not an array")
    return np.frombuffer(container, f"<{kind}", math.prod(shape), entry["offset"]).reshape(shape)
