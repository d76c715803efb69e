"""A table: numbers to embed, and whatever else a file holds about each row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sce.data.merging import first_rows, group_copies, values_of_points
from sce.data.row_ids import LONGEST_NAME, is_prose
from sce.data.source import column_of
from sce.errors import InputError


class Extras(Mapping[str, np.ndarray]):
    """Columns that are not data, by name, unconverted.

    Those that were left out of the data by `columns=` are read from the file when they are first asked for.

    Parameters
    ----------
    known : mapping of str to ndarray
        Columns in memory.
    unread : iterable of str
        Names of further columns of the file.
    load : function from a name to an ndarray, optional
        Reads one of them.

    Examples
    --------
    >>> extras = Extras({"age": np.array([7, 9])}, ["city"], lambda name: np.array(["Oslo", "Rome"]))
    >>> list(extras), extras["city"].tolist()
    (['age', 'city'], ['Oslo', 'Rome'])
    >>> extras.rows(np.array([1]))["age"]
    array([9])
    """

    def __init__(
        self,
        known: Mapping[str, np.ndarray] | None = None,
        unread: Any = (),
        load: Callable[[str], np.ndarray] | None = None,
    ) -> None:
        self._known, self._unread, self._load = dict(known or {}), list(unread), load

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._known:
            if name not in self._unread or self._load is None:
                raise KeyError(name)
            self._known[name] = self._load(name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter([*self._known, *(name for name in self._unread if name not in self._known)])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"Extras({', '.join(self)})"

    @property
    def in_memory(self) -> dict[str, np.ndarray]:
        """The columns that need no reading."""
        return dict(self._known)

    def with_columns(self, columns: Mapping[str, np.ndarray]) -> Extras:
        """These columns and more."""
        return Extras({**self._known, **columns}, self._unread, self._load)

    def without(self, names: Any) -> Extras:
        """All but the columns of these names."""
        known = {name: values for name, values in self._known.items() if name not in names}
        return Extras(known, [name for name in self._unread if name not in names], self._load)

    def rows(self, rows: np.ndarray) -> Extras:
        """The columns at some of the rows."""
        load = self._load
        known = {name: values[rows] for name, values in self._known.items()}
        return Extras(known, self._unread, None if load is None else lambda name: load(name)[rows])


@dataclass(eq=False, repr=False)
class Table:
    """Data to prepare and embed, with what else is known about each row.

    Attributes
    ----------
    path : Path
        The file, or the name of the data set.
    X : array, memory-mapped array or CSR matrix of shape (n, d)
        The numbers; NaN where one is missing.
    names : list of str, optional
        The names of the columns of X.
    text : dict of str to ndarray
        Columns of text that are data: :class:`sce.data.preparation.Preparation` turns them into numbers.
    extra : Extras
        Columns that are not data, unconverted, for example to show when the mouse is over a point.
    labels, label_name : ndarray of shape (n,) and str, optional
        Classes or numbers to colour by.
    ids, id_name : ndarray of shape (n,) and str, optional
        The names of the rows, and the column they are from.
    weights : ndarray of shape (n,), optional
        The number of points that each row stands for.
    first_line : int, optional
        The line of row 0, in a file where each row is one line.
    notes : list of str
        Decisions made on the way, each a sentence without a full stop.
    kept : frozenset of str
        Columns that are data by request.
    used : list of str, optional
        The columns that a preparation made the numbers of, where they have names.
    point_of_row : ndarray, optional
        The row of the table that each row of the data is in, -1 for none; None where rows were neither left out nor merged.
    is_graph : bool
        Whether X is a graph, for ``SCE(affinity="precomputed")``: similarities, with a row and a column for each point.
    """

    path: Path
    X: Any
    names: list[str] | None = None
    text: dict[str, np.ndarray] = field(default_factory=dict)
    extra: Extras = field(default_factory=Extras)
    labels: np.ndarray | None = None
    label_name: str | None = None
    ids: np.ndarray | None = None
    id_name: str | None = None
    weights: np.ndarray | None = None
    first_line: int | None = None
    notes: list[str] = field(default_factory=list)
    kept: frozenset[str] = frozenset()
    used: list[str] | None = None
    point_of_row: np.ndarray | None = None
    is_graph: bool = False

    def __repr__(self) -> str:
        rows, columns = self.X.shape
        also = [name for name in ("labels", "ids", "weights") if getattr(self, name) is not None]
        also += [f"{len(self.text)} columns of text"] if self.text else []
        also += [f"extra columns {', '.join(self.extra)}"] if self.extra else []
        size = f"graph of {rows} nodes" if self.is_graph else f"{rows} x {columns}"
        return f"Table({size}{', with ' + ', '.join(also) if also else ''})"

    def shown_name(self, column: int) -> str:
        """A column of X as messages name it."""
        return repr(self.names[column]) if self.names else str(column)

    def shown_row(self, number: int) -> str:
        """A row as messages name it, with its line in the file where that is known."""
        return f"row {number}" if self.first_line is None else f"row {number} (line {number + self.first_line})"

    def look_up(self, name: str) -> np.ndarray | None:
        """The values of a column: numbers, text or extra; None if there is none of that name."""
        if name in self.text:
            return self.text[name]
        if name in self.extra:
            return self.extra[name]
        if not self.names or name not in self.names:
            return None
        return column_of(self.X, self.names.index(name))

    def take_out(self, name: str) -> np.ndarray | None:
        """The values of a column, which is then no longer data; None if there is none of that name."""
        values = self.look_up(name)
        if name in self.text:
            del self.text[name]
        elif values is not None and name not in self.extra and self.names:
            place = self.names.index(name)
            rest = [c for c in range(self.X.shape[1]) if c != place]
            ends = place in (0, self.X.shape[1] - 1)  # a slice leaves a memory-mapped array mapped
            self.X = self.X[:, rest[0] : rest[-1] + 1] if ends and rest else self.X[:, rest]
            self.names = [self.names[c] for c in rest]
        return values

    def keep_rows(self, rows: np.ndarray) -> None:
        """Keep only these rows; a table without ids gets its old row numbers as ids."""
        n = self.X.shape[0]
        place = np.full(n + 1, -1)  # the last for rows that were left out before
        place[rows] = np.arange(len(rows))
        self.point_of_row = place[np.arange(n) if self.point_of_row is None else self.point_of_row]
        self.ids = (np.arange(self.X.shape[0]) if self.ids is None else self.ids)[rows]
        self.X = self.X[rows]
        self.labels = None if self.labels is None else self.labels[rows]
        self.weights = None if self.weights is None else self.weights[rows]
        self.text = {name: values[rows] for name, values in self.text.items()}
        self.extra = self.extra.rows(rows)
        self.first_line = None

    def merge_copies(self) -> None:
        """Merge equal rows: the weights add up, labels are the most frequent ones, everything else is that of the first row."""
        group = group_copies(self.X)
        rows, n = first_rows(group), self.X.shape[0]
        if len(rows) == n:
            return
        weights = np.bincount(group, self.weights)
        labels = None if self.labels is None else values_of_points(self.labels, group)
        before = np.arange(n) if self.point_of_row is None else self.point_of_row
        self.keep_rows(rows)
        self.labels, self.weights = labels, weights
        self.point_of_row = np.where(before < 0, -1, group[before])
        self.notes.append(f"Merged exact copies: {n} rows are {len(rows)} points, weighted by their counts")

    def add_columns(self, names: list[str], values: np.ndarray) -> None:
        """Append columns of numbers, of shape (n, k), to X."""
        self.names = [*(self.names or map(str, range(self.X.shape[1]))), *names]
        if hasattr(self.X, "tocsr"):
            from scipy import sparse

            self.X = sparse.hstack([self.X, sparse.csr_matrix(values)]).tocsr()
        else:
            self.X = np.hstack([self.X, values])

    def refuse_long_text(self, values: np.ndarray, what: str, column: str | None = None) -> None:
        """Refuse text that is too long for an id or a label, which `what` says."""
        if is_prose(values):
            row = max(range(len(values)), key=lambda row: len(values[row]))
            where = self.path if column is None else f"Column {column!r} of {self.path}"
            raise InputError(
                f"{where} has a text of {len(values[row]):,} characters as {what} in {self.shown_row(row)}; at most "
                f"{LONGEST_NAME:,} are allowed: choose another column, or shorten the text."
            )
