"""The partition: every pair of blocks meets once an epoch, every edge lies in one bucket, shares are right."""

import mmap

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from sce.core.parallel import Team
from sce.layout.sampler.blocks import (
    _bucket_number,
    _fill_buckets,
    bucket_number,
    count_blocks,
    fill_alias,
    make_blocks,
    phases,
    schedule,
)


@pytest.mark.parametrize("n_blocks", [2, 4, 16, 64])
def test_schedule_has_a_task_for_every_two_blocks(n_blocks):
    """In an epoch every unordered pair of blocks, and every block with itself, occurs once."""
    tasks = schedule(n_blocks)
    assert (tasks[:, 0] <= tasks[:, 1]).all()
    assert len(set(map(tuple, tasks.tolist()))) == len(tasks) == n_blocks * (n_blocks + 1) // 2


@pytest.mark.parametrize(("n_blocks", "n_parts"), [(2, 1), (4, 2), (16, 1), (16, 2), (16, 8), (64, 4), (64, 32)])
def test_parts_of_a_phase_share_no_block_and_keep_the_order_of_each_block(n_blocks, n_parts):
    """Threads never meet, and each block sees its tasks in the one fixed order: so threads change nothing."""
    tasks = schedule(n_blocks)
    done = []
    for parts in phases(n_blocks, n_parts):
        owners = [set(tasks[start:stop].ravel().tolist()) for start, stop in parts]
        assert sum(map(len, owners)) == len(set().union(*owners))
        assert len(parts) <= n_parts
        done += [t for start, stop in parts for t in range(start, stop)]
    assert sorted(done) == list(range(len(tasks)))
    for block in range(n_blocks):
        seen = [t for t in done if block in tasks[t]]
        assert seen == sorted(seen)


@given(st.integers(1, 10**9))
def test_blocks_are_a_power_of_two_and_small_enough_for_16_bits(n):
    """Places in a block fit in 16 bits, and blocks are never more than points (beyond the least number, 2)."""
    n_blocks = count_blocks(n)
    assert n_blocks & (n_blocks - 1) == 0
    assert -(-n // n_blocks) <= 2**16
    assert n_blocks <= max(2, n)


def test_buckets_are_numbered_without_gap_or_overflow():
    """Buckets count up along the upper triangle; for 300 million blocks the number still fits."""
    n_blocks = 8
    numbers = [bucket_number(a, b, n_blocks) for a in range(n_blocks) for b in range(a, n_blocks)]
    assert numbers == list(range(36))
    huge = 300_000_000
    assert _bucket_number(np.int64(huge - 1), np.int64(huge - 1), np.int64(huge)) == huge * (huge + 1) // 2 - 1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [2, 3, 17, 600, 5000])
def test_each_edge_lies_in_one_bucket_with_its_probability(graph, n, weighted):
    """The buckets' tables give back P: each edge is drawn with exactly its probability."""
    P = graph(n, weighted=weighted) if n > 2 else sp.csr_matrix(np.array([[0, 0.5], [0.5, 0]], np.float32))
    with Team(2) as team:
        blocks, order = make_blocks(P, team, seed=3)
    assert sorted(order) == list(range(n))
    found = np.zeros((n, n)) if n <= 600 else sp.lil_matrix((n, n))
    n_blocks = len(blocks.starts) - 1
    for a in range(n_blocks):
        for b in range(a, n_blocks):
            bucket = bucket_number(a, b, n_blocks)
            lo, hi = blocks.buckets[bucket], blocks.buckets[bucket + 1]
            for e in range(lo, hi):
                each = blocks.attraction[bucket] / (hi - lo)
                keep = (int(blocks.keep[e]) + 1) / 2**32 if blocks.keep.size else 1.0
                for column, share in ((0, keep), (2, 1.0 - keep)):
                    if column < blocks.edges.shape[1]:
                        i = order[blocks.starts[a] + blocks.edges[e, column]]
                        j = order[blocks.starts[b] + blocks.edges[e, column + 1]]
                        found[i, j] += each * share / 2
                        found[j, i] += each * share / 2
    expected = P.toarray() if n <= 600 else P
    assert abs(found - expected).max() < 1e-7


def test_buckets_do_not_depend_on_the_number_of_threads(graph):
    """The same seed cuts the same blocks on 1 and 4 threads."""
    P = graph(6000, weighted=True)
    with Team(1) as one, Team(4) as four:
        for x, y in zip(make_blocks(P, one, 5)[0], make_blocks(P, four, 5)[0], strict=True):
            assert np.array_equal(x, y)


def test_places_of_a_heavy_edge_do_not_follow_one_another(graph):
    """Alias places that share a heavy edge are spread over the bucket, or the same pair would be pulled many times in a
    row and be thrown about: no more repeats in a row than chance gives.
    """
    n = 400
    P = graph(n, degree=10, weighted=True)
    with Team(1) as team:
        blocks, _ = make_blocks(P, team)
    lo, hi = blocks.buckets[0], blocks.buckets[1]
    alias = blocks.edges[lo:hi, 2:].astype(np.int64) @ [65536, 1]
    _, counts = np.unique(alias, return_counts=True)
    by_chance = (counts * (counts - 1)).sum() / len(alias)
    in_a_row = (alias[1:] == alias[:-1]).sum()
    assert in_a_row < 2 * by_chance + 5


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=60))
def test_alias_tables_are_exact(mass):
    """Walker's table reproduces any distribution to the resolution of 32 bits."""
    mass = np.array(mass)
    n = len(mass)
    keep, alias = np.empty(n, np.uint32), np.empty(n, np.int64)
    fill_alias(mass, mass.sum(), keep, alias)
    kept = (keep.astype(np.float64) + 1) / 2**32
    p = np.bincount(alias, (1 - kept) / n, minlength=n) + kept / n
    assert np.abs(p - mass / mass.sum()).max() < 1e-8


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 3.0, 4.0, 0.0]])
def test_repulsion_shares_count_all_pairs(weights):
    """Shares of block pairs, less the self-pairs that are drawn and skipped, sum to 1."""
    P = sp.csr_matrix(np.ones((5, 5), np.float32) - np.eye(5, dtype=np.float32)) / 20
    w = np.ones(5) if weights is None else np.array(weights)
    with Team(1) as team:
        blocks, _ = make_blocks(sp.csr_matrix(P), team, weights=None if weights is None else w)
    self_pairs = 0.0 if weights is None else (w**2).sum()
    total = w.sum() ** 2 - (w**2).sum()
    assert blocks.repulsion.sum() * total == pytest.approx(total + self_pairs)


def test_edge_offsets_are_64_bit():
    """The edges of a bucket that begins beyond 2^31 are found: 3 billion edges, of which only the last are ever touched."""
    from sce.layout.engine import Lap
    from sce.layout.sampler.blocks import Blocks
    from sce.layout.sampler.kernel import COUNT_P, run_tasks

    n_edges = 3_000_000_000
    lazy = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE: address space, no memory
    try:
        memory = mmap.mmap(-1, 4 * n_edges, flags=lazy)
    except OSError:
        pytest.skip("this machine does not lend 12 GB of address space")
    edges = np.frombuffer(memory, np.uint16).reshape(n_edges, 2)
    edges[-10:, 1] = 1  # all others join a point with itself
    blocks = Blocks(
        np.array([0, 2, 4], np.int64), np.array([0, n_edges - 10, n_edges - 10, n_edges], np.int64), edges,
        np.empty(0, np.uint32), np.array([0.0, 0.0, 1.0]), np.zeros(3), np.empty(0, np.uint16), np.empty(0, np.uint32),
    )  # fmt: skip
    Y = np.array([[0, 0], [0, 0], [0, 0], [1, 0]], np.float32)
    sums = np.empty((1, 5))
    lap = Lap(0, 1.0, 1.0, np.float32(0.5), np.float32(0), np.float32(1), np.uint64(1))
    run_tasks(Y.reshape(-1), blocks, lap, np.array([[1, 1]]), (0, 1), (0, 1), sums)
    assert sums[0, COUNT_P] == 1
    assert Y[:, 0].tolist() == [0, 0, 0.25, 0.75]


def test_rows_beyond_two_billion_entries_are_read():
    """P whose rows begin beyond entry 2^31 is cut into the right buckets (zero-stride arrays play the entries before)."""
    far = 3_000_000_000
    indptr = np.array([far, far + 1, far + 1, far + 1], np.int64)
    indices = np.lib.stride_tricks.as_strided(np.array([2], np.int32), (far + 1,), (0,))
    data = np.lib.stride_tricks.as_strided(np.array([0.5], np.float32), (far + 1,), (0,))
    rank, block_of, starts = np.arange(3, dtype=np.int32), np.array([0, 0, 1], np.int32), np.array([0, 2, 3])
    buckets, places, mass = _fill_buckets(indptr, indices, data, rank, block_of, starts)
    assert buckets.dtype == np.int64
    assert buckets.tolist() == [0, 0, 1, 1]
    assert places.tolist() == [[0, 0]]
    assert mass.tolist() == [0.5]
