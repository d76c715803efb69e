"""Nearest neighbours and ranks, against sorting all distances."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import pairwise_distances

from sce.core.parallel import Team
from sce.quality import ranks as module
from sce.quality.neighbors import neighbors_kept
from sce.quality.ranks import between, nearest, nearest_and_ranks, rank_ranges, ranks


@pytest.fixture
def small_tiles(monkeypatch):
    """Many tiles and tasks for few points."""
    monkeypatch.setattr(module, "_MAX_TILE_ROWS", 7)
    monkeypatch.setattr(module, "_QUERIES_PER_TASK", 3)


def slow_ranks(distances, query, ids):
    """One more than the number of points that are nearer."""
    others = np.delete(distances[query], query)
    return [1 + (others < distances[query, j]).sum() for j in ids]


@settings(max_examples=30, deadline=None)
@given(n=st.integers(2, 60), d=st.integers(1, 11), seed=st.integers(0, 99), ties=st.booleans())
def test_equal_sorting(n, d, seed, ties):
    """Neighbours and ranks equal those of sorted distances, with ties and without."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, d)).astype(float) if ties else rng.normal(size=(n, d))
    distances = pairwise_distances(X, metric="sqeuclidean") if not ties else ((X[:, None] - X) ** 2).sum(axis=2)
    queries = np.sort(rng.permutation(n)[: rng.integers(1, n + 1)])
    k = int(rng.integers(1, n))
    found = nearest(X, "euclidean", queries, k, Team(1))
    for query, ids in zip(queries, found, strict=True):
        assert len(set(ids) - {query}) == k
        np.testing.assert_allclose(np.sort(distances[query, ids]), np.sort(np.delete(distances[query], query))[:k])
    lists = [np.delete(rng.permutation(n), 0)[: rng.integers(0, n)] for _ in queries]
    lists = [ids[ids != query] for query, ids in zip(queries, lists, strict=True)]
    for query, ids, got in zip(queries, lists, ranks(X, "euclidean", queries, lists, Team(2)), strict=True):
        assert got.tolist() == slow_ranks(distances, query, ids)


@pytest.mark.parametrize("kind", [np.array, sp.csr_matrix])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "precomputed"])
def test_small_tiles_change_nothing(small_tiles, metric, kind):
    """For dense and sparse data, any metric and given distances."""
    X = np.random.default_rng(0).normal(size=(40, 5))
    distances = pairwise_distances(X, metric="euclidean" if metric == "precomputed" else metric)
    data = distances if metric == "precomputed" else kind(X)
    queries = np.arange(0, 40, 4)
    found = nearest(data, metric, queries, 6, Team(1))
    assert [set(ids) for ids in found] == [set(np.argsort(distances[q])[1:7]) for q in queries]
    assert (np.sort(ranks(data, metric, queries, found, Team(2)), axis=1) == np.arange(1, 7)).all()


def test_far_from_the_origin_nothing_is_lost():
    """Squared distances are exact, because they are sums over differences."""
    X = 1e9 + np.arange(8.0)[:, None]
    assert between(X, "euclidean", np.array([0]), slice(None))[0].tolist() == [j * j for j in range(8)]


@pytest.mark.parametrize("kind", [np.array, sp.csr_matrix])
def test_one_pass_finds_what_two_find(small_tiles, kind):
    """Neighbours and ranks found together are those found one after the other, with ties and without any ids."""
    X = kind(np.random.default_rng(0).integers(0, 3, (50, 4)).astype(float))
    queries = np.arange(0, 50, 3)
    ids = [np.delete(np.arange(50), query)[: query % 7] for query in queries]
    near, found = nearest_and_ranks(X, "euclidean", queries, 5, ids, Team(2))
    np.testing.assert_array_equal(near, nearest(X, "euclidean", queries, 5, Team(1)))
    for both, alone in zip(found, rank_ranges(X, "euclidean", queries, ids, Team(1)), strict=True):
        np.testing.assert_array_equal(both, alone)


def test_neighbours_kept_compares_each_query_with_the_data_once(monkeypatch):
    """On wide data these distances take nearly all of the time of a report."""
    X = np.random.default_rng(0).normal(size=(300, 40))
    compared = []

    def counted(data, metric, rows, columns):
        compared.append(len(rows) * data[columns].shape[0] if data.shape[1] == 40 else 0)
        return between(data, metric, rows, columns)

    monkeypatch.setattr(module, "between", counted)
    neighbors_kept(X, X[:, :2], k=10)
    assert sum(compared) == 300 * 300 + 300 * 10  # all rows, and the neighbours on the map before them
