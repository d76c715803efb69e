"""Neighbours of sparse rows: what dense rows give, in every form of storage, without a dense copy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sce import SCE
from sce.core.linalg import sample_rows
from sce.core.parallel import Team
from sce.errors import DataWarning, InputError, ParameterError
from sce.graph import postings, sparse_rows
from sce.graph.index import build_index, nearest_neighbors
from sce.graph.kernels import row_keys
from sce.graph.metrics import ABSOLUTES, OWN_METRICS, SQUARES
from sce.graph.postings import Wanted, nearest_sparse, pair_sum
from sce.graph.sparse_rows import by_column, prepare
from searches import METRICS, assert_valid, assert_valid_query, bytes_of, distances_between, only, true_distances

FORMATS = [
    *(sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.bsr_matrix, sparse.lil_matrix, sparse.dok_matrix),
    *(sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.bsr_array),
]


def texts(n, d, share=0.05, seed=0, dtype=np.float64):
    """Rows of a few numbers, in columns of which some are common and most are rare."""
    rng = np.random.default_rng(seed)
    often = 1.0 / np.arange(1, d + 1)
    X = rng.gamma(1.0, size=(n, d)) * (rng.random((n, d)) < often * share * d / often.sum())
    return X.astype(dtype)


@pytest.fixture
def inverted(monkeypatch):
    """Sparse rows are searched as such, however many of their numbers are not zero."""
    only(monkeypatch, "inverted index")


# -------------------------------------------------------------------------------------------------------------- kernels


def dense_rows(rows):
    """Prepared rows as an array, with their column for rows without a direction."""
    X = sparse.csr_matrix((rows.values, rows.columns, rows.starts), (len(rows.lengths), rows.width + 1)).toarray()
    X[:, : rows.width] += rows.shifts[:, None]
    return X


def sums_between(A, B, terms):
    """The sum of the terms of all pairs of rows: the slow twin."""
    differences = A[:, None, :] - B[None, :, :]
    return (np.abs(differences) if terms == ABSOLUTES else differences**2).sum(axis=2)


@pytest.mark.parametrize("metric", METRICS)
def test_sum_of_a_pair_equals_twin(metric, inverted):
    """Over the differences, with columns that only one row has, and with a factor; copies are at exactly zero."""
    X = texts(40, 30, 0.2)
    X[7], X[8] = X[3], 0.0
    own = OWN_METRICS[metric]
    rows = prepare(sparse.csr_matrix(X), own)
    for factor in (1.0, 0.25):
        expected = sums_between(dense_rows(rows), dense_rows(rows) * factor, own.terms)
        found = [[pair_sum(rows, i, rows, j, factor, own.terms) for j in range(40)] for i in range(40)]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert pair_sum(rows, 7, rows, 3, 1.0, own.terms) == 0.0


@pytest.mark.parametrize("terms", [SQUARES, ABSOLUTES])
@pytest.mark.parametrize("block", [7, 64, 1 << 16])
def test_search_equals_twin(terms, block, team, monkeypatch):
    """The k nearest in all blocks of rows, nearest first, the same bytes for any block and any number of threads."""
    metric = OWN_METRICS["manhattan" if terms == ABSOLUTES else "euclidean"]
    rows = prepare(sparse.csr_matrix(texts(300, 50, 0.1)), metric)
    numbers = np.arange(300)
    wanted = Wanted(rows, numbers, numbers, row_keys(0, numbers), np.ones(300))
    plain = nearest_sparse(wanted, rows, by_column(rows), 9, terms, Team(1))
    monkeypatch.setattr(postings, "_SUMMED_ROWS", block)
    near = nearest_sparse(wanted, rows, by_column(rows), 9, terms, team)
    assert near.ids.tobytes() == plain.ids.tobytes()
    assert near.distances.tobytes() == plain.distances.tobytes()
    D = sums_between(dense_rows(rows), dense_rows(rows), terms)
    np.testing.assert_allclose(np.take_along_axis(D, near.ids.astype(int), 1), near.distances, rtol=1e-12, atol=1e-12)
    D[numbers, numbers] = np.inf
    np.testing.assert_allclose(near.distances, np.sort(D, axis=1)[:, :9], rtol=1e-12, atol=1e-12)


# ------------------------------------------------------------------------------------------------------------ properties


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    *(st.integers(2, 30), st.integers(1, 6), st.integers(1, 3), st.integers(0, 99)),
    st.sampled_from(FORMATS),
    st.sampled_from([np.float32, np.float64, np.int64, np.uint8, np.bool_]),
    st.sampled_from(["euclidean", "sqeuclidean", "manhattan"]),
)
def test_any_small_counts(n, d, largest, seed, make, dtype, metric):
    """Whole numbers full of ties, copies and empty rows, in any storage: exact for every k, with the ties of dense rows."""
    X = np.random.default_rng(seed).integers(0, largest + 1, (n, d)) * np.random.default_rng(seed).integers(
        0, 2, (n, d)
    )
    X = X.astype(dtype)
    with pytest.MonkeyPatch.context() as patch:
        only(patch, "inverted index")
        for k in {1, n // 2, n - 1} - {0}:
            near = nearest_neighbors(make(X), k, metric=metric, team=Team(1))
            assert near.method == "inverted index"
            assert_valid(near, n, k)
            np.testing.assert_allclose(near.distances, true_distances(X, k, metric), atol=1e-5)
            dense = nearest_neighbors(X.astype(float), k, metric=metric, team=Team(1))
            if np.unique(X, axis=0, return_counts=True)[1].max() <= k + 1:  # of more copies the first few are searched
                assert (np.sort(near.indices) == np.sort(dense.indices)).all()


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(3, 30), st.integers(2, 8), st.integers(0, 99), st.sampled_from(METRICS))
def test_any_small_rows(n, d, seed, metric):
    """Numbers of either sign, with empty and constant rows: the distances of dense rows, for new rows too."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.4)
    X[rng.integers(n)], X[rng.integers(n)] = 0.0, 2.5
    rows = np.concatenate([X[:2], rng.normal(size=(3, d))])
    with pytest.MonkeyPatch.context() as patch:
        only(patch, "inverted index")
        index, dense = (build_index(make(X), metric=metric) for make in (sparse.csr_matrix, np.asarray))
        for k in {1, n - 1}:
            near, twin = (each.self_neighbors(k, Team(1)) for each in (index, dense))
            np.testing.assert_allclose(near.distances, twin.distances, rtol=1e-5, atol=1e-6)
            near, twin = (each.query(rows, k, Team(1)) for each in (index, dense))
            assert_valid_query(near, 5, n, k)
            np.testing.assert_allclose(near.distances, twin.distances, rtol=1e-5, atol=1e-6)


def disordered(X, seed=0):
    """The same matrix with columns in disorder, explicit zeros, entries in two parts, and 64-bit indices."""
    rng = np.random.default_rng(seed)
    i, j = np.nonzero(X)
    empty_i, empty_j = (part[:50] for part in np.nonzero(X == 0))
    rows, columns = np.concatenate([i, i, empty_i]), np.concatenate([j, j, empty_j])
    values = np.concatenate([X[i, j] / 2, X[i, j] / 2, np.zeros(50)])
    order = rng.permutation(len(rows))
    order = order[np.argsort(rows[order], kind="stable")]
    made = sparse.csr_matrix(X.shape)
    made.data, made.indices = values[order], columns[order].astype(np.int64)
    made.indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(X)))]).astype(np.int64)
    return made


@pytest.mark.parametrize("metric", METRICS)
def test_storage_changes_nothing(metric, team):
    """Columns in disorder, zeros that are stored, entries in parts and 64-bit indices: the same bytes; X is left as it was."""
    X = texts(400, 60)
    given_as = disordered(X)
    before = [part.copy() for part in (given_as.data, given_as.indices, given_as.indptr)]
    index, plain = (build_index(made, metric=metric) for made in (given_as, sparse.csr_matrix(X)))
    assert bytes_of(index.self_neighbors(7, team)) == bytes_of(plain.self_neighbors(7, team))
    assert bytes_of(index.query(given_as[:9], 7, team)) == bytes_of(plain.query(X[:9], 7, team))
    for part, old in zip((given_as.data, given_as.indices, given_as.indptr), before, strict=True):
        assert part.dtype == old.dtype
        assert (part == old).all()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_larger_data(metric, dtype, team):
    """As scipy computes the distances, and the same bytes on any number of threads."""
    X = texts(1500, 400, dtype=dtype)
    near = nearest_neighbors(sparse.csr_matrix(X), 12, metric=metric, team=team)
    assert (near.method, near.recall) == ("inverted index", 1.0)
    assert_valid(near, 1500, 12)
    full = (X != 0).any(axis=1)  # scipy gives rows of zeros no direction, and NaN
    X = X[full]
    D = distances_between(X, X, metric)
    np.fill_diagonal(D, np.inf)
    near = nearest_neighbors(sparse.csr_matrix(X), 12, metric=metric, team=team)
    np.testing.assert_allclose(near.distances, np.sort(D, axis=1)[:, :12], rtol=1e-5, atol=1e-6)
    assert bytes_of(near) == bytes_of(nearest_neighbors(sparse.csr_matrix(X), 12, metric=metric, team=Team(1)))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "correlation"])
def test_small_differences_of_large_numbers(metric, team):
    """Rows that share huge numbers: scalar products cancel, differences do not."""
    X = texts(300, 200, 0.1)
    X[:, 0] = 1e9
    X[:, 1:] *= 1e6 if metric == "correlation" else 1.0
    near = nearest_neighbors(sparse.csr_matrix(X), 8, metric=metric, team=team)
    np.testing.assert_allclose(near.distances, true_distances(X, 8, metric), rtol=1e-5, atol=1e-11)


def test_masses_of_copies(team):
    """Thousands of equal rows: each lists others, no row is in the lists of very many, and the rest finds its own."""
    X = texts(3000, 50, 0.1)
    X[np.random.default_rng(1).permutation(3000)[:2000]] = X[0]
    near = nearest_neighbors(sparse.csr_matrix(X), 10, team=team)
    assert_valid(near, 3000, 10)
    np.testing.assert_allclose(near.distances, true_distances(X, 10), rtol=1e-5, atol=1e-9)
    assert np.bincount(near.indices.ravel()).max() < 150


def test_empty_rows_make_no_hubs(team):
    """Rows that share nothing are equally far from one another: none is in many more lists than another."""
    near = nearest_neighbors(sparse.eye(700, format="csr"), 10, metric="cosine", team=team)
    assert_valid(near, 700, 10)
    assert np.bincount(near.indices.ravel()).max() <= 30
    near = nearest_neighbors(sparse.csr_matrix((700, 30)), 10, metric="cosine", team=team)
    assert (near.distances == 0).all()


# --------------------------------------------------------------------------------------------------------- no dense copy


def refuse(*_, **__):
    """In place of a conversion that must not happen."""
    raise AssertionError("a dense copy was made")


@pytest.mark.parametrize("metric", METRICS)
def test_nothing_becomes_dense(metric, monkeypatch):
    """Neither in a fit nor for new rows: 3,000 x 400,000 would take 9 GB."""
    rng = np.random.default_rng(0)
    at = rng.integers(3000, size=100_000), rng.integers(400_000, size=100_000)
    X = sparse.csr_matrix((rng.random(100_000), at), (3000, 400_000))
    for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array):
        monkeypatch.setattr(kind, "toarray", refuse)
        monkeypatch.setattr(kind, "todense", refuse)
    index = build_index(X, metric=metric)
    assert index.self_neighbors(5, Team(2)).indices.shape == (3000, 5)
    assert index.query(X[:20], 5, Team(2)).indices.shape == (20, 5)
    SCE(metric=metric, n_epochs=3, n_neighbors=5).fit(X[sample_rows(3000, 300, np.uint64(0))])


# --------------------------------------------------------------------------------------------------------------- errors


def test_a_slow_search_is_announced(team, monkeypatch):
    """With what makes it quicker."""
    monkeypatch.setattr(sparse_rows, "_SLOW_ABOVE_PAIRS", 100)
    with pytest.warns(
        DataWarning, match=r"\d+ sparse rows are searched exactly, which takes minutes: leave out columns"
    ):
        nearest_neighbors(sparse.csr_matrix(texts(300, 30)), 3, team=team)


def test_mistakes(team):
    """Distances beyond float64, and metrics that no search of sparse rows has."""
    X = sparse.csr_matrix(texts(60, 30, 0.1))
    with pytest.raises(InputError, match="too large or too small for float64: multiply X by a constant"):
        nearest_neighbors(X * 1e200, 5, metric="sqeuclidean", team=team)
    with pytest.raises(InputError, match="too large or too small for float64"):
        build_index(X * 1e-200, metric="sqeuclidean").query(X[:3] * 1e-200, 5, team)
    with pytest.raises(ParameterError, match=r"with metric 'canberra': .* Sparse data need 'euclidean', .*toarray"):
        nearest_neighbors(X, 5, metric="canberra", team=team)
