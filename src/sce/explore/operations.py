"""The parts of an operation on named clusters, checked: names, colours, rows, and how a selection was made."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

import numpy as np

from sce.errors import SCEError

TOOLS = ("lasso", "box", "brush", "keyboard", "found", "rows", "merge", "split", "search", "class", "block", "filter")
WAYS = ("replace", "add", "subtract", "intersect")
_LONGEST_CLUSTER_NAME = 200  # characters
_MOST_CORNERS = 10_000  # of a shape
_LONGEST_VALUE_TOLD = 1000  # characters of how a selection was made, besides its shape
_COLOR = re.compile(r"#[0-9a-f]{6}")


class NamingError(SCEError):
    """An operation on named clusters that makes no sense."""


def checked_name(name: Any) -> str:
    """A name as it is kept: one line, without characters that nobody sees.

    Examples
    --------
    >>> checked_name("  T  cells ")
    'T cells'
    """
    if not isinstance(name, str):
        raise NamingError("A cluster needs a name.")
    name = unicodedata.normalize("NFC", " ".join(name[: 4 * _LONGEST_CLUSTER_NAME].split()))
    if not name or len(name) > _LONGEST_CLUSTER_NAME:
        raise NamingError(f"The name of a cluster has 1 to {_LONGEST_CLUSTER_NAME} characters.")
    if any(
        unicodedata.category(character) in ("Cc", "Cs")
        or character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
        for character in name
    ):
        raise NamingError("The name of a cluster may not hold control characters.")
    return name


def checked_color(color: Any) -> str | None:
    """A colour as #rrggbb, or None."""
    if color is None:
        return None
    if not isinstance(color, str) or not _COLOR.fullmatch(color.lower()):
        raise NamingError("A colour is written as #rrggbb.")
    return color.lower()


def checked_rows(rows: Any, n: int) -> np.ndarray:
    """Row numbers, one or more, ascending and each of them once."""
    if not isinstance(rows, np.ndarray) or rows.dtype.kind not in "iu" or rows.ndim != 1:
        raise NamingError("The operation needs rows.")
    rows = np.unique(rows).astype(np.int64)
    if not len(rows):
        raise NamingError("Nothing is selected; a cluster has at least one point.")
    if rows[0] < 0 or rows[-1] >= n:
        raise NamingError(f"Rows are numbers from 0 to {n - 1}.")
    return rows


def checked_made(made: Any, tool: str) -> dict[str, Any]:
    """How a selection was made, with nothing that is unknown; `tool` if it does not say by which tool.

    Examples
    --------
    >>> checked_made({"tool": "box", "shape": [[0, 0], [1, 1]], "frame": 3}, "rows")["frame"]
    3
    """
    if made is None:
        made = {}
    if not isinstance(made, Mapping) or not set(made) <= {"tool", "parent", "shape", "frame", "how", "query"}:
        raise NamingError("made may have tool, parent, shape, frame, how and query.")
    found = {
        "tool": _one_of(made.get("tool", tool), TOOLS, "tool"),
        "parent": _number(made.get("parent"), "parent"),
        "shape": _shape(made.get("shape")),
        "frame": _number(made.get("frame"), "frame"),
        "how": _one_of(made.get("how", "replace"), WAYS, "how"),
    }
    query = made.get("query")
    if query is None:
        return found
    if not isinstance(query, str) or len(query) > _LONGEST_VALUE_TOLD:
        raise NamingError(f"query must be a text of at most {_LONGEST_VALUE_TOLD} characters.")
    return {**found, "query": query.encode("utf-8", "replace").decode()}


def _one_of(value: Any, known: tuple[str, ...], what: str) -> str:
    if value not in known:
        raise NamingError(f"{what} must be one of {', '.join(known)}.")
    return str(value)


def _number(value: Any, what: str) -> int | None:
    if value is not None and (type(value) is not int or not 0 <= value < 1 << 31):
        raise NamingError(f"{what} must be a number, or null.")
    return value


def _shape(shape: Any) -> list[list[float]] | None:
    """The corners of a polygon, in the coordinates of the map."""
    if shape is None:
        return None
    if not isinstance(shape, list) or not 1 <= len(shape) <= _MOST_CORNERS:
        raise NamingError(f"shape must be a list of at most {_MOST_CORNERS:,} corners.")
    corners = []
    for corner in shape:
        is_point = isinstance(corner, list) and 1 <= len(corner) <= 3
        if not is_point or not all(type(x) in (int, float) and abs(x) < 1e300 and math.isfinite(x) for x in corner):
            raise NamingError("A corner of shape is a list of 1 to 3 finite numbers.")
        corners.append([float(x) for x in corner])
    return corners
