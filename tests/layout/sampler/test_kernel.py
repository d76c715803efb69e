"""The kernel does what its slow twin does, and on average what the gradient says."""

import numpy as np
import pytest

from sce.core import random as rnd
from sce.core.parallel import Team
from sce.layout import objective
from sce.layout.engine import Lap
from sce.layout.sampler.blocks import bucket_number, make_blocks, schedule
from sce.layout.sampler.kernel import (
    COUNT_P,
    COUNT_U,
    DRAWS_IN_A_ROW,
    SUM_LOG,
    SUM_Q_P,
    SUM_Q_U,
    draws,
    repel,
    run_tasks,
)


def bits(key, counter):
    with np.errstate(over="ignore"):
        return rnd.bits.py_func(np.uint64(key), np.uint64(counter))


def below(random, n):
    return int(random) // 2**32 * n // 2**32


def below_low(random, n):
    return int(random) % 2**32 * n // 2**32


class Twin:
    """The sampler in plain Python and NumPy float32, a pair at a time."""

    def __init__(self, Y, blocks, lap):
        self.Y, self.blocks, self.lap = Y.copy(), blocks, lap
        self.sums = np.zeros(5)

    def run(self):
        for a, b in schedule(len(self.blocks.starts) - 1):
            self.task(a, b)
        return self.Y, self.sums

    def task(self, a, b):
        lap, blocks = self.lap, self.blocks
        bucket = bucket_number(a, b, len(blocks.starts) - 1)
        fixed = bits(lap.key, bucket)
        key = bits(fixed, lap.number + 3)
        share = lap.steps * blocks.attraction[bucket]
        phase = float(int(bits(fixed, 0)) >> 11) / 2**53
        done = int(lap.number * share + phase)
        n_pulls = int((lap.number + 1) * share + phase) - done
        share = lap.steps * lap.n_repulsive * blocks.repulsion[bucket]
        phase = float(int(bits(fixed, 1)) >> 11) / 2**53
        n_pushes = int((lap.number + 1) * share + phase) - int(lap.number * share + phase)
        lo, hi = blocks.buckets[bucket], blocks.buckets[bucket + 1]
        place = (below(bits(fixed, 2), hi - lo) + done) % (hi - lo) if hi > lo else 0
        n_pulls = n_pulls if hi > lo else 0
        turns = -(-max(n_pulls, n_pushes) // DRAWS_IN_A_ROW)
        for turn in range(turns):
            pull_key, push_key = bits(key, 2 * turn), bits(key, 2 * turn + 1)
            for k in range(n_pulls // turns + (turn < n_pulls % turns)):
                self.pull(a, b, lo + place, bits(pull_key, k))
                place = (place + 1) % (hi - lo)
            n = n_pushes // turns + (turn < n_pushes % turns)
            self.pushes_weighted(a, b, n, push_key) if blocks.point_keep.size else self.pushes(a, b, n, push_key)

    def pull(self, a, b, e, random):
        blocks = self.blocks
        alias = blocks.keep.size and int(random) % 2**32 >= blocks.keep[e]
        i, j = blocks.edges[e, 2:] if alias else blocks.edges[e, :2]
        i, j = blocks.starts[a] + i, blocks.starts[b] + j
        d, u, q = self.pair(i, j)
        move = (self.lap.attraction * q) * d
        self.Y[i] -= move
        self.Y[j] += move
        self.sums[[SUM_Q_P, SUM_LOG, COUNT_P]] += [q, np.log(float(u)), 1]

    def pushes(self, a, b, n, key):
        (lo_a, hi_a), (lo_b, hi_b) = self.blocks.starts[a : a + 2], self.blocks.starts[b : b + 2]
        n_a, n_b = hi_a - lo_a, hi_b - lo_b
        done = counter = 0
        while done < n:
            random = bits(key, counter)
            counter += 1
            i, run = below(random, n_a), min(n - done, DRAWS_IN_A_ROW, n_a, n_b)
            if a == b:
                shift = 1 + below_low(random, n_a - 1)
                j = i + shift
            else:
                j = below_low(random, n_b)
            for k in range(run):
                self.push(lo_a + (i + k) % n_a, lo_b + (j + k) % n_b)
            done += run

    def pushes_weighted(self, a, b, n, key):
        for k in range(n):
            i, j = self.weighted(a, bits(key, 2 * k)), self.weighted(b, bits(key, 2 * k + 1))
            if i != j:
                self.push(i, j)

    def weighted(self, block, random):
        lo, hi = self.blocks.starts[block : block + 2]
        place = below(random, hi - lo)
        keep = int(random) % 2**32 < self.blocks.point_keep[lo + place]
        return lo + (place if keep else self.blocks.point_alias[lo + place])

    def push(self, i, j):
        d, _, q = self.pair(i, j)
        move = np.clip((self.lap.repulsion * q * q) * d, -self.lap.limit, self.lap.limit)
        self.Y[i] += move
        self.Y[j] -= move
        self.sums[[SUM_Q_U, COUNT_U]] += [q, 1]

    def pair(self, i, j):
        d = self.Y[i] - self.Y[j]
        u = np.float32(1)
        for x in d:
            u = u + x * x
        return d, u, np.float32(1) / u


def make_lap(number, steps, *, eta=0.7, r=2.0, n_repulsive=1, seed=9):
    gain = np.float32(2 * eta)
    return Lap(
        number, float(steps), float(n_repulsive), gain, np.float32(2 * eta * r / n_repulsive), np.float32(1.5),
        rnd.stream(seed, "draws"),
    )  # fmt: skip


def run_lap(Y, blocks, lap):
    """All tasks of a lap, one after the other: moves Y, gives the sums."""
    tasks = schedule(len(blocks.starts) - 1)
    sums = np.empty((len(tasks), 5))
    run_tasks(Y.reshape(-1), blocks, lap, tasks, (0, len(tasks)), tuple(range(Y.shape[1])), sums)
    return sums.sum(axis=0)


@pytest.mark.parametrize("point_weights", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d", "number"), [(2, 2, 0), (5, 3, 1), (40, 2, 7), (600, 3, 0), (1300, 2, 3)])
def test_kernel_equals_its_twin_to_the_last_bit(graph, n, d, number, weighted, point_weights):
    """The compiled lap and the plain one give the same bytes, with edge weights, point weights, 2 and 3 dimensions."""
    P = graph(max(n, 3), weighted=weighted)[:n, :n]
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.2, 4.0, n) if point_weights else None
    with Team(2) as team:
        blocks, _ = make_blocks(P, team, 4, weights)
        Y = rng.normal(size=(n, d)).astype(np.float32)
        lap = make_lap(number, 10 * n, n_repulsive=2)
        expected, expected_sums = Twin(Y, blocks, lap).run()
    sums = run_lap(Y, blocks, lap)
    assert expected_sums[COUNT_P] > 0
    assert np.array_equal(Y, expected)
    np.testing.assert_allclose(sums, expected_sums, rtol=1e-12)


@pytest.mark.parametrize("point_weights", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_mean_displacement_of_single_steps_is_minus_eta_times_the_gradient(graph, weighted, point_weights):
    """From one Y, 30,000 independent steps move every coordinate by -eta dJ/dy on average, within 5 standard errors."""
    n, trials, eta, r = 9, 30_000, 0.01, 1.7
    P = graph(n, degree=1, weighted=weighted)
    rng = np.random.default_rng(2)
    Y = rng.normal(size=(n, 2)).astype(np.float32)
    weights = rng.uniform(0.3, 3.0, n) if point_weights else None
    total, squares = np.zeros((n, 2)), np.zeros((n, 2))
    with Team(1) as team:
        blocks, order = make_blocks(P, team, 0, weights)
        for seed in range(trials):
            moved = Y[order]
            run_lap(moved, blocks, make_lap(seed % 5, 1, eta=eta, r=r, seed=seed))
            move = moved - Y[order]
            total += move
            squares += move.astype(np.float64) ** 2
    mean = total / trials
    error = np.sqrt(squares / trials - mean**2) / np.sqrt(trials)
    expected = -eta * objective.gradient(P, Y, r, weights)[order]
    assert (np.abs(mean - expected) < 5 * error + 5 * eta**2 / n).all()
    assert np.abs(expected).max() > 20 * error.max()  # or the test would see nothing


@pytest.mark.parametrize("n", [3, 16, 40])
def test_long_runs_within_a_block_push_all_pairs_alike(n):
    """The mean push of 200 draws within one block is that of uniform pairs, wherever the points stand in the order."""
    Y = np.random.default_rng(3).normal(size=(n, 2)).astype(np.float32)
    lap, scratch = make_lap(0, 1, eta=1e-4, r=1.0), np.empty((3, 2 * DRAWS_IN_A_ROW), np.float32)
    trials, draws_each = 20_000, 200
    moves = np.empty((trials, n, 2))
    for key in range(trials):
        A = Y.copy().reshape(-1)
        repel(A, A, True, draws_each, lap, bits(17, key), (0, 1), scratch)
        moves[key] = A.reshape(n, 2) - Y
    q = objective.similarities(Y)
    force = q * q
    expected = float(lap.repulsion) * draws_each * 2 / (n * (n - 1)) * (force.sum(1)[:, None] * Y - force @ Y)
    error = moves.std(axis=0) / np.sqrt(trials)
    assert (np.abs(moves.mean(axis=0) - expected) < 5 * error + 1e-2 * np.abs(expected).max()).all()
    assert np.abs(expected).max() > 50 * error.max()


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("place", [1, 50])
def test_a_coordinate_that_is_no_number_is_not_hidden(d, place):
    """Not by the bound of a push: the run is to end with an error."""
    A, B = np.random.default_rng(4).normal(size=(2, 60 * d)).astype(np.float32)
    A[d * place] = np.nan
    repel(
        A, B, False, 600, make_lap(0, 1), np.uint64(5), tuple(range(d)), np.empty((3, d * DRAWS_IN_A_ROW), np.float32)
    )
    assert np.isnan(A[d * place])


def test_draws_add_up_over_the_laps():
    """Fractions of draws are neither lost nor invented: after E laps, within one of E times the share."""
    for share in (0.3, 1.0, 7.77, 1e6 + 0.1):
        parts = [draws(e, share, 0.6) for e in range(50)]
        assert all(before == sum(n for _, n in parts[:e]) for e, (before, _) in enumerate(parts))
        assert abs(sum(n for _, n in parts) - 50 * share) <= 1


def test_integers_stay_below_their_bound_for_the_largest_random_bits():
    """A draw at u -> 1 is the last place, never the one behind it."""
    ones = np.uint64(0xFFFFFFFFFFFFFFFF)
    for n in (1, 2, 3, 65_536, 2**31, 2**32 - 1):
        assert rnd.below(ones, n) == n - 1
        assert rnd.below_low(ones, n) == n - 1
    assert rnd.unit(ones) < 1.0


def test_logarithms_of_far_pairs_do_not_overflow(graph):
    """The sum of ln(1 + d^2) is right where pairs are 10^18 apart, each factor near the end of float32."""
    P = graph(300)
    with Team(1) as team:
        blocks, _ = make_blocks(P, team)
        Y = np.where(np.arange(300) % 2, 1e18, -1e18)[:, None] * np.ones((1, 2))
        lap = make_lap(0, 3000, eta=1e-9)
        expected = Twin(Y.astype(np.float32), blocks, lap).run()[1]
        sums = run_lap(Y.astype(np.float32), blocks, lap)
    np.testing.assert_allclose(sums, expected, rtol=1e-9)
