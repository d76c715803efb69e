"""The sampler's kernel: the tasks of block-stratified stochastic gradient descent.

A step of Algorithm 1 draws a pair from P and pulls it together, and draws a uniform pair and pushes it apart::

    attraction   y_i -= 2 eta q (y_i - y_j),        y_j += the same     (i, j) ~ P
    repulsion    y_i += 2 eta r q^2 (y_i - y_j),    y_j -= the same     (i, j) ~ uniform, or ~ w_i w_j

with q = 1 / (1 + |y_i - y_j|^2). A task makes its share of the draws of both kinds in runs of up to DRAWS_IN_A_ROW, the two
kinds taking turns. Attraction takes the next edges of the task's bucket, which are in random order. A run of repulsion takes
consecutive points of one block against consecutive points of the other from a random place on: each single pair is uniform,
and a run is computed on vector registers (core/simd.py), in pieces in which no point occurs twice.

Sums are in float64 and arithmetic is in the order written, without fused operations: the same bytes on any CPU.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.random import LOW, below, below_low, bits, unit
from sce.core.simd import LANES, pull_pair, push_eights
from sce.layout.sampler.blocks import _bucket_number

DRAWS_IN_A_ROW = 128  # draws of a kind in a row


# Columns of a task's sums.
SUM_Q_P, SUM_LOG, COUNT_P, SUM_Q_U, COUNT_U = range(5)


class Bucket(NamedTuple):
    """The edges between two blocks, and what it takes to draw them and pairs of their points."""

    edges: (
        np.ndarray
    )  # (E, 2) uint16, places in the first and second block; (E, 4), with the alias edge, for a weighted P
    keep: np.ndarray  # (E) uint32: take the alias edge unless a random number is below; empty for a 0/1 graph
    attraction: float  # the share of P
    repulsion: float  # the share of pairs i != j, weighted by w_i w_j


class Points(NamedTuple):
    """The points of a block."""

    Y: np.ndarray  # flat: the coordinates of the first point, then those of the second, and so on
    alias: np.ndarray  # uint16: the alias of each place; empty where points weigh the same
    keep: np.ndarray  # uint32: take the alias unless a random number is below


class Task(NamedTuple):
    """All that a task needs besides the lap: two blocks of points, their bucket, and the key of its random numbers."""

    first: Points
    second: Points
    same: bool  # whether both are the same block
    bucket: Bucket
    key: np.uint64


@kernel
def run_tasks(Y: Any, blocks: Any, lap: Any, tasks: Any, part: Any, axes: Any, sums: Any) -> None:
    """Run tasks part[0], ..., part[1] - 1 of the order: move the points of Y, write each task's sums.

    Y is flat: the coordinates of the first point, then those of the second, and so on. `axes` is (0, 1) or (0, 1, 2): its
    length, which the compiler knows, is the number of dimensions.
    """
    scratch = np.empty((3, DRAWS_IN_A_ROW * len(axes)), np.float32)
    for t in range(part[0], part[1]):
        sums[t, :] = 0.0
        run_task(make_task(Y, blocks, lap.key, tasks[t, 0], tasks[t, 1], axes), lap, axes, scratch, sums[t])


@kernel
def make_task(Y: Any, blocks: Any, key: Any, a: Any, b: Any, axes: Any) -> Any:
    """The task of blocks a and b: slices of all arrays, nothing copied."""
    number = _bucket_number(a, b, blocks.starts.size - 1)
    lo, hi = blocks.buckets[number], blocks.buckets[number + 1]
    bucket = Bucket(blocks.edges[lo:hi], blocks.keep[lo:hi], blocks.attraction[number], blocks.repulsion[number])
    return Task(
        points_of(Y, blocks, a, axes), points_of(Y, blocks, b, axes), a == b, bucket, bits(key, np.uint64(number))
    )


@kernel
def points_of(Y: Any, blocks: Any, block: Any, axes: Any) -> Any:
    """The points of a block; where points weigh the same, the slices of the alias table are empty."""
    d, lo, hi = len(axes), blocks.starts[block], blocks.starts[block + 1]
    return Points(Y[d * lo : d * hi], blocks.point_alias[lo:hi], blocks.point_keep[lo:hi])


@kernel
def run_task(task: Any, lap: Any, axes: Any, scratch: Any, sums: Any) -> None:
    """One task: the attractions and repulsions of two blocks, in turns."""
    key = bits(task.key, np.uint64(lap.number + 3))  # task.key is a stream for all laps, this is one for the lap
    edges = task.bucket.edges
    pulls = lap.steps * task.bucket.attraction
    pushes = lap.steps * lap.n_repulsive * task.bucket.repulsion
    done, n_pulls = draws(lap.number, pulls, unit(bits(task.key, np.uint64(0))))
    _, n_pushes = draws(lap.number, pushes, unit(bits(task.key, np.uint64(1))))
    place = 0
    if edges.shape[0] > 0:
        place = (below(bits(task.key, np.uint64(2)), edges.shape[0]) + done) % edges.shape[0]
    else:
        n_pulls = 0
    turns = (max(n_pulls, n_pushes) + DRAWS_IN_A_ROW - 1) // DRAWS_IN_A_ROW
    A, B = task.first.Y, task.second.Y
    for turn in range(turns):
        n = n_pulls // turns + (turn < n_pulls % turns)
        turn_key = bits(key, np.uint64(2 * turn))
        place = attract(A, B, edges, task.bucket.keep, place, n, lap.attraction, turn_key, axes, sums)
        n = n_pushes // turns + (turn < n_pushes % turns)
        turn_key = bits(key, np.uint64(2 * turn + 1))
        if task.first.keep.size > 0:
            repel_weighted(task, n, lap, turn_key, axes, sums)
        else:
            sums[SUM_Q_U] += repel(A, B, task.same, n, lap, turn_key, axes, scratch)
            sums[COUNT_U] += n
    sums[COUNT_P] = n_pulls


@kernel
def draws(lap: Any, share: Any, phase: Any) -> Any:
    """Draws made before this lap, and draws to make in it, at `share` draws a lap, rounded so that none is lost."""
    before = np.int64(lap * share + phase)
    return before, np.int64((lap + 1) * share + phase) - before


@kernel
def attract(
    A: Any, B: Any, edges: Any, keep: Any, place: Any, n: Any, gain: Any, key: Any, axes: Any, sums: Any
) -> Any:
    """Pull the ends of n edges together, from a place in the bucket on; returns the next place."""
    total, logarithms, product = 0.0, 0.0, 1.0
    one = np.float32(1.0)
    for k in range(n):
        column = 0
        if keep.size > 0 and np.uint32(bits(key, np.uint64(k)) & LOW) >= keep[place]:
            column = 2
        i, j = np.uint64(edges[place, column]), np.uint64(edges[place, column + 1])
        place = place + 1 if place + 1 < edges.shape[0] else 0
        u = pull_pair(A, B, i, j, gain) if len(axes) == 2 else pull(A, B, i, j, gain, axes)
        total += one / u
        product *= u
        if product > 1e250:  # one logarithm for many factors: u <= 1e38, so that there is no overflow
            logarithms += math.log(product)
            product = 1.0
    sums[SUM_Q_P] += total
    sums[SUM_LOG] += logarithms + math.log(product)
    return place


@kernel
def pull(A: Any, B: Any, i: Any, j: Any, gain: Any, axes: Any) -> Any:
    """Pull points i of A and j of B together; returns 1 + the square of their distance before."""
    d, u = np.uint64(len(axes)), np.float32(1.0)
    i, j = d * i, d * j
    for axis in axes:
        gap = A[i + np.uint64(axis)] - B[j + np.uint64(axis)]
        u += gap * gap
    g = gain * (np.float32(1.0) / u)
    for axis in axes:
        move = g * (A[i + np.uint64(axis)] - B[j + np.uint64(axis)])
        A[i + np.uint64(axis)] -= move
        B[j + np.uint64(axis)] += move
    return u


@kernel
def repel(A: Any, B: Any, same: Any, n: Any, lap: Any, key: Any, axes: Any, scratch: Any) -> Any:
    """Push n uniform pairs of A x B apart, in runs of consecutive points; returns the sum of their q."""
    n_a, n_b = A.size // len(axes), B.size // len(axes)
    done = 0
    counter = np.uint64(0)
    total = 0.0
    while done < n:
        random = bits(key, counter)
        counter += np.uint64(1)
        i = below(random, n_a)
        run = min(n - done, DRAWS_IN_A_ROW, n_a, n_b)
        apart = (
            run  # points of a piece must differ: within one block, the piece is no longer than the way between its ends
        )
        if same:
            shift = 1 + below_low(random, n_a - 1)
            j = (i + shift) % n_a
            apart = min(shift, n_a - shift)
        else:
            j = below_low(random, n_b)
        left = run
        while left > 0:  # a piece up to the end of a block, where the run goes on from its start
            m = min(left, apart, n_a - i, n_b - j)
            eights = m - m % LANES if len(axes) == 2 else 0
            total += push_eights(A, B, i, j, eights, lap.repulsion, lap.limit)
            push(A, B, np.uint64(i + eights), np.uint64(j + eights), np.uint64(m - eights), lap, axes, scratch)
            total += add_up(scratch[1], m - eights)
            i = i + m if i + m < n_a else 0
            j = j + m if j + m < n_b else 0
            left -= m
        done += run
    return total


@kernel
def push(A: Any, B: Any, i: Any, j: Any, n: Any, lap: Any, axes: Any, scratch: Any) -> None:
    """Push points i + k of A and j + k of B apart for k < n, all different points; leaves q in row 1 of scratch.

    The loops are written so that the compiler vectorises them: each runs over consecutive numbers, and indices are unsigned, so
    they cannot count from the end.
    """
    gain, limit, one = lap.repulsion, lap.limit, np.float32(1.0)
    d = np.uint64(len(axes))
    i, j = d * i, d * j
    for k in range(d * n):
        scratch[0, k] = A[i + k] - B[j + k]
    for k in range(n):
        u = one
        for axis in axes:
            u += scratch[0, d * k + np.uint64(axis)] * scratch[0, d * k + np.uint64(axis)]
        q = one / u
        scratch[1, k] = q
        for axis in axes:
            scratch[2, d * k + np.uint64(axis)] = gain * q * q
    for k in range(d * n):
        move = scratch[2, k] * scratch[0, k]
        move = min(limit, move)
        move = max(-limit, move)
        scratch[0, k] = move
        A[i + k] += move
    for k in range(d * n):
        B[j + k] -= scratch[0, k]


@kernel
def add_up(values: Any, n: Any) -> Any:
    """The sum of the first n values, in float64, in four lanes."""
    s0 = s1 = s2 = s3 = 0.0
    whole = n - n % 4
    for k in range(0, whole, 4):
        s0 += values[k]
        s1 += values[k + 1]
        s2 += values[k + 2]
        s3 += values[k + 3]
    for k in range(whole, n):
        s0 += values[k]
    return (s0 + s1) + (s2 + s3)


@kernel
def repel_weighted(task: Any, n: Any, lap: Any, key: Any, axes: Any, sums: Any) -> None:
    """Push apart n pairs drawn in proportion to w_i w_j, one by one; a point is never pushed from itself."""
    A, B = task.first.Y, task.second.Y
    one = np.float32(1.0)
    for k in range(n):
        i = weighted_place(task.first, bits(key, np.uint64(2 * k)))
        j = weighted_place(task.second, bits(key, np.uint64(2 * k + 1)))
        if task.same and i == j:
            continue
        i, j = len(axes) * i, len(axes) * j
        u = one
        for axis in axes:
            u += (A[i + axis] - B[j + axis]) * (A[i + axis] - B[j + axis])
        q = one / u
        g = lap.repulsion * q * q
        for axis in axes:
            step = min(max(g * (A[i + axis] - B[j + axis]), -lap.limit), lap.limit)
            A[i + axis] += step
            B[j + axis] -= step
        sums[SUM_Q_U] += q
        sums[COUNT_U] += 1


@kernel
def weighted_place(points: Any, random: Any) -> Any:
    """A place in a block, drawn in proportion to the weights of its points."""
    place = below(random, points.keep.size)
    if np.uint32(random & LOW) < points.keep[place]:
        return place
    return np.int64(points.alias[place])
