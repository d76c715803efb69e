"""Graphs of networkx and igraph, and every kind of sparse matrix of SciPy: one and the same P."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from sce import SCE, GraphWarning, InputError, Map, ParameterError, sweep
from sce.core.parallel import Team
from sce.graph.networks import as_network, node_names
from sce.graph.precomputed import check_affinity

FAST = {"n_epochs": 3, "optimizer": "gradient", "random_state": 0}


@pytest.fixture(scope="module")
def nx():
    return pytest.importorskip("networkx")


@pytest.fixture(scope="module")
def ig():
    return pytest.importorskip("igraph")


def by_hand(edges, n):
    """P from (source, target, weight), an edge at a time."""
    A = np.zeros((n, n))
    for a, b, weight in edges:
        if a != b:
            A[a, b] += weight
            A[b, a] += weight
    return A / A.sum()


EDGES = [(0, 1, 2.0), (1, 2, 1.0), (2, 0, 0.5), (3, 4, 4.0), (0, 1, 1.0), (2, 2, 9.0), (3, 0, 1.0), (4, 3, 0.25)]
NAMES = ["ann", "bob", "cy", "dee", "eve"]


@pytest.mark.parametrize("library", ["networkx", "igraph"])
@pytest.mark.parametrize("directed", [False, True])
def test_a_graph_is_p(nx, ig, library, directed):
    """Weights as given, several edges added up, loops ignored, directions ignored; names of nodes become ids."""
    if library == "networkx":
        G = (nx.MultiDiGraph if directed else nx.MultiGraph)()
        G.add_nodes_from(NAMES)
        G.add_weighted_edges_from([(NAMES[a], NAMES[b], weight) for a, b, weight in EDGES])
    else:
        G = ig.Graph(5, [(a, b) for a, b, _ in EDGES], directed=directed)
        G.es["weight"] = [weight for _, _, weight in EDGES]
        G.vs["name"] = NAMES
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = SCE(**FAST).fit(G)
    assert [str(each.message)[:39] for each in caught] == ["The similarity graph is not symmetric ("][: int(directed)]
    assert np.allclose(model.affinity_.toarray(), by_hand(EDGES, 5), atol=1e-7)
    assert model.ids_.tolist() == NAMES
    again = SCE(affinity="precomputed", **FAST).fit(as_network(G).weights + as_network(G).weights.T)
    assert (again.embedding_ == model.embedding_).all()
    assert not hasattr(again, "ids_")


def test_graphs_without_weights_and_names(nx, ig):
    """Each edge counts 1; nodes 0, 1, 2, ... need no names."""
    G = nx.karate_club_graph()
    plain = nx.Graph(G.edges())
    plain.add_nodes_from(G)
    P = SCE(**FAST).fit(nx.convert_node_labels_to_integers(plain, ordering="sorted")).affinity_
    again = SCE(**FAST).fit(ig.Graph.Famous("Zachary")).affinity_
    assert P.nnz == again.nnz == 156
    assert P.data.min() == P.data.max()
    assert not hasattr(SCE(**FAST).fit(G), "ids_")
    assert hasattr(SCE(**FAST).fit(nx.relabel_nodes(G, lambda k: k + 1)), "ids_")


def test_the_affinity_may_be_named(nx):
    """SCE().fit(G) and SCE(affinity="precomputed").fit(G) are the same."""
    G = nx.karate_club_graph()
    a, b = SCE(**FAST).fit_transform(G), SCE(affinity="precomputed", **FAST).fit_transform(G)
    assert (a == b).all()
    P = sp.csr_array(nx.to_scipy_sparse_array(G))
    assert (a == SCE(affinity="precomputed", **FAST).fit_transform(P)).all()


def test_sweeps_and_quality_take_graphs(nx):
    """As the estimator does, with the names of the nodes as ids."""
    G = nx.relabel_nodes(nx.karate_club_graph(), lambda k: f"member {k}")
    result = sweep(G, [0.0, 1.0], random_state=0, keep_graph=True)
    assert result.ids.tolist() == list(G)
    assert (check_affinity(G) != result.P).nnz == 0
    with pytest.raises(ParameterError, match="n_neighbors"):
        sweep(G, [0.0], n_neighbors=3)


def test_names_reach_the_map(nx, tmp_path):
    """Of any kind that nodes may have: those that are neither whole numbers nor text as their text."""
    G = nx.grid_2d_graph(4, 5)
    model = SCE(**FAST).fit(G)
    result = Map.from_model(model, ids=model.ids_)
    result.save(tmp_path / "map.npz")
    assert Map.from_model(model, ids=model.ids_).ids[1] == "(0, 1)"
    with Team(1):
        assert node_names([2**70, 1]).tolist() == [str(2**70), "1"]
        assert node_names([True, False]).tolist() == ["True", "False"]
        assert node_names([3, 1]).tolist() == [3, 1]


def test_isolated_nodes_are_told(nx):
    """As with any graph: they are in the map, and a warning says that nothing holds them."""
    G = nx.path_graph(10)
    G.add_edge(10, 10)
    with pytest.warns(GraphWarning, match=re.escape("1 of 11 rows have no edge in the graph (rows 10)")):
        model = SCE(**FAST).fit(G)
    assert np.isfinite(model.embedding_).all()


BAD = {
    "no nodes": (lambda nx: nx.Graph(), "X has no rows"),
    "no edges": (lambda nx: nx.empty_graph(3), "no positive entry"),
    "negative": (lambda nx: nx.Graph([("a", "b", {"weight": -1.0})]), "negative"),
    "not a number": (lambda nx: nx.Graph([("a", "b", {"weight": np.nan})]), "not finite"),
    "text": (lambda nx: nx.Graph([("a", "b", {"weight": 1}), ("b", "c", {"weight": "far"})]), "from 'b' to 'c'"),
}


@pytest.mark.parametrize("case", BAD)
def test_graphs_that_cannot_be_used(nx, case):
    """A sentence, as for any graph."""
    make, sentence = BAD[case]
    with pytest.raises(InputError, match=sentence):
        SCE(**FAST).fit(make(nx))


@pytest.mark.parametrize(
    "given", [{"n_neighbors": 5}, {"perplexity": 5}, {"metric": "precomputed"}, {"affinity": "knn"}]
)
def test_parameters_without_effect(nx, given):
    """Are refused: the graph is what it is."""
    with pytest.raises(ParameterError, match=next(iter(given))):
        SCE(**given, **FAST).fit(nx.karate_club_graph())


FORMATS = [*("bsr", "coo", "csc", "csr", "dia", "dok", "lil")]


@pytest.mark.parametrize("kind", ["matrix", "array"])
@pytest.mark.parametrize("form", FORMATS)
def test_every_sparse_kind_of_scipy(form, kind):
    """Matrices and arrays, as graphs, distances and vectors, give the same bytes as csr_matrix."""
    rng = np.random.default_rng(0)
    A = np.triu(rng.random((40, 40)) * (rng.random((40, 40)) < 0.3), 1)
    A += A.T
    given = getattr(sp, f"{form}_{kind}")(A)
    for parameters in ({"affinity": "precomputed"}, {"metric": "precomputed", "n_neighbors": 3}, {"n_neighbors": 5}):
        expected = SCE(**parameters, **FAST).fit_transform(sp.csr_matrix(A))
        assert (SCE(**parameters, **FAST).fit_transform(given) == expected).all(), parameters


def test_sparse_arrays_with_wide_indices():
    """SciPy's arrays keep 64-bit indices where matrices would not."""
    A = sp.random(30, 30, density=0.3, random_state=0)
    A = sp.csr_array(A + A.T)
    wide = sp.csr_array((A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)), shape=A.shape)
    for parameters in ({"affinity": "precomputed"}, {"n_neighbors": 5}):
        expected = SCE(**parameters, **FAST).fit_transform(A)
        assert (SCE(**parameters, **FAST).fit_transform(wide) == expected).all()


def test_sparse_vectors_of_one_dimension_are_refused():
    """SciPy has them since 1.13."""
    try:
        line = sp.coo_array(np.arange(5.0))
    except ValueError:
        pytest.skip("this SciPy has none")
    for parameters in ({}, {"affinity": "precomputed"}):
        with pytest.raises(InputError, match=r"2-D|square"):
            SCE(**parameters).fit(line)
