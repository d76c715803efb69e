"""Graphs of networkx and igraph as sparse matrices. Neither library is imported: somebody who has a graph of theirs did so."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from sce.errors import InputError

_WEIGHT = "weight"  # the attribute of edges that both libraries use by convention


class Network(NamedTuple):
    """A graph: its weights as a csr matrix, (n, n), and the names of its nodes; None where these are 0, 1, 2, ..."""

    weights: Any
    names: np.ndarray | None


def as_network(graph: Any) -> Network | None:
    """A graph of networkx or igraph as a matrix; None for everything else.

    The attribute "weight" of an edge is its weight, 1 where there is none. Several edges between two nodes add up. The matrix
    of a directed graph is not symmetric.

    Examples
    --------
    >>> as_network(np.eye(2)) is None
    True
    """
    for library, kind, convert in (("networkx", "Graph", _of_networkx), ("igraph", "Graph", _of_igraph)):
        known = getattr(sys.modules.get(library), kind, None)
        if known is not None and isinstance(graph, known):
            return convert(graph)
    return None


def _of_networkx(graph: Any) -> Network:
    nodes = list(graph)
    place = {node: k for k, node in enumerate(nodes)}
    ends = np.array([(place[a], place[b]) for a, b in graph.edges()], np.int64).reshape(-1, 2)
    given = [1 if weight is None else weight for _, _, weight in graph.edges(data=_WEIGHT)]
    weights = _numbers(given, lambda edge: tuple(nodes[k] for k in ends[edge]))
    return Network(_matrix(ends, weights, len(nodes), directed=graph.is_directed()), node_names(nodes))


def _of_igraph(graph: Any) -> Network:
    n = graph.vcount()
    ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    if _WEIGHT in graph.es.attributes():
        given = [1 if weight is None else weight for weight in graph.es[_WEIGHT]]
        weights = _numbers(given, lambda edge: tuple(ends[edge].tolist()))
    else:
        weights = np.ones(len(ends))
    names = graph.vs["name"] if "name" in graph.vs.attributes() else range(n)
    return Network(_matrix(ends, weights, n, directed=graph.is_directed()), node_names(list(names)))


def _numbers(weights: list[Any], ends_of: Any) -> np.ndarray:
    """Weights as numbers; the first that is none is named with its edge."""
    values = [_number(weight) for weight in weights]
    if None in values:
        edge = values.index(None)
        a, b = ends_of(edge)
        raise InputError(
            f"The edge from {a!r} to {b!r} has the weight {weights[edge]!r}, which is no number; give numbers as weights, or "
            "remove the attribute."
        )
    return np.array(values, np.float64)


def _number(weight: Any) -> float | None:
    try:
        return float(weight)
    except (TypeError, ValueError):
        return None


def _matrix(ends: np.ndarray, weights: np.ndarray, n: int, *, directed: bool) -> Any:
    """The matrix of weights; an edge without a direction is in it twice."""
    from scipy import sparse

    i, j = ends.T
    if not directed:
        both = i != j
        i, j = np.concatenate([i, j[both]]), np.concatenate([j, i[both]])
        weights = np.concatenate([weights, weights[both]])
    matrix = sparse.csr_matrix((weights, (i, j)), shape=(n, n))
    matrix.sum_duplicates()
    return matrix


def node_names(nodes: list[Any]) -> np.ndarray | None:
    """Whole numbers or text, a different one for each node; None if they are 0, 1, 2, ...

    Examples
    --------
    >>> node_names([0, 1]), node_names(["a", ("b", 2)]), node_names([1, "1"])
    (None, array(['a', "('b', 2)"], dtype=object), array(['1', "'1'"], dtype=object))
    """
    if all(type(node) is int or isinstance(node, np.integer) for node in nodes):
        if nodes == list(range(len(nodes))):
            return None
        if all(abs(int(node)) < 2**63 for node in nodes):
            return np.array(nodes, np.int64)
    names = [str(node) for node in nodes]
    if len(set(names)) < len(names):
        names = [repr(node) for node in nodes]
    return np.array(names, object)
