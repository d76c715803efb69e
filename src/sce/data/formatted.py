"""Numbers that are written with a unit, a currency, a percent sign, or marks between thousands."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

_CURRENCIES = "$€£¥"
_WRITTEN_NUMBER = re.compile(
    rf"(?P<before>[-+]?[{_CURRENCIES}]?\s?)"
    r"(?P<number>[-+]?[0-9][0-9,.'\u00a0\u202f ]*(?:[eE][-+]?\d+)?)"
    r"(?P<after>\s*[^\d\s].*)?"
)
_PLAIN = re.compile(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?P<mark>[,'\u00a0\u202f ])\d{3}((?P=mark)\d{3})*(\.\d+)?")
_WITHOUT_SPACE = frozenset(["%", "‰", "°", "°C", "°F", *_CURRENCIES])  # may follow a number at once
_KNOWN_UNITS = frozenset(  # so may these
    [
        *(
            "g",
            "kg",
            "mg",
            "lb",
            "lbs",
            "oz",
            "m",
            "cm",
            "mm",
            "km",
            "ft",
            "in",
            "mi",
            "s",
            "ms",
            "min",
            "h",
            "l",
            "ml",
            "cc",
        ),
        *("W", "kW", "kWh", "Hz", "kHz", "MHz", "GHz", "V", "A", "K", "C", "mph", "bpm", "px", "kB", "MB", "GB"),
    ]
)
_LONGEST_UNIT = 20


class Formatted(NamedTuple):
    """Numbers of a column of text, NaN where there is none, and the unit that was written to each of them."""

    values: np.ndarray
    unit: str


def read_formatted(cells: np.ndarray) -> Formatted | None:
    """A column of text as numbers, if all of it is numbers written in one way; else None.

    Examples
    --------
    >>> read_formatted(np.array(["12.5 kg", "", "7 kg"]))
    Formatted(values=array([12.5,  nan,  7. ]), unit='kg')
    >>> read_formatted(np.array(["1,234,567", "12"])).values.tolist(), read_formatted(np.array(["12 kg", "7 g"]))
    ([1234567.0, 12.0], None)
    """
    known: dict[str, float] = {"": np.nan}
    units = set()
    for cell in dict.fromkeys(cells.tolist()):
        word = str(cell).strip()
        if not word:
            continue
        found = _WRITTEN_NUMBER.fullmatch(word)
        if found is None:
            return None
        unit = _unit(found)
        number = _number(found["number"].strip())
        if unit is None or number is None:
            return None
        units.add(unit)
        known[word] = -number if found["before"].startswith("-") else number
    if len(units) != 1:
        return None
    return Formatted(np.array([known[str(cell).strip()] for cell in cells.tolist()]), units.pop())


def _unit(found: re.Match[str]) -> str | None:
    """The unit before or after a number, perhaps none; None if it may be something else than a unit."""
    before, after = found["before"].strip("-+ "), found["after"] or ""
    unit = after.strip()
    if (before and unit) or len(unit) > _LONGEST_UNIT or any(map(str.isdigit, unit)):
        return None
    apart = after[:1].isspace() or found["number"][-1].isspace()
    if unit and not apart and unit not in _WITHOUT_SPACE | _KNOWN_UNITS:
        return None
    return before or unit


def _number(text: str) -> float | None:
    if _PLAIN.fullmatch(text):
        return float(text)
    return float(re.sub(r"[,'\u00a0\u202f ]", "", text)) if _THOUSANDS.fullmatch(text) else None


def read_vectors(cells: np.ndarray) -> np.ndarray | None:
    """A column of text as a matrix, if all of it is lists of as many numbers, such as [0.5, 1]; else None.

    Examples
    --------
    >>> read_vectors(np.array(["[1, 2.5]", "[3, 4]"])).tolist(), read_vectors(np.array(["[1]", "[1, 2]"]))
    ([[1.0, 2.5], [3.0, 4.0]], None)
    """
    rows = []
    for cell in cells.tolist():
        text = str(cell).strip()
        if not (text.startswith("[") and text.endswith("]")):
            return None
        try:
            row = [float(number) for number in text[1:-1].replace(",", " ").split()]
        except ValueError:
            return None
        rows.append(row)
        if len(row) != len(rows[0]) or not row:
            return None
    return np.array(rows)
