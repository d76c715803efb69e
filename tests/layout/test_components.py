"""Links between the components of P."""

import numpy as np
import pytest
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
    """Each point outside the largest component has one, of a hundredth of its share of P; the whole is connected."""
    P = parts(5, 30, 1, 1, 8)
    links = links_of(P, seed=3)
    assert connected_components(P + links)[0] == 1
    assert (links != links.T).nnz == 0
    outside = np.r_[0:5, 35:45]
    np.testing.assert_allclose(np.asarray(links.sum(axis=1)).ravel()[outside], LINK_WEIGHT / 45, rtol=1e-6)
    assert links.sum() == pytest.approx(2 * LINK_WEIGHT * 15 / 45, rel=1e-5)


def test_links_depend_on_the_seed_alone():
    """The same seed, the same links; another seed, others."""
    P = parts(40, 30)
    assert (links_of(P, seed=1) != links_of(P, seed=1)).nnz == 0
    assert (links_of(P, seed=1) != links_of(P, seed=2)).nnz > 0
