"""LargeVis' objective: the kernel against its slow twin, the draws against their probabilities."""

import numpy as np
import pytest

from sce.compare import Problem
from sce.compare.largevis import CLIP, GAMMA, N_NEGATIVES, _place, largevis, make_draws, step, usual_samples
from sce.core.random import bits, stream


def place(random, keep, alias):
    """The slow twin of `_place`."""
    k = (int(random) >> 32) * len(keep) >> 32
    return k if int(random) & 0xFFFFFFFF <= keep[k] else int(alias[k])


def slow_step(draws, Y, key, first, stop, total):
    """The slow twin of `step`, from the gradient of the objective."""
    for t in range(first, stop):
        rate = max(1 - t / (total + 1), 1e-4)
        with np.errstate(over="ignore"):
            random = [bits.py_func(key, np.uint64(t * (N_NEGATIVES + 1) + m)) for m in range(N_NEGATIVES + 1)]
        edge = place(random[0], draws.keep_edge, draws.alias_edge)
        i, j = draws.heads[edge], draws.tails[edge]
        negatives = [place(r, draws.keep_point, draws.alias_point) for r in random[1:]]
        here, moved = Y[i].copy(), np.zeros(2)
        for k, attracts in [(j, True), *((k, False) for k in negatives if k not in (i, j))]:
            away = here - Y[k]
            square = away @ away
            slope = -2 / (1 + square) if attracts else 2 * GAMMA / ((1 + square) * (0.1 + square))
            change = rate * np.clip(slope * away, -CLIP, CLIP)
            moved += change
            Y[k] -= change
        Y[i] += moved


@pytest.mark.parametrize("weighted", [False, True])
def test_the_kernel_is_its_slow_twin(graph, weighted):
    """For a few hundred edges."""
    P = graph(40, weighted=weighted)
    draws, key = make_draws(P), stream(3, "largevis")
    Y = np.random.default_rng(0).normal(size=(40, 2))
    fast = Y.astype(np.float32)
    slow_step(draws, Y, key, 100, 300, 1000)
    step(draws, fast, key, 100, 300, 1000)
    np.testing.assert_allclose(fast, Y, rtol=2e-3, atol=2e-3)


def test_draws_have_their_probabilities(graph):
    """Edges in proportion to P, points to degree^0.75, within five standard deviations."""
    P = graph(30, weighted=True)
    draws, n = make_draws(P), 200_000
    with np.errstate(over="ignore"):
        random = bits.py_func(np.uint64(5), np.arange(n, dtype=np.uint64))
    degrees = np.asarray(P.sum(axis=1)).ravel() ** 0.75
    for keep, alias, expected in (
        (draws.keep_edge, draws.alias_edge, P.data / P.data.sum()),
        (draws.keep_point, draws.alias_point, degrees / degrees.sum()),
    ):
        drawn = np.bincount([_place(r, keep, alias) for r in random[:n]], minlength=len(keep)) / n
        assert (np.abs(drawn - expected) < 5 * np.sqrt(expected / n) + 2e-5).all()


def test_the_same_seed_gives_the_same_map(graph):
    """And another seed another one; pieces do not matter."""
    P = graph(50)
    first = largevis(Problem(None, P, 1, 2), n_samples=20_000)
    assert (first.Y == largevis(Problem(None, P, 1, 1), n_samples=20_000).Y).all()
    assert (first.Y != largevis(Problem(None, P, 2, 1), n_samples=20_000).Y).any()
    assert np.isfinite(first.Y).all()
    assert first.facts == {"n_samples": 20_000, "authors_n_samples": 1_000_000_000}


def test_the_number_of_edges_drawn():
    """By its authors' rule: 1000 million below 10,000 points, 10,000 at a million, a 100th of a million a point above."""
    assert [usual_samples(n) // 10**6 for n in (10, 9_999, 10_000, 70_000, 1_000_000, 2_000_000)] == [
        1000, 1000, 1000, 1545, 10_000, 20_000,
    ]  # fmt: skip
