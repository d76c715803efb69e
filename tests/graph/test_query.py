"""New rows among indexed ones: the same neighbours alone or in company, for every way of searching."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sce.core.parallel import Team
from sce.errors import InputError, ParameterError
from sce.graph import forest
from sce.graph.index import build_index
from searches import METRICS, assert_valid_query, bytes_of, distances_between, only

WAYS = ("brute force", "k-d tree", "forest", "inverted index")


def index_of(X, way="own choice", metric="euclidean"):
    """An index and the form of rows that it takes."""
    make = sparse.csr_matrix if way == "inverted index" else np.asarray
    return build_index(make(X), metric=metric), make


def truth(rows, X, k, metric="euclidean"):
    """The distances of the k nearest, nearest first."""
    return np.sort(distances_between(rows, X, metric), axis=1)[:, :k]


# ------------------------------------------------------------------------------------------------------------ exactness


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.sampled_from(["brute force", "k-d tree", "inverted index"]),
    *(st.integers(1, 40), st.integers(0, 9), st.integers(1, 5), st.integers(1, 3), st.integers(0, 99)),
    st.sampled_from(METRICS),
)
def test_exact_ways_find_the_nearest(way, n, m, d, largest, seed, metric):
    """On tiny whole numbers, full of ties and copies, the distances are those of sorting, for every k up to n."""
    rng = np.random.default_rng(seed)
    X, rows = (rng.integers(0, largest + 1, (count, d)).astype(float) for count in (n, m))
    if metric in ("cosine", "correlation"):  # those without a direction have a test of their own
        X, rows = (np.column_stack([part + rng.random(part.shape), rng.random((len(part), 2))]) for part in (X, rows))
    with pytest.MonkeyPatch.context() as patch:
        only(patch, way)
        index, make = index_of(X, way, metric)
        for k in {1, -(-n // 2), n}:
            near = index.query(make(rows), k, Team(1))
            assert_valid_query(near, m, n, k)
            np.testing.assert_allclose(near.distances, truth(rows, X, k, metric), rtol=1e-5, atol=2e-5)
            own = np.take_along_axis(distances_between(rows, X, metric), near.indices.astype(int), 1)
            np.testing.assert_allclose(near.distances, own, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("way", ["brute force", "k-d tree"])
def test_larger_exact_searches(way, metric, mixture, team, send):
    """The same across blocks of rows and tasks of threads."""
    send(way)
    X = mixture(3100, 4)
    near = index_of(X[:1500], metric=metric)[0].query(X[1500:], 12, team)
    assert (near.method, near.recall) == (way, 1.0)
    assert_valid_query(near, 1600, 1500, 12)
    np.testing.assert_allclose(near.distances, truth(X[1500:], X[:1500], 12, metric), rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize("metric", ["chebyshev", "canberra", lambda a, b: float(np.abs(a - b).max())])
def test_other_metrics(metric, mixture, team):
    """Metrics of scikit-learn, and the user's own."""
    X = mixture(260, 4)
    near = build_index(X[:200], metric=metric).query(X[200:], 5, team)
    name = "chebyshev" if callable(metric) else metric
    np.testing.assert_allclose(near.distances, truth(X[200:], X[:200], 5, name), rtol=1e-6)
    assert near.method == "scikit-learn exact"


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation", "manhattan"])
@pytest.mark.parametrize(("d", "k"), [(12, 15), (100, 15), (12, 60)])
def test_forest_recall(d, k, metric, mixture, team, forest_only):
    """Of new rows the forest finds nearly all neighbours, at true distances, and its own estimate is right."""
    X = mixture(4400, d)
    near = build_index(X[:4000], metric=metric).query(X[4000:], k, team)
    assert near.method == "forest"
    assert_valid_query(near, 400, 4000, k)
    D = distances_between(X[4000:], X[:4000], metric)
    found = (near.distances <= np.sort(D, axis=1)[:, k - 1 : k] * (1 + 1e-5)).mean()
    assert found > 0.95
    assert abs(found - near.recall) < 0.03
    np.testing.assert_allclose(near.distances, np.take_along_axis(D, near.indices.astype(int), 1), rtol=1e-3, atol=1e-6)


def test_forest_with_sketch(mixture, team, forest_only):
    """Wide rows descend the trees on a sketch and are ranked by true distances."""
    rng = np.random.default_rng(0)
    X = (mixture(3300, 20) @ rng.normal(size=(20, 200)) + rng.normal(size=(3300, 200)) * 0.3).astype(np.float32)
    index = build_index(X[:3000])
    near = index.query(X[3000:], 15, team)
    assert index._opened.ways["forest"]._paths.spaces.sketch is not None
    D = distances_between(X[3000:], X[:3000])
    assert (near.distances <= np.sort(D, axis=1)[:, 14:15] * (1 + 1e-5)).mean() > 0.95
    np.testing.assert_allclose(near.distances, np.take_along_axis(D, near.indices.astype(int), 1), rtol=1e-5)


def test_data_without_structure(team, forest_only, monkeypatch):
    """Noise defeats the trees: then brute force is used where it is affordable, and the recall is honest where not."""
    X = np.random.default_rng(0).normal(size=(4200, 48)).astype(np.float32)
    expected = truth(X[4000:], X[:4000], 10)[:, -1:] * (1 + 1e-5)
    near = build_index(X[:4000]).query(X[4000:], 10, team)
    assert near.method == "brute force"
    assert (near.distances <= expected).all()
    monkeypatch.setattr(forest, "BRUTE_FORCE_INSTEAD_UP_TO_TERMS", 0)
    near = build_index(X[:4000]).query(X[4000:], 10, team)
    assert near.method == "forest"
    assert near.recall < 0.9
    assert abs((near.distances <= expected).mean() - near.recall) < 0.05


# --------------------------------------------------------------------------------------------------------- independence


@pytest.mark.parametrize(("way", "d"), [(way, d) for way in WAYS for d in (3, 20, 168) if d < 4 or way != "k-d tree"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_each_row_alone_and_on_any_number_of_threads(metric, way, d, mixture, send):
    """The same neighbours at the same distances, bit for bit, alone or among others, on one thread or four."""
    send(way)
    X = np.round(mixture(1200, d), 1)  # ties
    X[:150] = X[0]
    index, make = index_of(X[:1000], way, metric)
    rows = np.concatenate([X[1000:], X[:10], X[5:6] * 1e4])
    with Team(4) as team:
        together = index.query(make(rows), 12, team)
    with Team(1) as team:
        other = index_of(X[:1000], way, metric)[0]
        assert bytes_of(other.query(make(rows[::-1]), 12, team)) == bytes_of(
            together._replace(indices=together.indices[::-1], distances=together.distances[::-1])
        )
        for i in range(0, len(rows), 23):
            alone = index.query(make(rows[i : i + 1]), 12, team)
            assert (alone.indices == together.indices[i]).all()
            assert alone.distances.tobytes() == together.distances[i].tobytes()


@pytest.mark.parametrize("copies", [False, True])
def test_a_query_depends_on_no_earlier_call(copies, mixture, team, forest_only):
    """Neither searches nor queries before it change it, nor does it change them; an index may be pickled."""
    X = mixture(1800, 12)
    X[: 3 if copies else 0] = X[5]
    indexed, rows = X[:1500], X[1500:]
    fresh = bytes_of(build_index(indexed).query(rows, 8, team))
    for k in (forest.LINKS, 8):
        index = build_index(indexed)
        before = bytes_of(index.self_neighbors(k, team))
        index.query(rows[:5], 20, team)
        assert bytes_of(index.query(rows, 8, team)) == fresh
        assert bytes_of(index.self_neighbors(k, team)) == before
    assert bytes_of(pickle.loads(pickle.dumps(index)).query(rows, 8, team)) == fresh


def test_links_are_not_searched_for_twice(mixture, team, forest_only, monkeypatch):
    """After a search with as many neighbours as there are links, a query needs no search among the indexed rows."""
    X = mixture(1500, 12)
    index = build_index(X[:1400])
    index.self_neighbors(forest.LINKS, team)
    monkeypatch.setattr(forest, "forest_neighbors", None)
    assert index.query(X[1400:], 5, team).method == "forest"


# --------------------------------------------------------------------------------------------------------------- copies


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("way", WAYS)
def test_a_copy_of_an_indexed_row_finds_it(way, metric, mixture, team, send):
    """It comes first, at distance 0, also where X is in Fortran's order; of several copies, the first."""
    send(way)
    X = mixture(1500, 4 if way == "k-d tree" else 30)
    X[700:705] = X[3]
    index, make = index_of(np.asfortranarray(X), way, metric)
    near = index.query(make(X), 6, team)
    numbers = np.arange(1500)
    numbers[700:705] = 3
    assert (near.indices[:, 0] == numbers).all()
    assert (near.distances[:, 0] == 0).all()
    assert near.indices[3].tolist() == near.indices[702].tolist() == [3, 700, 701, 702, 703, 704]


@pytest.mark.parametrize("way", WAYS)
def test_masses_of_copies(way, team, send):
    """Thousands of equal rows hide nothing: the nearest of a new row are found, and the first copies of those."""
    send(way)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 4))
    X[rng.permutation(5000)[:3000]] = X[0]
    rows = np.concatenate([rng.normal(size=(300, 4)), X[:1]])
    near = index_of(X, way)[0].query(rows, 8, team)
    assert near.method == way
    expected = truth(rows, X, 8)
    assert (near.distances <= expected[:, -1:] * (1 + 1e-5)).mean() > 0.98
    copies = np.flatnonzero((X[0] == X).all(axis=1))
    assert (near.indices[-1] == copies[:8]).all()


def test_few_different_rows(team, tree_only):
    """Fewer different rows than neighbours: each stands for all its copies."""
    X = np.repeat([[0.0, 0.0], [5.0, 1.0], [9.0, 9.0]], [400, 700, 900], axis=0)
    near = build_index(X).query([[4.0, 1.0], [0.0, 0.0]], 1500, team)
    assert_valid_query(near, 2, 2000, 1500)
    np.testing.assert_allclose(near.distances, truth([[4.0, 1.0], [0.0, 0.0]], X, 1500), rtol=1e-6)


# ------------------------------------------------------------------------------------------------------- unusual rows


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("distance", [1e2, 1e6, 1e20, 1e150, 1e305])
def test_rows_far_from_all_others(way, metric, distance, mixture, team, send):
    """They have the nearest of the indexed rows all the same, at finite distances, and leave other rows alone."""
    send(way)
    X = mixture(1300, 4).astype(float)
    rows = X[1200:].copy()
    rows[:5] *= distance
    index = index_of(X[:1200], way, metric)[0]
    near = index.query(rows, 7, team)
    assert_valid_query(near, 100, 1200, 7)
    scale = 1.0 if distance < 1e200 else 1e-160  # lest the squares of the truth overflow
    expected = truth(rows[:5] * scale, X[:1200] * scale, 7, metric) / scale
    np.testing.assert_allclose(near.distances[:5], expected, rtol=1e-5)
    assert near.distances[5:].tobytes() == index.query(rows[5:], 7, team).distances.tobytes()


def test_a_constant_index(team):
    """Equal indexed rows have no scale of their own: new rows at any distance are served."""
    near = build_index(np.full((40, 3), 7.0)).query([[7.0, 7, 7], [8.0, 7, 7], [1e9, 7, 7]], 3, team)
    np.testing.assert_allclose(near.distances, [[0] * 3, [1] * 3, [1e9 - 7] * 3], rtol=1e-6)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_rows_without_direction(metric, make, team):
    """A new row of zeros (or a constant one) is a copy of the indexed ones, and at right angles to the rest."""
    X = np.random.default_rng(0).normal(size=(40, 6))
    X[:3] = 0.0
    near = build_index(make(X), metric=metric).query(np.zeros((1, 6)) + (metric == "correlation"), 5, team)
    assert near.indices[0, :3].tolist() == [0, 1, 2]
    np.testing.assert_allclose(near.distances, [[0, 0, 0, 1, 1]], atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint8, np.int64, np.bool_])
def test_every_dtype(dtype, team):
    """New rows of any numeric type give what their float64 twins give, and are left as they were."""
    rng = np.random.default_rng(0)
    X, rows = rng.random((200, 20)) * 9, (rng.random((30, 20)) * 9).astype(dtype)
    before = rows.copy()
    index = build_index(X)
    assert bytes_of(index.query(rows, 5, team)) == bytes_of(index.query(rows.astype(float), 5, team))
    assert (before == rows).all()


@pytest.mark.parametrize("way", WAYS)
def test_dense_and_sparse_new_rows(way, mixture, team, send):
    """New rows may be dense or sparse, whatever the indexed ones are."""
    send(way)
    X = np.abs(np.round(mixture(1100, 4)))
    index = index_of(X[:1000], way)[0]
    dense, made_sparse = (index.query(make(X[1000:]), 5, team) for make in (np.asarray, sparse.csc_matrix))
    assert bytes_of(dense) == bytes_of(made_sparse)


# --------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("way", ["brute force", "inverted index"])
def test_mistakes(way, mixture, team):
    """Each has one sentence."""
    index, make = index_of(mixture(20, 3), way)
    rows = mixture(4, 3)
    with pytest.raises(InputError, match=r"must be a matrix with 3 columns, like the indexed rows; got shape \(4, 2\)"):
        index.query(make(rows[:, :2]), 3, team)
    with pytest.raises(InputError, match=r"must be a matrix with 3 columns, like the indexed rows; got shape \(3,\)"):
        index.query(rows[0], 3, team)
    for k in (0, 21):
        with pytest.raises(ParameterError, match=f"between 1 and the number of indexed rows, 20; got {k}"):
            index.query(make(rows), k, team)
    rows[2, 1] = np.nan
    with pytest.raises(InputError, match=r"The new data has NaN or infinity \(inf\) in 1 of 4 rows: 2"):
        index.query(make(rows), 3, team)
    with pytest.raises(InputError, match="must hold real numbers; got <U1"):
        index.query([["a", "b", "c"]], 3, team)


# ------------------------------------------------------------------------------------------------- precomputed distances


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_precomputed_distances(make, mixture, team):
    """Distances of new rows to the indexed ones take the place of the rows."""
    X = mixture(60, 3)
    index = build_index(distances_between(X[:50], X[:50]), metric="precomputed")
    assert index.n_rows == 50
    cross = distances_between(X[50:], X[:50])
    near = index.query(make(cross), 4, team)
    assert (near.indices == np.argsort(cross, axis=1)[:, :4]).all()
    assert near.method == "precomputed distances"
    with pytest.raises(InputError, match=r"with 50 columns, one for each indexed row; got shape \(10, 49\)"):
        index.query(make(cross[:, 1:]), 4, team)
    with pytest.raises(ParameterError, match="number of indexed rows, 50; got 51"):
        index.query(make(cross), 51, team)
