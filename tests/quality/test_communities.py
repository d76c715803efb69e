"""Communities: planted ones are found, each is connected, no single move gains, a seed repeats them."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sce.clusters.numbering import number_by_size
from sce.graph.csr import components
from sce.quality.communities import communities, modularity
from sce.quality.volume_graph import aggregate, as_graph


def planted(count, size, share, degree=16, seed=0):
    """A random graph of `count` blocks with a share of its edges inside blocks, and the blocks."""
    rng = np.random.default_rng(seed)
    n = count * size
    i = rng.integers(n, size=n * degree // 2)
    other = (i // size + 1 + rng.integers(max(1, count - 1), size=len(i))) % count
    block = np.where(rng.random(len(i)) < share, i // size, other)
    A = sp.csr_matrix((np.ones(len(i), np.float32), (i, block * size + rng.integers(size, size=len(i)))), (n, n))
    A = sp.csr_matrix(A + A.T)
    A.setdiag(0)
    A.eliminate_zeros()
    return sp.csr_matrix(A / A.sum(), dtype=np.float32), np.arange(n) // size


def slow_modularity(P, labels):
    """The definition, over all pairs of points."""
    dense = P.toarray().astype(np.float64)
    dense /= dense.sum()
    degree = dense.sum(axis=1)
    return ((dense - np.outer(degree, degree)) * (labels[:, None] == labels)).sum()


def test_planted_communities_are_found():
    """Six blocks with 85 % of their edges inside are the communities, and the modularity is that of its definition."""
    P, blocks = planted(6, 50, 0.85)
    found = communities(P)
    assert np.array_equal(number_by_size(found.labels), number_by_size(blocks))
    assert found.modularity == pytest.approx(slow_modularity(P, blocks), abs=1e-6)


def test_no_single_move_gains(graph):
    """The result is a local optimum: no point gains by moving to any other community."""
    P = graph(120, weighted=True)
    labels = communities(P).labels
    best = slow_modularity(P, labels)
    for i in range(120):
        for c in range(labels.max() + 2):
            moved = labels.copy()
            moved[i] = c
            assert slow_modularity(P, moved) <= best + 1e-6


def test_each_community_is_connected_and_larger_ones_come_first(graph):
    """On a sparse random graph, where greedy moves leave disconnected communities."""
    P = graph(2000, degree=2)
    labels = communities(P).labels
    for c in range(labels.max() + 1):
        assert connected_components(P[labels == c][:, labels == c])[0] == 1
    assert (np.diff(np.bincount(labels)) <= 0).all()


def test_a_seed_gives_the_same_and_more_resolution_gives_smaller_ones(graph):
    """The labels are a function of the seed; a higher resolution gives more communities."""
    P = graph(1000)
    first, again = communities(P, random_state=3), communities(P, random_state=3)
    assert np.array_equal(first.labels, again.labels)
    assert communities(P, resolution=5.0).labels.max() > first.labels.max()


def test_the_graph_of_communities_has_their_mass(graph):
    """The aggregated graph is S'PS for the indicator matrix S."""
    P, labels = graph(300, weighted=True), np.random.default_rng(0).integers(0, 9, 300).astype(np.int32)
    coarse = aggregate(as_graph(P), labels, 9)
    dense = sp.csr_matrix((coarse.data, coarse.indices, coarse.indptr), (9, 9)).toarray()
    S = np.eye(9)[labels]
    np.testing.assert_allclose(dense, S.T @ P.toarray() @ S, rtol=1e-5)
    np.testing.assert_allclose(coarse.volume, dense.sum(axis=1), rtol=1e-5)


def test_components_are_told_apart_and_one_community_has_no_modularity():
    """Three cliques are three components; all points in one community have modularity 0."""
    P = sp.csr_matrix(np.kron(np.eye(3), np.ones((4, 4)) - np.eye(4)))
    assert components(as_graph(P).rows).tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert modularity(as_graph(P), np.zeros(12, np.int32)) == pytest.approx(0)
