"""The table of our own metrics: whatever is in it can be searched, and measured by the figures of quality."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import sce
from sce.graph import metrics
from sce.graph.index import build_index
from sce.graph.metrics import ABSOLUTES, OWN_METRICS, Metric, own_metric
from sce.quality.ranks import between
from searches import distances_between


@pytest.fixture
def root_manhattan(monkeypatch):
    """One more metric: the root of the Manhattan distance, which scikit-learn does not know."""
    monkeypatch.setitem(
        metrics.OWN_METRICS, "root_manhattan", Metric(lambda distance, unit: np.sqrt(distance * unit), terms=ABSOLUTES)
    )
    return "root_manhattan"


def test_a_new_row_of_the_table_is_all_it_takes(root_manhattan, mixture, team):
    """Search, new rows, a fit and the figures of quality."""
    X = mixture(300, 3)
    truth = np.sqrt(cdist(X, X, "cityblock"))
    index = build_index(X, metric=root_manhattan)
    near = index.self_neighbors(6, team)
    np.testing.assert_allclose(near.distances, np.sort(truth, axis=1)[:, 1:7], rtol=1e-4)
    np.testing.assert_allclose(index.query(X[:9], 3, team).distances, np.sort(truth[:9], axis=1)[:, :3], atol=1e-4)
    model = sce.SCE(metric=root_manhattan, n_epochs=3, random_state=0).fit(X)
    kept = sce.quality.neighbors_kept(X, model.embedding_, metric=root_manhattan)
    assert kept == sce.quality.neighbors_kept(X, model.embedding_, metric="manhattan")


def test_by_the_tree(root_manhattan, mixture, team, tree_only):
    """A k-d tree serves every metric that is made from a Minkowski distance, and no other."""
    X = mixture(1500, 3)
    near = build_index(X, metric=root_manhattan).self_neighbors(5, team)
    assert near.method == "k-d tree"
    np.testing.assert_allclose(near.distances, np.sqrt(np.sort(cdist(X, X, "cityblock"), axis=1)[:, 1:6]), rtol=1e-5)
    assert Metric(OWN_METRICS["euclidean"].from_rows, terms=7).power is None


@pytest.mark.parametrize("metric", OWN_METRICS)
def test_sums_rise_with_the_distance(metric):
    """What quality ranks by: the metric's own distances, up to a monotone function."""
    X = np.random.default_rng(0).normal(size=(60, 7))
    sums = between(X, metric, np.arange(20), slice(20, 60)).ravel()
    order = np.argsort(sums)
    assert (np.diff(distances_between(X[:20], X[20:], metric).ravel()[order]) > -1e-12).all()


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_rows_without_a_direction(metric):
    """Are copies of one another, and at right angles to all others."""
    X = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 2.0, 4.0]])
    assert between(X, metric, np.array([0]), np.arange(3)).tolist() == [[0.0, 0.0, 2.0]]


def test_names():
    """Aliases are resolved; functions and strangers are not ours."""
    assert own_metric("cityblock") is OWN_METRICS["manhattan"]
    assert own_metric("chebyshev") is None
    assert own_metric(lambda x, y: 0.0) is None
