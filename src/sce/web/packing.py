"""One binary container for all arrays that travel between the server and the page."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

_MAGIC = b"SCEB"
_ALIGNED_TO = 8  # bytes
_SHORT_NAMES = {np.dtype(f"<{kind}").str.lstrip("<|"): kind for kind in ("u1", "u2", "u4", "i4", "f4")}
_QUANTIZED_STEPS = 65_535


def pack(meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    """A container of a few facts and arrays of the types u1, u2, u4, i4 and f4.

    Examples
    --------
    >>> meta, arrays = unpack(pack({"n": 2}, {"xy": np.array([[1, 2]], np.uint16)}))
    >>> meta, arrays["xy"].tolist()
    ({'n': 2}, [[1, 2]])
    """
    made = {name: np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for name, array in arrays.items()}
    start, header = 0, b""
    while True:
        listed: list[dict[str, Any]] = []
        offset = start
        for name, array in made.items():
            kind = _SHORT_NAMES[array.dtype.str.lstrip("<|")]
            listed.append({"name": name, "dtype": kind, "shape": list(array.shape), "offset": offset})
            offset = _aligned(offset + array.nbytes)
        header = json.dumps({"meta": meta, "arrays": listed}, ensure_ascii=False, allow_nan=False).encode()
        if start >= _aligned(8 + len(header)):
            break
        start = _aligned(8 + len(header))
    out = bytearray(offset)
    out[: 8 + len(header)] = _MAGIC + struct.pack("<I", len(header)) + header
    for entry, array in zip(listed, made.values(), strict=True):
        out[entry["offset"] : entry["offset"] + array.nbytes] = array.tobytes()
    return bytes(out)


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The facts and the arrays of a container."""
    (length,) = struct.unpack("<I", data[4:8])
    header = json.loads(data[8 : 8 + length])
    arrays = {
        each["name"]: np.frombuffer(
            data, np.dtype(f"<{each['dtype']}"), int(np.prod(each["shape"])), each["offset"]
        ).reshape(each["shape"])
        for each in header["arrays"]
    }
    return header["meta"], arrays


def quantize(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Coordinates as 16-bit whole numbers q, with y = low + step * q; one step for all axes keeps the shape."""
    Y = np.asarray(Y, np.float64)
    low = Y.min(axis=0)
    step = float((Y.max(axis=0) - low).max()) / _QUANTIZED_STEPS or 1.0
    return np.rint((Y - low) / step).astype(np.uint16), low, step


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGNED_TO) * _ALIGNED_TO
