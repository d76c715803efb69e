"""The sampler's kernel: the tasks of block-stratified stochastic gradient descent.

A step of Algorithm 1 draws a pair from P and pulls it together, and draws a uniform pair and pushes it apart::

    attraction   y_i -= 2 eta q (y_i - y_j),        y_j += the same     (i, j) ~ P
    repulsion    y_i += 2 eta r q^2 (y_i - y_j),    y_j -= the same     (i, j) ~ uniform, or ~ w_i w_j

with q = 1 / (1 + |y_i - y_j|^2). A task makes its share of the draws of both kinds in runs of up to RUN draws, the two kinds
taking turns. Attraction takes the next edges of the task's bucket, which are in random order. A run of repulsion takes
consecutive points of block a against consecutive points of block b from a random place on: each single pair is
uniform, and a run is computed on vector registers (lanes.py), in pieces in which no point occurs twice.

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

RUN = 128  # draws of a kind in a row


class Epoch(NamedTuple):
    """What one epoch, or one lap of several in an epoch, needs besides the blocks."""

    number: int  # counted from 0
    steps: float  # attractive draws in it, in the mean
    n_repulsive: float  # repulsive draws per attractive one
    attraction: np.float32  # 2 eta
    repulsion: np.float32  # 2 eta r / n_repulsive
    limit: np.float32  # the longest push along an axis
    key: np.uint64  # of the seed


# Columns of a task's sums.
SUM_Q_P, SUM_LOG, COUNT_P, SUM_Q_U, COUNT_U = range(5)


@kernel
def run_tasks(Y: Any, blocks: Any, epoch: Any, tasks: Any, part: Any, axes: Any, sums: Any) -> None:
    """Run tasks part[0], ..., part[1] - 1 of the order: move the points of Y, write each task's sums.

    Y is flat: the coordinates of the first point, then those of the second, and so on. `axes` is (0, 1) or (0, 1, 2): its
    length, which the compiler knows, is the number of dimensions.
    """
    scratch = np.empty((3, RUN * len(axes)), np.float32)
    for t in range(part[0], part[1]):
        sums[t, :] = 0.0
        run_task(Y, blocks, epoch, tasks[t, 0], tasks[t, 1], axes, scratch, sums[t])


@kernel
def run_task(Y: Any, blocks: Any, epoch: Any, a: Any, b: Any, axes: Any, scratch: Any, sums: Any) -> None:
    """One task: the attractions and repulsions of blocks a and b, in turns."""
    bucket = _bucket_number(a, b, blocks.starts.size - 1)
    fixed = bits(epoch.key, np.uint64(bucket))  # a stream for all epochs, and one for this
    key = bits(fixed, np.uint64(epoch.number + 3))
    d = len(axes)
    A = Y[d * blocks.starts[a] : d * blocks.starts[a + 1]]
    B = Y[d * blocks.starts[b] : d * blocks.starts[b + 1]]
    edges = blocks.edges[blocks.buckets[bucket] : blocks.buckets[bucket + 1]]
    keep = blocks.keep[blocks.buckets[bucket] : blocks.buckets[bucket + 1]]
    pulls = epoch.steps * blocks.attraction[bucket]
    pushes = epoch.steps * epoch.n_repulsive * blocks.repulsion[bucket]
    done, n_pulls = draws(epoch.number, pulls, unit(bits(fixed, np.uint64(0))))
    _, n_pushes = draws(epoch.number, pushes, unit(bits(fixed, np.uint64(1))))
    place = 0
    if edges.shape[0] > 0:
        place = (below(bits(fixed, np.uint64(2)), edges.shape[0]) + done) % edges.shape[0]
    else:
        n_pulls = 0
    turns = (max(n_pulls, n_pushes) + RUN - 1) // RUN
    for turn in range(turns):
        n = n_pulls // turns + (turn < n_pulls % turns)
        place = attract(A, B, edges, keep, place, n, epoch.attraction, bits(key, np.uint64(2 * turn)), axes, sums)
        n = n_pushes // turns + (turn < n_pushes % turns)
        turn_key = bits(key, np.uint64(2 * turn + 1))
        if blocks.point_keep.size > 0:
            repel_weighted(A, B, blocks, a, b, n, epoch, turn_key, axes, sums)
        else:
            sums[SUM_Q_U] += repel(A, B, a == b, n, epoch, turn_key, axes, scratch)
            sums[COUNT_U] += n
    sums[COUNT_P] = n_pulls


@kernel
def draws(epoch: Any, share: Any, phase: Any) -> Any:
    """Draws made before this epoch, and draws to make in it, at `share` draws an epoch, rounded so that none is lost."""
    before = np.int64(epoch * share + phase)
    return before, np.int64((epoch + 1) * share + phase) - before


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
def repel(A: Any, B: Any, same: Any, n: Any, epoch: Any, key: Any, axes: Any, scratch: Any) -> Any:
    """Push n uniform pairs of A x B apart, in runs of consecutive points; returns the sum of their q."""
    n_a, n_b = A.size // len(axes), B.size // len(axes)
    done = 0
    counter = np.uint64(0)
    total = 0.0
    while done < n:
        random = bits(key, counter)
        counter += np.uint64(1)
        i = below(random, n_a)
        run = min(n - done, RUN, n_a, n_b)
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
            total += push_eights(A, B, i, j, eights, epoch.repulsion, epoch.limit)
            push(A, B, np.uint64(i + eights), np.uint64(j + eights), np.uint64(m - eights), epoch, axes, scratch)
            total += add_up(scratch[1], m - eights)
            i = i + m if i + m < n_a else 0
            j = j + m if j + m < n_b else 0
            left -= m
        done += run
    return total


@kernel
def push(A: Any, B: Any, i: Any, j: Any, n: Any, epoch: Any, axes: Any, scratch: Any) -> None:
    """Push points i + k of A and j + k of B apart for k < n, all different points; leaves q in row 1 of scratch.

    The loops are such that the compiler turns them into vector instructions: each is over consecutive numbers, and
    places are unsigned, which cannot count from the end.
    """
    gain, limit, one = epoch.repulsion, epoch.limit, np.float32(1.0)
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
def repel_weighted(
    A: Any, B: Any, blocks: Any, a: Any, b: Any, n: Any, epoch: Any, key: Any, axes: Any, sums: Any
) -> None:
    """Push apart n pairs drawn in proportion to w_i w_j, one by one; a point is never pushed from itself."""
    one = np.float32(1.0)
    for k in range(n):
        i = weighted_place(blocks, a, bits(key, np.uint64(2 * k)))
        j = weighted_place(blocks, b, bits(key, np.uint64(2 * k + 1)))
        if a == b and i == j:
            continue
        i, j = len(axes) * i, len(axes) * j
        u = one
        for axis in axes:
            u += (A[i + axis] - B[j + axis]) * (A[i + axis] - B[j + axis])
        q = one / u
        g = epoch.repulsion * q * q
        for axis in axes:
            step = min(max(g * (A[i + axis] - B[j + axis]), -epoch.limit), epoch.limit)
            A[i + axis] += step
            B[j + axis] -= step
        sums[SUM_Q_U] += q
        sums[COUNT_U] += 1


@kernel
def weighted_place(blocks: Any, block: Any, random: Any) -> Any:
    """A place in a block, drawn in proportion to the weights of its points."""
    lo = blocks.starts[block]
    place = below(random, blocks.starts[block + 1] - lo)
    if np.uint32(random & LOW) < blocks.point_keep[lo + place]:
        return place
    return np.int64(blocks.point_alias[lo + place])
