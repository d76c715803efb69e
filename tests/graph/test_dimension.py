"""The dimension of the data, and the perplexity that follows it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sce import SCE
from sce.graph.build import GraphOptions, build_affinity
from sce.graph.dimension import own_dimension, suited_neighbors, suited_perplexity
from sce.graph.found import Neighbors
from sce.graph.index import nearest_neighbors


def neighbors(X, team, k=15):
    return nearest_neighbors(X, k, team=team)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
def test_the_dimension_of_a_body(team, d):
    """Of points in a cube, turned into ten columns: theirs, a little less because of the faces."""
    rng = np.random.default_rng(d)
    X = rng.uniform(size=(3000, d)) @ np.linalg.qr(rng.normal(size=(10, d)))[0].T
    assert 0.75 * d < own_dimension(neighbors(X, team)) < 1.1 * d


def test_size_and_copies_do_not_matter(team):
    """Nor the unit of length, nor some rows that are there twice; NaN where all are, or neighbours are few."""
    X = np.random.default_rng(0).normal(size=(1000, 3))
    dimension = own_dimension(neighbors(X, team))
    assert own_dimension(neighbors(1e-20 * X, team)) == pytest.approx(dimension, rel=1e-3)
    assert own_dimension(neighbors(np.vstack([X, X[:300]]), team)) == pytest.approx(dimension, rel=0.2)
    assert np.isnan(own_dimension(neighbors(np.vstack([X] * 3), team)))
    assert np.isnan(own_dimension(neighbors(X, team, k=3)))


def test_neighbours_all_equally_far():
    """The dimension of one-hot columns is infinite, and their weights are equal."""
    near = Neighbors(np.tile(np.arange(15), (20, 1)), np.ones((20, 15)), "", 1.0)
    assert own_dimension(near) == np.inf
    assert suited_perplexity(15, np.inf) == 15


@given(st.integers(1, 200), st.floats(0.1, 1000))
def test_the_perplexity_is_a_third_to_all_of_the_neighbours(k, dimension):
    assert k / 3 <= suited_perplexity(k, dimension) <= k
    assert suited_perplexity(k, float("nan")) == k / 3


def test_few_columns_have_flat_weights(team):
    """All neighbours count the same in the plane, and there are more of them; what is given is kept."""
    X = np.random.default_rng(0).normal(size=(500, 2))
    found = build_affinity(X, GraphOptions(), team, 0)
    assert (found.n_neighbors, found.perplexity) == (25, 25)
    found = build_affinity(X, GraphOptions(n_neighbors=15), team, 0)
    assert (found.n_neighbors, found.perplexity) == (15, 15)
    assert build_affinity(X, GraphOptions(perplexity=5), team, 0).perplexity == 5
    assert build_affinity(X, GraphOptions("knn"), team, 0).perplexity is None
    model = SCE(n_epochs=2).fit(X)
    assert (model.n_neighbors_, model.perplexity_) == (25, 25)
    given = SCE(n_epochs=2, affinity="precomputed").fit(np.ones((5, 5)))
    assert (given.n_neighbors_, given.perplexity_) == (None, None)


@given(st.integers(1, 10**9), st.floats(0.1, 1000))
def test_the_neighbours_are_15_to_25(n, dimension):
    """No more than what is looked for before the dimension is known; 15 for many rows or dimensions."""
    assert 15 <= suited_neighbors(n, dimension) <= suited_neighbors(n) <= 25
    assert suited_neighbors(max(n, 10_000), dimension) == suited_neighbors(n, max(dimension, 4.0)) == 15
    assert suited_neighbors(n, float("nan")) == 15
