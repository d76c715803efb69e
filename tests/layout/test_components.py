"""Links between the components of P."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from sce import SCE
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


def test_links_of_a_level_keep_their_strength():
    """Where a tenth of P is left between merged points and scaled to 1, links are ten times as strong."""
    graph = Similarities(parts(40, 30), Team(1))
    links, scaled = link_components(graph, 0), link_components(graph, 0, share=0.1)
    np.testing.assert_allclose(scaled.P.data, 10 * links.P.data, rtol=1e-6)


def mixed(Y, label, k=4):
    """The share of the k nearest on a map that are of another component, over points with that many of their own."""
    near = KDTree(Y).query(Y, k + 1)[1][:, 1:]
    return (label[near] != label[:, None])[np.bincount(label)[label] > k].mean()


@pytest.mark.filterwarnings("ignore::sce.errors.GraphWarning")
@pytest.mark.parametrize("sizes", [[5] * 10_000 + [1], [2500, 1000, 1000, 400, 50, 1]], ids=["many", "few"])
def test_maps_of_components(sizes):
    """Finite, in sight of one another, no more mixed than by the sampler alone, and the same on any number of threads."""
    P, label = parts(*sizes), np.repeat(np.arange(len(sizes)), sizes)
    fit = {"affinity": "precomputed", "random_state": 0}
    Y = SCE(**fit, n_jobs=2).fit_transform(P)
    assert np.isfinite(Y).all()
    assert np.ptp(Y, axis=0).max() < 1000
    assert mixed(Y, label) <= mixed(SCE(**fit, optimizer="sampler").fit_transform(P), label)
    for n_jobs in (1, 4):
        assert SCE(**fit, n_jobs=n_jobs).fit_transform(P).tobytes() == Y.tobytes()
