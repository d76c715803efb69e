"""Cuts, widths and eigenvalues, against all cuts, a maximum flow and a dense solver."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import maximum_flow

from sce.core.parallel import Team
from sce.quality.bottlenecks import _narrowest, _potential, mass_toward, width
from sce.quality.cuts import MIN_SIDE_VOLUME, coarsen, conductance, weakest_cut
from sce.quality.spectra import low_spectrum
from sce.quality.volume_graph import as_graph, induce

KEY = np.uint64(7)


def grid(rows, columns):
    """A grid of points, each connected to its neighbours."""
    path = lambda n: sp.diags([1.0, 1.0], [-1, 1], shape=(n, n))  # noqa: E731
    return sp.csr_matrix(sp.kron(path(rows), sp.eye(columns)) + sp.kron(sp.eye(rows), path(columns)))


def slow_weakest(P):
    """The lowest conductance of all balanced cuts."""
    dense = P.toarray() / P.sum()
    volume, best = dense.sum(axis=1), np.inf
    for bits in product([False, True], repeat=len(dense) - 1):
        side = np.array([True, *bits])
        smaller = min(volume[side].sum(), volume[~side].sum())
        if smaller >= MIN_SIDE_VOLUME * volume.sum():
            best = min(best, dense[side][:, ~side].sum() / smaller)
    return best


@pytest.mark.parametrize("seed", range(5))
def test_the_weakest_cut_is_nearly_the_best_of_all(graph, seed):
    """On 11 points the search is within 1.3 of the best balanced cut, and never below it."""
    P = graph(11, 1, weighted=True, seed=seed)
    found = weakest_cut(as_graph(P), KEY)
    best = slow_weakest(P)
    assert best * (1 - 1e-5) <= found.conductance <= 1.3 * best
    assert conductance(as_graph(P), found.side) == pytest.approx(found.conductance)


def test_a_long_grid_is_cut_across():
    """The weakest cut of a grid of 60 x 10 has about 10 edges."""
    found = weakest_cut(as_graph(grid(60, 10)), KEY)
    ideal = 10 / (grid(60, 10).sum() / 2)
    assert found.conductance <= 1.1 * ideal
    assert found.conductance >= ideal * (1 - 1e-5)


def test_the_graph_of_some_nodes_is_the_submatrix(graph):
    """Induced graph, its volumes and the mass to the other nodes equal those of the dense matrix."""
    P, nodes = graph(60, weighted=True), np.arange(0, 60, 2)
    part = induce(as_graph(P), nodes)
    dense = sp.csr_matrix((part.data, part.indices, part.indptr), (30, 30)).toarray()
    np.testing.assert_allclose(dense, P.toarray()[np.ix_(nodes, nodes)], rtol=1e-6)
    np.testing.assert_allclose(part.volume, dense.sum(axis=1), rtol=1e-6)
    toward = mass_toward(as_graph(P), nodes, np.arange(60) % 2 == 1)
    np.testing.assert_allclose(toward, P.toarray()[nodes, 1::2].sum(axis=1), rtol=1e-5)


def test_coarse_nodes_are_small_and_within_groups():
    """A coarse graph has about as many nodes as asked for, of similar size, none across two groups."""
    graph, group = as_graph(grid(60, 60)), (np.arange(3600) % 60 < 20).astype(np.int32)
    coarse, node = coarsen(graph, group, 200, KEY)
    assert 50 <= coarse.n <= 300
    assert all(len(set(group[node == k])) == 1 for k in range(coarse.n))
    assert np.bincount(node).max() < 8 * 3600 / coarse.n


def test_a_width_is_about_that_of_a_maximal_flow():
    """Two grids joined by a bridge of two edges are two edges wide, seen from one end."""
    P = sp.lil_matrix(sp.block_diag([grid(8, 8), grid(8, 8)]))
    for k in (3, 4):
        P[56 + k, 64 + k] = P[64 + k, 56 + k] = 1.0
    P = sp.csr_matrix(P)
    toward = np.zeros(128)
    toward[:8] = 1e-3
    assert width(as_graph(P), toward) == pytest.approx(2 / P.sum(), rel=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_the_narrowest_cut_is_close_to_the_maximal_flow(graph, seed):
    """The cut between fixed ends is never below the maximum flow, and at most 1.25 of it."""
    P = graph(60, 2, seed=seed)
    fixed = np.zeros(60, np.int8)
    fixed[:5], fixed[-5:] = 1, 2
    G = as_graph(P)
    found = _narrowest(G, np.argsort(_potential(G, fixed), kind="stable"), fixed)
    whole = sp.csr_matrix((P > 0).astype(np.int32))
    ends = sp.csr_matrix(
        (np.full(10, 10**6, np.int32), ([60] * 5 + list(range(55, 60)), [*range(5), *[61] * 5])), (62, 62)
    )
    flow = maximum_flow(sp.csr_matrix(sp.block_diag([whole, sp.csr_matrix((2, 2), dtype=np.int32)]) + ends), 60, 61)
    least = flow.flow_value * float(P.data[0])
    assert least * (1 - 1e-4) <= found <= 1.25 * least


def test_eigenvalues_are_those_of_a_dense_solver(graph):
    """On any number of threads; after few rounds the errors bound the distance to a true eigenvalue."""
    P = graph(200, 2, weighted=True)
    dense = P.toarray().astype(np.float64)
    root = np.sqrt(dense.sum(axis=1))
    exact = np.linalg.eigvalsh(np.eye(200) - dense / np.outer(root, root))
    one, two = (low_spectrum(as_graph(P), 6, KEY, Team(k), rounds=30) for k in (1, 2))
    np.testing.assert_allclose(one.values, exact[:6], atol=1e-5)
    assert np.array_equal(one.vectors, two.vectors)
    few = low_spectrum(as_graph(P), 6, KEY, Team(1), rounds=2)
    for value, error in zip(few.values, few.errors, strict=True):
        assert np.abs(exact - value).min() <= error + 1e-6
