"""Labels of points: classes, or one number per point."""

from __future__ import annotations

import datetime as dt
import numbers
import re
from typing import Any, NamedTuple

import numpy as np

from sce.core.dataframes import as_column
from sce.core.hints import clipped, did_you_mean
from sce.core.missing import as_text, is_missing
from sce.errors import InputError, ParameterError

LABEL_KINDS = ("auto", "classes", "number")
CLASSES_UP_TO_VALUES = 50  # more distinct whole numbers than this are numbers, not classes


class Classes(NamedTuple):
    """A class for each point."""

    codes: np.ndarray  # -1 for none
    names: list[str]
    missing: str  # the name for points without a class; empty if there are none


class Numbers(NamedTuple):
    """A number for each point."""

    values: np.ndarray  # float64, NaN for none
    dates: bool = False  # whether the numbers are days since 1970, in UTC


def as_labels(labels: Any, n: int, kind: str) -> Classes | Numbers:
    """Classes or numbers from lists, arrays or columns of data frames.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Text, booleans, numbers or dates. None, NaN, NaT and empty text are missing.
    n : int
        How many there must be.
    kind : {"auto", "classes", "number"}
        With "auto", text, booleans and whole numbers with up to 50 distinct values are classes; dates are numbers.

    Examples
    --------
    >>> as_labels(["b", "a10", "a9", None], 4, "auto").names
    ['a9', 'a10', 'b']
    >>> as_labels([0.5, 1.0], 2, "auto").values
    array([0.5, 1. ])
    """
    check_kind(kind)
    cells = _one_column(labels, n)
    dates = as_dates(cells)
    if dates is not None:
        return _from_text(date_names(dates)) if kind == "classes" else Numbers(_days(dates), dates=True)
    if cells.dtype.kind in "iuf":
        return _from_numbers(cells, kind)
    if cells.dtype.kind == "O":
        plain = _plain_numbers(cells)
        if plain is not None:
            return _from_numbers(plain, kind)
    if kind == "number":
        return Numbers(_parse(cells))
    return _from_text(cells)


def check_kind(kind: Any) -> None:
    """Refuse an unknown kind, with a hint at the nearest one."""
    if kind in LABEL_KINDS:
        return
    hint = did_you_mean(str(kind).lower(), LABEL_KINDS)
    raise ParameterError(f"kind must be 'auto', 'classes' or 'number'; got {kind!r}{hint}")


def as_dates(cells: np.ndarray) -> np.ndarray | None:
    """Dates as datetime64, if all cells are dates or missing and some are present; else None.

    Examples
    --------
    >>> as_dates(np.array([dt.date(2024, 2, 29), None]))
    array(['2024-02-29T00:00:00.000000',                        'NaT'],
          dtype='datetime64[us]')
    """
    if cells.dtype.kind == "M":
        return cells.astype("datetime64[us]")
    if cells.dtype.kind != "O" or cells.ndim != 1:
        return None
    present = [cell for cell in cells if not is_missing(cell)]
    if not present or not all(isinstance(cell, dt.date | np.datetime64) for cell in present):
        return None
    return np.array([_instant(cell) for cell in cells], dtype="datetime64[us]")


def date_names(dates: np.ndarray) -> np.ndarray:
    """Dates as text, without the time of day if all are at midnight; empty for NaT.

    Examples
    --------
    >>> date_names(np.array(["2024-02-29", "NaT"], dtype="datetime64[us]")).tolist()
    ['2024-02-29', '']
    """
    there = dates[~np.isnat(dates)]
    units = ("datetime64[D]", "datetime64[s]", "datetime64[us]")
    unit = next((unit for unit in units if (there == there.astype(unit)).all()), units[-1])
    return np.where(np.isnat(dates), "", dates.astype(unit).astype(str))


def natural(name: str) -> tuple[Any, ...]:
    """A sort key: numbers first and by value, then text, with the numbers in it by value.

    Examples
    --------
    >>> sorted(["b", "a10", "10", "a9", "9", "-1"], key=natural)
    ['-1', '9', '10', 'a9', 'a10', 'b']
    """
    number = _to_float(name)
    if number is not None and np.isfinite(number):
        return (0, number, name)
    parts = re.split(r"([0-9]+)", name.casefold())
    return (1, [(int(part), "") if part.isdecimal() else (-1, part) for part in parts], name)


def _one_column(labels: Any, n: int) -> np.ndarray:
    """Labels as a 1-D array of n values; masked ones become None."""
    labels = as_column(labels)
    if isinstance(labels, np.ma.MaskedArray):
        masked, labels = np.ma.getmaskarray(labels), labels.data.astype(object)
        labels[masked] = None
    if not isinstance(labels, np.ndarray):
        labels = list(labels) if np.iterable(labels) and not isinstance(labels, str | bytes) else [labels]
        mixed = len({type(cell) for cell in labels}) > 1  # NumPy would convert 1 and None beside text to text
        labels = np.array(labels, dtype=object) if mixed else np.asarray(labels)
    if labels.ndim == 0:
        raise InputError(
            f"labels must hold one value for each of the {n} points; got a single value, {clipped(labels)!r}."
        )
    if len(labels) != n:
        raise InputError(f"labels must hold one value for each of the {n} points; got {len(labels)}.")
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InputError(f"labels must be one column; got shape {labels.shape}: choose a column.")
    if labels.dtype.kind == "c":
        raise InputError("labels must be text or real numbers; got complex numbers: give their real parts or moduli.")
    return labels


def _plain_numbers(cells: np.ndarray) -> np.ndarray | None:
    """Objects as float64 if all are numbers or missing, and some are present; else None."""
    present = [cell for cell in cells if not is_missing(cell)]
    if not present or not all(isinstance(cell, numbers.Real) and not isinstance(cell, bool) for cell in present):
        return None
    return np.array([np.nan if is_missing(cell) else float(cell) for cell in cells])


def _instant(cell: Any) -> np.datetime64:
    """A date, or a date with a time, which in a time zone becomes UTC."""
    if is_missing(cell):
        return np.datetime64("NaT", "us")
    if isinstance(cell, dt.datetime) and cell.tzinfo is not None:
        cell = cell.astimezone(dt.timezone.utc).replace(tzinfo=None)
    return np.datetime64(cell.isoformat() if isinstance(cell, dt.date) else cell, "us")


def _days(dates: np.ndarray) -> np.ndarray:
    """Days since 1970; NaN for NaT."""
    days = dates.astype("datetime64[D]")
    rest = (dates - days) / np.timedelta64(1, "D")
    return np.where(np.isnat(dates), np.nan, days.astype(np.int64) + rest)


def _from_numbers(values: np.ndarray, kind: str) -> Classes | Numbers:
    if kind != "number":
        present = values[~np.isnan(values)] if values.dtype.kind == "f" else values
        found = np.unique(present)
        whole = values.dtype.kind != "f" or (np.isfinite(found).all() and (found == np.floor(found)).all())
        if len(found) and (kind == "classes" or (whole and len(found) <= CLASSES_UP_TO_VALUES)):
            return _number_classes(values, found)
    return Numbers(values.astype(np.float64))


def _number_classes(values: np.ndarray, found: np.ndarray) -> Classes:
    """Numbers as classes, in ascending order."""
    codes = np.searchsorted(found, values).astype(np.int32)
    lost = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
    codes[lost] = -1
    names = [str(x) if isinstance(x, int) else f"{x:.15g}" for x in found.tolist()]
    return _without_noise(Classes(codes, names, "no label" if lost.any() else ""))


def _from_text(cells: np.ndarray) -> Classes:
    """Text, booleans and mixtures of types as classes, in natural order."""
    if cells.dtype.kind == "O":
        cells = as_text(cells)
    elif cells.dtype.kind == "S":
        cells = np.char.decode(cells, "utf-8", "replace")
    found, inverse = np.unique(cells, return_inverse=True)
    names = [" ".join(str(name).split()) for name in found]
    order = sorted((k for k, name in enumerate(names) if name), key=lambda k: natural(names[k]))
    place = np.full(len(names), -1, dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    codes = place[inverse]
    return _without_noise(Classes(codes, [names[k] for k in order], "no label" if (codes < 0).any() else ""))


def _without_noise(classes: Classes) -> Classes:
    """Treat class -1 as noise, as clusterings do, except beside 1 alone, where it is one of two classes."""
    codes, names, missing = classes
    if not names or names[0] != "-1" or names == ["-1", "1"] or not all(_to_float(name) is not None for name in names):
        return classes
    return Classes(np.maximum(codes - 1, -1), names[1:], "noise (-1)" if not missing else f"noise (-1), {missing}")


def _parse(cells: np.ndarray) -> np.ndarray:
    """Text as numbers."""
    found, codes = np.unique(np.array(["" if is_missing(x) else str(x) for x in cells.tolist()]), return_inverse=True)
    values = np.full(len(found), np.nan)
    for k, text in enumerate(found):
        number = {"True": 1.0, "False": 0.0, "": np.nan}.get(str(text), _to_float(str(text)))
        if number is None:
            row = int(np.flatnonzero(codes == k)[0])
            raise InputError(
                f"labels must be numbers where kind='number'; row {row} holds {clipped(text)!r}: use kind='classes' for text."
            )
        values[k] = number
    return values[codes]


def _to_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
