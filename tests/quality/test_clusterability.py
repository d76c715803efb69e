"""Clusterability: the planted number of clusters, none in noise, components counted."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from test_clusters_in_graph import neighbours
from test_communities import planted

from sce.quality.clusterability import clusterability


@pytest.mark.parametrize(("count", "share"), [(2, 0.95), (5, 0.9), (12, 0.8)])
def test_as_many_clusters_as_are_planted(count, share):
    """The clusters of a planted partition are found, and the advice names their number."""
    P, blocks = planted(count, 120, share)
    found = clusterability(P)
    assert found.n_clusters == count
    assert adjusted_rand_score(blocks, found.labels) > 0.98
    assert f"{count} clusters" in found.advice


def test_the_eigenvalues_of_planted_clusters_have_a_gap_below_as_many():
    """Five planted clusters give five small eigenvalues."""
    assert clusterability(planted(5, 120, 0.95)[0]).n_gap == 5


@pytest.mark.parametrize("d", [2, 3, 10])
@pytest.mark.parametrize("draw", ["random", "standard_normal"])
def test_noise_has_none(d, draw):
    """Uniform and Gaussian noise is one cluster, though its communities have modularity."""
    P = neighbours(getattr(np.random.default_rng(d), draw)((800, d)))
    found = clusterability(P)
    assert found.modularity > 0.3  # which is why modularity is no evidence
    assert found.n_clusters == 1
    assert (found.labels == 0).all()
    assert "no clusters" in found.advice


def test_a_chain_of_three_blobs_and_blobs_of_unequal_sizes_are_three():
    """Three clouds are three clusters, in a row as well as with 9 times as many points in one of them."""
    chain = make_blobs(900, centers=[[0, 0], [7, 0], [14, 0]], random_state=0)[0]
    unequal = make_blobs([900, 120, 100], centers=[[0, 0], [9, 0], [0, 9]], random_state=0)[0]
    assert clusterability(neighbours(chain)).n_clusters == 3
    assert clusterability(neighbours(unequal)).n_clusters == 3


def test_components_and_points_without_an_edge_are_counted():
    """Two rings and ten isolated points are two components; isolated points are in no cluster."""
    ring = lambda n: sp.csr_matrix(np.roll(np.eye(n), 1, 0) + np.roll(np.eye(n), -1, 0))  # noqa: E731
    P = sp.csr_matrix(sp.block_diag([ring(60), ring(30), sp.csr_matrix((10, 10))]))
    found = clusterability(P)
    assert (found.n_components, found.n_isolated) == (2, 10)
    assert found.largest == pytest.approx(0.6)
    assert (found.labels[90:] == -1).all()


def test_threads_do_not_change_the_result_and_the_figures_are_numbers(graph):
    """Labels and eigenvalues are the same bytes on one and two threads."""
    P = graph(400)
    one, two = clusterability(P, n_jobs=1), clusterability(P, n_jobs=2)
    assert np.array_equal(one.labels, two.labels)
    assert np.array_equal(one.eigenvalues, two.eigenvalues)
    assert all(isinstance(value, float) for value in one.figures().values())
    assert one.advice in str(one)


def test_components_too_small_to_count_are_reported():
    """A graph of 150 pairs has no clusters, and the advice is to raise n_neighbors."""
    P = sp.csr_matrix(np.kron(np.eye(150), [[0.0, 1.0], [1.0, 0.0]]))
    found = clusterability(P)
    assert found.n_components == 150
    assert found.n_clusters == 0
    assert "raise n_neighbors" in found.advice
