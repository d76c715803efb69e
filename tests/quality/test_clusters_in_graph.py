"""Clusters against P: figures equal their definitions, the null equals chance, real and drawn clusters are told apart."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from test_communities import planted, slow_modularity

from graphs import random_graph
from sce import ParameterError
from sce.core.parallel import Team
from sce.graph.build import GraphOptions, build_affinity
from sce.quality.in_graph import clusters_in_graph


def neighbours(X, k=10):
    """The symmetric k-nearest-neighbour graph of X."""
    return build_affinity(X, GraphOptions("knn", k), Team(1), 0).P


@cache
def small_graph():
    """A weighted graph of 40 points, made once."""
    return random_graph(40, weighted=True)


def slow_figures(P, labels):
    """Each figure from its definition, over all pairs of points."""
    dense = P.toarray().astype(np.float64)
    dense /= dense.sum()
    n = len(labels)
    own = np.where(labels < 0, labels.max() + 1 + np.arange(n), labels)
    same, other = (own[:, None] == own) & ~np.eye(n, dtype=bool), own[:, None] != own
    conductance = []
    for c in np.unique(labels[labels >= 0]):
        inside = labels == c
        volume = dense[inside].sum()
        conductance.append(dense[inside][:, ~inside].sum() / min(volume, 1 - volume))
    ratio = dense[same].mean() / dense[other].mean()
    return dense[same].sum(), slow_modularity(P, own), ratio, conductance


@given(st.lists(st.integers(-1, 3), min_size=36, max_size=36).map(lambda rest: np.array([0, 0, 1, 1, *rest])))
def test_figures_are_those_of_the_definitions(labels):
    """Share, modularity, density ratio and conductances equal sums over all pairs of points."""
    P = small_graph()
    measured = clusters_in_graph(P, labels, n_null=1, judged=False, n_jobs=1).measured
    share, modularity, ratio, conductance = slow_figures(P, labels)
    assert measured.share == pytest.approx(share)
    assert measured.modularity == pytest.approx(modularity, abs=1e-9)
    assert measured.density_ratio == pytest.approx(ratio)
    np.testing.assert_allclose(measured.conductance, conductance, atol=1e-9)


def test_the_null_has_the_share_that_chance_gives(graph):
    """Clusters of shuffled labels hold sum n_c (n_c - 1) / (N (N - 1)) of P on average."""
    P, labels = graph(500), np.repeat([0, 1, 2, -1], [250, 100, 50, 100])
    found = clusters_in_graph(P, labels, n_null=400, judged=False)
    expected = sum(m * (m - 1) for m in (250, 100, 50)) / (500 * 499)
    assert found.null.std.share > 0
    assert found.null.mean.share == pytest.approx(expected, abs=4 * found.null.std.share / 20)
    assert found.null.mean.density_ratio == pytest.approx(1, abs=0.05)
    assert abs(found.null.mean.modularity) < 0.01


def test_planted_clusters_are_real_on_any_number_of_threads():
    """Planted clusters are neither merged nor split, and the figures are the same bytes on one and two threads."""
    P, blocks = planted(8, 100, 0.9)
    found = clusters_in_graph(P, blocks, n_jobs=1)
    assert found.judgement.real.all()
    assert not found.judgement.merges
    assert not found.judgement.splits
    figures = found.figures()
    assert figures["share"] == pytest.approx(0.9, abs=0.02)
    assert figures["conductance"] < 0.2
    assert figures["conductance_null"] > 0.8
    assert clusters_in_graph(P, blocks, n_jobs=2).figures() == figures


def test_clusters_drawn_through_noise_are_merged():
    """Quarters of a uniform square are not real, and neither are halves with an empty margin between them."""
    X = np.random.default_rng(0).random((800, 2))
    P = neighbours(X)
    drawn = (2 * X[:, 0]).astype(int) + 2 * (2 * X[:, 1]).astype(int)
    judgement = clusters_in_graph(P, drawn, n_null=1).judgement
    assert not judgement.real.any()
    with_margin = np.where(abs(X[:, 0] - 0.5) < 0.1, -1, X[:, 0] > 0.5)
    assert clusters_in_graph(P, with_margin, n_null=1).judgement.merges == [[0, 1]]


def test_two_blobs_in_one_cluster_are_split_and_a_blob_in_two_is_merged():
    """Labels that join two clouds and halve a third are reported as one split and one merge, by their own numbers."""
    X, blob = make_blobs(900, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    labels = np.where(blob == 2, np.where(X[:, 0] > 0, 7, 5), 3)
    found = clusters_in_graph(neighbours(X), labels, n_null=1)
    assert list(found.names) == [3, 5, 7]
    assert found.judgement.merges == [[5, 7]]
    assert found.judgement.splits == [(3, [300, 300])]
    assert list(found.judgement.real) == [True, False, False]
    table = str(found)
    assert "holds 2 groups of 300, 300 points" in table
    assert "runs into 5" in table


def test_a_stray_point_is_no_part_of_its_own():
    """A point with the label of another cloud neither splits that cluster nor makes one unreal."""
    X, blob = make_blobs(400, centers=[[0, 0], [9, 0]], random_state=0)
    labels = blob.copy()
    labels[0] = 1 - blob[0]
    judgement = clusters_in_graph(neighbours(X), labels, n_null=1).judgement
    assert judgement.real.all()
    assert not judgement.splits
    assert judgement.groups[0] == judgement.groups[np.flatnonzero(blob == blob[0])[1]]


def test_a_single_cluster_is_judged_against_the_rest():
    """The middle of a square is not real, one of two clouds is, and a cluster that is all there is cannot be."""
    X = np.random.default_rng(0).random((800, 2))
    middle = np.where(abs(X - 0.5).max(axis=1) < 0.3, 0, -1)
    assert not clusters_in_graph(neighbours(X), middle, n_null=1).judgement.real.any()
    assert not clusters_in_graph(neighbours(X), np.zeros(800, int), n_null=1).judgement.real.any()
    clouds, blob = make_blobs(600, centers=[[0, 0], [9, 0]], random_state=0)
    assert clusters_in_graph(neighbours(clouds), blob - 1, n_null=1).judgement.real.all()
    whole = clusters_in_graph(neighbours(clouds), np.zeros(600, int), n_null=1).judgement
    assert (whole.real.tolist(), whole.n_groups, whole.splits) == ([False], 2, [(0, [300, 300])])


def test_half_a_group_is_a_fragment():
    """A cluster that is a small part of a group, with the other points in no cluster, is not real."""
    X, blob = make_blobs(900, centers=[[0, 0], [12, 0], [0, 12]], random_state=0)
    part = np.where((blob == 0) & (X[:, 0] < -0.5), 3, np.where(blob == 1, 1, np.where(blob == 2, 2, -1)))
    judgement = clusters_in_graph(neighbours(X), part, n_null=1).judgement
    assert (judgement.fragments, judgement.real.tolist()) == ([3], [True, True, False])


@pytest.mark.parametrize("labels", [np.full(50, -1), np.zeros(50, int)])
def test_no_cluster_and_a_single_one_have_figures(graph, labels):
    """The share is 0 without clusters and 1 with one cluster; both have a table."""
    found = clusters_in_graph(graph(50), labels, n_null=2)
    assert found.figures()["share"] == pytest.approx(float(labels[0] == 0))
    assert str(found)


def test_n_null_must_be_a_count(graph):
    """Zero relabellings are refused."""
    with pytest.raises(ParameterError, match="n_null"):
        clusters_in_graph(graph(50), np.zeros(50, int), n_null=0)
