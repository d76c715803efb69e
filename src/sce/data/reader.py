"""From a file to a table: :func:`read`, the public function, and :func:`read_matrix` for square matrices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sce.core.hints import did_you_mean
from sce.core.missing import as_text
from sce.data.edge_lists import check_edges, read_table_or_edges
from sce.data.formats import Request, Source, read_source
from sce.data.label_files import read_label_file
from sce.data.nodes import graph_table
from sce.data.roles import (
    assign_ids,
    assign_labels,
    assign_weights,
    check_labels,
    is_apart,
    note_few_rows,
    note_rounded,
    note_total,
    read_formatted_columns,
    read_vector_column,
    recognise_labels,
    restore_data,
    set_dates_aside,
    set_ids_aside,
    set_index_aside,
)
from sce.data.source import NoDataError, hint_at
from sce.data.table import Extras, Table
from sce.errors import InputError, ParameterError

HEADER_CHOICES = ("auto", "yes", "no")


def read(
    path: str | Path,
    *,
    columns: str | Iterable[str | int] | None = None,
    drop: str | Iterable[str | int] | None = None,
    keep: str | Iterable[str] | None = None,
    labels: str | None = None,
    ids: str | None = None,
    weights: str | None = None,
    array: str | None = None,
    transpose: bool = False,
    decimal_comma: bool = False,
    header: str = "auto",
    auto: bool = False,
    edges: str | Iterable[str] = "auto",
) -> Table:
    r"""Read a data file into a table: numbers to embed, labels, ids, and everything else as it is.

    Parameters
    ----------
    path : str or Path
        A .npy, .npz, .csv, .tsv, .txt, .jsonl, .ndjson, .parquet, .arrow, .feather, .mtx or .h5ad file (text and .mtx also as
        .gz), or a folder of .parquet or .arrow parts. An .npy is memory-mapped.
    columns : list of str, optional
        The columns to use as data: names, numbers, or ranges such as "2:5". All by default. The others are in `extra`.
    drop : list of str, optional
        Columns to leave out altogether, written in the same way.
    keep : list of str, optional
        Names of columns to use as data although they look like ids, labels or dates.
    labels : str, optional
        What to colour by: a column, an array of the file, another FILE, or FILE:COLUMN; "none" for no labels. By default a
        column is recognised by its name (label, class, species, ...), or as the only column of text, or else of dates.
    ids : str, optional
        What names the rows: a column, FILE, or FILE:COLUMN. By default a column is recognised by its name (id, index, name,
        barcode, PassengerId, ...) if its values are all different, or as the only column of text whose values are all
        different, or as a column that numbers the rows; "none" for no ids.
    weights : str, optional
        The number of points that each row stands for: a column, an array, FILE, or FILE:COLUMN.
    array : str, optional
        Which array of an .npz, or which layer or array of obsm of an .h5ad.
    transpose : bool, default=False
        Whether the columns of the file are the points.
    decimal_comma : bool, default=False
        Whether numbers in a text table are written as 1,5.
    header : {"auto", "yes", "no"}, default="auto"
        Whether the first row of a text table holds the names of the columns.
    auto : bool, default=False
        Also prepare the table, as :class:`sce.data.preparation.Preparation` does with ``auto=True``: X then holds finite
        numbers only, `text` is empty, and `notes` says what was done.
    edges : {"auto", "yes", "no"} or list of str, default="auto"
        Whether the table is a list of edges, and so a graph; or its columns of source, target and, if there is one, weight.
        "auto" recognises it by the names of two or three columns, or by names of nodes that two columns share.

    Returns
    -------
    Table
        X, names, text, extra, labels, label_name, ids, id_name, weights and notes; see :class:`sce.data.table.Table`.

    Raises
    ------
    InputError
        If the file cannot be read or does not hold what was asked for.

    Examples
    --------
    >>> import sce
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "flowers.csv"
    ...     _ = path.write_text("id,length,width,species,city\nf1,5.1,3.5,iris,Oslo\nf2,4.9,3.0,rose,Rome\n")
    ...     table = sce.read(path, columns=["length", "width"])
    ...     city = table.extra["city"]
    >>> table
    Table(2 x 2, with labels, ids, extra columns city)
    >>> table.X.tolist(), table.labels.tolist(), table.ids.tolist(), city.tolist()
    ([[5.1, 3.5], [4.9, 3.0]], ['iris', 'rose'], ['f1', 'f2'], ['Oslo', 'Rome'])
    """
    options = ReadOptions(
        columns=_listed(columns),
        drop=_listed(drop),
        keep=_listed(keep),
        labels=labels,
        ids=ids,
        weights=weights,
        array=array,
        transpose=transpose,
        decimal_comma=decimal_comma,
        header=header,
        edges=edges if isinstance(edges, str) else _listed(edges),
    )
    table = options.read(path)
    if not auto or table.is_graph:
        return table
    from sce.data.preparation import Preparation

    return Preparation(auto=auto).fit_transform(table, copy=False)[0]


@dataclass(frozen=True)
class ReadOptions:
    """The parameters of :func:`read`, to be kept and used again."""

    columns: list[str] | None = None
    drop: list[str] | None = None
    ids: str | None = None
    weights: str | None = None
    array: str | None = None
    transpose: bool = False
    decimal_comma: bool = False
    labels: str | None = None
    header: str = "auto"
    keep: list[str] | None = None
    edges: str | list[str] = "auto"

    def __post_init__(self) -> None:
        check_edges(self.edges)
        if self.header not in HEADER_CHOICES:
            hint = did_you_mean(self.header, HEADER_CHOICES)
            raise ParameterError(f'header must be "auto", "yes" or "no"; got {self.header!r}{hint}')
        for name in ("columns", "drop", "keep"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
                raise ParameterError(f"{name} must be a list of names, numbers or ranges of columns; got {value!r}.")
        for name in ("labels", "ids", "weights", "array"):
            if not isinstance(getattr(self, name), str | None):
                raise ParameterError(f"{name} must be a name, as text; got {getattr(self, name)!r}.")
        for name in ("transpose", "decimal_comma"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(f"{name} must be True or False; got {getattr(self, name)!r}.")

    def read(self, path: str | Path) -> Table:
        """The table of a file; see :func:`read`."""
        is_table = self.edges == "auto" and (self.transpose or bool(self.keep))
        source = read_table_or_edges(path, self._request(), "no" if is_table else self.edges)
        if source.is_graph:
            self._check_graph(path)
            return graph_table(source, self.labels, self.ids)
        table = _transposed(source) if self.transpose else self._upright(source)
        keep = set(self.keep or ())
        self._check_keep(table)
        table.kept = frozenset(keep)
        apart = source.dropped | keep
        if self.labels not in (None, "none"):
            assign_labels(table, str(self.labels))
        if self.weights is not None:
            assign_weights(table, self.weights)
        read_vector_column(table)
        set_dates_aside(table, keep)
        if not self.transpose:
            set_index_aside(
                table, [name for name in source.index if name not in {*apart, self.ids}], as_ids=self.ids is None
            )
        assign_ids(table, self.ids, apart)
        if not self.transpose and source.ids is None:
            set_ids_aside(table, keep, as_ids=self.ids is None)
        read_formatted_columns(table, keep)
        if self.labels is None:
            recognise_labels(table, apart)
        restore_data(table, keep)
        note_total(table)
        note_few_rows(table)
        note_rounded(table)
        check_labels(table)
        used = {self.labels or table.label_name, self.ids or table.id_name, self.weights}
        table.extra = table.extra.without(used | source.dropped)
        if not table.X.shape[1] and not table.text:
            raise NoDataError(f"{path} has no columns of numbers besides labels and ids, so there is nothing to embed.")
        return table

    def _check_graph(self, path: str | Path) -> None:
        """Refuse options that have no effect on a graph."""
        for name in ("columns", "drop", "keep", "weights", "transpose"):
            if getattr(self, name):
                raise InputError(f"{path} is a graph, on which {name}= has no effect; leave it out.")

    def _check_keep(self, table: Table) -> None:
        """Refuse to keep a column that there is not."""
        dates = [name for name, values in table.extra.in_memory.items() if values.dtype.kind == "M"]
        known = [*(table.names or map(str, range(table.X.shape[1]))), *table.text, *dates]
        for name in self.keep or ():
            if name not in known:
                raise InputError(f"{table.path} has no column {name!r} to keep; {hint_at(name, known, len(known))}")

    def _request(self) -> Request:
        apart = tuple(name for name in (self.labels, self.ids, self.weights) if name is not None)
        return Request(self.columns, self.drop or [], apart, is_apart, self.array, self.decimal_comma, self.header)

    def _upright(self, source: Source) -> Table:
        """The source as a table whose rows are its rows."""
        return Table(
            path=source.path,
            X=source.X,
            names=source.names,
            text=dict(source.text),
            extra=Extras(source.extra, source.unread, partial(self._column, source.path, source.X.shape[0])),
            ids=source.ids,
            first_line=source.first_line,
            notes=source.notes,
        )

    def _column(self, path: Path, rows: int, name: str) -> np.ndarray:
        """A single column of the file, unconverted."""
        request = Request([name], [], (name,), None, self.array, self.decimal_comma, self.header)
        values = read_source(path, request).text[name]
        if len(values) != rows:
            raise InputError(f"{path} had {rows} rows and now has {len(values)}; read it again.")
        return values


def _transposed(source: Source) -> Table:
    """The source with rows and columns exchanged; row names become column names, and vice versa."""
    if len(source.text) > 1:
        raise InputError(
            f"{source.path} has {len(source.text)} columns of text or ids ({', '.join(map(repr, source.text))}), so it "
            "cannot be transposed; keep one of them, and leave the others out with drop=."
        )
    rows = next(iter(source.text.values()), source.ids)
    names = None if rows is None else [str(name) for name in rows]
    ids = None if source.names is None else as_text(source.names)
    X = source.X.T
    return Table(source.path, X.tocsr() if hasattr(X, "tocsr") else X, names, ids=ids, notes=source.notes)


def _listed(given: Any) -> Any:
    """Names and numbers of columns as a list of str; what is neither is left as it is."""
    if isinstance(given, str | int):
        given = [given]
    return [_name(item) for item in given] if isinstance(given, Iterable) else given


def _name(item: Any) -> Any:
    return str(item) if isinstance(item, int | np.integer) and not isinstance(item, bool) else item


def read_matrix(
    path: str | Path, *, array: str | None = None, labels: str | None = None, ids: str | None = None
) -> Table:
    """A matrix with all its columns, such as one of distances; labels and ids come from other files, FILE or FILE:COLUMN."""
    table = with_labels(Table(Path(path), read_source(path, Request(array=array)).X), labels)
    if ids not in (None, "none"):
        table.ids = read_label_file(str(ids), table.X.shape[0], table.path, "ids")[0]
    return table


def with_labels(table: Table, labels: str | None) -> Table:
    """The table with labels from another file, where `labels` is neither None nor "none"."""
    if labels not in (None, "none"):
        table.labels, table.label_name = read_label_file(str(labels), table.X.shape[0], table.path)
    return table
