"""The one entrance: X and options in, P out, with every warning and refusal."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from sce import SCE
from sce.errors import DataWarning, GraphWarning, InputError, ParameterError
from sce.graph import build, forest, vectors
from sce.graph.affinity import entropic_affinity, knn_affinity
from sce.graph.build import GraphOptions, build_affinity, build_cross_affinity
from sce.graph.distances import neighbors_graph
from sce.graph.forecast import fit_memory
from sce.graph.found import POOR_RECALL
from sce.graph.index import build_index, nearest_neighbors
from searches import distances_between


def quiet(*arguments):
    """Build with every warning an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return build_affinity(*arguments)


def test_knn(mixture, team):
    """affinity="knn" is the graph of the n_neighbors nearest, and says how they were found."""
    X = mixture(300, 5)
    result = quiet(X, GraphOptions("knn", 7), team, 0)
    expected = knn_affinity(nearest_neighbors(X, 7, team=team))
    assert (expected != result.P).nnz == 0
    assert (result.neighbors_method, result.recall, result.notes) == ("brute force", 1.0, ())


def test_entropic(mixture, team):
    """affinity="entropic" takes three times the perplexity as neighbours."""
    X = mixture(300, 5)
    result = quiet(X, GraphOptions(affinity="entropic", perplexity=9.5), team, 0)
    expected = entropic_affinity(nearest_neighbors(X, 29, team=team), 9.5, team)
    assert (expected != result.P).nnz == 0


@pytest.mark.parametrize(("k", "perplexity"), [(2, 2.0), (4, 2.0), (15, 5.0), (20, 20 / 3)])
def test_entropic_by_neighbours(team, k, perplexity):
    """Without a perplexity it is a third of the neighbours, and 2 where they are few; here in six dimensions."""
    X = np.random.default_rng(0).normal(size=(300, 6))
    result = build_affinity(X, GraphOptions("entropic", n_neighbors=k), team, 0)
    expected = entropic_affinity(nearest_neighbors(X, k, team=team), perplexity, team)
    assert (expected != result.P).nnz == 0


def test_metric_reaches_the_search(mixture, team):
    """The metric is used."""
    X = mixture(300, 5)
    a, b = (quiet(X, GraphOptions(metric=m), team, 0).P for m in ("euclidean", "cosine"))
    assert (a != b).nnz > 0


def test_precomputed_distances(mixture, team):
    """metric="precomputed" on the graph of neighbours gives the P of the vectors."""
    X = mixture(300, 5)
    near = nearest_neighbors(X, 15, team=team)
    for affinity, options in (("knn", {"n_neighbors": 15}), ("entropic", {"perplexity": 5.0})):
        direct = quiet(X, GraphOptions(affinity=affinity, **options), team, 0)
        graph = neighbors_graph(near.indices, near.distances)
        given = quiet(graph, GraphOptions(affinity=affinity, metric="precomputed", **options), team, 0)
        np.testing.assert_allclose(given.P.toarray(), direct.P.toarray(), rtol=1e-5)
        assert given.neighbors_method == "precomputed distances"


def test_precomputed_similarities_and_functions(mixture, team):
    """affinity="precomputed" takes X as the graph, a function makes it from X; both are checked."""
    S = np.ones((4, 4))
    a = quiet(S, GraphOptions(affinity="precomputed"), team, 0)
    b = quiet(mixture(4, 2), GraphOptions(affinity=lambda X: np.ones((len(X), len(X)))), team, 0)
    np.testing.assert_allclose(a.P.toarray(), (1 - np.eye(4)) / 12, rtol=1e-6)
    assert (a.P != b.P).nnz == 0
    assert (a.neighbors_method, a.recall) == (None, None)
    with pytest.raises(InputError, match="negative"):
        build_affinity(mixture(4, 2), GraphOptions(affinity=lambda X: -np.ones((4, 4))), team, 0)


def test_few_rows(mixture, team):
    """Fewer rows than neighbours: k and perplexity are lowered, with a warning that gives the numbers."""
    with pytest.warns(
        DataWarning, match="n_neighbors=15 was lowered to 2, half of the other rows, because there are only 5 rows"
    ):
        result = build_affinity(mixture(5, 2), GraphOptions(n_neighbors=15), team, 0)
    assert (np.diff(result.P.indptr) >= 2).all()
    assert "lowered to 2" in result.notes[0]
    with pytest.warns(DataWarning, match=r"perplexity=30 was lowered to 6.33, a third of the other rows"):
        result = build_affinity(mixture(20, 2), GraphOptions(perplexity=30.0), team, 0)
    assert abs(result.P.data.sum(dtype=float) - 1) < 1e-6


@pytest.mark.parametrize("affinity", ["knn", "entropic", "shared"])
@pytest.mark.filterwarnings("ignore::sce.errors.DataWarning")
def test_one_and_two_rows(affinity, mixture, team):
    """One row has an empty graph, two rows a single edge."""
    one = build_affinity(mixture(1, 3), GraphOptions(affinity=affinity), team, 0).P
    assert one.shape == (1, 1)
    assert one.nnz == 0
    two = build_affinity(mixture(2, 3), GraphOptions(affinity=affinity), team, 0).P
    np.testing.assert_allclose(two.toarray(), [[0, 0.5], [0.5, 0]])


def test_one_point_given(team):
    """A given graph of a single point is fine too."""
    assert quiet(np.ones((1, 1)), GraphOptions(affinity="precomputed"), team, 0).P.nnz == 0


def test_copies_are_announced(mixture, team):
    """Rows whose neighbours are all copies are counted, with advice."""
    X = mixture(100, 3)
    X[:20] = X[0]
    with pytest.warns(
        DataWarning,
        match=r"^20 rows have 6 or more exact copies.*raise n_neighbors .*one point of each.*merge_copies.*sample_weight",
    ):
        result = build_affinity(X, GraphOptions(n_neighbors=6), team, 0)
    assert len(result.notes) == 1
    quiet(X, GraphOptions(n_neighbors=20), team, 0)


def test_poor_recall_is_announced(team, monkeypatch):
    """Noise in many columns, too many rows for brute force: how few neighbours were found, and what would help."""
    monkeypatch.setattr(vectors, "BRUTE_FORCE_UP_TO_TERMS", 0)
    monkeypatch.setattr(forest, "BRUTE_FORCE_INSTEAD_UP_TO_TERMS", 3000 * 3000 * 60)
    X = np.random.default_rng(0).normal(size=(9000, 60))
    with pytest.warns(
        GraphWarning,
        match=r"^Only about [1-8][0-9] % of the nearest neighbours were found, because in 60 columns .*: reduce the columns "
        r".*, embed a sample of at most 2,904 rows.*or give neighbours .* with metric='precomputed'\.$",
    ):
        result = build_affinity(X, GraphOptions(), team, 0)
    assert 0.1 < result.recall < POOR_RECALL
    assert len(result.notes) == 1
    quiet(X[:2900], GraphOptions(), team, 0)


@pytest.mark.parametrize("size", [1e306, 1e307])
@pytest.mark.parametrize("affinity", ["knn", "entropic", "shared"])
def test_huge_values_lose_no_edge(affinity, size, mixture, team):
    """The graph does not depend on the unit of the data, up to the largest numbers."""
    X = mixture(300, 5).astype(float)
    X /= np.abs(X).max()
    a, b = (quiet(X * s, GraphOptions(affinity), team, 0).P for s in (1.0, size * 10))
    assert a.nnz == b.nnz
    assert abs(a - b).max() < 1e-4 * a.max()


def test_rows_without_edges_are_announced(team):
    """Isolated rows of a given graph are counted and named."""
    S = np.ones((9, 9))
    S[[2, 5]] = S[:, [2, 5]] = 0
    with pytest.warns(GraphWarning, match=r"2 of 9 rows have no edge in the graph \(rows 2, 5\)"):
        result = build_affinity(sparse.csr_array(S), GraphOptions(affinity="precomputed"), team, 0)
    assert len(result.notes) == 1


def test_pieces_are_announced(team):
    """A graph in very many pieces is worth a warning; one in a few is not."""
    X = np.repeat(np.arange(30.0), 3)[:, None] + np.tile([0, 0.01, 0.02], 30)[:, None]
    with pytest.warns(GraphWarning, match="has 30 components.*larger n_neighbors"):
        build_affinity(X, GraphOptions(n_neighbors=2), team, 0)
    quiet(np.floor(X / 10) * 100 + X, GraphOptions(n_neighbors=8), team, 0)


def test_distances_without_neighbours(team):
    """A distance matrix that stores nothing is refused."""
    with pytest.warns(GraphWarning), pytest.raises(InputError, match="No row of the distance matrix"):
        build_affinity(sparse.csr_matrix((20, 20)), GraphOptions(metric="precomputed", n_neighbors=3), team, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"affinity": "entropy"}, r"affinity must be 'shared', 'entropic'.*got 'entropy'; did you mean 'entropic'\?"),
        ({"affinity": "zzz"}, r"affinity must be 'shared', 'entropic'.*got 'zzz'\.$"),
        ({"affinity": None}, r"affinity must be 'shared', 'entropic'.*got None"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1, or None; got 0"),
        ({"n_neighbors": 2.5}, "n_neighbors must be a whole number"),
        ({"n_neighbors": True}, "n_neighbors must be a whole number"),
        ({"perplexity": 1}, "perplexity must be a finite number greater than 1, or None; got 1"),
        ({"perplexity": np.nan}, "perplexity must be a finite number"),
        ({"perplexity": np.inf}, "perplexity must be a finite number"),
        ({"perplexity": "30"}, "perplexity must be a finite number"),
        ({"metric": "cosin"}, "metric='cosin' is not known; did you mean 'cosine'"),
    ],
)
def test_bad_options(options, message):
    """Each mistake in a parameter has its own sentence; options that mean nothing cannot be made."""
    with pytest.raises(ParameterError, match=message):
        GraphOptions(**options)


def test_options_are_checked_once_a_fit(mixture, monkeypatch):
    """When they are made: neither the graph nor the layout checks them again."""
    checked = []

    def count(name, is_valid):
        return lambda value: checked.append(name) or is_valid(value)

    constraints = {name: (count(name, test), sentence) for name, (test, sentence) in build._CONSTRAINTS.items()}
    monkeypatch.setattr(build, "_CONSTRAINTS", constraints)
    SCE(n_epochs=1, optimizer="sampler", random_state=0).fit(mixture(60, 3))
    assert checked == ["affinity", "n_neighbors", "perplexity", "metric"]


@pytest.mark.parametrize("affinity", ["knn", "entropic", "shared"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "precomputed"])
def test_new_rows(affinity, metric, mixture, team):
    """Each new row has probabilities over its neighbours among the indexed rows, as many as the options say."""
    X = mixture(250, 5)
    options = GraphOptions(affinity, n_neighbors=9, metric=metric)
    indexed, new = X[:200], X[200:]
    if metric == "precomputed":
        indexed, new = distances_between(indexed, indexed), distances_between(new, indexed)
    Q = build_cross_affinity(build_index(indexed, metric=metric), new, options, team)
    assert Q.shape == (50, 200)
    assert (np.diff(Q.indptr) == 9).all()
    np.testing.assert_allclose(Q.sum(axis=1), 1, rtol=1e-6)
    near = np.argsort(distances_between(X[200:], X[:200], "cosine" if metric == "cosine" else "euclidean"))[:, :9]
    assert (np.sort(near, axis=1) == Q.indices.reshape(50, 9)).all()


def test_new_rows_need_a_search(mixture, team):
    """A given graph says nothing about new rows."""
    with pytest.raises(ParameterError, match="affinity='shared' or 'entropic' or 'knn'; got affinity='precomputed'"):
        build_cross_affinity(build_index(mixture(9, 2)), mixture(2, 2), GraphOptions("precomputed"), team)


def test_input_is_never_changed(mixture, team):
    """X is left as it was."""
    X = mixture(200, 5)
    before = X.copy()
    for options in (
        GraphOptions(),
        GraphOptions(affinity="entropic", perplexity=5.0),
        GraphOptions(metric="correlation"),
    ):
        build_affinity(X, options, team, 0)
    assert (before == X).all()


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({"n_neighbors": 60}, "n_neighbors=[0-9]+ would fit"),
        ({"perplexity": 20}, "perplexity=[0-9.]+ would fit"),
        ({"n_neighbors": 5}, "embed a sample of [0-9]+ rows, or fewer"),
        ({"affinity": "precomputed"}, "drop its smallest similarities"),
    ],
)
def test_too_little_memory_is_announced(options, advice, mixture, team, monkeypatch):
    """Before the work, with what would take less; where there is enough, or nobody knows, nothing is said."""
    X = mixture(500, 5)
    X = sparse.csr_matrix(np.exp(-np.square(X[:, None] - X[None]).sum(axis=2))) if "affinity" in options else X
    free = 0.9 * fit_memory(500, 5, options.get("n_neighbors", 60))
    monkeypatch.setattr("sce.core.memory.free_memory", lambda: free)
    with pytest.warns(
        DataWarning, match=f"takes about 0.0 GiB of memory at its peak, but only 0.0 GiB are free; {advice}"
    ):
        result = build_affinity(X, GraphOptions(**options), team, seed=0)
    assert "GiB" in result.notes[0]
    for enough in (2**40, None):
        monkeypatch.setattr("sce.core.memory.free_memory", lambda enough=enough: enough)
        assert build_affinity(X, GraphOptions(**options), team, seed=0).notes == ()
