"""The exact minimum spanning tree of points in one to three dimensions, by mutual reachability.

The mutual reachability of two points is the largest of their distance and their two core distances; a core distance is the
distance to the `min_samples`-th nearest point, counting the point itself. Borůvka's method: in every round each part of the
forest is joined to the nearest other part, which is searched for in a k-d tree; subtrees within the same part, or farther
away than the best edge of the part so far, are skipped. All distances are squared.

Ties are frequent, because several edges share a core distance, so there are many minimum trees. Which of them is found may
depend on the timing of threads; the weights do not, nor do the parts that all edges up to a given weight form.

The libraries that :mod:`sce.clusters.hdbscan` is compared with spend their time on this tree. scikit-learn computes all pairs
of distances; hdbscan's default tree is approximate, which puts 1,835 of 200,000 points of a mixture into another cluster (30
with its exact tree, because of ties).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.graph.copies import Copies, find_copies

_KD_LEAF_POINTS = 16  # at most
_TREE_POINTS_PER_TASK = 8192  # that a thread takes at a time
_NEIGHBOURS_PER_TASK = 1_000_000  # that a query holds in memory at most


class Edges(NamedTuple):
    """The n - 1 edges of a tree over n rows: the two rows and the squared weight."""

    a: np.ndarray
    b: np.ndarray
    weight: np.ndarray


class _Boxes(NamedTuple):
    """A complete binary tree over points in k-d order: node i has the children 2 i + 1 and 2 i + 2.

    `starts`: where each leaf starts (and where the last one stops). `corners`: the least and greatest coordinates within each
    node. `core`: the least core distance within each node. `part`: the part that all points of a node are in, or -1.
    """

    starts: np.ndarray
    corners: np.ndarray
    core: np.ndarray
    part: np.ndarray


class _Forest(NamedTuple):
    """The state between rounds.

    `part`: the part of each point. `near`: the nearest point in another part, or -1 if it is not known. `least`: the weight
    of that edge, or a lower bound of it.
    """

    part: np.ndarray
    near: np.ndarray
    least: np.ndarray


def spanning_tree(Y: np.ndarray, min_samples: int, team: Team) -> Edges:
    """The edges of a minimum spanning tree of the rows of Y by mutual reachability, lightest first.

    Parameters
    ----------
    Y : array of shape (n, d)
        Finite numbers whose squares are finite, too.
    min_samples : int
        The rank of the neighbour that defines the core distance, counting the point itself.
    team : Team
        The threads to use.

    Returns
    -------
    Edges

    Examples
    --------
    >>> spanning_tree(np.array([[0.0], [5.0], [1.0]]), 1, Team(1)).weight
    array([ 1., 16.])
    """
    copies = find_copies(Y, team)
    first = copies.order[copies.starts[:-1]]
    points = Y[first].astype(np.float64)
    order, core = _core_distances(points, np.diff(copies.starts), min_samples, team)
    tree = _boruvka(points[order], core[order], team)
    rows = first[order]
    joined = _copy_edges(copies, core)
    edges = [np.concatenate(pair) for pair in zip((rows[tree.a], rows[tree.b], tree.weight), joined, strict=True)]
    lightest = np.argsort(edges[2], kind="stable")
    return Edges(*(column[lightest] for column in edges))


def _core_distances(
    points: np.ndarray, sizes: np.ndarray, min_samples: int, team: Team
) -> tuple[np.ndarray, np.ndarray]:
    """A k-d order of distinct points, and their squared core distances; each point stands for `sizes` copies."""
    from scipy.spatial import cKDTree

    n = len(points)
    tree = cKDTree(points, leafsize=_KD_LEAF_POINTS)
    order = np.array(tree.indices, dtype=np.int64)
    core = np.empty(n)
    wanted = min(min_samples, int(sizes.sum()))
    k = min(wanted, n)

    def work(start: int, stop: int) -> None:
        rows = order[start:stop]
        near = tree.query(points[rows], list(range(1, k + 1)))[1]
        last = (np.cumsum(sizes[near], axis=1) >= wanted).argmax(axis=1)
        last_near = near[np.arange(len(rows)), last]
        core[rows] = _squared(points[rows], points[last_near])

    team.sweep(work, n, max(1, min(_TREE_POINTS_PER_TASK, _NEIGHBOURS_PER_TASK // k)))
    return order, core


def _squared(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Squared distances of rows, summed in the same order as in the kernels, so that equal distances stay equal."""
    total = np.zeros(len(a))
    for c in range(a.shape[1]):
        total += (a[:, c] - b[:, c]) ** 2
    return total


def _copy_edges(copies: Copies, core: np.ndarray) -> Edges:
    """Edges from the first of each group of equal rows to the others: these rows have no lighter edge."""
    others = np.flatnonzero(copies.rank > 0)
    group = copies.group[others]
    return Edges(copies.order[copies.starts[group]], others, core[group])


def _boruvka(points: np.ndarray, core: np.ndarray, team: Team) -> Edges:
    """The spanning tree of distinct points in k-d order; core distances and weights are squared."""
    n = len(points)
    edges = Edges(np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1))
    boxes = _make_boxes(points, core)
    forest = _Forest(np.arange(n), np.full(n, -1), core.copy())
    done = 0
    while done < n - 1:
        bound = np.full(n, np.inf)
        _begin_round(boxes, forest, bound)

        def work(start: int, stop: int, bound: np.ndarray = bound) -> None:
            _search(points, core, boxes, forest, bound, start, stop)

        team.sweep(work, n, _TREE_POINTS_PER_TASK)
        done = _join(forest, edges, done)
    return edges


def _make_boxes(points: np.ndarray, core: np.ndarray) -> _Boxes:
    """Halve the points repeatedly, as a balanced k-d tree does, and enclose each half in a box."""
    n, d = points.shape
    starts = np.array([0, n])
    while n > _KD_LEAF_POINTS * (len(starts) - 1):
        middles = starts[:-1] + np.diff(starts) // 2
        starts = np.append(np.column_stack([starts[:-1], middles]).ravel(), n)
    leaves = len(starts) - 1
    corners = np.empty((2 * leaves - 1, 2, d))
    least = np.empty(2 * leaves - 1)
    corners[leaves - 1 :, 0] = np.minimum.reduceat(points, starts[:-1])
    corners[leaves - 1 :, 1] = np.maximum.reduceat(points, starts[:-1])
    least[leaves - 1 :] = np.minimum.reduceat(core, starts[:-1])
    while leaves > 1:
        below = slice(leaves - 1, 2 * leaves - 1)
        leaves //= 2
        here = slice(leaves - 1, 2 * leaves - 1)
        corners[here, 0] = corners[below, 0].reshape(leaves, 2, d).min(axis=1)
        corners[here, 1] = corners[below, 1].reshape(leaves, 2, d).max(axis=1)
        least[here] = least[below].reshape(leaves, 2).min(axis=1)
    return _Boxes(starts, corners, least, np.empty(len(least), np.int64))


@kernel
def _begin_round(boxes: Any, forest: Any, bound: Any) -> None:
    """Mark the boxes that lie within one part, and bound each part's lightest edge by the edges still known."""
    leaves = boxes.starts.size - 1
    for leaf in range(leaves):
        start, stop = boxes.starts[leaf], boxes.starts[leaf + 1]
        same = forest.part[start]
        for p in range(start, stop):
            part, near = forest.part[p], forest.near[p]
            if part != same:
                same = -1
            if near >= 0 and forest.part[near] == part:
                forest.near[p] = -1
            elif near >= 0:
                bound[part] = min(bound[part], forest.least[p])
        boxes.part[leaves - 1 + leaf] = same
    for i in range(leaves - 2, -1, -1):
        left, right = boxes.part[2 * i + 1], boxes.part[2 * i + 2]
        boxes.part[i] = left if left == right else -1


@kernel
def _outside(point: Any, corners: Any) -> Any:
    """The squared distance of a point from a box."""
    total = 0.0
    for c in range(point.size):
        gap = max(corners[0, c] - point[c], point[c] - corners[1, c], 0.0)
        total += gap * gap
    return total


@kernel
def _search(points: Any, core: Any, boxes: Any, forest: Any, bound: Any, start: Any, stop: Any) -> None:
    """Find the nearest point in another part for each point from start to stop, unless its part has a lighter edge already.

    `bound`, the lightest edge of each part so far, is shared by all threads. A lost update makes a search longer but changes
    nothing, because `limit` never increases during a search.
    """
    leaves = boxes.starts.size - 1
    nodes, heights = np.empty(128, np.int64), np.empty(128)
    for p in range(start, stop):
        part = forest.part[p]
        limit = bound[part]
        if forest.near[p] >= 0 or forest.least[p] > limit:
            continue
        best, near = np.inf, -1
        nodes[0], heights[0] = 0, core[p]
        depth = 1
        while depth > 0 and best > core[p]:
            depth -= 1
            node = nodes[depth]
            if heights[depth] >= best or heights[depth] > limit or boxes.part[node] == part:
                continue
            if node < leaves - 1:
                left, right = 2 * node + 1, 2 * node + 2
                a, b = _outside(points[p], boxes.corners[left]), _outside(points[p], boxes.corners[right])
                if a < b:
                    left, right, a, b = right, left, b, a
                nodes[depth], heights[depth] = left, max(a, boxes.core[left], core[p])
                nodes[depth + 1], heights[depth + 1] = right, max(b, boxes.core[right], core[p])
                depth += 2
                continue
            for q in range(boxes.starts[node - leaves + 1], boxes.starts[node - leaves + 2]):
                if forest.part[q] != part:
                    weight = max(core[p], core[q])
                    squared = 0.0
                    for c in range(points.shape[1]):
                        squared += (points[p, c] - points[q, c]) ** 2
                    weight = max(weight, squared)
                    if weight < best:
                        best, near = weight, q
            limit = min(limit, bound[part])
            if best < limit:
                limit = bound[part] = best
        forest.least[p] = min(best, limit)
        if best <= limit:
            forest.near[p] = near


@kernel
def find_root(parent: Any, i: Any) -> Any:
    """The root of i; shortens the path to it."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def _join(forest: Any, edges: Any, done: Any) -> Any:
    """Add the lightest edge found for each part, unless it closes a cycle (of equal edges); returns the number of edges."""
    n = forest.part.size
    chosen, parent = np.full(n, -1), np.arange(n)
    for p in range(n):
        part = forest.part[p]
        if forest.near[p] >= 0 and (chosen[part] < 0 or forest.least[p] < forest.least[chosen[part]]):
            chosen[part] = p
    for part in range(n):
        p = chosen[part]
        if p < 0:
            continue
        q = forest.near[p]
        a, b = find_root(parent, part), find_root(parent, forest.part[q])
        if a != b:
            parent[max(a, b)] = min(a, b)
            edges.a[done], edges.b[done], edges.weight[done] = p, q, forest.least[p]
            done += 1
    for p in range(n):
        forest.part[p] = find_root(parent, forest.part[p])
    return done
