"""Counter-based random numbers: the same in a kernel and in NumPy, even, independent of what was drawn before."""

import numpy as np
import pytest

from sce.core.random import below, bits, bits_array, normal_array, permutation, stream, unit


def test_kernel_and_array_draw_the_same_bits():
    """Draw k of a stream is the same number compiled, by NumPy, and from the middle of an array."""
    key = stream(7, "test")
    array = bits_array(key, 100)
    assert [int(bits(key, np.uint64(k))) for k in range(100)] == array.tolist()
    np.testing.assert_array_equal(bits_array(key, 10, first=50), array[50:60])


def test_known_bits():
    """The numbers themselves are promised: another version of sce on another machine draws the same."""
    assert int(bits(np.uint64(0), np.uint64(0))) == 0xE220A8397B1DCDAF  # SplitMix64 seeded with 0
    assert int(bits(np.uint64(0), np.uint64(1))) == 0x6E789E6AA1B965F4


def test_streams_of_names_and_seeds_differ():
    """No two uses of randomness share a stream."""
    keys = {int(stream(seed, name)) for seed in range(100) for name in ("a", "b", "ab", "ba")}
    assert len(keys) == 400


def test_draws_are_even():
    """Each of 10 values comes up a tenth of the time; units have mean 1/2; normals mean 0 and deviation 1."""
    random = bits_array(stream(1, "even"), 100_000)
    counts = np.bincount([below(r, 10) for r in random[:20_000]], minlength=10)
    assert np.abs(counts - 2000).max() < 5 * np.sqrt(2000)
    assert unit.py_func(random).mean() == pytest.approx(0.5, abs=0.005)
    normal = normal_array(stream(1, "normal"), (50_000, 2))
    assert abs(normal.mean()) < 0.02
    assert normal.std() == pytest.approx(1.0, abs=0.02)
    assert np.isfinite(normal).all()


def test_permutation_is_one():
    """Every number occurs once, in an order that depends on the key."""
    order = permutation(stream(0, "p"), 1000)
    assert sorted(order) == list(range(1000))
    assert not np.array_equal(order, permutation(stream(1, "p"), 1000))
