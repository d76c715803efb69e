"""Dense helpers without BLAS: right, and the same bytes for any number of threads."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from sce.core.linalg import eigh, matmul, orthonormalize, power_of_two, sample_rows
from sce.core.parallel import Team
from sce.core.principal import principal_axes, project
from sce.core.random import stream


def stretched(n, d, seed=0):
    """Rows whose columns, turned at random, have deviations 10, 5, 2.5, ..."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return rng.normal(size=(n, d)) * 10.0 / 2.0 ** np.arange(d) @ turn + 3.0, turn


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(1, 40), st.integers(1, 300), st.integers(1, 40), st.integers(0, 99))
def test_matmul_equals_numpy(m, d, n, seed):
    """The product equals NumPy's float64 one, whatever remainders the sizes leave."""
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(m, d)).astype(np.float32), rng.normal(size=(d, n)).astype(np.float32)
    expected = A.astype(float) @ B.astype(float)
    np.testing.assert_allclose(matmul(A, B, Team(1)), expected, atol=1e-5 * d)


def test_matmul_crosses_tiles():
    """Products larger than a tile in every direction are right."""
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(515, 517)).astype(np.float32), rng.normal(size=(517, 1030)).astype(np.float32)
    np.testing.assert_allclose(matmul(A, B, Team(2)), A.astype(float) @ B.astype(float), atol=2e-4)


def test_matmul_row_does_not_depend_on_its_place():
    """A row gives the same bytes alone and among others: no other order of summation in remainders."""
    rng = np.random.default_rng(2)
    A, B = rng.normal(size=(7, 301)).astype(np.float32), rng.normal(size=(301, 33)).astype(np.float32)
    whole = matmul(A, B, Team(1))
    for i in range(7):
        assert (matmul(A[i : i + 1], B, Team(1)) == whole[i]).all()


def test_same_bytes_on_any_number_of_threads():
    """Axes and coordinates do not depend on the team, nor on BLAS threads."""
    X = stretched(3000, 60)[0]
    results = []
    for n_jobs, blas in ((1, 1), (2, 2), (4, 1)):
        with Team(n_jobs) as team, threadpool_limits(blas, user_api="blas"):
            found = principal_axes(X, 5, 7, team)
            results.append(b"".join(part.tobytes() for part in found) + project(X, *found[:2], team).tobytes())
    assert results[0] == results[1] == results[2]


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(1, 30), st.integers(1, 12), st.integers(0, 99))
def test_orthonormalize(d, p, seed):
    """Columns are orthonormal or zero, and span what they spanned."""
    A = np.random.default_rng(seed).normal(size=(d, p))
    A[:, -1] = A[:, 0]
    Q = orthonormalize(A)
    gram = Q.T @ Q
    lengths = np.diag(gram)
    assert np.all((np.abs(lengths - 1) < 1e-12) | (lengths == 0))
    np.testing.assert_allclose(gram, np.diag(lengths), atol=1e-12)
    np.testing.assert_allclose(Q @ (Q.T @ A), A, atol=1e-10)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(1, 25), st.integers(0, 99), st.sampled_from([1e-200, 1.0, 1e200]))
def test_eigh_equals_lapack(n, seed, size):
    """Eigenvalues equal LAPACK's, largest first, and the vectors diagonalise."""
    A = np.random.default_rng(seed).normal(size=(n, n))
    A = (A + A.T) / 2
    values, vectors = eigh(A * size)
    np.testing.assert_allclose(values / size, np.linalg.eigvalsh(A)[::-1], atol=1e-10)
    np.testing.assert_allclose(A @ vectors, vectors * (values / size), atol=1e-9)


def test_eigh_of_zeros():
    """A matrix of zeros has zero eigenvalues and orthonormal vectors."""
    values, vectors = eigh(np.zeros((3, 3)))
    assert (values == 0).all()
    assert (vectors == np.eye(3)).all()


def test_sample_rows():
    """A sample is ascending, without repetition, and everything where there is little."""
    rows = sample_rows(1000, 100, stream(0, "x"))
    assert len(np.unique(rows)) == 100
    assert (np.diff(rows) > 0).all()
    assert (sample_rows(5, 9, stream(0, "x")) == np.arange(5)).all()


@settings(deadline=None, derandomize=True)
@given(st.floats(min_value=1e-290, max_value=1e290))
def test_power_of_two(peak):
    """The scale brings any peak into [0.5, 1)."""
    assert 0.5 <= peak * power_of_two(peak) < 1


# ------------------------------------------------------------------------------------------------------ bounded memory
