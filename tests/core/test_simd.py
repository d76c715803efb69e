"""The sums on vector registers against NumPy."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sce.graph.kernels import pair_distance


def in_lanes(terms):
    """The twin: a float32 sum in the order of the kernel, four vectors of eight side by side."""
    vectors = terms.reshape(-1, 8)
    whole = len(vectors) // 4 * 4
    sums = np.zeros((4, 8), np.float32)
    for first in range(0, whole, 4):
        sums += vectors[first : first + 4]
    for vector in vectors[whole:]:
        sums[0] += vector
    parts = (sums[0] + sums[2]) + (sums[1] + sums[3])
    while len(parts) > 1:
        parts = parts[: len(parts) // 2] + parts[len(parts) // 2 :]
    return parts[0]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(1, 20), st.integers(0, 7), st.integers(0, 1000))
def test_sums_of_two_rows(vectors, shift, seed):
    """At any address and of any length; to the last bit where no product can be fused with a sum."""
    memory = np.random.default_rng(seed).normal(size=(2, 8 * vectors + shift)).astype(np.float32)
    x, y = memory[:, shift:]
    gaps = x - y
    assert pair_distance(x, y, True) == in_lanes(np.abs(gaps))
    np.testing.assert_allclose(pair_distance(x, y, False), np.square(gaps, dtype=float).sum(), rtol=2e-6)
    assert pair_distance(x, y, False) == pair_distance(y, x, False)
    assert pair_distance(x, x, False) == 0.0


def test_sums_keep_infinity_and_nan():
    """As NumPy has them."""
    x, y = np.zeros((2, 40), np.float32)
    x[33] = np.inf
    assert pair_distance(x, y, False) == np.inf
    y[33] = np.inf
    assert np.isnan(pair_distance(x, y, True))
