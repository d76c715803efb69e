"""Exact search of wide rows by scalar products: what comparing all differences finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.core.simd import TILE_COLUMNS, TILE_ROWS, add_products
from sce.graph import products
from sce.graph.brute import BruteForce, Products
from sce.graph.index import build_index, nearest_neighbors
from sce.graph.metrics import SQUARES
from searches import assert_valid, assert_valid_query, bytes_of, distances_between, true_distances

WIDE = 200


@pytest.fixture
def by_products(send):
    """Every search of wide dense rows goes by scalar products."""
    send("products")


@pytest.fixture
def without_fallback(monkeypatch):
    """A function that forbids the search by differences from now on."""

    def forbidden(*_, **__):
        raise AssertionError("all pairs were compared by differences")

    return lambda: monkeypatch.setattr(products, "exact_neighbors_of", forbidden)


def crowd(n, d=WIDE, seed=0):
    """Wide rows around a few centres."""
    rng = np.random.default_rng(seed)
    centres = 3 * rng.normal(size=(12, d))
    return (centres[rng.integers(12, size=n)] + rng.normal(size=(n, 20)) @ rng.normal(size=(20, d))).astype(np.float32)


def compared(X, k, seed=0):
    """The same by differences."""
    return BruteForce(X, SQUARES, seed).self_neighbors(k, Team(1))


@kernel
def _add(sums, place, width, A, a, B, b, count):
    add_products(sums, place, width, A, a, B, b, count)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(1, 40), st.integers(0, 3), st.integers(0, 9))
def test_tile_equals_twin(count, offset, seed):
    """Six rows times sixteen, added to what is there, and nothing beside the tile is touched."""
    rng = np.random.default_rng(seed)
    A, B = (rng.normal(size=offset + count * side).astype(np.float32) for side in (TILE_ROWS, TILE_COLUMNS))
    width = TILE_COLUMNS + 3
    sums = np.ones(TILE_ROWS * width + 5, np.float32)
    _add(sums, 5, width, A, offset, B, offset, count)
    found = sums[5:].reshape(TILE_ROWS, width)
    a, b = (part[offset:].reshape(count, -1).astype(float) for part in (A, B))
    np.testing.assert_allclose(found[:, :TILE_COLUMNS], 1 + (a[:, :, None] * b[:, None, :]).sum(axis=0), atol=1e-5)
    assert (found[:, TILE_COLUMNS:] == 1).all()
    assert (sums[:5] == 1).all()


@pytest.mark.parametrize("n", [40, 253, 1000])
@pytest.mark.parametrize("d", [8, 200, 520])
def test_the_bytes_of_a_search_by_differences(n, d, without_fallback):
    """Across blocks and tasks, on any number of threads."""
    X = crowd(n, d)
    expected = compared(X, 15)
    without_fallback()
    for threads in (1, 3):
        with Team(threads) as team:
            near = Products(X, 0).self_neighbors(15, team)
        assert near.ids.tobytes() == expected.ids.tobytes()
        assert near.distances.tobytes() == expected.distances.tobytes()


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(2, 60), st.integers(1, 3), st.integers(0, 2), st.integers(0, 99))
def test_any_small_grid(n, d, largest, seed):
    """Whole numbers full of ties and copies: the same neighbours as by differences, whichever of the tied are chosen."""
    X = np.zeros((n, 8), np.float32)
    X[:, :d] = np.random.default_rng(seed).integers(0, largest + 1, (n, d))
    for k in {1, n // 2, n - 1} - {0}:
        near, expected = Products(X, seed).self_neighbors(k, Team(1)), compared(X, k, seed)
        assert (near.ids == expected.ids).all()
        assert (near.distances == expected.distances).all()


@pytest.mark.parametrize("offset", [0.0, 30.0, 3e4])
def test_rows_far_from_the_origin(offset):
    """Where products cancel, rows are searched for by differences: the result is the same."""
    X = crowd(400) + np.float32(offset)
    near, expected = Products(X, 0).self_neighbors(10, Team(2)), compared(X, 10)
    assert (near.ids == expected.ids).all()
    assert (near.distances == expected.distances).all()


def test_one_row_far_from_all_others(without_fallback):
    """Its length does not make the others uncertain."""
    X = crowd(400)
    X[7] *= 1e6
    expected = compared(X, 10)
    without_fallback()
    near = products.neighbors_by_products(
        *(X, np.delete(X, 7, 0), 10, np.delete(np.arange(400), 7), np.zeros(399, np.uint64), Team(2))
    )
    assert (near.distances == np.delete(expected.distances, 7, 0)).all()


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "correlation"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_as_a_way_of_an_index(metric, dtype, team, by_products):
    """The true neighbours, of indexed and new rows, with copies and rows without a direction."""
    X = crowd(900).astype(dtype)
    X[100:130] = X[5]
    near = nearest_neighbors(X[:800], 12, metric=metric, team=team)
    assert (near.method, near.recall) == ("brute force", 1.0)
    assert_valid(near, 800, 12)
    np.testing.assert_allclose(near.distances, true_distances(X[:800], 12, metric), rtol=1e-4, atol=1e-6)
    index = build_index(X[:800], metric=metric)
    near = index.query(X[790:], 12, team)
    assert_valid_query(near, 110, 800, 12)
    truth = np.sort(distances_between(X[790:], X[:800], metric), axis=1)[:, :12]
    np.testing.assert_allclose(near.distances, truth, rtol=1e-4, atol=1e-6)
    alone = index.query(X[850:851], 12, Team(1))
    assert alone.distances.tobytes() == near.distances[60].tobytes()
    assert bytes_of(index.query(X[790:], 12, Team(1))) == bytes_of(near)


def test_too_fine_for_float32(team, by_products):
    """Rows that float32 cannot tell apart are searched for in float64."""
    X = crowd(700).astype(np.float64) * 1e-9
    X[:350, 0] += 1.0
    near = nearest_neighbors(X, 8, team=team)
    np.testing.assert_allclose(near.distances, true_distances(X, 8), rtol=1e-3)


def test_wide_data_are_searched_by_products(team, monkeypatch):
    """If they are too many for differences; narrow ones go to the forest, and so do the sums of absolute values."""
    from sce.graph import vectors

    monkeypatch.setattr(vectors, "BRUTE_FORCE_UP_TO_TERMS", 0)
    for d, metric, way in [
        (200, "euclidean", "brute force"),
        (40, "euclidean", "forest"),
        (200, "manhattan", "forest"),
    ]:
        assert nearest_neighbors(crowd(1500, d), 10, metric=metric, team=team).method == way
