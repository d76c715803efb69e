"""The order of the points: a permutation, of the seed alone, and near points in the same block where places are given."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from layouts import run
from sce.core.parallel import Team
from sce.layout import objective
from sce.layout.sampler import blocks
from sce.layout.sampler.order import along_curve, order_points
from sce.layout.scale import FixedScale


def interleaved(places):
    """The twin: codes by way of Python's strings of bits."""
    places = places - places.min(axis=0).astype(float)
    cells = (places * (0xFFFF / (float(places.max()) or 1.0))).astype(int)
    texts = [[f"{x:016b}" for x in row[::-1]] for row in cells]
    return [int("".join("".join(bit) for bit in zip(*row, strict=True)), 2) for row in texts]


@given(st.integers(1, 3), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_codes_equal_their_twin(d, n, seed):
    places = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    assert along_curve(places).tolist() == interleaved(places)


@given(st.integers(2, 300), st.integers(1, 16), st.booleans(), st.integers(0, 9))
def test_order_is_a_permutation(n, n_blocks, placed, seed):
    """Whatever the sizes of the blocks; all points in one place, too."""
    starts = (n * np.arange(n_blocks + 1)) // n_blocks
    order = order_points(starts, seed, np.zeros((n, 2), np.float32) if placed else None)
    assert sorted(order.tolist()) == list(range(n))


def test_near_points_share_a_block_in_random_order():
    """Four heaps of 256 points, in four blocks: each block is a heap, and shuffled."""
    heap = np.arange(1024) % 4
    places = np.array([[0, 0], [9, 0], [0, 9], [9, 9]])[heap] + np.random.default_rng(0).random((1024, 2))
    order = order_points(np.arange(5) * 256, 0, places)
    assert (heap[order].reshape(4, 256) == np.arange(4)[:, None]).all()
    assert np.corrcoef(order[:256], np.arange(256))[0, 1] < 0.3


@pytest.fixture
def ring():
    """Neighbours on a circle, in random order, and their places."""
    n = 4000
    i = np.random.default_rng(0).permutation(n)
    A = sp.csr_matrix((np.ones(n), (i, np.roll(i, 1))), (n, n))
    angle = np.empty(n)
    angle[i] = 2 * np.pi * np.arange(n) / n
    return sp.csr_matrix((A + A.T) / (2 * n)).astype(np.float32), 5 * np.column_stack([np.cos(angle), np.sin(angle)])


def test_many_points_have_their_edges_within_blocks(ring, monkeypatch):
    """Only where there are many blocks: few are random."""
    P, places = ring
    shares = []
    for few in (16, 8):
        monkeypatch.setattr(blocks, "RANDOM_BLOCKS", few)
        monkeypatch.setattr(blocks, "BLOCK_SIZE", 250)
        with Team(1) as team:
            made, _ = blocks.make_blocks(P, team, places=places)
        assert len(made.starts) == 17
        shares.append(made.attraction[[blocks.bucket_number(a, a, 16) for a in range(16)]].sum())
    assert shares[0] < 0.1
    assert shares[1] > 0.95


def test_near_points_in_blocks_give_the_same_minimum_on_any_number_of_threads(ring, monkeypatch):
    """J is that of random blocks, within 2 %; the same bytes on one thread and on three."""
    P, places = ring
    maps = []
    for few, n_jobs in ((16, 1), (8, 1), (8, 3)):
        monkeypatch.setattr(blocks, "RANDOM_BLOCKS", few)
        monkeypatch.setattr(blocks, "BLOCK_SIZE", 250)
        maps.append(run(P, FixedScale(2.0), "sampler", start=places, n_epochs=100, n_jobs=n_jobs).Y)
    np.testing.assert_array_equal(maps[1], maps[2])
    found = [objective.i_divergence(P, Y, 2.0) for Y in maps[:2]]
    assert found[1] == pytest.approx(found[0], rel=0.02)
    assert not (maps[0] == maps[1]).all()
