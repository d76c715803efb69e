"""What the columns of a table hold, where the file says so (Arrow, Parquet, JSON lines), and which of them are the data."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sce.core.hints import listed
from sce.data.source import Request, Source, choose_columns, dropped_names, unread_names
from sce.errors import InputError

NUMBERS, TEXT, DATES, VECTORS, OTHER = "numbers", "text", "dates", "vectors", "other"


class VectorColumn(NamedTuple):
    """A column with a list of numbers in each row, such as the embeddings of texts."""

    name: str
    width: int  # of the first list
    likely: bool  # whether the lists hold floats, or are of fixed size; others may be ids of tokens


class Content(NamedTuple):
    """The columns of a table."""

    path: Path
    kinds: dict[str, str]  # NUMBERS, TEXT, ... of each column
    vectors: Callable[[str], VectorColumn]  # about a column of vectors
    described: Mapping[str, object]  # the types of the columns, for messages


class Choice(NamedTuple):
    """Which columns of a table are read, and what for."""

    data: list[str]  # numbers and vectors
    others: list[str]  # text, dates, and what is kept apart
    chosen: list[str]  # those of all these that were requested as data
    notes: list[str]


def choose(table: Content, request: Request) -> Choice:
    """The columns to read. A column of vectors is the data where no columns were requested."""
    names = list(table.kinds)
    apart = [name for name in names if request.is_apart(name)]
    chosen = [names[c] for c in choose_columns(table.path, names, len(names), request)]
    data = [name for name in chosen if name not in apart]
    notes = []
    if request.columns is None:
        found = [table.vectors(name) for name in data if table.kinds[name] == VECTORS]
        vectors = choose_vectors(table.path, found, sum(table.kinds[name] == NUMBERS for name in data))
        if vectors is not None:
            others = "; the other columns are not data, choose them with columns=" if len(chosen) > 1 else ""
            notes.append(f"Column {vectors.name!r} is used as data, {vectors.width} numbers in each row{others}")
            data = chosen = [vectors.name]
    beside = [name for name in data if table.kinds[name] in (TEXT, DATES)]
    data = [name for name in data if name not in beside]
    _refuse_others(table, [*data, *apart])
    return Choice(data, [*beside, *apart], chosen, notes)


def make_source(
    table: Content, request: Request, choice: Choice, X: np.ndarray, others: Mapping[str, np.ndarray]
) -> Source:
    """The source with the matrix of the data and the values of the other columns."""
    names = list(table.kinds)
    text = {name: others[name] for name in choice.chosen if name in others}
    extra = {name: values for name, values in others.items() if name not in text}
    numbers = [part for name in choice.data for part in _names_in_matrix(table, name)]
    source = Source(table.path, X, numbers, text, extra, notes=choice.notes)
    source.dropped = dropped_names(table.path, names, request)
    unread = unread_names(names, [names.index(name) for name in choice.chosen], source)
    source.unread = tuple(name for name in unread if table.kinds[name] != OTHER)
    return source


def choose_vectors(path: Path, columns: Iterable[VectorColumn], n_numbers: int) -> VectorColumn | None:
    """The column of vectors that is the data; None if there is none.

    Parameters
    ----------
    path : Path
        The file, for messages.
    columns : iterable of VectorColumn
    n_numbers : int
        How many columns of numbers there are beside them.

    Examples
    --------
    >>> columns = [VectorColumn("embedding", 384, True), VectorColumn("tokens", 12, False)]
    >>> choose_vectors(Path("texts.parquet"), columns, 2).name
    'embedding'
    """
    every = list(columns)
    found = [column for column in every if column.likely] or every
    if not found:
        return None
    first = found[0]
    if len(found) > 1:
        raise InputError(
            f"{path} has lists of numbers in columns {listed([column.name for column in found])}; choose the data, for example "
            f"with columns=[{first.name!r}]."
        )
    if n_numbers and first.width <= n_numbers:
        raise InputError(
            f"{path} has lists of numbers in column {first.name!r} beside {n_numbers} columns of numbers; choose the lists "
            f"with columns=[{first.name!r}], or leave them out with drop=[{first.name!r}]."
        )
    return first


def _names_in_matrix(table: Content, name: str) -> list[str]:
    """The names of the columns of the matrix that hold a column: embedding[0], embedding[1], ... for vectors."""
    if table.kinds[name] != VECTORS:
        return [name]
    return [f"{name}[{place}]" for place in range(table.vectors(name).width)]


def in_short(names: list[str]) -> list[str]:
    """Names of columns, with one name for all numbers of a column of vectors.

    Examples
    --------
    >>> in_short(["age", "embedding[0]", "embedding[1]", "embedding[2]"])
    ['age', 'embedding[0:3]']
    """
    short: list[str] = []
    for stem, group in itertools.groupby(
        names, key=lambda name: name.rpartition("[")[0] if name.endswith("]") else None
    ):
        found = list(group)
        is_vector = stem and found == [f"{stem}[{place}]" for place in range(len(found))]
        short += [f"{stem}[0:{len(found)}]"] if is_vector else found
    return short


def _refuse_others(table: Content, names: list[str]) -> None:
    """Refuse columns that cannot be used, all at once."""
    others = [name for name in dict.fromkeys(names) if table.kinds[name] == OTHER]
    if others:
        shown = ", ".join(f"{name!r} ({table.described[name]})" for name in others[:5])
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        raise InputError(
            f"{table.path} has columns that hold neither numbers nor text: {shown}{more}; convert them to numbers, or leave "
            f"them out with drop={others!r}."
        )
