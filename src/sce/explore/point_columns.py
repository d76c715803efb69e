"""What points can be coloured by and what a table shows of them: labels, columns of the data, clusters, figures of points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sce.core.hints import clipped
from sce.core.palette import class_colors
from sce.data.labels import CLASSES_UP_TO_VALUES, Classes, Numbers, as_dates, as_labels, date_names
from sce.web.packing import pack

Rows = np.ndarray | slice
EVERY_ROW = slice(None)

_ROWS_LOOKED_AT = 10_000  # to tell the kind of a column
_MOSTLY_DIFFERENT = 0.5  # of the values: such text names rows, not classes
_FEW_CLASSES = 256  # text with fewer different values is always classes
_MOST_CLASSES = 100_000  # of one column, that travel to the page
_MOST_COLORS = 1000  # of classes; further ones begin anew
_LONGEST_CELL_SENT = 2000  # characters


class PointColumn(NamedTuple):
    """A column with a value for each point.

    `kind` is "classes", "number", "date", or "text" for what is different in most rows, which is shown but not coloured by.
    `role` is "label", "column", "found", "quality" or "named". `take` gives the values of some rows.
    """

    name: str
    kind: str
    role: str
    take: Callable[[Rows], np.ndarray]

    def facts(self) -> dict[str, Any]:
        """The column as the page lists it."""
        return {"name": self.name, "kind": self.kind, "role": self.role}


def make_column(name: str, role: str, take: Callable[[Rows], np.ndarray]) -> PointColumn:
    """A column of the kind that its first rows suggest.

    Examples
    --------
    >>> make_column("size", "column", np.linspace(0, 1, 99).__getitem__).kind
    'number'
    >>> make_column("digit", "label", (np.arange(99) % 10).__getitem__).kind
    'classes'
    """
    return PointColumn(name, kind_of_values(take(slice(_ROWS_LOOKED_AT)), take), role, take)


def kind_of_values(first: np.ndarray, take: Callable[[Rows], np.ndarray]) -> str:
    """The kind of a column, from its first rows where they suffice."""
    if first.dtype.kind == "f" or first.dtype.kind in "iu":
        different = np.unique(first[np.isfinite(first)] if first.dtype.kind == "f" else first)
        if len(different) > CLASSES_UP_TO_VALUES or (different % 1 != 0).any():
            return "number"
        content = as_labels(every := take(EVERY_ROW), len(every), "auto")
    else:
        content = as_labels(first, len(first), "auto")
        if isinstance(content, Classes):
            n_names = len(content.names)
            return "text" if n_names > max(_FEW_CLASSES, _MOSTLY_DIFFERENT * len(first)) else "classes"
    return "classes" if isinstance(content, Classes) else "date" if content.dates else "number"


def read_content(column: PointColumn) -> Classes | Numbers:
    """The classes or the numbers of all points."""
    values = column.take(EVERY_ROW)
    return as_labels(values, len(values), "classes" if column.kind in ("classes", "text") else "auto")


def pack_column(content: Classes | Numbers) -> bytes:
    """A column as it travels: codes from 1 on, 0 for none, or numbers of single precision, NaN for none.

    Examples
    --------
    >>> from sce.web.packing import unpack
    >>> meta, arrays = unpack(pack_column(as_labels(["b", "a", None], 3, "auto")))
    >>> meta["names"], arrays["codes"].tolist()
    (['a', 'b'], [2, 1, 0])
    """
    return pack(*column_parts(content))


def column_parts(content: Classes | Numbers) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What is told of a column, with the colours that pictures give its classes, and its codes or values."""
    if isinstance(content, Classes):
        names = [clipped(name, _LONGEST_CELL_SENT) for name in content.names[:_MOST_CLASSES]]
        codes = np.where(content.codes < len(names), content.codes, -1) + 1
        dtype = np.uint8 if len(names) < 1 << 8 else np.uint16 if len(names) < 1 << 16 else np.uint32
        told = {"kind": "classes", "names": names, "missing": content.missing}
        n_colors = min(max(len(names), 1), _MOST_COLORS)
        for key, on_dark in (("colors", False), ("dark_colors", True)):
            told[key] = hexadecimal(class_colors(n_colors, beside_grey=bool(content.missing), on_dark=on_dark))
        return told, {"codes": codes.astype(dtype)}
    finite = content.values[np.isfinite(content.values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    with np.errstate(over="ignore"):
        values = content.values.astype(np.float32)
    values[~np.isfinite(values)] = np.nan
    return {"kind": "date" if content.dates else "number", "low": low, "high": high}, {"values": values}


def hexadecimal(colors: np.ndarray) -> list[str]:
    """Colours as #rrggbb.

    Examples
    --------
    >>> hexadecimal(np.array([[1.0, 0.5, 0.0]]))
    ['#ff8000']
    """
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in np.rint(255 * colors).astype(int).tolist()]


def cells(values: np.ndarray) -> list[Any]:
    """Values as JSON can hold them: numbers, text of bounded length, None for what is missing.

    Examples
    --------
    >>> cells(np.array([1.5, np.nan])), cells(np.array(["<b>", ""], object))
    ([1.5, None], ['<b>', None])
    """
    dates = as_dates(values)
    if dates is not None:
        return [text or None for text in date_names(dates).tolist()]
    return [cell(value) for value in values.tolist()]


def cell(value: Any) -> Any:
    """One value as JSON can hold it; whole numbers beyond what a page can count exactly become text."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return value if abs(value) < 2**53 else str(value)
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    text = "" if value is None else str(value)
    text = text.encode("utf-8", "backslashreplace").decode()  # half of a surrogate pair is no text
    return text[:_LONGEST_CELL_SENT] or None


def different_names(columns: Sequence[PointColumn]) -> dict[str, PointColumn]:
    """Columns by name; a name that occurs again gets a number."""
    found: dict[str, PointColumn] = {}
    for column in columns:
        name, number = column.name, 2
        while name in found:
            name, number = f"{column.name} ({number})", number + 1
        found[name] = column._replace(name=name)
    return found
