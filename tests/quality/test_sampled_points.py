"""Samples and shuffled labels: functions of the seed, each point equally likely, the same on any platform."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sce.core.random import below, bits, stream
from sce.errors import ParameterError
from sce.quality.check import sampled, shuffled


@given(st.integers(1, 200), st.integers(1, 250), st.integers(0, 2**32 - 1))
def test_a_sample_is_drawn_without_replacement(n, size, seed):
    """Ascending numbers below n, as many as asked for, or all."""
    rows = sampled(n, size, seed)
    assert len(rows) == min(n, size)
    assert (np.diff(rows) > 0).all()
    assert 0 <= rows[0] <= rows[-1] < n


def test_a_sample_depends_on_seed_and_purpose_alone():
    """The same seed and purpose give the same points; another seed or purpose gives others."""
    first = sampled(1000, 100, 3, "accuracy")
    assert np.array_equal(first, sampled(1000, 100, 3, "accuracy"))
    assert not np.array_equal(first, sampled(1000, 100, 4, "accuracy"))
    assert not np.array_equal(first, sampled(1000, 100, 3, "silhouette"))
    assert np.array_equal(first, sampled(1000, 100, np.random.RandomState(3), "accuracy"))
    with pytest.raises(ParameterError, match="random_state"):
        sampled(1000, 100, -1)


def test_every_point_is_equally_likely():
    """Over 800 samples of 5 from 20 each point is drawn 200 times, within five standard deviations."""
    counts = np.bincount(np.concatenate([sampled(20, 5, 0, f"number {k}") for k in range(800)]), minlength=20)
    assert np.abs(counts - 200).max() < 5 * np.sqrt(200 * 0.75)


def slow_shuffled(values, key):
    """Swap each place, from the last down, with a random one up to it."""
    values = list(values)
    for i in range(len(values) - 1, 0, -1):
        with np.errstate(over="ignore"):
            j = below.py_func(bits.py_func(key, np.uint64(i)), i + 1)
        values[i], values[j] = values[j], values[i]
    return values


@given(st.lists(st.integers(-1, 5), min_size=0, max_size=60), st.integers(0, 99))
def test_a_shuffle_equals_its_slow_twin(labels, seed):
    """The same order as in plain Python; the input is not changed."""
    codes = np.array(labels, np.int32)
    assert shuffled(codes, stream(seed, "shuffle")).tolist() == slow_shuffled(labels, stream(seed, "shuffle"))
    assert codes.tolist() == labels


def test_every_order_is_equally_likely():
    """Of 2,400 shuffles of four values each of the 24 orders comes 100 times, within five standard deviations."""
    orders = [tuple(shuffled(np.arange(4, dtype=np.int32), stream(k, "order"))) for k in range(2400)]
    counts = np.unique(orders, axis=0, return_counts=True)[1]
    assert len(counts) == 24
    assert np.abs(counts - 100).max() < 5 * np.sqrt(100)
