"""A graph read from a file as a source: its weights as a sparse matrix, with the names and attributes of its nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sce.core.missing import as_text
from sce.data.source import Source
from sce.errors import InputError

_NAMING_ATTRIBUTES = ("label", "name")  # of nodes; they name them where all are different


class Links(NamedTuple):
    """Edges: the numbers of their ends, and their weights."""

    first: np.ndarray
    second: np.ndarray
    weights: np.ndarray


def graph_source(path: Path, names: np.ndarray, links: Links, *, what: str) -> Source:
    """A symmetric graph: the matrix is the sum of the edges in both directions, without edges from a node to itself.

    Parameters
    ----------
    path : Path
    names : ndarray of shape (n,)
        The names of the nodes.
    links : Links
        Its weights are finite.
    what : str
        What the file is, for the note.
    """
    from scipy import sparse

    n = len(names)
    if not n:
        raise InputError(f"{path} has no nodes; give a graph with edges in it.")
    loops = links.first == links.second
    first, second, weights = (values[~loops] for values in links)
    half = sparse.csr_matrix((weights, (first, second)), shape=(n, n))
    matrix = (half + half.T).tocsr()
    matrix.sum_duplicates()
    n_pairs = len(np.unique(np.minimum(first, second) * np.int64(n) + np.maximum(first, second)))
    notes = [f"{what}: {_counted(n_pairs, 'edge')} among {_counted(n, 'node')}"]
    if n_pairs < len(first):
        notes.append(
            f"{_counted(len(first) - n_pairs, 'edge')} given again, or in the other direction, add to the weight"
        )
    if loops.any():
        notes.append(f"{_counted(int(loops.sum()), 'edge')} from a node to itself left out")
    return Source(path, matrix, ids=names, notes=notes, is_graph=True)


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def from_nodes_and_edges(
    path: Path, nodes: list[tuple[str, dict[str, Any]]], edges: list[tuple[str, str, Any]], *, what: str
) -> Source:
    """A graph of (id, attributes) for each node and (source, target, weight or None) for each edge.

    Nodes are named by the attribute "label" or "name" if all are different, else by their ids; the other attributes become
    columns of `extra`.
    """
    place: dict[str, int] = {}
    for node, _ in nodes:
        if node in place:
            raise InputError(f"{path} has two nodes with the id {node!r}; rename one.")
        place[node] = len(place)
    for edge in edges:
        for end in edge[:2]:
            if end not in place:
                raise InputError(
                    f"{path} has an edge from {edge[0]!r} to {edge[1]!r}, but no node {end!r}; add the node."
                )
    first = np.array([place[edge[0]] for edge in edges], np.int64)
    second = np.array([place[edge[1]] for edge in edges], np.int64)
    weights = np.array([_weight(path, edge) for edge in edges], np.float64)
    extra = _columns([attributes for _, attributes in nodes])
    names = as_text([node for node, _ in nodes])
    for name in [name for name in extra if name.lower() in _NAMING_ATTRIBUTES]:
        values = as_text(extra[name].tolist())
        if all(values) and len(set(values.tolist())) == len(values):
            del extra[name]
            extra, names = (extra if names.tolist() == values.tolist() else {"node_id": names, **extra}), values
            break
    source = graph_source(path, names, Links(first, second, weights), what=what)
    source.extra = extra
    return source


def _weight(path: Path, edge: tuple[str, str, Any]) -> float:
    """The weight of an edge, 1 where it has none."""
    source, target, weight = edge
    try:
        value = 1.0 if weight is None else float(weight)
    except ValueError:
        value = float("nan")
    if not (np.isfinite(value) and value >= 0):
        raise InputError(
            f"{path} has the weight {weight!r} on the edge from {source!r} to {target!r}; weights are numbers, 0 or more."
        )
    return value


def _columns(rows: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Attributes as columns: numbers where all values are, else text; empty where a node has none."""
    names = dict.fromkeys(name for row in rows for name in row)
    found = {}
    for name in names:
        values = [row.get(name) for row in rows]
        is_numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        found[name] = np.array(values) if is_numbers else as_text(["" if value is None else value for value in values])
    return found
