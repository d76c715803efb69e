"""LargeVis' objective on a given P. LargeVis has no Python package, so its layout is implemented here after its paper.

Tang, Liu, Zhang and Mei, Visualizing large-scale and high-dimensional data, WWW 2016. It maximises

    sum_ij P_ij ( ln q_ij + sum of M over k of gamma ln (1 - q_ik) ),     k drawn in proportion to degree^0.75,

by drawing edges in proportion to P, each with M = 5 such k and gamma = 7, and moving both ends of every pair, each coordinate
by at most 5 times a rate that falls linearly from 1. As in the authors' code the gradient of ln (1 - q) is softened by
1 / (0.1 + d^2), the start is a tiny random square, and the number of edges drawn depends on the number of points. It runs on
one thread, so that the same seed gives the same map.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.compare.interface import Made, Problem
from sce.core.compiled import kernel
from sce.core.random import below, bits, bits_array, stream, unit

N_NEGATIVES = 5  # M
GAMMA = 7.0
CLIP = 5.0  # largest move of a coordinate, before the rate
_SOFTENING = 0.1  # added to d^2 in the gradient of ln (1 - q)
_FINAL_RATE = 1e-4  # of the initial rate
_EDGES_AT_ONCE = 5_000_000  # drawn between two checks for Ctrl-C


class Draws(NamedTuple):
    """Alias tables of the edges and of the points."""

    heads: np.ndarray
    tails: np.ndarray
    keep_edge: np.ndarray
    alias_edge: np.ndarray
    keep_point: np.ndarray
    alias_point: np.ndarray


def largevis(problem: Problem, n_samples: float | None = None) -> Made:
    """LargeVis' layout of P, from `n_samples` drawn edges; by default their number follows the authors' rule."""
    n = problem.P.shape[0]
    total = usual_samples(n) if n_samples is None else int(n_samples)
    draws = make_draws(problem.P)
    start = unit.py_func(bits_array(stream(problem.seed, "largevis start"), 2 * n)) - 0.5
    Y = (start * 5e-5).astype(np.float32).reshape(n, 2)
    key = stream(problem.seed, "largevis")
    for first in range(0, total, _EDGES_AT_ONCE):
        step(draws, Y, key, first, min(first + _EDGES_AT_ONCE, total), total)
    return Made(Y, facts={"n_samples": total, "authors_n_samples": usual_samples(n)})


def usual_samples(n: int) -> int:
    """The number of edges that the authors' code draws for n points.

    Examples
    --------
    >>> usual_samples(5_000), usual_samples(505_000), usual_samples(11_000_000)
    (1000000000, 5500000000, 110000000000)
    """
    if n < 10_000:
        millions = 1000
    elif n < 1_000_000:
        millions = (n - 10_000) * 9000 // (1_000_000 - 10_000) + 1000
    else:
        millions = n // 100
    return millions * 1_000_000


def make_draws(P: Any) -> Draws:
    """The tables from which edges and points are drawn."""
    n = P.shape[0]
    heads = np.repeat(np.arange(n, dtype=np.int32), np.diff(P.indptr))
    degrees = np.asarray(P.sum(axis=1), np.float64).ravel()
    edges, points = _alias(P.data.astype(np.float64)), _alias(degrees**0.75)
    return Draws(heads, P.indices.astype(np.int32), *edges, *points)


def _alias(mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from sce.layout.sampler.blocks import fill_alias

    keep, alias = np.empty(len(mass), np.uint32), np.empty(len(mass), np.int64)
    fill_alias(mass, mass.sum(), keep, alias)
    return keep, alias.astype(np.int32)


@kernel
def _place(random: Any, keep: Any, alias: Any) -> Any:
    """A draw from an alias table: the upper half of the bits is the entry, the lower half decides whether to keep it."""
    k = below(random, keep.size)
    return np.int64(k) if np.uint32(random & np.uint64(0xFFFFFFFF)) <= keep[k] else np.int64(alias[k])


@kernel
def _clip(x: Any) -> Any:
    return min(max(x, np.float32(-CLIP)), np.float32(CLIP))


@kernel
def step(draws: Any, Y: Any, key: Any, first: Any, stop: Any, total: Any) -> None:
    """Draw the edges first, ..., stop - 1 of a run of `total`."""
    for t in range(first, stop):
        rate = np.float32(max(1.0 - t / (total + 1.0), _FINAL_RATE))
        counter = np.uint64(t) * np.uint64(N_NEGATIVES + 1)
        edge = _place(bits(key, counter), draws.keep_edge, draws.alias_edge)
        i, j = draws.heads[edge], draws.tails[edge]
        y0, y1 = Y[i, 0], Y[i, 1]
        move0, move1 = np.float32(0.0), np.float32(0.0)
        for m in range(N_NEGATIVES + 1):
            k = j
            if m > 0:
                k = _place(bits(key, counter + np.uint64(m)), draws.keep_point, draws.alias_point)
                if k in (i, j):
                    continue
            d0, d1 = y0 - Y[k, 0], y1 - Y[k, 1]
            square = d0 * d0 + d1 * d1
            if m == 0:
                g = np.float32(-2.0) / (np.float32(1.0) + square)
            else:
                g = np.float32(2.0 * GAMMA) / ((np.float32(1.0) + square) * (np.float32(_SOFTENING) + square))
            g0, g1 = rate * _clip(g * d0), rate * _clip(g * d1)
            move0 += g0
            move1 += g1
            Y[k, 0] -= g0
            Y[k, 1] -= g1
        Y[i, 0] += move0
        Y[i, 1] += move1
