"""Dense helpers without BLAS: right, and the same bytes for any number of threads."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from threadpoolctl import threadpool_limits

from sce import linalg
from sce.linalg import eigh, matmul, orthonormalize, power_of_two, principal_axes, project, sample_rows
from sce.parallel import Team
from sce.random import stream


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


def test_principal_axes_are_the_true_ones(team_of_two):
    """The axes are those the data were made with, in order, with their variances; signs are fixed."""
    X, turn = stretched(8000, 12)
    mean, axes, variances = principal_axes(X, 4, 0, team_of_two)
    np.testing.assert_allclose(np.abs(turn[:4] @ axes), np.eye(4), atol=0.06)
    np.testing.assert_allclose(variances, np.linalg.eigvalsh(np.cov(X.T, ddof=0))[::-1][:4], rtol=1e-4)
    np.testing.assert_allclose(mean, X.mean(axis=0), atol=1e-9)
    assert (axes[np.abs(axes).argmax(axis=0), np.arange(4)] > 0).all()


@pytest.fixture
def team_of_two():
    """Two threads."""
    with Team(2) as team:
        yield team


def test_sparse_and_dense_agree(team_of_two):
    """A sparse X gives the axes and coordinates of its dense twin."""
    dense = stretched(500, 20)[0] * (np.random.default_rng(3).random((500, 20)) < 0.3)
    a = principal_axes(dense, 3, 0, team_of_two)
    b = principal_axes(sparse.csr_array(dense), 3, 0, team_of_two)
    np.testing.assert_allclose(a.variances, b.variances, rtol=1e-3)
    np.testing.assert_allclose(np.abs((a.axes * b.axes).sum(axis=0)), 1, atol=1e-3)
    np.testing.assert_allclose(
        project(dense, b.mean, b.axes, team_of_two),
        project(sparse.csc_matrix(dense), b.mean, b.axes, team_of_two),
        atol=1e-3,
    )


def test_sparse_is_never_made_dense(team_of_two):
    """A sparse matrix that would fill 80 GB as a dense one is no problem."""
    rng = np.random.default_rng(0)
    entries = rng.random(10_000), (rng.integers(0, 50_000, 10_000), rng.integers(0, 200_000, 10_000))
    X = sparse.csr_matrix(entries, shape=(50_000, 200_000))
    found = principal_axes(X, 2, 0, team_of_two, n_iter=1)
    assert np.isfinite(project(X, found.mean, found.axes, team_of_two)).all()


@pytest.mark.parametrize("size", [1e-200, 1e-30, 1e30, 1e150, 1e200])
def test_axes_do_not_depend_on_the_unit(size, team_of_two):
    """Huge and tiny data give the axes of ordinary ones."""
    X = stretched(400, 6)[0]
    plain, scaled = principal_axes(X, 2, 0, team_of_two), principal_axes(X * size, 2, 0, team_of_two)
    np.testing.assert_allclose(scaled.axes, plain.axes, atol=1e-4)
    coordinates = project(X * size, scaled.mean, scaled.axes, team_of_two) / size
    np.testing.assert_allclose(coordinates, project(X, plain.mean, plain.axes, team_of_two), atol=1e-2)


def test_large_offset(team_of_two):
    """An offset of 10^9 does not drown a spread of 1."""
    X = stretched(400, 5)[0]
    a, b = principal_axes(X, 2, 0, team_of_two), principal_axes(X + 1e9, 2, 0, team_of_two)
    np.testing.assert_allclose(a.axes, b.axes, atol=1e-4)
    np.testing.assert_allclose(
        project(X, a.mean, a.axes, team_of_two), project(X + 1e9, b.mean, b.axes, team_of_two), atol=1e-2
    )


def test_more_axes_than_rank(team_of_two):
    """Axes beyond the rank are zero and have no variance; constant data have no axis with variance."""
    X = np.outer(np.arange(10.0), [1.0, 2.0])
    found = principal_axes(X, 3, 0, team_of_two)
    assert found.axes.shape == (2, 3)
    assert found.variances[0] > 1
    assert (found.axes[:, 2] == 0).all()
    np.testing.assert_allclose(found.variances[1:], 0, atol=1e-9)
    flat = principal_axes(np.full((5, 4), 0.1), 2, 0, team_of_two)
    assert np.isfinite(flat.axes).all()
    np.testing.assert_allclose(flat.variances, 0, atol=1e-30)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float16, np.float32, np.bool_])
def test_every_dtype(dtype, team_of_two):
    """Every numeric dtype gives what float64 gives, and is left as it was."""
    X = (np.random.default_rng(0).random((300, 10)) * [1, 2, 3, 4, 5, 6, 7, 8, 9, 30]).astype(dtype)
    before = X.copy()
    a, b = principal_axes(X, 1, 0, team_of_two), principal_axes(X.astype(float), 1, 0, team_of_two)
    np.testing.assert_allclose(a.axes, b.axes, atol=1e-6)
    np.testing.assert_allclose(
        project(X, *a[:2], team_of_two), project(X.astype(float), *a[:2], team_of_two), atol=1e-3
    )
    assert (before == X).all()


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


def peak_of(function):
    """Bytes that NumPy held at most while the function ran, beyond those before."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_a_sample_read_again_gives_the_same_axes(make, monkeypatch, team_of_two):
    """A sample that is too large to be kept differs from a kept one in no more than rounding."""
    X = make(stretched(900, 20)[0])
    kept = principal_axes(X, 3, 0, team_of_two, max_cells=None)
    monkeypatch.setattr(linalg, "_HELD_BYTES", 0)
    monkeypatch.setattr(linalg, "_PIECE_CELLS", 700)
    read = principal_axes(X, 3, 0, team_of_two, max_cells=None)
    for a, b in zip(kept, read, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("cells", [1, 700, 4000, 10**9])
def test_pieces_of_a_sample_change_no_byte(cells, monkeypatch, team_of_two):
    """A kept sample is the same however it was read."""
    X = stretched(900, 20)[0]
    expected = [part.tobytes() for part in principal_axes(X, 3, 0, team_of_two)]
    monkeypatch.setattr(linalg, "_PIECE_CELLS", cells)
    assert [part.tobytes() for part in principal_axes(X, 3, 0, team_of_two)] == expected


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_cutting_into_pieces(lengths):
    """Every row is in one piece, in order, and a piece has no more numbers than allowed but for its last row."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linalg, "_PIECE_CELLS", 10)
        pieces = linalg._cut(np.array(lengths))
    assert [i for piece in pieces for i in range(piece.start, piece.stop)] == list(range(len(lengths)))
    assert all(sum(lengths[piece][:-1]) < 10 for piece in pieces)


def test_sample_of_many_columns_is_bounded(team_of_two):
    """100,000 columns: the axes take less than 400 MB, the coordinates less than 100."""
    X = np.random.default_rng(0).integers(0, 255, (600, 100_000), np.uint8)
    found = []
    assert peak_of(lambda: found.append(principal_axes(X, 2, 0, team_of_two, n_iter=1))) < 400e6
    assert peak_of(lambda: project(X, found[0].mean, found[0].axes, team_of_two)) < 100e6


def test_all_rows_asked_for_are_used(monkeypatch, team_of_two):
    """Without a bound on the numbers in it the sample has the rows asked for, with one fewer."""
    monkeypatch.setattr(linalg, "_FEW_ROWS", 10)
    X = np.zeros((200, 6))
    X[:, 0] = np.arange(200)
    whole = principal_axes(X, 1, 0, team_of_two, n_sample=200, max_cells=None)
    np.testing.assert_allclose(whole.variances, [X[:, 0].var()], rtol=1e-5)
    assert principal_axes(X, 1, 0, team_of_two, n_sample=200, max_cells=120).variances[0] != whole.variances[0]
