"""What a reader of a file format is asked for, and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sce.core.hints import clipped, nearest_words
from sce.errors import InputError

_SHOWN_NAMES = 20  # of columns, in a message


class NoDataError(InputError):
    """A table has nothing but labels and ids."""


@dataclass(frozen=True)
class Request:
    """Which part of a file to read.

    Parameters
    ----------
    columns : list of str, optional
        Names of columns, or ranges of their numbers such as "2:5"; all by default.
    drop : list of str
        Columns to leave out, written in the same way.
    apart : tuple of str
        Columns to keep apart from the numbers, unconverted: labels, ids, weights. They need not be among `columns`.
    likely : function from a name to a bool, optional
        Whether a column of this name probably holds labels or ids; it is kept apart as well.
    array : str, optional
        Which array of a file that has several.
    decimal_comma : bool, default=False
        Whether numbers in a text table are written as 1,5.
    header : {"auto", "yes", "no"}, default="auto"
        Whether the first row of a text table holds the names of the columns.
    """

    columns: list[str] | None = None
    drop: list[str] = field(default_factory=list)
    apart: tuple[str, ...] = ()
    likely: Callable[[str], bool] | None = None
    array: str | None = None
    decimal_comma: bool = False
    header: str = "auto"

    def is_apart(self, name: str) -> bool:
        """Whether to keep a column apart from the numbers."""
        return name in self.apart or (self.likely is not None and self.likely(name))


@dataclass
class Source:
    """The content of a data file: a matrix of numbers, and columns of other things."""

    path: Path
    X: Any  # array, memory-mapped array or CSR matrix of shape (n, d); NaN where a number is missing
    names: list[str] | None = None  # of the columns of X
    text: dict[str, np.ndarray] = field(default_factory=dict)  # columns of text, or kept apart, in the file's order
    extra: dict[str, np.ndarray] = field(default_factory=dict)  # further values for each row, which are never data
    ids: np.ndarray | None = None  # names of the rows
    first_line: int | None = None  # the line of row 0 in a file where each row is one line
    notes: list[str] = field(default_factory=list)  # decisions made while reading
    dropped: frozenset[str] = frozenset()  # columns that were left out on request, some of which may be in `extra`
    unread: tuple[str, ...] = ()  # further columns of the file, neither asked for nor dropped
    index: tuple[str, ...] = ()  # columns that were the index of a data frame of pandas
    is_graph: bool = False  # whether X is a matrix of similarities, with a row and a column for each point

    def check(self) -> None:
        """Refuse what no reader may return: no rows, duplicate names, values that are not numbers."""
        if self.X.ndim != 2:
            hint = " Reshape it with X.reshape(-1, 1) if it is one column." if self.X.ndim == 1 else " Reshape it."
            raise InputError(
                f"{self.path} holds an array of shape {self.X.shape}, but a table with one row per point is needed.{hint}"
            )
        if self.X.dtype.kind not in "buif":
            what = {"c": "complex numbers", "m": "durations", "M": "dates", "U": "text", "S": "text"}
            raise InputError(
                f"{self.path} holds {what.get(self.X.dtype.kind, self.X.dtype)}, not real numbers; convert it to numbers."
            )
        if not self.X.shape[0]:
            raise InputError(f"{self.path} has no rows; give at least two.")
        if not self.X.shape[1] and not self.text and not self.extra:
            raise InputError(f"{self.path} has no columns; give at least one.")
        refuse_duplicate_names(self.path, [*(self.names or []), *self.text])


def refuse_duplicate_names(path: Path, names: list[str]) -> None:
    """Refuse a header that has the same name twice."""
    seen: dict[str, int] = {}
    for place, name in enumerate(names):
        if name in seen:
            raise InputError(
                f"{path} has two columns named {clipped(name)!r} (the {ordinal(seen[name])} and the {ordinal(place)}); "
                "rename one."
            )
        seen[name] = place


def ordinal(place: int) -> str:
    """1st for 0, 2nd for 1, and so on.

    >>> ordinal(0), ordinal(1), ordinal(12), ordinal(21)
    ('1st', '2nd', '13th', '22nd')
    """
    number = place + 1
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def choose_columns(path: Path, names: list[str] | None, count: int, request: Request) -> list[int]:
    """The places of the requested columns, in the requested order.

    Examples
    --------
    >>> choose_columns(Path("a.csv"), ["a", "b", "c"], 3, Request(columns=["c", "0:2"], drop=["b"]))
    [2, 0]
    """
    wanted = range(count) if request.columns is None else _places(path, names, count, request.columns)
    unwanted = set(_places(path, names, count, request.drop))
    chosen = [place for place in dict.fromkeys(wanted) if place not in unwanted]
    if not chosen and count:
        raise InputError(f"columns= and drop= leave no column of {path}; keep at least one.")
    return chosen


def dropped_names(path: Path, names: list[str], request: Request) -> frozenset[str]:
    """The names of the columns that the request drops."""
    return frozenset(names[place] for place in _places(path, names, len(names), request.drop))


def pick_columns(source: Source, request: Request) -> Source:
    """The source with the requested columns in X, and the columns to keep apart beside it.

    Adjacent columns are a view, so that a memory-mapped array stays mapped.
    """
    X, names = source.X, source.names or [str(place) for place in range(source.X.shape[1])]
    chosen = choose_columns(source.path, names, len(names), request)
    apart = [place for place, name in enumerate(names) if request.is_apart(name)]
    source.text = {names[place]: column_of(X, place) for place in apart if place in chosen}
    source.extra |= {names[place]: column_of(X, place) for place in apart if place not in chosen}
    source.dropped = dropped_names(source.path, names, request)
    source.unread = unread_names(names, chosen, source)
    chosen = [place for place in chosen if place not in apart]
    source.names = [names[place] for place in chosen]
    if chosen and chosen == list(range(chosen[0], chosen[-1] + 1)):
        source.X = X if len(chosen) == len(names) else X[:, chosen[0] : chosen[-1] + 1]
    else:
        source.X = X[:, chosen]
    return source


def unread_names(names: list[str], chosen: list[int], source: Source) -> tuple[str, ...]:
    """The names of columns that are neither chosen, nor dropped, nor kept apart."""
    known = {*(names[place] for place in chosen), *source.text, *source.extra, *source.dropped}
    return tuple(name for name in names if name and name not in known)


def column_of(X: Any, place: int) -> np.ndarray:
    """A column of a dense or sparse matrix."""
    column = X[:, [place]]
    return np.asarray(column.toarray() if hasattr(column, "toarray") else column).ravel()


def _places(path: Path, names: list[str] | None, count: int, wanted: list[str]) -> list[int]:
    where = {name: place for place, name in enumerate(names or [])}
    places: list[int] = []
    for item in wanted:
        span = item.replace(" ", "")
        if item in where:
            places.append(where[item])
        elif _is_span(span):
            places.extend(_span(path, span, count))
        else:
            raise InputError(f"{path} has no column {clipped(item)!r}; {hint_at(item, names, count)}")
    return places


def hint_at(item: str, names: list[str] | None, count: int) -> str:
    """The column that was probably meant, and a list of the columns.

    >>> hint_at("knd", ["a", "kind"], 2), hint_at("nosuch", ["a", "kind"], 2)
    ("did you mean 'kind'? It has a, kind.", 'it has a, kind.')
    """
    if not names:
        return f"its {count} columns have no names: give numbers from 0 to {count - 1}, or ranges such as 0:{count}."
    near = nearest_words(item, names, likeness=0.6)
    shown = ", ".join(clipped(name) for name in names[:_SHOWN_NAMES])
    shown += f", ... ({len(names)} in all)" if len(names) > _SHOWN_NAMES else ""
    return f"did you mean {clipped(near[0])!r}? It has {shown}." if near else f"it has {shown}."


def _is_span(text: str) -> bool:
    import re

    return re.fullmatch(r"\d{1,9}|\d{0,9}:\d{0,9}", text) is not None


def _span(path: Path, text: str, count: int) -> range:
    """The columns of "3", "2:5", ":5" or "2:"."""
    first, colon, last = text.partition(":")
    start = int(first or 0)
    stop = (int(last) if last else count) if colon else start + 1
    if not start < stop <= count:
        raise InputError(f"{path} has {count} columns, from 0 to {count - 1}; {text!r} is not among them.")
    return range(start, stop)
