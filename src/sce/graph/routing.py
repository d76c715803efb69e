"""New rows among indexed ones: they descend the trees of a forest, then follow the links between neighbours.

1. Each tree sends a new row to one leaf, whose rows are its first candidates; so is the indexed row that it is a copy of.
2. The nearest candidates offer their own neighbours as candidates, until all of the nearest have done so.

Nothing depends on the other new rows: a row has the same candidates alone or among a thousand, on any number of threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.graph.candidates import add_number, distance_within
from sce.graph.kernels import comes_before
from sce.graph.sketch import Directions, project_singly
from sce.graph.trees import Splits, Tree, grow_side_by_side, grow_tree_with_splits, heights_of, tree_keys

_ROUTE_CHUNK_ROWS = 1 << 14  # new rows that are sorted by their leaves
_ROUTE_TASK_ROWS = 128  # new rows a thread takes at once
_MAX_OFFERS = 8  # times the length of the list: candidates that may offer their neighbours, as nearer ones turn up


class Routes(NamedTuple):
    """The trees of a forest for new rows to descend.

    `roots` has the first node of each tree. Nodes, leaves and places in `order` are numbered across all trees: leaf t has
    the rows order[starts[t] : starts[t + 1]]; for the rest see :class:`sce.graph.trees.Splits`.
    """

    roots: np.ndarray
    directions: np.ndarray
    thresholds: np.ndarray
    children: np.ndarray
    starts: np.ndarray
    order: np.ndarray


class Network(NamedTuple):
    """Indexed rows Z, the trees over them, and the neighbours of each (-1 for none)."""

    Z: np.ndarray
    routes: Routes
    links: np.ndarray


class Spaces(NamedTuple):
    """The directions from full rows to Z, and from there to the columns that decide the splits.

    None stands for no change; if the splits take fewer columns than there are, these are the first.
    """

    sketch: Directions | None
    guide: Directions | None


class Marks(NamedTuple):
    """Of each new row: a copy among the indexed rows, one that counts as absent (-1 for none), and the key for ties."""

    twins: np.ndarray
    absent: np.ndarray
    keys: np.ndarray


class _Asked(NamedTuple):
    """New rows in the columns of Z, their leaf in each tree, and their marks."""

    rows: np.ndarray
    leaves: np.ndarray
    twins: np.ndarray
    absent: np.ndarray
    keys: np.ndarray


class _List(NamedTuple):
    """The nearest rows found so far, nearest first, and whether each has offered its neighbours; `key` decides ties."""

    distances: np.ndarray
    ids: np.ndarray
    offered: np.ndarray
    key: np.uint64


# --------------------------------------------------------------------------------------------------------------- trees


def grow_routes(guides: np.ndarray, count: int, leaf: int, seed: int, team: Team) -> Routes:
    """`count` trees with leaves of at most `leaf` rows, split by these columns."""
    keys = tree_keys(range(count), seed)
    return join_routes(grow_side_by_side(lambda t: grow_tree_with_splits(guides, leaf, keys[t]), count, team))


def join_routes(grown: list[tuple[Tree, Splits]]) -> Routes:
    """Number the nodes and leaves of several trees in one sequence each."""
    n = len(grown[0][0].order)
    roots, children, starts = [], [], []
    nodes = leaves = 0
    for t, (tree, splits) in enumerate(grown):
        own = splits.children
        roots.append(nodes if len(own) else -1 - leaves)
        children.append(np.where(own >= 0, own + nodes, own - leaves).astype(np.int32))
        starts.append(tree.starts[:-1] + t * n)
        nodes += len(own)
        leaves += len(tree.starts) - 1
    return Routes(
        np.array(roots),
        np.concatenate([splits.directions for _, splits in grown]),
        np.concatenate([splits.thresholds for _, splits in grown]),
        np.concatenate(children),
        np.append(np.concatenate(starts), len(grown) * n),
        np.concatenate([tree.order for tree, _ in grown]),
    )


@kernel
def find_leaves(routes: Any, guides: Any, leaves: Any) -> None:
    """Write the leaf that each row ends in, in each tree."""
    row, height = np.zeros(1, np.int64), np.empty(1, guides.dtype)
    for i in range(guides.shape[0]):
        row[0] = i
        for t in range(routes.roots.size):
            node = routes.roots[t]
            while node >= 0:
                heights_of(guides, row, routes.directions[node], height)
                side = 0 if height[0] < routes.thresholds[node] else 1
                node = np.int64(routes.children[node, side])
            leaves[i, t] = -1 - node


# -------------------------------------------------------------------------------------------------------------- search


@kernel
def _precedes(distance: Any, j: Any, near: Any, place: Any) -> Any:
    """Whether j at this distance comes before the row in a place of the list."""
    other = near.distances[place]
    return distance < other or (distance == other and comes_before(near.key, j, near.ids[place]))


@kernel
def _insert(near: Any, distance: Any, j: Any) -> None:
    """Put j into the list in place of the farthest."""
    distances, ids, offered = near.distances, near.ids, near.offered
    place = ids.size - 1
    while place > 0 and _precedes(distance, j, near, place - 1):
        distances[place], ids[place], offered[place] = distances[place - 1], ids[place - 1], offered[place - 1]
        place -= 1
    distances[place], ids[place], offered[place] = distance, j, False


@kernel(fused=True)
def _consider(z: Any, Z: Any, rows: Any, table: Any, near: Any, terms: Any) -> None:
    """Put some rows into the list: those that are not in it yet and come before its farthest."""
    for j in rows:
        if j >= 0 and add_number(table, j):
            distance = distance_within(z, Z[j], near.distances[-1], terms)
            if _precedes(distance, j, near, near.ids.size - 1):
                _insert(near, distance, j)


@kernel
def _table_size(routes: Any, n_links: Any) -> Any:
    """Room for twice as many row numbers as can be candidates of one row, a power of two."""
    most = 0
    for t in range(routes.starts.size - 1):
        most = max(most, routes.starts[t + 1] - routes.starts[t])
    size = 64
    while size < 2 * (routes.roots.size * most + n_links + 2):
        size *= 2
    return size


@kernel(fused=True)
def _search_rows(network: Any, asked: Any, numbers: Any, found: Any, terms: Any) -> None:
    """The candidates of some of the rows, nearest first, as many as `found` has places for."""
    Z, routes, links = network.Z, network.routes, network.links
    width = found.shape[1]
    table = np.empty(_table_size(routes, _MAX_OFFERS * width * links.shape[1]), np.int32)
    distances, offered = np.empty(width, Z.dtype), np.empty(width, np.bool_)
    for i in numbers:
        z, ids = asked.rows[i], found[i]
        table[:], distances[:], offered[:], ids[:] = -1, np.inf, False, -1
        if asked.absent[i] >= 0:
            add_number(table, asked.absent[i])
        near = _List(distances, ids, offered, asked.keys[i])
        _consider(z, Z, asked.twins[i : i + 1], table, near, terms)
        for leaf in asked.leaves[i]:
            rows = routes.order[routes.starts[leaf] : routes.starts[leaf + 1]]
            _consider(z, Z, rows, table, near, terms)
        for _ in range(_MAX_OFFERS * width):
            place = 0
            while place < width and offered[place]:
                place += 1
            if place == width or ids[place] < 0:
                break
            offered[place] = True
            _consider(z, Z, links[ids[place]], table, near, terms)


def _described(routes: Routes, new: np.ndarray, spaces: Spaces, marks: Marks, team: Team) -> _Asked:
    """New rows in the columns of Z, and their leaves."""
    rows = new if spaces.sketch is None else np.empty((len(new), spaces.sketch.axes.shape[1]), np.float32)
    leaves = np.empty((len(new), len(routes.roots)), np.int32)

    def work(start: int, stop: int) -> None:
        if spaces.sketch is not None:
            rows[start:stop] = project_singly(new[start:stop], spaces.sketch)
        guides = rows[start:stop, : routes.directions.shape[1]]
        if spaces.guide is not None:
            guides = project_singly(rows[start:stop], spaces.guide)
        find_leaves(routes, np.ascontiguousarray(guides), leaves[start:stop])

    team.sweep(work, len(new), _ROUTE_TASK_ROWS)
    return _Asked(rows, leaves, *marks)


def candidates_of(
    new: np.ndarray,
    network: Network,
    spaces: Spaces,
    marks: Marks,
    width: int,
    terms: int,
    team: Team,
) -> np.ndarray:
    """Candidates for the neighbours of each new row among the indexed ones, nearest on Z first; -1 for none.

    Parameters
    ----------
    new : array of shape (m, d), of the type of the indexed rows
    network : Network
    spaces : Spaces
    marks : Marks
    width : int
        The number of candidates.
    terms : int
        What is summed over the columns: see :class:`sce.graph.metrics.Metric`.
    team : Team
    """
    found = np.empty((len(new), width), np.int32)
    for first in range(0, len(new), _ROUTE_CHUNK_ROWS):
        chunk = slice(first, first + _ROUTE_CHUNK_ROWS)
        asked = _described(network.routes, new[chunk], spaces, Marks(*(part[chunk] for part in marks)), team)
        order = np.argsort(asked.leaves[:, 0], kind="stable")  # rows of one leaf read the same memory
        _search_chunk(network, asked, order, found[chunk], terms, team)
    return found


def _search_chunk(
    network: Network, asked: _Asked, order: np.ndarray, found: np.ndarray, terms: int, team: Team
) -> None:
    def work(start: int, stop: int) -> None:
        _search_rows(network, asked, order[start:stop], found, terms)

    team.sweep(work, len(order), _ROUTE_TASK_ROWS)
