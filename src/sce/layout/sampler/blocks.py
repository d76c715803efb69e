"""Points in blocks, edges in buckets: an order of work in which two threads never touch the same point.

The points are put in an order (order.py) and cut into B contiguous blocks, B a power of two; the edges of P, each once, go
into one bucket per unordered pair of blocks. In a lap every pair of blocks has one task, which owns both blocks. The tasks
have one fixed order, made by halving: first the tasks within the first half of the blocks, then those within the second half,
then those across, the quarters in such an order that adjacent parts share no block. So any number of threads can take parts of
the order side by side, a phase at a time, and get the very same result as one thread. (Stratified SGD for matrix factorisation
works the same way.) B depends on the number of points alone, never on the number of threads.

Inside a bucket the edges are shuffled once, and a task takes the next edges of its bucket from where the last lap stopped. A
weighted P is sampled in proportion to P by Walker's alias method: a place in the bucket names two edges and a threshold, and
each visit takes one of the two, so weighted buckets are read in sequence, too.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.core.random import below, bits, stream
from sce.layout.sampler.order import order_points

BLOCK_SIZE = 32_768  # points: two blocks of float32 coordinates fit in 512 KiB of cache, and places in 16 bits
RANDOM_BLOCKS = 16  # enough for 8 threads; up to here the coordinates fit in the cache, and blocks are random
SMALLEST_BLOCK = 256  # points: smaller blocks are all overhead


class Blocks(NamedTuple):
    """All blocks and buckets as plain arrays: the constant state of the sampler."""

    starts: np.ndarray  # (B + 1) int64: the first point of each block
    buckets: np.ndarray  # (B (B + 1) / 2 + 1) int64: the first edge of each bucket
    edges: np.ndarray  # (E, 2) uint16: places in block a and block b; (E, 4), with the alias edge, for a weighted P
    keep: np.ndarray  # (E) uint32: take the alias edge unless a random number is below; empty for a 0/1 graph
    attraction: np.ndarray  # (buckets) float64: the share of P in each bucket
    repulsion: np.ndarray  # (buckets) float64: the share of pairs i != j, weighted by w_i w_j, in each bucket
    point_alias: np.ndarray  # (N) uint16: the alias of a place in its own block; empty where points weigh the same
    point_keep: np.ndarray  # (N) uint32


def count_blocks(n_points: int) -> int:
    """The number of blocks, a power of two, for this many points.

    Examples
    --------
    >>> count_blocks(1797), count_blocks(70_000), count_blocks(11_000_000)
    (4, 16, 512)
    """
    few = min(RANDOM_BLOCKS, max(2, n_points // SMALLEST_BLOCK))
    small = 1 << (few.bit_length() - 1)  # rounded down
    large = 1 << (-(-n_points // BLOCK_SIZE) - 1).bit_length()  # rounded up
    return max(small, large)


def bucket_number(a: Any, b: Any, n_blocks: Any) -> Any:
    """The number of the bucket of blocks a <= b, counted along the rows of the upper triangle."""
    return a * n_blocks - a * (a - 1) // 2 + (b - a)


_bucket_number = kernel(bucket_number)


def schedule(n_blocks: int) -> np.ndarray:
    """The tasks of a lap, pairs of blocks a <= b, in their order.

    Examples
    --------
    >>> schedule(2).tolist()
    [[0, 0], [1, 1], [0, 1]]
    """
    within, across = np.zeros((1, 2), np.int64), np.zeros((1, 2), np.int64)  # of one block; of one with another
    size = 1
    while size < n_blocks:
        within = np.concatenate([within, within + size, across + np.array([0, size])])
        across = np.concatenate([across, across + size, across + np.array([0, size]), across + np.array([size, 0])])
        size *= 2
    return within


Part = tuple[int, int]


def phases(n_blocks: int, n_parts: int) -> list[list[Part]]:
    """The same order cut for several threads: phases of up to n_parts ranges of tasks, which share no block in a phase.

    n_parts is a power of two, at most n_blocks / 2.

    Examples
    --------
    >>> phases(4, 1), phases(4, 2)
    ([[(0, 10)]], [[(0, 3), (3, 6)], [(6, 7), (7, 8)], [(8, 9), (9, 10)]])
    """

    def within(first: int, size: int, parts: int) -> list[list[Part]]:
        if parts == 1:
            return [[(first, first + size * (size + 1) // 2)]]
        half = size // 2
        second, rest = first + half * (half + 1) // 2, first + half * (half + 1)
        return side_by_side(within(first, half, parts // 2), within(second, half, parts // 2)) + across(
            rest, half, parts
        )

    def across(first: int, size: int, parts: int) -> list[list[Part]]:
        if parts == 1:
            return [[(first, first + size * size)]]
        corner = [across(first + k * (size // 2) ** 2, size // 2, parts // 2) for k in range(4)]
        return side_by_side(corner[0], corner[1]) + side_by_side(corner[2], corner[3])

    def side_by_side(left: list[list[Part]], right: list[list[Part]]) -> list[list[Part]]:
        return [a + b for a, b in zip(left, right, strict=True)]

    return within(0, n_blocks, n_parts)


def make_blocks(
    P: sp.csr_matrix,
    team: Team,
    seed: int = 0,
    weights: np.ndarray | None = None,
    places: np.ndarray | None = None,
) -> tuple[Blocks, np.ndarray]:
    """Cut the points into blocks and the edges of P into buckets.

    Parameters
    ----------
    P : csr_matrix
        Symmetric, non-negative, without a diagonal.
    team : Team
        The threads to work with.
    seed : int
        Decides the order of the points and of the edges.
    weights : ndarray of shape (N,), optional
        Point weights w: repulsion draws pairs in proportion to w_i w_j.
    places : ndarray of shape (N, d), optional
        Coordinates; where there are many points, those near one another go into the same block.

    Returns
    -------
    blocks : Blocks
    order : ndarray of shape (N,)
        The points in their new order: row k of the sampler's coordinates belongs to point order[k].
    """
    n = P.shape[0]
    n_blocks = count_blocks(n)
    starts = (n * np.arange(n_blocks + 1, dtype=np.int64)) // n_blocks
    order = order_points(starts, seed, places if n_blocks > RANDOM_BLOCKS else None)
    rank = np.empty(n, np.int32)
    rank[order] = np.arange(n, dtype=np.int32)
    block_of = np.repeat(np.arange(n_blocks, dtype=np.int32), np.diff(starts))
    buckets, places, mass = _fill_buckets(P.indptr, P.indices, P.data, rank, block_of, starts)
    key = stream(seed, "order of edges")
    weighted = P.nnz > 0 and P.data.min() != P.data.max()
    edges = np.empty((len(places), 4 if weighted else 2), np.uint16)
    keep = np.empty(len(places) if weighted else 0, np.uint32)
    totals = np.zeros(len(buckets) - 1)

    def finish(start: int, stop: int) -> None:
        _finish_buckets(buckets, places, mass, key, (start, stop), edges, keep, totals)

    team.sweep(finish, len(buckets) - 1, 64)
    point_alias, point_keep, repulsion = _point_shares(starts, order, weights)
    return Blocks(starts, buckets, edges, keep, totals / totals.sum(), repulsion, point_alias, point_keep), order


@kernel
def _fill_buckets(indptr: Any, indices: Any, data: Any, rank: Any, block_of: Any, starts: Any) -> Any:
    """Sort the upper triangle of P into buckets, by counting: (first edges, places in blocks, masses)."""
    n = rank.size
    n_blocks = starts.size - 1
    firsts = np.zeros(n_blocks * (n_blocks + 1) // 2 + 1, np.int64)
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] > i:
                a, b = block_of[rank[i]], block_of[rank[indices[e]]]
                firsts[_bucket_number(np.int64(min(a, b)), np.int64(max(a, b)), n_blocks) + 1] += 1
    for k in range(firsts.size - 1):
        firsts[k + 1] += firsts[k]
    fill = firsts[:-1].copy()
    places = np.empty((firsts[-1], 2), np.uint16)
    mass = np.empty(firsts[-1], np.float32)
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] > i:
                u, v = rank[i], rank[indices[e]]
                if block_of[u] > block_of[v]:
                    u, v = v, u
                a, b = np.int64(block_of[u]), np.int64(block_of[v])
                bucket = _bucket_number(a, b, n_blocks)
                places[fill[bucket], 0] = u - starts[a]
                places[fill[bucket], 1] = v - starts[b]
                mass[fill[bucket]] = data[e]
                fill[bucket] += 1
    return firsts, places, mass


@kernel
def _finish_buckets(
    buckets: Any, places: Any, mass: Any, key: Any, part: Any, edges: Any, keep: Any, totals: Any
) -> None:
    """Shuffle each bucket, add up its mass, and make its alias table if P is weighted."""
    for bucket in range(part[0], part[1]):
        lo, hi = buckets[bucket], buckets[bucket + 1]
        total = 0.0
        for e in range(lo, hi):
            total += mass[e]
            edges[e, 0], edges[e, 1] = places[e, 0], places[e, 1]
        totals[bucket] = total
        if keep.size > 0 and hi > lo:
            alias = np.empty(hi - lo, np.int64)
            fill_alias(mass[lo:hi], total, keep[lo:hi], alias)
            for e in range(lo, hi):
                edges[e, 2], edges[e, 3] = places[lo + alias[e - lo], 0], places[lo + alias[e - lo], 1]
        # Shuffled last: places that share a heavy alias edge are adjacent in the table, and must not be drawn in a row.
        bucket_key = bits(key, np.uint64(bucket))
        for e in range(hi - 1, lo, -1):  # Fisher and Yates
            f = lo + below(bits(bucket_key, np.uint64(e - lo)), e - lo + 1)
            for column in range(edges.shape[1]):
                edges[e, column], edges[f, column] = edges[f, column], edges[e, column]
            if keep.size > 0:
                keep[e], keep[f] = keep[f], keep[e]


@kernel
def fill_alias(mass: Any, total: Any, keep: Any, alias: Any) -> None:
    """Walker's alias table (Vose's construction): place k is kept with probability keep[k] / 2^32, else alias[k] taken."""
    n = mass.size
    scaled = np.empty(n, np.float64)
    light, heavy = np.empty(n, np.int64), np.empty(n, np.int64)
    n_light = n_heavy = 0
    for k in range(n):
        scaled[k] = mass[k] * (n / total)
        alias[k] = k
        keep[k] = 0xFFFFFFFF
        if scaled[k] < 1.0:
            light[n_light] = k
            n_light += 1
        else:
            heavy[n_heavy] = k
            n_heavy += 1
    while n_light > 0 and n_heavy > 0:
        n_light -= 1
        small, large = light[n_light], heavy[n_heavy - 1]
        keep[small] = np.uint32(min(scaled[small] * 4294967296.0, 4294967295.0))
        alias[small] = large
        scaled[large] -= 1.0 - scaled[small]
        if scaled[large] < 1.0:
            n_heavy -= 1
            light[n_light] = large
            n_light += 1


def _point_shares(
    starts: np.ndarray, order: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Alias tables of the points of each block, and the share of repulsion of each block pair."""
    sizes = np.diff(starts).astype(np.float64)
    if weights is None:
        alias, keep = np.empty(0, np.uint16), np.empty(0, np.uint32)
        own = sizes  # sum of w_i^2
    else:
        w = np.asarray(weights, np.float64)[order]
        alias, keep = np.empty(len(w), np.uint16), np.empty(len(w), np.uint32)
        for lo, hi in pairwise(starts):
            places = np.empty(hi - lo, np.int64)
            fill_alias(w[lo:hi], w[lo:hi].sum(), keep[lo:hi], places)
            alias[lo:hi] = places
        sizes = np.add.reduceat(w, starts[:-1])
        own = np.add.reduceat(w * w, starts[:-1])
    a, b = np.triu_indices(len(sizes))
    pairs = np.where(a == b, sizes[a] ** 2 - (own[a] if weights is None else 0.0), 2.0 * sizes[a] * sizes[b])
    return alias, keep, np.maximum(pairs, 0.0) / (sizes.sum() ** 2 - own.sum())
