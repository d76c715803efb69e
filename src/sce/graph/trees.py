"""Random-projection trees: rows that are near one another mostly end in the same leaf.

A tree splits the rows at the median along the direction of a random pair, again and again. Every draw is a function of
the seed, the tree's number and the node's, so trees may be grown in any order and on any thread. A tree that new rows
are to descend also keeps its splits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.core.random import below, below_low, bits, bits_array, stream

_T = TypeVar("_T")
_MEDIAN_SAMPLE_ROWS = 255  # of which the median is taken where a node has more


class Tree(NamedTuple):
    """The rows (n) in the order of the leaves, and where each leaf starts (and the last one stops)."""

    order: np.ndarray
    starts: np.ndarray


class Splits(NamedTuple):
    """The inner nodes of a tree, the root first.

    Rows whose product with directions[i] is below thresholds[i] are under node children[i, 0], the others under
    children[i, 1]; the number -1 - t stands for leaf t. Rows at the threshold may be on either side.
    """

    directions: np.ndarray
    thresholds: np.ndarray
    children: np.ndarray


@kernel
def _nth(values: Any, n: Any) -> Any:
    """The n-th smallest of some values, which are re-ordered (Hoare's selection)."""
    low, high = 0, values.size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if n <= j:
            high = j
        elif n >= i:
            low = i
        else:
            return values[n]
    return values[n]


@kernel(fused=True)
def _direction(Z: Any, rows: Any, key: Any, v: Any) -> None:
    """The difference of a random pair of the rows; several attempts, because two copies have none."""
    for attempt in range(5):
        random = bits(key, np.uint64(attempt))
        a, b = Z[rows[below(random, rows.size)]], Z[rows[below_low(random, rows.size)]]
        apart = False
        for c in range(v.size):
            v[c] = a[c] - b[c]
            apart |= v[c] != 0
        if apart:
            return


@kernel(fused=True)
def heights_of(Z: Any, rows: Any, v: Any, out: Any) -> None:
    """The scalar product of each row with v, in four sums side by side."""
    for i in range(rows.size):
        z = Z[rows[i]]
        s0 = s1 = s2 = s3 = np.float32(0)
        for c in range(0, v.size, 4):
            a, b = z[c : c + 4], v[c : c + 4]
            s0, s1, s2, s3 = s0 + a[0] * b[0], s1 + a[1] * b[1], s2 + a[2] * b[2], s3 + a[3] * b[3]
        out[i] = (s0 + s2) + (s1 + s3)


@kernel
def _threshold(heights: Any, key: Any) -> Any:
    """The median of the heights, or of a sample of them where there are many."""
    size = min(heights.size, _MEDIAN_SAMPLE_ROWS)
    sample = np.empty(size, heights.dtype)
    for i in range(size):
        sample[i] = heights[i] if size == heights.size else heights[below(bits(key, np.uint64(100 + i)), heights.size)]
    return _nth(sample, size // 2)


@kernel
def _partition(rows: Any, heights: Any, threshold: Any, spare: Any) -> Any:
    """Move rows below the threshold to the front; those at it fill up the front half. Returns the size of the front.

    Where all rows are at the threshold (copies) they are halved, so that splitting ends. Each part keeps its order, so
    that memory is read nearly in sequence.
    """
    n_below = 0
    for i in range(rows.size):
        n_below += heights[i] < threshold
    equals = max(0, rows.size // 2 - n_below)
    front = back = 0
    for i in range(rows.size):
        left = heights[i] < threshold
        if heights[i] == threshold and equals > 0:
            left = True
            equals -= 1
        if left:
            rows[front] = rows[i]
            front += 1
        else:
            spare[back] = rows[i]
            back += 1
    rows[front:] = spare[:back]
    return front


@kernel
def _grow(Z: Any, leaf: Any, key: Any, order: Any, starts: Any, splits: Any) -> Any:
    """Split the rows in `order` down to leaves of at most `leaf` rows; returns their number.

    The splits are written down if there is room for them.
    """
    n = order.size
    heights, spare = np.empty(n, Z.dtype), np.empty(n, np.int32)
    v = np.zeros(Z.shape[1], Z.dtype)
    stack = np.empty((64 + n // leaf, 4), np.int64)  # first row, end, parent, side
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, n, -1
    depth, node, leaves = 1, 0, 0
    while depth > 0:
        depth -= 1
        start, stop, parent, side = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        is_leaf = stop - start <= leaf
        if splits.children.shape[0] > 0 and parent >= 0:
            splits.children[parent, side] = -1 - leaves if is_leaf else node
        if is_leaf:
            starts[leaves] = start
            leaves += 1
            continue
        node_key = bits(key, np.uint64(node))
        rows = order[start:stop]
        _direction(Z, rows, node_key, v)
        heights_of(Z, rows, v, heights[: rows.size])
        threshold = _threshold(heights[: rows.size], node_key)
        middle = start + _partition(rows, heights[: rows.size], threshold, spare)
        if splits.children.shape[0] > 0:
            splits.directions[node] = v
            splits.thresholds[node] = threshold
        for half in range(2):  # the left one last, so that it is split first
            stack[depth + half, 0] = start if half else middle
            stack[depth + half, 1] = middle if half else stop
            stack[depth + half, 2], stack[depth + half, 3] = node, 1 - half
        node += 1
        depth += 2
    return leaves


def _room(n: int, Z: np.ndarray) -> Splits:
    """Memory for n splits of the rows of Z; the system provides only the pages that are written."""
    return Splits(np.empty((n, Z.shape[1]), Z.dtype), np.empty(n, Z.dtype), np.empty((n, 2), np.int32))


def grow_tree(Z: np.ndarray, leaf: int, key: np.uint64) -> Tree:
    """One tree over all rows of Z, with leaves of at most `leaf` rows."""
    return _grown(Z, leaf, key, _room(0, Z))


def grow_tree_with_splits(Z: np.ndarray, leaf: int, key: np.uint64) -> tuple[Tree, Splits]:
    """The same tree, and its splits."""
    splits = _room(len(Z), Z)
    tree = _grown(Z, leaf, key, splits)
    nodes = len(tree.starts) - 2
    return tree, Splits(*(part[:nodes].copy() for part in splits))


def _grown(Z: np.ndarray, leaf: int, key: np.uint64, splits: Splits) -> Tree:
    order = np.arange(len(Z), dtype=np.int32)
    starts = np.empty(len(Z) + 1, np.int64)
    n_leaves = _grow(Z, leaf, key, order, starts, splits)
    return Tree(order, np.append(starts[:n_leaves], len(Z)))


def tree_keys(numbers: range, seed: int) -> np.ndarray:
    """The keys of the trees with these numbers."""
    return bits_array(stream(seed, "forest"), len(numbers), numbers.start)


def grow_trees(Z: np.ndarray, numbers: range, leaf: int, seed: int, team: Team) -> list[Tree]:
    """The trees with these numbers, grown side by side, so that all threads are busy at the upper levels, too."""
    keys = tree_keys(numbers, seed)
    return grow_side_by_side(lambda t: grow_tree(Z, leaf, keys[t]), len(numbers), team)


def grow_side_by_side(grow: Callable[[int], _T], count: int, team: Team) -> list[_T]:
    """The results of grow(0), ..., grow(count - 1), each called by the next free thread."""
    grown: dict[int, _T] = {}

    def work(start: int, stop: int) -> None:
        for t in range(start, stop):
            grown[t] = grow(t)

    team.sweep(work, count, 1, share=1.0)
    return [grown[t] for t in range(count)]
