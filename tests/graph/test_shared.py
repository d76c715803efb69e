"""Scaled distances and shared neighbours: against NumPy twins, and on what they are for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sce.core.parallel import Team
from sce.graph.affinity import conditional_probabilities, entropic_affinity
from sce.graph.build import GraphOptions, build_affinity
from sce.graph.found import Neighbors
from sce.graph.index import nearest_neighbors
from sce.graph.shared import scaled_distances, share_weights, shared_affinity, sharing_power


def twin_scaled(near):
    """In whole arrays."""
    distances = near.distances.astype(float)
    spread = distances[:, 3:6].mean(axis=1)
    return distances * np.clip(spread[:, None] / spread[near.indices], 0.01, 100) ** 0.25


def twin_shared(near, perplexity):
    """By sets."""
    ids, k = near.indices, near.indices.shape[1]
    lists = [set(row) for row in ids.tolist()]
    P = np.zeros((len(ids), len(ids)))
    weights = conditional_probabilities(near._replace(distances=twin_scaled(near)), perplexity, Team(1))
    for i, row in enumerate(ids):
        for j, weight in zip(row, weights[i], strict=True):
            common = len(lists[i] & lists[j])
            P[i, j] = weight * (common / (2 * k - common) + 1e-3) ** (0.75 * min(2 / 3, 1 - perplexity / k))
    P += P.T
    return P / P.sum()


@given(st.integers(0, 1000), st.integers(12, 80), st.integers(4, 11))
def test_the_kernels_agree_with_numpy(seed, n, k):
    """Scaled distances, and P."""
    X = np.random.default_rng(seed).normal(size=(n, 3)) * np.random.default_rng(seed).uniform(0.1, 5, size=(n, 1))
    near = nearest_neighbors(X, k, team=Team(2))
    np.testing.assert_allclose(scaled_distances(near, Team(2)), twin_scaled(near), rtol=1e-6)
    P = shared_affinity(near, k / 3, Team(2)).toarray()
    np.testing.assert_allclose(P, twin_shared(near, k / 3), rtol=1e-5, atol=1e-9)


def test_neighbours_alike_have_the_entropic_graph(team):
    """Where all neighbours count the same, neither density nor shared neighbours matter."""
    near = nearest_neighbors(np.random.default_rng(0).normal(size=(200, 2)), 15, team=team)
    assert sharing_power(15, 15) == 0
    assert abs(shared_affinity(near, 15, team) - entropic_affinity(near, 15, team)).max() < 1e-8


def test_points_of_a_sparse_cluster_stay_together(team):
    """Beside a dense cluster, sparse points are tied to one another more strongly than by distance alone."""
    random = np.random.default_rng(0)
    X = np.vstack([0.2 * random.normal(size=(300, 5)), random.normal(size=(60, 5))])
    X[300:, 0] += 2.0
    near = nearest_neighbors(X, 15, team=team)

    def into_the_dense(neighbors):
        weights = conditional_probabilities(neighbors, 5.0, team)[300:]
        return weights[near.indices[300:] < 300].sum()

    scaled = near._replace(distances=scaled_distances(near, team))
    assert into_the_dense(scaled) < 0.9 * into_the_dense(near)


def test_chance_neighbours_weigh_less(team):
    """Edges between two clusters lose weight, because their ends share few neighbours."""
    X = np.random.default_rng(0).normal(size=(400, 8))
    X[200:] += 1.5
    y = np.arange(400) >= 200
    near = nearest_neighbors(X, 15, team=team)

    def across(P):
        P = P.tocoo()
        return P.data[y[P.row] != y[P.col]].sum()

    assert across(shared_affinity(near, 5, team)) < 0.95 * across(entropic_affinity(near, 5, team))


@pytest.mark.parametrize("unit", [1e-25, 1.0, 1e25])
def test_copies_and_missing_neighbours(team, unit):
    """Spreads of zero, lists that end early: weights stay finite and none is lost."""
    ids = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, -1], [-1, -1, -1]], np.int32)
    distances = unit * np.array([[0, 0, 0], [0, 0, 1.0], [0, 0, 2.0], [1, 2.0, np.inf], [np.inf] * 3])
    near = Neighbors(ids, distances, "", 1.0)
    assert np.isfinite(scaled_distances(near, team)[ids >= 0]).all()
    P = shared_affinity(near, 2.0, team)
    assert abs(P.sum(dtype=float) - 1) < 1e-6
    assert np.isfinite(P.data).all()
    assert P[4].nnz == 0


def test_weights_of_full_lists_only_shrink(team):
    """By at most the factor for no shared neighbour."""
    ids = nearest_neighbors(np.random.default_rng(0).normal(size=(60, 3)), 7, team=team).indices
    weights = np.ones((60, 7), np.float32)
    share_weights(weights, ids, 0.5, team)
    assert (weights >= np.float32(1e-3**0.5)).all()
    assert (weights <= 1).all()


@pytest.mark.parametrize("threads", [2, 4])
def test_any_threads_give_the_same_graph(threads):
    """Bit for bit."""
    X = np.random.default_rng(0).normal(size=(5000, 6))
    with Team(1) as one, Team(threads) as several:
        graphs = [build_affinity(X, GraphOptions(), team, 0).P for team in (one, several)]
    assert graphs[0].data.tobytes() == graphs[1].data.tobytes()
    assert graphs[0].indices.tobytes() == graphs[1].indices.tobytes()
