"""Rows moved within their memory, against NumPy's indexing, which makes copies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sce.core.parallel import Team
from sce.graph.inplace import keep_rows, permute_rows, widen_rows

sizes = st.integers(1, 60)
columns = st.sampled_from([1, 3, 8, 16, 17, 40])


def numbered(n, d, dtype):
    """Rows of which no two numbers are equal."""
    return np.arange(n * d).reshape(n, d).astype(dtype)


@given(sizes, columns, st.sampled_from([np.float32, np.float64, np.int32]), st.integers(0, 10**6), st.integers(1, 4))
def test_permutation_equals_indexing(n, d, dtype, seed, n_jobs):
    """X becomes X[order], whatever the cycles of the order, and the inverse order brings it back."""
    order = np.random.default_rng(seed).permutation(n).astype(np.int32)
    X = numbered(n, d, dtype)
    with Team(n_jobs) as team:
        permute_rows(X, order, team)
        assert (numbered(n, d, dtype)[order] == X).all()
        permute_rows(X, np.argsort(order).astype(np.int32), team)
    assert (numbered(n, d, dtype) == X).all()


@pytest.mark.parametrize(
    "order", [np.arange(9), np.arange(9)[::-1], np.roll(np.arange(9), 1), np.roll(np.arange(9), -4)]
)
def test_permutations_of_one_kind_of_cycle(order):
    """None but cycles of one, of two, and a single one of all."""
    X = numbered(9, 3, np.float32)
    permute_rows(X, order, Team(1))
    assert (numbered(9, 3, np.float32)[order] == X).all()


@given(st.data(), sizes, columns, st.integers(1, 4))
def test_keeping_rows_equals_indexing(data, n, d, n_jobs):
    """Any ascending choice of rows, none and all of them too."""
    keep = np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    X = numbered(n, d, np.float32)
    with Team(n_jobs) as team:
        kept = keep_rows(X, keep, team)
    assert (kept == numbered(n, d, np.float32)[keep]).all()
    assert kept.shape == (len(keep), d)
    assert np.shares_memory(kept, X) or not len(keep)


@given(sizes, st.integers(0, 20), st.integers(0, 20))
def test_widened_rows_keep_their_columns(n, narrow, more):
    """The first columns are what they were, in the same memory."""
    memory = np.empty(n * (narrow + more), np.float32)
    X = memory[: n * narrow].reshape(n, narrow)
    X[:] = numbered(n, narrow, np.float32)
    wide = widen_rows(memory, X, narrow + more)
    assert wide.shape == (n, narrow + more)
    assert wide.flags.c_contiguous
    assert (wide[:, :narrow] == numbered(n, narrow, np.float32)).all()
