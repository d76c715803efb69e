"""The data beside a map: read and prepared again as they were for it, and their columns as the file has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sce.core.hints import listed
from sce.data.merging import first_rows
from sce.data.reader import read_matrix
from sce.data.recipe import Recipe
from sce.data.source import Request, choose_columns, column_of
from sce.data.table import Table
from sce.errors import InputError
from sce.explore.images import Images, find_images
from sce.explore.point_columns import EVERY_ROW, PointColumn, Rows, make_column
from sce.results.maps import Map
from sce.results.sweeps import Sweep

_MOST_LISTED = 100  # columns that the page lists unless the user chooses


class Attached(NamedTuple):
    """What is known of the rows of a map besides their coordinates."""

    X: Any = None  # as it was embedded
    names: tuple[str, ...] | None = None  # of the columns of X, where they are known
    columns: tuple[PointColumn, ...] = ()
    images: Images | None = None
    notes: tuple[str, ...] = ()
    graph: Any = None  # where the data are a graph


def attach_file(result: Map | Sweep, data: str, columns: list[str] | None, images: str) -> Attached:
    """What a file of data, or a data set by its name, says about the points of a map."""
    recipe = Recipe.from_facts(result.facts.get("preparation", {}))
    if result.parameters.get("metric") == "precomputed":
        reading = recipe.reading
        distances = read_matrix(data, array=reading.array, labels=reading.labels, ids=reading.ids)
        return Attached(_of_points(distances.X, data, result))
    return attach_table(result, recipe.read(data), recipe, columns, images)


def attach_table(result: Map | Sweep, table: Table, recipe: Recipe, columns: list[str] | None, images: str) -> Attached:
    """What a table, not prepared yet, says about the points of a map."""
    if table.is_graph:
        graph = _of_points(table.X, table.path, result)
        return Attached(columns=tuple(_listed_columns(table, EVERY_ROW, columns, result)), graph=graph)
    seed = int(result.parameters.get("random_state") or 0)
    prepared, _ = recipe.preparation.fit_transform(table, random_state=seed)
    X = _of_points(prepared.X, table.path, result)
    rows = EVERY_ROW if prepared.point_of_row is None else first_rows(prepared.point_of_row)
    raw = table.X if isinstance(rows, slice) else table.X[rows]
    found = find_images(raw, table.names, images)
    chosen = list(_listed_columns(table, rows, columns, result, skip_numbers=found is not None))
    return Attached(X, _names(X, prepared), tuple(chosen), found, _note_on_columns(table, columns, found))


def attach_kept(result: Map | Sweep, columns: list[str] | None, images: str) -> Attached:
    """What the data that a map keeps say about its points."""
    X = getattr(result, "X", None)
    if X is None:
        if columns is not None or images not in ("auto", "no"):
            raise InputError("The map does not hold the data, which columns and images are of; name them with data=.")
        return Attached()
    used = result.facts.get("columns_used")
    names = used if isinstance(used, list) and len(used) == X.shape[1] else None
    table = Table(Path("the map"), X, None if names is None else [str(name) for name in names])
    found = find_images(X, table.names, images)
    chosen = list(_listed_columns(table, EVERY_ROW, columns, result, skip_numbers=found is not None))
    return Attached(X, _names(X, table), tuple(chosen), found, _note_on_columns(table, columns, found))


def _names(X: Any, table: Table) -> tuple[str, ...] | None:
    names = table.names
    return tuple(names) if names is not None and len(names) == X.shape[1] else None


def _of_points(X: Any, data: str | Path, result: Map | Sweep) -> Any:
    """The matrix, once it is known to have a row for each point."""
    n = len(result.ids)
    if X.shape[0] != n:
        raise InputError(f"{data} has {X.shape[0]} rows, but the map has {n} points; give the data that were embedded.")
    return X


def _note_on_columns(table: Table, columns: list[str] | None, images: Images | None) -> tuple[str, ...]:
    d = table.X.shape[1]
    if columns is not None or images is not None or d <= _MOST_LISTED:
        return ()
    return (f"{table.path} has {d} columns, of which the first {_MOST_LISTED} are listed; choose others with columns=",)


def _listed_columns(
    table: Table, rows: Rows, columns: list[str] | None, result: Map | Sweep, *, skip_numbers: bool = False
) -> Iterator[PointColumn]:
    """The columns to show: those that the user chose, or else labels, text, what else the file holds, and numbers."""
    n_numbers = table.X.shape[1] if not table.is_graph else 0
    numbers = list(table.names or map(str, range(n_numbers)))[:n_numbers]
    beside = [*table.text, *table.extra]
    if table.labels is not None:
        beside.append(table.label_name or "label")
    if columns is not None:
        every = [*numbers, *beside]
        wanted = [every[place] for place in choose_columns(table.path, every, len(every), Request(columns=columns))]
    else:
        own = result.label_name if result.labels is not None else None
        wanted = [name for name in beside if name != own] + ([] if skip_numbers else numbers[:_MOST_LISTED])
    places = {name: place for place, name in enumerate(numbers)}
    for name in wanted:
        yield make_column(name, "column", _taker(table, name, places, rows))


def _taker(table: Table, name: str, places: dict[str, int], rows: Rows) -> Callable[[Rows], np.ndarray]:
    """The function that gives the values of a column at some points."""
    if name in places and name not in table.text and name not in table.extra:
        place = places[name]

        def of_matrix(wanted: Rows) -> np.ndarray:
            some = wanted if isinstance(rows, slice) else rows[wanted]
            return column_of(table.X[some], place)

        return of_matrix
    known = table.text if name in table.text else table.extra

    def of_others(wanted: Rows) -> np.ndarray:
        values = known.get(name, table.labels)
        if values is None:
            raise InputError(f"{table.path} has no column {name!r}; it has {listed(list(known))}.")
        return np.asarray(values)[rows][wanted]

    return of_others
