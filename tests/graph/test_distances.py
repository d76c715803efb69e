"""Neighbours from elsewhere: distance matrices and other libraries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors

from sce.errors import GraphWarning, InputError
from sce.graph.distances import neighbors_from_cross_distances, neighbors_from_distances, neighbors_graph
from sce.graph.found import tie_draws
from sce.graph.kernels import row_keys


def symmetric(n, seed=0):
    """A symmetric matrix of distances."""
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))


def by_sorting(D, k, keys):
    """The columns of the k smallest entries of each row, smallest first, ties by a random number for each."""
    return [
        sorted(range(D.shape[1]), key=list(zip(row, tie_draws(key, np.arange(D.shape[1])), strict=True)).__getitem__)[
            :k
        ]
        for row, key in zip(D, keys, strict=True)
    ]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(2, 20), st.integers(0, 9), st.data())
def test_dense_distances(n, seed, data):
    """The k nearest by sorting each row, self left out by number, ties by the seed."""
    k = data.draw(st.integers(1, n - 1))
    D = np.round(symmetric(n, data.draw(st.integers(0, 50))))  # ties and zeros
    near = neighbors_from_distances(D, k, seed)
    others = np.where(np.eye(n, dtype=bool), np.inf, D)
    assert near.indices.tolist() == by_sorting(others, k, row_keys(seed, np.arange(n)))
    assert (near.distances == np.sort(others, axis=1)[:, :k]).all()


def test_sparse_of_transformer():
    """scikit-learn's KNeighborsTransformer stores k + 1 with the row itself; k others come out."""
    X = np.random.default_rng(0).normal(size=(80, 4))
    graph = KNeighborsTransformer(n_neighbors=6).fit_transform(X)
    near = neighbors_from_distances(graph, 6)
    distances, ids = NearestNeighbors(n_neighbors=6).fit(X).kneighbors()
    assert (near.indices == ids).all()
    np.testing.assert_allclose(near.distances, distances)
    assert near.recall == 1.0


def test_stored_zeros_are_neighbours():
    """A stored zero is a copy; what is not stored is no neighbour, and an infinite distance is none either."""
    D = sparse.csr_array(
        (np.array([0.0, 5.0, 0.0, np.inf, 2.0]), np.array([1, 2, 0, 2, 0]), np.array([0, 2, 4, 5])), shape=(3, 3)
    )
    with pytest.warns(GraphWarning, match=r"2 rows .* fewer than the 2 neighbours .* fewest: 1"):
        near = neighbors_from_distances(D, 2)
    assert near.indices.tolist() == [[1, 2], [0, -1], [0, -1]]
    assert near.distances.tolist() == [[0, 5], [0, np.inf], [2, np.inf]]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.coo_array, sparse.csc_matrix])
def test_all_forms_agree_and_stay(make):
    """Dense and sparse forms give the same, and are not changed."""
    D = symmetric(30) + 1.0
    given = make(D)
    before = given.copy()
    near = neighbors_from_distances(given, 4)
    expected = neighbors_from_distances(D, 4)
    assert (near.indices == expected.indices).all()
    assert (abs(given - before)).sum() == 0


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_bad_distances(make):
    """Non-square, negative and NaN matrices are refused, with the rows at fault."""
    with pytest.raises(InputError, match=r"must be square; got shape \(2, 3\)"):
        neighbors_from_distances(make(np.ones((2, 3))), 1)
    D = symmetric(9)
    D[4, 5] = -1
    with pytest.raises(InputError, match=r"not be negative, but row 4 .*affinity='precomputed'"):
        neighbors_from_distances(make(D), 2)
    D[4, 5] = D[7, 1] = np.nan
    with pytest.raises(InputError, match=r"must be numbers, but rows 4, 7 hold NaN"):
        neighbors_from_distances(make(D), 2)
    with pytest.raises(InputError, match="real numbers; got complex"):
        neighbors_from_distances(make(np.eye(3) * 1j), 2)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 8), st.integers(1, 20), st.data())
def test_cross_distances(m, n, data):
    """The k nearest indexed rows of each new row by sorting, none left out, from a dense matrix and from a sparse one."""
    k = data.draw(st.integers(1, n))
    D = np.random.default_rng(data.draw(st.integers(0, 50))).integers(0, 4, (m, n)).astype(float)  # ties and zeros
    stored = sparse.csr_matrix((D.ravel(), np.tile(np.arange(n), m), n * np.arange(m + 1)), (m, n))
    for given_form in (D, stored):
        near = neighbors_from_cross_distances(given_form, k)
        assert near.indices.tolist() == by_sorting(D, k, row_keys(0, np.zeros(m)))
        assert (near.distances == np.sort(D, axis=1)[:, :k]).all()


def test_many_bad_rows_are_counted():
    """A message names the first five, and says how many there are."""
    with pytest.raises(InputError, match=r"but 9 rows \(0, 1, 2, 3, 4, \.\.\.\) hold negative ones"):
        neighbors_from_distances(-np.ones((9, 9)), 2)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_bad_cross_distances(make):
    """Negative and NaN distances of new rows are refused, with the rows at fault."""
    D = np.ones((3, 5))
    D[2, 4] = -1
    with pytest.raises(InputError, match="not be negative, but row 2"):
        neighbors_from_cross_distances(make(D), 2)
    D[1, 0] = np.nan
    with pytest.raises(InputError, match="must be numbers, but row 1 holds NaN"):
        neighbors_from_cross_distances(make(D), 2)


def test_few_cross_distances_are_announced():
    """New rows that store fewer than k keep what they have."""
    D = sparse.csr_matrix(np.array([[0, 2.0, 0], [1.0, 3.0, 2.0]]))
    with pytest.warns(GraphWarning, match=r"1 rows .* fewer than the 2 neighbours"):
        near = neighbors_from_cross_distances(D, 2)
    assert near.indices.tolist() == [[1, -1], [0, 2]]


def test_round_trip():
    """Lists become a matrix and lists again; zeros survive, the row itself is dropped."""
    ids = np.array([[0, 2, 1], [1, 0, 2], [2, 0, 1]])
    distances = np.array([[0, 0.0, 3], [0, 3, 4], [0, 0.0, 4]])
    graph = neighbors_graph(ids, distances)
    assert graph.nnz == 6
    near = neighbors_from_distances(graph, 2)
    assert (near.indices == ids[:, 1:]).all()
    assert (near.distances == distances[:, 1:]).all()


def test_more_rows_than_lists():
    """The number n may exceed the number of lists: the rest has no stored entry."""
    graph = neighbors_graph([[1], [3]], [[1.0], [2.0]], n=4)
    assert graph.shape == (4, 4)
    assert np.diff(graph.indptr).tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize(
    ("ids", "distances", "n", "message"),
    [
        ([[1], [0]], [[1.0, 2.0]], None, r"same shape \(rows, k\); got \(2, 1\) and \(1, 2\)"),
        ([1, 0], [1.0, 2.0], None, r"same shape \(rows, k\); got \(2,\)"),
        (3, 4.0, None, "same shape"),
        ([[1.0], [0.0]], [[1.0], [2.0]], None, "whole row numbers; got float64"),
        ([[1], [-1]], [[1.0], [2.0]], None, r"row numbers from 0 to 1, but row 1 holds .*write -1"),
        ([[5], [0]], [[1.0], [2.0]], None, r"row numbers from 0 to 1, but row 0 holds others"),
        ([[1], [0]], [[1.0], [-2.0]], None, "must not be negative, but row 1"),
        ([[1], [0]], [[np.nan], [2.0]], None, "row 0 holds NaN"),
        ([[1], [0]], [[1.0], [2.0]], 1, "n must be at least the number of rows in indices, 2; got 1"),
        ([[1, 1], [0, 1]], [[1.0, 1.0], [2.0, 2.0]], None, "the same neighbour twice"),
    ],
)
def test_bad_lists(ids, distances, n, message):
    """Each mistake in lists of neighbours has its own sentence."""
    with pytest.raises(InputError, match=message):
        neighbors_graph(ids, distances, n)


def test_an_entry_given_twice_counts_once():
    """Of two distances between the same points the smaller one is taken."""
    D = sparse.csr_matrix((3, 3))
    D.indptr, D.indices = np.array([0, 3, 4, 5], np.int32), np.array([1, 2, 1, 0, 0], np.int32)
    D.data = np.array([5.0, 2.0, 1.0, 1.0, 2.0])
    with pytest.warns(GraphWarning, match="2 rows"):
        near = neighbors_from_distances(D, 2)
    assert near.indices[0].tolist() == [1, 2]
    assert near.distances[0].tolist() == [1.0, 2.0]
