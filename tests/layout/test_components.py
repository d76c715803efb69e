"""Links between the components of P."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sce.core.parallel import Team
from sce.layout.components import LINK_WEIGHT, link_components
from sce.layout.similarities import Similarities


def parts(*sizes):
    """Paths of given sizes (a path of 1 is a point alone), and nothing between them."""
    paths = [sp.diags([1.0, 1.0], [1, -1], (n, n)) if n > 1 else sp.csr_matrix((1, 1)) for n in sizes]
    P = sp.csr_matrix(sp.block_diag(paths))
    return (P / P.sum()).astype(np.float32)


def links_of(P, seed):
    """The links as a matrix, or None."""
    links = link_components(Similarities(P, Team(1)), seed)
    return None if links is None else links.P


def test_a_connected_graph_needs_none(graph):
    """Then J has a minimum of its own."""
    assert links_of(graph(50), seed=0) is None


def test_links_hold_all_together():
    """Each point outside the largest component has one, to another component, and the whole is connected."""
    sizes = 5, 30, 1, 1, 8
    P = parts(*sizes)
    label = np.repeat(np.arange(5), sizes)
    for seed in range(20):
        links = links_of(P, seed)
        assert connected_components(P + links)[0] == 1
        assert (links != links.T).nnz == 0
        i, j = links.nonzero()
        assert (label[i] != label[j]).all()
        assert set(np.flatnonzero(label != 1)) <= set(i)


def test_links_are_a_sample_of_all_pairs_apart():
    """On average any two points of different components are tied with the same weight, LINK_WEIGHT if all pairs were."""
    sizes = np.array([5, 30, 1, 1, 8])
    P, label, seeds = parts(*sizes), np.repeat(np.arange(5), sizes), 2000
    mean = sum(links_of(P, seed).toarray() for seed in range(seeds)) / seeds
    between = np.array([[mean[label == a][:, label == b].sum() for b in range(5)] for a in range(5)])
    expected = LINK_WEIGHT / sizes.sum() ** 2 * np.outer(sizes, sizes) * (1 - np.eye(5))
    np.testing.assert_allclose(between, expected, rtol=0.15, atol=1e-9)


def test_links_depend_on_the_seed_alone():
    """The same seed, the same links; another seed, others."""
    P = parts(40, 30)
    assert (links_of(P, seed=1) != links_of(P, seed=1)).nnz == 0
    assert (links_of(P, seed=1) != links_of(P, seed=2)).nnz > 0
