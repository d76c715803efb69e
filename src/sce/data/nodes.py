"""Labels and names of the nodes of a graph: its own attributes, or columns of a file, joined by the names of the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.core.missing import as_text
from sce.data.formats import Request, Source, read_source
from sce.data.label_files import read_label_file, split_spec, typed
from sce.data.roles import check_labels, recognise_labels
from sce.data.row_ids import is_id_name
from sce.data.sniff import check_file
from sce.data.source import hint_at
from sce.data.table import Extras, Table
from sce.errors import InputError

_FEWEST_FOUND = 0.5  # of the nodes, in a column that names them
_NODE_NAMES = frozenset(["node", "nodes", "vertex", "nodeid", "node_id", "vertex_id"])
BY_POSITION = (".npy", ".npz", ".mtx", ".h5ad")  # graphs in such files have their nodes in the order of the data
_WITHOUT_COLUMNS = (".npy", ".npz", ".mtx")


def graph_table(source: Source, labels: str | None, ids: str | None) -> Table:
    """A graph as a table: ids name its nodes, labels colour them.

    `labels` and `ids` name an attribute of the nodes, FILE or FILE:COLUMN. The rows of a file are found by the names of the
    nodes; where these are only numbered, and no column of the file has their numbers, row 0 is node 0 and so on.
    """
    table = Table(
        source.path, source.X, extra=Extras(source.extra), ids=source.ids, notes=list(source.notes), is_graph=True
    )
    if table.ids is not None:
        table.ids = _short(table, typed(np.asarray(table.ids)))
    chosen = None if labels in (None, "none") else _values(table, str(labels), "labels")
    named = None if ids in (None, "none") else _values(table, str(ids), "ids")
    if labels is None:
        recognise_labels(table, frozenset())
    elif chosen is not None:
        table.labels, table.label_name = typed(chosen[0]), chosen[1]
    if named is not None:
        table.ids = _short(table, typed(named[0]))
    check_labels(table)
    table.extra = table.extra.without({table.label_name})
    return table


def in_order_of_rows(nodes: Table, table: Table) -> Any:
    """The matrix of a graph with its nodes in the order of the rows of a table, by the names of both.

    Rows that are no nodes have no edges; nodes that are no rows are refused.
    """
    ids = np.arange(table.X.shape[0]) if table.ids is None else table.ids
    names = np.arange(nodes.X.shape[0]) if nodes.ids is None else nodes.ids
    rows = {str(name): row for row, name in enumerate(ids.tolist())}
    if len(rows) < len(ids):
        raise InputError(
            f"The ids of {table.path} are not all different, so the nodes of {nodes.path} cannot be matched."
        )
    lost = [name for name in names.tolist() if str(name) not in rows]
    if lost:
        raise InputError(
            f"{len(lost)} nodes of {nodes.path}, such as {lost[0]!r}, are no rows of {table.path} (such as "
            f"{ids.tolist()[0]!r}); give the graph of these data, or name the rows with ids=."
        )
    from scipy import sparse

    edges = sparse.coo_matrix(nodes.X)
    place = np.array([rows[str(name)] for name in names.tolist()])
    n = len(ids)
    return sparse.csr_matrix((edges.data, (place[edges.row], place[edges.col])), shape=(n, n))


def _short(table: Table, ids: np.ndarray) -> np.ndarray:
    table.refuse_long_text(ids, "id")
    return ids if ids.dtype.kind in "iu" else as_text(ids)


def _values(table: Table, wanted: str, what: str) -> tuple[np.ndarray, str]:
    """An attribute of the nodes, or a column of another file, and its name."""
    if wanted in table.extra:
        return table.extra[wanted], wanted
    path, column = split_spec(wanted)
    if not path.exists():
        known = list(table.extra)
        hint = f"; {hint_at(wanted, known, len(known))}" if known else "; give a file, as FILE or FILE:COLUMN."
        raise InputError(
            f"The nodes of {table.path} have no attribute {wanted!r} for {what}=, and there is no such file{hint}"
        )
    if check_file(path) not in _WITHOUT_COLUMNS:
        found = read_source(path, Request(likely=lambda _: True))
        columns = {**found.text, **found.extra}
        if found.ids is None and len(columns) > 1:
            joined = _joined(table, columns, column, what, str(path))
            if joined is not None:
                return joined
    if not _is_numbered(table):
        raise InputError(
            f"No column of {path} has the names of the nodes of {table.path} (such as {table.ids[0]!r}), so its rows cannot be "  # type: ignore[index]
            "matched with them; add such a column, named id."
        )
    return read_label_file(wanted, table.X.shape[0], table.path, what)


def _is_numbered(table: Table) -> bool:
    """Whether the nodes have no names besides 0, 1, 2, ..."""
    return table.ids is None or np.array_equal(table.ids, np.arange(table.X.shape[0]))


def _joined(
    table: Table, columns: dict[str, np.ndarray], wanted: str | None, what: str, file: str
) -> tuple[np.ndarray, str] | None:
    """The wanted column at the rows of the nodes; None if no column names them."""
    ids = np.arange(table.X.shape[0]) if table.ids is None else table.ids
    nodes = [str(name) for name in ids.tolist()]
    key = _key(table, columns, nodes, wanted) or (_key(table, columns, nodes, None) if what == "ids" else None)
    if key is None:
        return None
    if wanted is None:
        others = [name for name in columns if name != key]
        if len(others) > 1:
            raise InputError(f"{file} has {len(columns)} columns; choose one with {what}={f'{file}:{others[-1]}'!r}.")
        wanted = others[0]
    if wanted not in columns:
        raise InputError(f"{file} has no column {wanted!r}; {hint_at(wanted, list(columns), len(columns))}")
    rows: dict[str, int] = {}
    for row, name in enumerate(_words(columns[key])):
        if rows.setdefault(name, row) != row and name in nodes:
            raise InputError(
                f"{file} has the node {name!r} twice in column {key!r} (rows {rows[name]} and {row}); keep one."
            )
    lost = [name for name in nodes if name not in rows]
    if lost and what == "ids":
        raise InputError(f"{file} has no row for {len(lost)} nodes of {table.path}, such as {lost[0]!r}; add them.")
    if lost:
        table.notes.append(f"{len(lost)} nodes have no row in {file}, such as {lost[0]!r}, and so no label")
    values = as_text(columns[wanted].tolist())
    return as_text([values[rows[name]] if name in rows else "" for name in nodes]), wanted


def _key(table: Table, columns: dict[str, np.ndarray], nodes: list[str], wanted: str | None) -> str | None:
    """The column that has the names of the nodes; of numbered nodes only one whose name says so."""
    shares = {}
    for name, values in columns.items():
        says_so = is_id_name(name) or name.lower() in _NODE_NAMES
        if name == wanted or (_is_numbered(table) and not says_so):
            continue
        share = len(set(_words(values)) & set(nodes)) / len(set(nodes))
        if share >= _FEWEST_FOUND:
            shares[name] = (share, says_so)
    return max(shares, key=lambda name: shares[name]) if shares else None


def _words(values: np.ndarray) -> list[str]:
    """Values as names of nodes are written: 3.0 of a table of floats is 3."""
    plain: list[Any] = (values.astype(np.int64) if values.dtype.kind == "f" and _all_whole(values) else values).tolist()
    return [str(value).strip() for value in plain]


def _all_whole(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).all() and (values % 1 == 0).all())
