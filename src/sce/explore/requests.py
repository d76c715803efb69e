"""What a request may ask for: numbers in their range, bodies of bounded size, rows of points; and how refusals answer."""

from __future__ import annotations

import base64
import binascii
import json
import math
from typing import Any

import numpy as np
from starlette.requests import ClientDisconnect, Request

from sce.errors import SCEError

_SMALL_BODY = 1 << 20  # bytes, besides a bitmap of the points
_BITS = 8


class RequestError(SCEError):
    """A request that cannot be met; `status` is that of HTTP, `more` is sent with the sentence."""

    def __init__(self, sentence: str, status: int = 400, **more: Any) -> None:
        super().__init__(sentence)
        self.status, self.more = status, more


def whole_number(request: Request, name: str, default: int, low: int, high: int) -> int:
    """A whole number of the query, from low to high."""
    text = request.query_params.get(name)
    if text is None:
        return default
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 16 and low <= int(text) <= high):
        raise RequestError(f"{name} must be a whole number from {low} to {high}.")
    return int(text)


def words(request: Request, name: str, most: int) -> str:
    """A text of the query, not empty and of bounded length."""
    text = request.query_params.get(name, "")
    if not text.strip() or len(text) > most:
        raise RequestError(f"{name} must be a text of 1 to {most} characters.")
    return text


async def read_json(request: Request, n: int) -> dict[str, Any]:
    """The JSON object in the body of a request, with room for a bitmap of n points."""
    most = _SMALL_BODY + 2 * (n // _BITS)
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > most:
                raise RequestError(f"The request is too large; at most {most:,} bytes are read.", 413)
    except ClientDisconnect:
        raise RequestError("The request ended early; nothing was changed.") from None
    try:
        found = json.loads(bytes(body), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise RequestError("The body of the request is not JSON.") from None
    if not isinstance(found, dict):
        raise RequestError("The body of the request must be a JSON object.")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def rows_of_bitmap(text: Any, n: int) -> np.ndarray:
    """The rows whose bits are set in a base64 text, the lowest bit of a byte first.

    Examples
    --------
    >>> rows_of_bitmap(bitmap_of_rows(np.array([0, 9]), 10), 10)
    array([0, 9])
    """
    length = math.ceil(n / _BITS)
    if not isinstance(text, str) or len(text) != 4 * math.ceil(length / 3):
        raise RequestError(f"rows must be a bitmap of {n} points, {length} bytes in base64.")
    try:
        packed = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise RequestError("rows must be a bitmap in base64.") from None
    if len(packed) != length:
        raise RequestError(f"rows must be a bitmap of {n} points, {length} bytes in base64.")
    bits = np.unpackbits(np.frombuffer(packed, np.uint8), bitorder="little")
    if bits[n:].any():
        raise RequestError(f"rows has bits beyond the {n} points.")
    return np.flatnonzero(bits[:n])


def bitmap_of_rows(rows: np.ndarray, n: int) -> str:
    """Rows as :func:`rows_of_bitmap` reads them."""
    bits = np.zeros(n, np.uint8)
    bits[rows] = 1
    return base64.b64encode(np.packbits(bits, bitorder="little").tobytes()).decode()


def row_numbers(values: Any, n: int, most: int) -> np.ndarray:
    """A list of row numbers of bounded length."""
    is_list = isinstance(values, list) and len(values) <= most
    if not is_list or not all(isinstance(row, int) and not isinstance(row, bool) and 0 <= row < n for row in values):
        raise RequestError(f"rows must be a list of at most {most} row numbers from 0 to {n - 1}.")
    return np.array(values, np.int64)
