"""Figures of single points: their means are those of the whole map, and their kernels equal twins over all pairs."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances

from graphs import random_graph
from sce import SCE, Map
from sce.errors import InputError
from sce.quality import edges_kept, neighbors_kept, points


@pytest.fixture(scope="module")
def pair():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 5))
    return X, X[:, :2] + 0.3 * rng.normal(size=(240, 2))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_neighbors_kept_has_the_mean_of_the_whole_map(pair, metric):
    """Of rows, sparse rows and distances."""
    X, Y = pair
    expected = neighbors_kept(X, Y, metric=metric).recall
    assert points(Y, X=X, metric=metric).neighbors_kept.mean() == pytest.approx(expected)
    assert points(Y, X=sp.csr_matrix(X), metric=metric).neighbors_kept.mean() == pytest.approx(expected)
    distances = pairwise_distances(X, metric=metric)
    assert points(Y, X=distances, metric="precomputed").neighbors_kept.mean() == pytest.approx(expected)


def test_any_copy_is_a_neighbour():
    """Ties are resolved as for the whole map: whichever of the copies is shown is right."""
    X = np.repeat(np.arange(4.0), 50)[:, None]
    Y = np.column_stack([X[:, 0], np.random.default_rng(0).uniform(0, 0.1, len(X))])
    assert (points(Y, X=X).neighbors_kept == 1).all()
    grid = np.random.default_rng(1).integers(0, 4, (300, 3)).astype(float)
    Y = grid[:, :2] + np.random.default_rng(2).normal(size=(300, 2))
    assert points(Y, X=grid).neighbors_kept.mean() == pytest.approx(neighbors_kept(grid, Y).recall)


def test_edges_equal_sums_over_all_pairs(pair):
    """The share cut by clusters, and the share stretched, whose mean over points is that of edges kept."""
    _, Y = pair
    P = random_graph(240, weighted=True)
    labels = np.random.default_rng(0).integers(-1, 3, 240)
    found = points(Y, P=P, labels=labels)
    dense = P.toarray()
    apart = (labels[:, None] != labels) & (labels[:, None] >= 0) & (labels >= 0)
    np.testing.assert_allclose(found.edges_cut, (dense * apart).sum(axis=1) / dense.sum(axis=1), rtol=1e-6)
    assert 1 - found.edges_stretched.mean() == pytest.approx(edges_kept(P, Y), rel=1e-6)
    assert found.neighbors_kept is None
    assert list(found.columns()) == ["cluster", "edges_cut", "edges_stretched"]


def test_agreement_is_one_with_the_same_map_and_the_share_in_common_with_others(pair):
    """Turned and scaled maps agree; noise has what chance gives."""
    _, Y = pair
    assert (points(Y, others=[-2 * Y, Y[:, ::-1]]).agreement == 1).all()
    noise = np.random.default_rng(5).normal(size=Y.shape)
    assert points(Y, others=[noise]).agreement.mean() == pytest.approx(neighbors_kept(Y, noise).recall, abs=0.02)
    with pytest.raises(InputError, match="same 240 points"):
        points(Y, others=[Y[1:]])


def test_takes_what_a_model_or_a_map_holds_on_any_number_of_threads():
    """The same bytes; clusters are found where none are given."""
    X = np.random.default_rng(0).normal(size=(180, 4)) + np.repeat([0, 20, 40], 60)[:, None]
    model = SCE(random_state=0).fit(X)
    one, two = points(model, X=X, n_jobs=1), points(Map.from_model(model, P=model.affinity_, X=X), n_jobs=2)
    assert one.columns().keys() == two.columns().keys()
    assert all(a.tobytes() == b.tobytes() for a, b in zip(one.columns().values(), two.columns().values(), strict=True))
    assert set(one.clusters) == {0, 1, 2}
    assert (one.edges_cut == 0).all()


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_points_and_points_without_edges(n):
    """All figures are numbers from 0 to 1; in the graph only the first two points have an edge."""
    Y = np.arange(2.0 * n).reshape(n, 2)
    P = sp.csr_matrix(([0.5, 0.5], ([0, 1], [1, 0])), shape=(n, n)) if n > 1 else None
    found = points(Y, X=Y, P=P, labels=np.zeros(n, int), others=[Y])
    assert all(((values >= 0) & (values <= 1)).all() for values in found.columns().values())
