"""Neighbours, edges and triplets kept, against twins that examine every pair."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.manifold import trustworthiness
from sklearn.metrics import pairwise_distances

from sce.errors import InputError, ParameterError
from sce.quality.neighbors import edges_kept, neighbors_kept, triplets_kept


def all_ranks(X, metric="euclidean"):
    """ranks[i, j]: the rank of j among the nearest of i; 0 for i itself."""
    distances = pairwise_distances(X, metric=metric)
    np.fill_diagonal(distances, -1)
    return distances.argsort(axis=1).argsort(axis=1)


def slow_kept(X, Y, k, metric="euclidean"):
    """Recall, trustworthiness and continuity by their definitions."""
    data, on_map = all_ranks(X, metric), all_ranks(Y)
    n = len(X)
    near_data, near_map = (data >= 1) & (data <= k), (on_map >= 1) & (on_map <= k)
    scale = 2 / (n * k * (2 * n - 3 * k - 1))
    intruders = (data - k)[near_map & ~near_data].sum()
    missed = (on_map - k)[near_data & ~near_map].sum()
    return (near_data & near_map).sum() / (n * k), 1 - scale * intruders, 1 - scale * missed


@pytest.fixture(scope="module")
def pair():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    return X, X[:, :2] + 0.3 * rng.normal(size=(300, 2))


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
@pytest.mark.parametrize("k", [1, 7, 15])
def test_equals_the_twin_that_ranks_all_pairs(pair, k, metric):
    """Recall, trustworthiness and continuity equal their definitions."""
    X, Y = pair
    assert neighbors_kept(X, Y, k=k, metric=metric) == pytest.approx(slow_kept(X, Y, k, metric))


def test_trustworthiness_is_scikit_learns(pair):
    """Continuity is the trustworthiness of the data as a map of the map."""
    X, Y = pair
    kept = neighbors_kept(X, Y, k=10)
    assert kept.trustworthiness == pytest.approx(trustworthiness(X, Y, n_neighbors=10))
    assert kept.continuity == pytest.approx(trustworthiness(Y, X, n_neighbors=10))


@pytest.mark.parametrize("levels", [2, 3, 10])
def test_trustworthiness_is_scikit_learns_on_tied_data(levels):
    """Integers have many equal distances; their ranks are shared out instead of all being the best one."""
    rng = np.random.default_rng(levels)
    X = rng.integers(0, levels, size=(500, 5)).astype(float)
    Y = X[:, :2] + rng.normal(size=(500, 2))
    kept = neighbors_kept(X, Y, k=15)
    assert kept.trustworthiness == pytest.approx(trustworthiness(X, Y, n_neighbors=15), abs=0.002)
    assert kept.continuity == pytest.approx(trustworthiness(Y, X, n_neighbors=15), abs=0.01)  # which of a tie is near


def test_takes_distances_and_sparse_data(pair):
    """A distance matrix and a sparse matrix give the same as the dense rows."""
    X, Y = pair
    whole = neighbors_kept(X, Y)
    assert neighbors_kept(pairwise_distances(X), Y, metric="precomputed") == pytest.approx(whole)
    assert neighbors_kept(sp.csr_matrix(X), Y) == pytest.approx(whole)


def test_a_sample_is_near_the_whole_and_the_same_on_any_number_of_threads(pair):
    """A sample of half of the points is close to all points, and a function of the seed alone."""
    X, Y = pair
    one = neighbors_kept(X, Y, n_queries=150, n_jobs=1)
    assert one == neighbors_kept(X, Y, n_queries=150, n_jobs=3)
    assert one == pytest.approx(neighbors_kept(X, Y), abs=0.05)
    assert one != neighbors_kept(X, Y, n_queries=150, random_state=1)


def test_copies_are_as_near_as_each_other():
    """Whichever of many equal rows the map shows as nearest is right."""
    X = np.repeat(np.arange(4.0), 50)[:, None]
    Y = np.column_stack([X[:, 0], np.random.default_rng(0).uniform(0, 0.1, len(X))])
    assert neighbors_kept(X, Y, k=15).recall == 1.0


def test_noise_keeps_what_chance_keeps():
    """An unrelated map has the figures of chance."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(1000, 10)), rng.normal(size=(1000, 2))
    kept = neighbors_kept(X, Y)
    assert kept.recall == pytest.approx(15 / 999, abs=0.005)
    assert kept.trustworthiness == pytest.approx(0.5, abs=0.02)
    assert triplets_kept(X, Y) == pytest.approx(0.5, abs=0.02)


def slow_edges_kept(P, Y):
    """The share of each row of P that goes to as many nearest points as it has edges, one row at a time."""
    ranks, dense = all_ranks(Y), P.toarray()
    shares = [row[(r >= 1) & (r <= (row > 0).sum())].sum() / row.sum() for row, r in zip(dense, ranks, strict=True)]
    return np.mean(shares)


def test_edges_kept_equals_its_twin(pair):
    """On a weighted neighbour graph."""
    X, Y = pair
    weights = np.exp(-pairwise_distances(X)) * (all_ranks(X) <= 10)
    np.fill_diagonal(weights, 0)
    P = sp.csr_matrix(weights + weights.T)
    assert edges_kept(P, Y) == pytest.approx(slow_edges_kept(P, Y))


def test_an_edge_to_itself_does_not_count():
    """The diagonal of P neither counts as an edge nor as mass."""
    P = sp.csr_matrix(np.array([[5.0, 1, 0], [1, 0, 0], [0, 0, 3]]))
    assert edges_kept(P, np.array([[0.0], [2.0], [1.0]])) == 0.0


def test_points_without_edges_are_left_out():
    """They do not count; a graph without edges has no figure."""
    P = sp.csr_matrix(([1.0, 1.0], ([0, 1], [1, 0])), shape=(4, 4))
    Y = np.array([[0.0, 0], [1, 0], [9, 0], [9, 1]])
    assert edges_kept(P, Y) == 1.0
    assert np.isnan(edges_kept(sp.csr_matrix((4, 4)), Y))


def slow_triplets(X, Y):
    """The definition, over all triplets of different points."""
    far, near = pairwise_distances(X), pairwise_distances(Y)
    n = len(X)
    right = [
        (far[a, b] < far[a, c]) == (near[a, b] < near[a, c])
        for a in range(n)
        for b in range(n)
        for c in range(n)
        if len({a, b, c}) == 3
    ]
    return np.mean(right)


def test_triplets_are_near_those_of_all(pair):
    """The sample is close to all triplets; a map that only scales and reflects keeps every triplet."""
    X, Y = (part[:60] for part in pair)
    assert triplets_kept(X, Y) == pytest.approx(slow_triplets(X, Y), abs=0.02)
    assert triplets_kept(X, -3 * X) == 1.0


def test_few_points():
    """One to five points have figures between 0 and 1."""
    for n in (1, 2, 3, 5):
        X = np.random.default_rng(n).normal(size=(n, 3))
        assert all(0 <= value <= 1 for value in neighbors_kept(X, X[:, :2]))
        assert 0 <= triplets_kept(X, X[:, :2]) <= 1


def test_says_what_does_not_fit(pair):
    """Wrong shapes, NaN, unknown metrics and k = 0 are refused in a sentence."""
    X, Y = pair
    with pytest.raises(InputError, match="300 points and the data have 299 rows"):
        neighbors_kept(X[1:], Y)
    with pytest.raises(InputError, match="square"):
        neighbors_kept(X, Y, metric="precomputed")
    with pytest.raises(InputError, match=": 3;"):
        neighbors_kept(np.where(np.arange(300)[:, None] == 3, np.nan, X), Y)
    with pytest.raises(ParameterError, match="nonsense"):
        neighbors_kept(X, Y, metric="nonsense")
    with pytest.raises(ParameterError, match="k must be"):
        neighbors_kept(X, Y, k=0)
