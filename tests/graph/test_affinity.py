"""P from neighbours: symmetric, finite, sums to 1, and of the entropy asked for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.manifold import _utils

from sce.core.parallel import Team
from sce.errors import InputError
from sce.graph.affinity import (
    conditional_probabilities,
    entropic_affinity,
    entropic_cross_affinity,
    knn_affinity,
    knn_cross_affinity,
)
from sce.graph.index import Neighbors, build_index, nearest_neighbors


def given_lists(ids, distances):
    """Neighbours from lists."""
    return Neighbors(np.array(ids, np.int32), np.array(distances, float), "test", 1.0)


def random_lists(n, k, seed, levels=None):
    """Random lists of k others, at random distances (of a few levels only, if given)."""
    rng = np.random.default_rng(seed)
    ids = np.array([rng.permutation(np.delete(np.arange(n), i))[:k] for i in range(n)], np.int32)
    distances = rng.random((n, k)) if levels is None else rng.integers(0, levels, (n, k)).astype(float)
    return given_lists(ids, np.sort(distances, axis=1))


def assert_is_affinity(P, n):
    """P is what the layout relies on."""
    assert sparse.issparse(P)
    assert P.format == "csr"
    assert P.shape == (n, n)
    assert P.dtype == np.float32
    assert P.indices.dtype == np.int32
    dense = P.toarray()
    assert (dense == dense.T).all()
    assert (np.diag(dense) == 0).all()
    assert (P.data > 0).all()
    assert np.isfinite(P.data).all()
    assert abs(P.data.sum(dtype=np.float64) - 1) < 1e-6
    twin = P.copy()
    twin.has_sorted_indices = False
    twin.sort_indices()
    assert (twin.indices == P.indices).all()


def bisected(squares, perplexity):
    """The twin: plain bisection on the bandwidth, in NumPy."""
    low, high = 0.0, 1e12
    for _ in range(300):
        beta = (low + high) / 2
        p = np.exp(-beta * (squares - squares.min()))
        p /= p.sum()
        entropy = -(p[p > 0] * np.log(p[p > 0])).sum()
        low, high = (beta, high) if entropy > np.log(perplexity) else (low, beta)
    return p


def entropies(weights):
    """Perplexity of each row of weights."""
    weights = weights.astype(float)
    safe = np.where(weights > 0, weights, 1.0)
    return np.exp(-(weights * np.log(safe)).sum(axis=1))


# ------------------------------------------------------------------------------------------------------------ 0/1 graph


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(2, 30), st.data())
def test_knn_graph_equals_twin(n, data):
    """An edge wherever one lists the other, all of the same weight."""
    near = random_lists(n, data.draw(st.integers(1, n - 1)), data.draw(st.integers(0, 99)))
    P = knn_affinity(near, Team(2))
    W = np.zeros((n, n))
    np.put_along_axis(W, near.indices.astype(np.int64), 1.0, axis=1)
    union = np.maximum(W, W.T)
    assert_is_affinity(P, n)
    np.testing.assert_allclose(P.toarray(), union / union.sum(), rtol=1e-6)


def test_missing_neighbours_are_no_edges():
    """Index -1 stands for nothing, in both graphs."""
    near = given_lists([[1, -1], [2, 0], [1, -1], [-1, -1]], [[1, np.inf], [1, 2], [3, np.inf], [np.inf, np.inf]])
    for P in (knn_affinity(near), entropic_affinity(near, 1.5, Team(1))):
        assert_is_affinity(P, 4)
        assert P.nnz == 4
        assert P[3].nnz == 0


def test_neighbours_are_left_as_they_were(team):
    """Lists are sorted in a copy."""
    near = random_lists(50, 7, 0)
    before = near.indices.copy(), near.distances.copy()
    knn_affinity(near, team)
    entropic_affinity(near, 3, team)
    assert (near.indices == before[0]).all()
    assert (near.distances == before[1]).all()


# ------------------------------------------------------------------------------------------------------------- entropic


def test_entropy_is_that_asked_for(mixture, team):
    """Every row of distinct distances has the perplexity asked for, from barely above 1 to nearly all."""
    near = nearest_neighbors(mixture(400, 5), 90, team=team)
    for perplexity in (1.01, 5, 30, 89.9):
        np.testing.assert_allclose(
            np.log2(entropies(conditional_probabilities(near, perplexity, team))), np.log2(perplexity), atol=1e-6
        )


def test_weights_equal_bisection(mixture, team):
    """The weights are those of plain bisection, and of scikit-learn."""
    near = nearest_neighbors(mixture(100, 5), 30, team=team)
    weights = conditional_probabilities(near, 8.0, team)
    squares = near.distances.astype(float) ** 2
    np.testing.assert_allclose(weights, [bisected(row, 8.0) for row in squares], atol=1e-7)
    theirs = _utils._binary_search_perplexity(squares.astype(np.float32), 8.0, 0)
    np.testing.assert_allclose(weights, theirs, atol=1e-4)


def test_affinity_equals_definition(mixture, team):
    """P is (p_j|i + p_i|j) / 2N."""
    near = nearest_neighbors(mixture(120, 4), 20, team=team)
    W = np.zeros((120, 120))
    np.put_along_axis(W, near.indices.astype(np.int64), conditional_probabilities(near, 6.0, team), axis=1)
    P = entropic_affinity(near, 6.0, team)
    assert_is_affinity(P, 120)
    np.testing.assert_allclose(P.toarray(), (W + W.T) / 240, rtol=1e-6, atol=1e-37)


def test_rows_that_no_bandwidth_serves(team):
    """Equal distances: uniform. More nearest ties than the perplexity: uniform over these. Too few: over all."""
    near = given_lists(
        [[1, 2, 3, 4]] * 5,
        [[2, 2, 2, 2], [0, 0, 0, 0], [1, 1, 1, 5], [0, 0, 0, 7], [1, 2, 3, 4]],
    )
    weights = conditional_probabilities(near, 2.5, team)
    np.testing.assert_allclose(weights[:2], 0.25)
    np.testing.assert_allclose(weights[2:4], [[1 / 3, 1 / 3, 1 / 3, 0]] * 2)
    np.testing.assert_allclose(entropies(weights[4:]), 2.5, rtol=1e-6)
    np.testing.assert_allclose(conditional_probabilities(near, 4.0, team), 0.25)
    np.testing.assert_allclose(conditional_probabilities(near, 1e9, team), 0.25)


@pytest.mark.parametrize(
    "row",
    [
        [0, 0, 1e-300, 1],
        [1e200, 2e200, 3e200, 4e200],
        [1e-300, 2e-300, 3e-300, 4e-300],
        [1, 1 + 1e-15, 1 + 2e-15, 2],
        [0, 1e-160, 1e160, 1e300],
        [5, 5, 5, 5 + 1e-14],
    ],
)
@pytest.mark.parametrize("perplexity", [1.5, 2.0, 2.9999, 3.9])
def test_wild_distances(row, perplexity, team):
    """Distances of any size and closeness give weights that are finite, fall with distance and sum to 1."""
    weights = conditional_probabilities(given_lists([[1, 2, 3, 4]], [row]), perplexity, team)
    assert np.isfinite(weights).all()
    assert abs(weights.sum() - 1) < 1e-6
    assert (np.diff(weights[0]) <= 0).all()


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.integers(2, 25), st.data())
def test_entropic_affinity_is_always_one(n, data):
    """Whatever the lists, ties and perplexity, P is symmetric, finite, positive and sums to 1."""
    levels = data.draw(st.sampled_from([1, 2, 5, None]))
    near = random_lists(n, data.draw(st.integers(1, n - 1)), data.draw(st.integers(0, 99)), levels)
    assert_is_affinity(entropic_affinity(near, data.draw(st.floats(1.01, 50)), Team(1)), n)


def test_same_bytes_on_any_number_of_threads(mixture):
    """P does not depend on the team."""
    X = mixture(3000, 4)
    results = []
    for n_jobs in (1, 2, 4):
        with Team(n_jobs) as team:
            near = nearest_neighbors(X, 30, team=team)
            graphs = knn_affinity(near, team), entropic_affinity(near, 10.0, team)
            results.extend(P.data.tobytes() + P.indices.tobytes() + P.indptr.tobytes() for P in graphs)
    assert results[:2] == results[2:4] == results[4:]


def test_no_neighbour_at_all(team):
    """Lists of nothing are refused."""
    with pytest.raises(InputError, match="No row has a neighbour"):
        entropic_affinity(given_lists([[-1], [-1]], [[np.inf], [np.inf]]), 2.0, team)


# ------------------------------------------------------------------------------------------- new rows to indexed ones


def random_query(m, n, k, seed, levels=None):
    """Random lists of k of n indexed rows for m new ones, some of them shorter."""
    rng = np.random.default_rng(seed)
    ids = np.array([rng.permutation(n)[:k] for _ in range(m)], np.int32)
    distances = rng.random((m, k)) if levels is None else rng.integers(0, levels, (m, k)).astype(float)
    distances = np.sort(distances, axis=1)
    missing = np.arange(k) >= rng.integers(0, k + 1, (m, 1))
    missing &= rng.random((m, 1)) < 0.3
    return given_lists(np.where(missing, -1, ids), np.where(missing, np.inf, distances))


def assert_is_cross_affinity(Q, near, n):
    """A row of probabilities for each new row, of its neighbours only, in the form that kernels rely on."""
    assert isinstance(Q, sparse.csr_matrix)
    assert Q.shape == (len(near.indices), n)
    assert Q.dtype == np.float32
    assert Q.has_canonical_format
    assert (Q.data > 0).all()
    sums = Q.toarray().astype(float).sum(axis=1)
    np.testing.assert_allclose(sums, (near.indices >= 0).any(axis=1), atol=1e-6)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(1, 12), st.integers(1, 30), st.data())
def test_knn_cross_affinity_equals_twin(m, n, data):
    """Equal weights for the neighbours that a new row has, nothing elsewhere."""
    near = random_query(m, n, data.draw(st.integers(1, n)), data.draw(st.integers(0, 99)))
    Q = knn_cross_affinity(near, n)
    assert_is_cross_affinity(Q, near, n)
    expected = np.zeros((m, n))
    for i, ids in enumerate(near.indices):
        expected[i, ids[ids >= 0]] = 1 / max(1, (ids >= 0).sum())
    np.testing.assert_allclose(Q.toarray(), expected, rtol=1e-6)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(1, 12), st.integers(1, 30), st.data())
def test_entropic_cross_affinity_is_always_one(m, n, data):
    """Whatever the lists, ties and perplexity, each row holds probabilities of its neighbours."""
    k, seed = data.draw(st.integers(1, n)), data.draw(st.integers(0, 99))
    near = random_query(m, n, k, seed, data.draw(st.sampled_from([1, 2, 5, None])))
    assert_is_cross_affinity(entropic_cross_affinity(near, n, data.draw(st.floats(1.01, 50)), Team(2)), near, n)


def test_entropic_cross_affinity_equals_twin(mixture, team):
    """The weights are those of plain bisection on the distances to the indexed rows."""
    X = mixture(150, 5)
    near = build_index(X[:100]).query(X[100:], 30, team)
    Q = entropic_cross_affinity(near, 100, 8.0, team)
    expected = np.zeros((50, 100))
    for i in range(50):
        expected[i, near.indices[i]] = bisected(near.distances[i] ** 2, 8.0)
    np.testing.assert_allclose(Q.toarray(), expected, atol=1e-7)
    np.testing.assert_allclose(entropies(Q.toarray()), 8.0, rtol=1e-5)


def test_new_rows_are_independent_of_one_another(mixture, team):
    """A new row has the same probabilities alone."""
    X = mixture(150, 5)
    near = build_index(X[:100]).query(X[100:], 20, team)
    together = entropic_cross_affinity(near, 100, 6.0, team).toarray()
    for i in (0, 17, 49):
        alone = Neighbors(near.indices[i : i + 1], near.distances[i : i + 1], "test", 1.0)
        assert (entropic_cross_affinity(alone, 100, 6.0, Team(1)).toarray() == together[i]).all()
