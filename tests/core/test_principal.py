"""Principal axes: the true ones, of rows of any kind, in bounded memory."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sce.core import principal
from sce.core.parallel import Team
from sce.core.principal import principal_axes, project


def stretched(n, d, seed=0):
    """Rows whose columns, turned at random, have deviations 10, 5, 2.5, ..."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return rng.normal(size=(n, d)) * 10.0 / 2.0 ** np.arange(d) @ turn + 3.0, turn


@pytest.fixture
def team_of_two():
    """Two threads."""
    with Team(2) as team:
        yield team


def test_principal_axes_are_the_true_ones(team_of_two):
    """The axes are those the data were made with, in order, with their variances; signs are fixed."""
    X, turn = stretched(8000, 12)
    mean, axes, variances = principal_axes(X, 4, 0, team_of_two)
    np.testing.assert_allclose(np.abs(turn[:4] @ axes), np.eye(4), atol=0.06)
    np.testing.assert_allclose(variances, np.linalg.eigvalsh(np.cov(X.T, ddof=0))[::-1][:4], rtol=1e-4)
    np.testing.assert_allclose(mean, X.mean(axis=0), atol=1e-9)
    assert (axes[np.abs(axes).argmax(axis=0), np.arange(4)] > 0).all()


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
    monkeypatch.setattr(principal, "_HELD_BYTES", 0)
    monkeypatch.setattr(principal, "_PIECE_CELLS", 700)
    read = principal_axes(X, 3, 0, team_of_two, max_cells=None)
    for a, b in zip(kept, read, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("cells", [1, 700, 4000, 10**9])
def test_pieces_of_a_sample_change_no_byte(cells, monkeypatch, team_of_two):
    """A kept sample is the same however it was read."""
    X = stretched(900, 20)[0]
    expected = [part.tobytes() for part in principal_axes(X, 3, 0, team_of_two)]
    monkeypatch.setattr(principal, "_PIECE_CELLS", cells)
    assert [part.tobytes() for part in principal_axes(X, 3, 0, team_of_two)] == expected


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_cutting_into_pieces(lengths):
    """Every row is in one piece, in order, and a piece has no more numbers than allowed but for its last row."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(principal, "_PIECE_CELLS", 10)
        pieces = principal._cut(np.array(lengths))
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
    monkeypatch.setattr(principal, "_SAMPLE_ROWS_AT_LEAST", 10)
    X = np.zeros((200, 6))
    X[:, 0] = np.arange(200)
    whole = principal_axes(X, 1, 0, team_of_two, n_sample=200, max_cells=None)
    np.testing.assert_allclose(whole.variances, [X[:, 0].var()], rtol=1e-5)
    assert principal_axes(X, 1, 0, team_of_two, n_sample=200, max_cells=120).variances[0] != whole.variances[0]
