"""The checks that look at all of X look at a piece of it at a time."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sce.core import validate
from sce.errors import InputError


@given(st.integers(1, 30), st.integers(1, 30), st.sampled_from(["C", "F", "sliced"]), st.data())
def test_one_bad_value_is_found_anywhere(n, d, order, data):
    """In any memory order, wherever the pieces end."""
    X = np.zeros((2 * n, 2 * d))[::2, ::2] if order == "sliced" else np.zeros((n, d), order=order)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(validate, "_FINITE_CHECK_CELLS", 7)
        validate.refuse_not_finite(X, "X")
        row = data.draw(st.integers(0, n - 1))
        X[row, data.draw(st.integers(0, d - 1))] = data.draw(st.sampled_from([np.nan, np.inf, -np.inf]))
        with pytest.raises(InputError, match=f"in 1 of {n} rows: {row};"):
            validate.refuse_not_finite(X, "X")


@pytest.mark.parametrize(
    "X", [np.zeros((40_000, 500), np.float16, order="F"), np.zeros((80_000, 500), np.float16)[::2]]
)
def test_the_check_is_not_as_large_as_the_data(X):
    """Twenty million numbers are checked with little memory, in any order."""
    tracemalloc.start()
    validate.refuse_not_finite(X, "X")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6
