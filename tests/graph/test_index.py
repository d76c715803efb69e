"""The k nearest rows among themselves, by every way, for every kind of data."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from sce.core.parallel import Team
from sce.errors import DataWarning, InputError, ParameterError
from sce.graph import forest, scikit_learn
from sce.graph.index import build_index, nearest_neighbors
from searches import assert_valid, bytes_of, distances_between, recall, true_distances


def by_sklearn(X, k, metric="euclidean"):
    """Distances to the k nearest others, by scikit-learn in float64."""
    model = NearestNeighbors(n_neighbors=k, metric=metric, algorithm="brute").fit(np.asarray(X, float))
    return model.kneighbors()[0]


# ------------------------------------------------------------------------------------------------------- the three ways


@pytest.mark.parametrize(
    "metric", ["euclidean", "sqeuclidean", "cosine", "correlation", "manhattan", "l1", "cityblock"]
)
@pytest.mark.parametrize("d", [3, 50])
def test_brute_force_equals_sklearn(metric, d, mixture, team):
    """Small data: the distances of scikit-learn, for each metric of our own."""
    X = mixture(700, d)
    near = nearest_neighbors(X, 10, metric=metric, team=team)
    assert near.method == "brute force"
    assert near.recall == 1.0
    assert_valid(near, 700, 10)
    np.testing.assert_allclose(near.distances, by_sklearn(X, 10, metric), rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation", "manhattan"])
def test_tree_equals_sklearn(metric, mixture, team, tree_only):
    """Low dimension: the k-d tree finds exactly the same."""
    X = mixture(1500, 4)
    near = nearest_neighbors(X, 10, metric=metric, team=team)
    assert near.method == "k-d tree"
    assert_valid(near, 1500, 10)
    np.testing.assert_allclose(near.distances, by_sklearn(X, 10, metric), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
@pytest.mark.parametrize(("d", "k", "least"), [(12, 15, 0.99), (40, 15, 0.95), (12, 90, 0.97)])
def test_forest_recall(metric, d, k, least, mixture, team, forest_only):
    """The forest finds nearly all on clouds of Gaussians, reports how many, and its distances are true."""
    X = mixture(5000, d)
    near = nearest_neighbors(X, k, metric=metric, team=team)
    assert near.method == "forest"
    assert_valid(near, 5000, k)
    found = recall(near, true_distances(X, k, metric, step=5), step=5)
    assert found >= least
    assert abs(found - near.recall) < 0.02
    for i in range(0, 5000, 500):
        gap = X[i].astype(float) - X[near.indices[i]]
        if metric == "euclidean":
            np.testing.assert_allclose(near.distances[i], np.sqrt((gap**2).sum(axis=1)), rtol=1e-5)


def test_forest_with_sketch(mixture, team, forest_only):
    """High dimension: candidates from a sketch, ranked by true distances."""
    rng = np.random.default_rng(0)
    X = mixture(3000, 20) @ rng.normal(size=(20, 400)).astype(np.float32) + rng.normal(size=(3000, 400)) * 0.3
    near = nearest_neighbors(X, 15, team=team)
    truth = true_distances(X, 15, step=5)
    assert recall(near, truth, step=5) > 0.95
    np.testing.assert_allclose(near.distances[::5, 0], truth[:, 0], rtol=0.2)


def test_few_neighbors_are_found_among_more(team, forest_only, monkeypatch):
    """A search for three keeps ten rows on the way: neighbours of three alone lead nowhere."""
    X = np.random.default_rng(0).normal(size=(4000, 16)).astype(np.float32)
    truth = true_distances(X, 3, step=4)
    recalls = []
    for kept in (3, forest.MIN_LIST_LENGTH):
        monkeypatch.setattr(forest, "MIN_LIST_LENGTH", kept)
        near = nearest_neighbors(X, 3, seed=0, team=team)
        assert_valid(near, 4000, 3)
        recalls.append(recall(near, truth, step=4))
    assert recalls[1] > 0.9
    assert recalls[1] > recalls[0] + 0.02


def test_forest_without_structure(team, forest_only, monkeypatch):
    """Noise in 40 dimensions defeats the trees: the recall says so, and brute force is used where it is affordable."""
    X = np.random.default_rng(0).normal(size=(5000, 40)).astype(np.float32)
    truth = true_distances(X, 10, step=5)
    near = nearest_neighbors(X, 10, team=team)
    assert near.method == "brute force"
    assert recall(near, truth, step=5) == 1.0
    monkeypatch.setattr(forest, "BRUTE_FORCE_INSTEAD_UP_TO_TERMS", 0)
    near = nearest_neighbors(X, 10, team=team)
    assert near.method == "forest"
    assert_valid(near, 5000, 10)
    found = recall(near, truth, step=5)
    assert found < 0.9
    assert abs(near.recall - found) < 0.03


def test_empty_columns_do_not_blind_the_forest(mixture, team, forest_only):
    """Informative columns behind hundreds of constant ones are found, for every metric."""
    X = np.zeros((2500, 300), np.float32)
    X[:, 280:] = mixture(2500, 20)
    for metric in ("euclidean", "manhattan"):
        near = nearest_neighbors(X, 10, metric=metric, team=team)
        assert near.method == "forest"
        assert recall(near, true_distances(X, 10, metric, step=10), step=10) > 0.95


def test_forest_on_digits(team, forest_only):
    """Real data: the digits of scikit-learn."""
    X = load_digits().data
    assert recall(nearest_neighbors(X, 15, team=team), true_distances(X, 15)) > 0.97


@pytest.mark.parametrize(
    ("shape", "k", "way"),
    [
        ((1000, 30), 5, "brute force"),
        ((60_000, 3), 5, "k-d tree"),
        ((40_000, 20), 5, "forest"),
        ((40_000, 20), 2501, "brute force"),
        ((60_000, 3), 3751, "brute force"),
    ],
)
def test_ways_are_chosen_by_size(shape, k, way):
    """Few rows, or a sixteenth of them as neighbours: brute force. Low dimension: k-d tree. Else: forest."""
    assert build_index(np.broadcast_to(np.float32(0), shape))._choose_way(k) == way


# --------------------------------------------------------------------------------------------------------- determinism


@pytest.mark.parametrize("d", [3, 20, 168])
@pytest.mark.parametrize("way", ["own choice", "forest"])
def test_same_bytes_on_any_number_of_threads(d, way, mixture, send):
    """Lists and distances do not depend on the team, nor on BLAS threads."""
    if way == "forest":
        send(way)
    X = np.round(mixture(1500, d), 1)  # ties
    X[:200] = X[0]
    results = []
    for n_jobs, blas in ((1, 1), (2, 2), (4, 2)):
        with Team(n_jobs) as team, threadpool_limits(blas, user_api="blas"):
            results.append(bytes_of(nearest_neighbors(X, 12, seed=3, team=team)))
    assert results[0] == results[1] == results[2]


def test_seed_matters_only_to_the_forest(team, forest_only):
    """Another seed is another forest."""
    X = np.random.default_rng(0).normal(size=(3000, 32))
    a, b = (nearest_neighbors(X, 10, seed=s, team=team).indices for s in (0, 1))
    assert (a != b).any()


# -------------------------------------------------------------------------------------------------- copies, ties, sizes


@pytest.mark.parametrize("way", ["brute force", "k-d tree", "forest"])
def test_masses_of_copies(way, team, send):
    """Thousands of equal rows: their neighbours are copies, spread evenly; all others are found as ever."""
    send(way)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 5))
    X[rng.permutation(6000)[:4000]] = X[0]
    near = nearest_neighbors(X, 8, team=team)
    assert near.method == way
    assert_valid(near, 6000, 8)
    copies = (X[0] == X).all(axis=1)
    assert (near.distances[copies] == 0).all()
    assert copies[near.indices[copies]].all()
    assert np.bincount(near.indices[copies].ravel()).max() <= 8
    assert recall(near, true_distances(X, 8, step=3), step=3) > 0.99


@pytest.mark.parametrize("way", ["brute force", "k-d tree", "forest"])
def test_nothing_but_copies(way, team, send):
    """Constant data: everything is at distance zero."""
    send(way)
    near = nearest_neighbors(np.full((500, 3), 0.1), 5, team=team)
    assert_valid(near, 500, 5)
    assert (near.distances == 0).all()


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_few_rows_besides_masses_of_copies(d, team, tree_only):
    """A k-d tree gives way to brute force where few rows are left: of few columns, which the kernels need padded."""
    rng = np.random.default_rng(0)
    X = np.concatenate([np.repeat(rng.normal(size=(8, d)), 300, axis=0), rng.normal(size=(30, d))])
    near = nearest_neighbors(X, 12, team=team)
    assert near.method == "brute force"
    np.testing.assert_allclose(near.distances, true_distances(X, 12), rtol=1e-5)


def test_pairs_of_copies_keep_both(team, forest_only):
    """A copy is a legitimate neighbour: a row is left out by number, not by distance."""
    X = np.repeat(np.random.default_rng(0).normal(size=(1000, 12)), 2, axis=0)
    near = nearest_neighbors(X, 3, team=team)
    assert (near.indices[:, 0] == np.arange(2000) ^ 1).mean() > 0.99
    assert_valid(near, 2000, 3)


def categories(n, columns, levels, seed=0):
    """One-hot columns: most distances are ties."""
    drawn = np.random.default_rng(seed).integers(0, levels, (n, columns))
    return np.concatenate([np.eye(levels)[column] for column in drawn.T], axis=1)


def most_listed(near):
    """In how many lists the most listed row is."""
    return np.bincount(near.indices.ravel()).max()


@pytest.mark.parametrize("way", ["brute force", "k-d tree", "forest", "scikit-learn", "precomputed"])
def test_ties_make_no_hubs(way, team, send):
    """Among 700 rows equally far from one another, no row is in many more lists than another; the seed decides."""
    send(way)
    X = np.eye(700)
    metric = {"scikit-learn": "hamming", "precomputed": "precomputed"}.get(way, "euclidean")
    X = 1 - X if way == "precomputed" else X
    a, b = (nearest_neighbors(X, 10, metric=metric, seed=seed, team=team) for seed in (0, 1))
    assert a.method.startswith(way)
    for near in (a, b):
        assert_valid(near, 700, 10)
        assert most_listed(near) <= 30  # Poisson of mean 10: one in 10^7
    assert (np.sort(a.indices) != np.sort(b.indices)).any(axis=1).mean() > 0.99
    again = nearest_neighbors(X, 10, metric=metric, seed=0, team=Team(1))
    assert bytes_of(a) == bytes_of(again)


@pytest.mark.parametrize("way", ["k-d tree", "scikit-learn", "precomputed"])
def test_exact_ways_agree_on_ties(way, team, send):
    """Which of many tied rows are neighbours depends on the seed and the rows, not on the way of searching."""
    send(way)
    X = np.unique(categories(600, 3, 9), axis=0)
    X = X[np.random.default_rng(0).permutation(len(X))]
    D = np.rint(distances_between(X, X, "sqeuclidean"))
    metric = {"scikit-learn": "hamming", "precomputed": "precomputed"}.get(way, "euclidean")
    near = nearest_neighbors(D if way == "precomputed" else X, 12, metric=metric, seed=5, team=team)
    assert near.method.startswith(way)
    send("brute force")
    expected = nearest_neighbors(X, 12, seed=5, team=team)
    assert (np.sort(near.indices, axis=1) == np.sort(expected.indices, axis=1)).all()


@pytest.mark.parametrize("way", ["brute force", "k-d tree", "forest"])
def test_copies_of_one_row_share_its_neighbours(way, team, send):
    """Where 400 rows surround 1,000 copies of one, each lists other copies, not the first few."""
    send(way)
    X = np.concatenate([np.zeros((1000, 200)), np.eye(200), -np.eye(200)])
    near = nearest_neighbors(X, 8, team=team)
    assert near.method == way
    assert_valid(near, 1400, 8)
    assert (near.indices[1000:] < 1000).mean() > 0.99
    assert np.bincount(near.indices[1000:].ravel()).max() <= 15  # Poisson of mean 3.2: one in 10^6


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(2, 40), st.integers(1, 4), st.integers(0, 2), st.integers(0, 99))
def test_any_small_grid(n, d, largest, seed):
    """Tiny whole-number data, full of ties and copies: the distances are exact for every k."""
    X = np.random.default_rng(seed).integers(0, largest + 1, (n, d))
    for k in {1, n // 2, n - 1} - {0}:
        near = nearest_neighbors(X, k, team=Team(1))
        assert_valid(near, n, k)
        np.testing.assert_allclose(near.distances, true_distances(X, k), atol=1e-5)


@pytest.mark.parametrize("way", ["brute force", "forest"])
@pytest.mark.parametrize("offset", [0.0, 1e9, -1e12])
def test_large_offsets(way, offset, mixture, team, send):
    """float64 data far from the origin lose only what float64 itself loses."""
    send(way)
    X = mixture(2000, 12).astype(float)
    near = nearest_neighbors(X + offset, 10, team=team)
    truth = true_distances(X, 10)
    np.testing.assert_allclose(near.distances[:, 0], truth[:, 0], atol=2e-3)
    assert (near.distances <= truth[:, -1:] + 2e-3).mean() > 0.99


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "correlation"])
@pytest.mark.parametrize("size", [1e-200, 1e-20, 1e20, 1e200, 1e306, 1e307])
def test_huge_and_tiny_values(metric, size, mixture, team):
    """The unit of the data does not matter."""
    X = mixture(300, 6).astype(float)
    plain, scaled = (nearest_neighbors(X * s, 5, metric=metric, team=team) for s in (1.0, size))
    unit = 1.0 if metric in ("cosine", "correlation") else size
    np.testing.assert_allclose(scaled.distances / unit, plain.distances, rtol=1e-5, atol=1e-9)
    assert (scaled.indices == plain.indices).mean() > 0.99


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_squares_beyond_float64_are_refused(size, mixture, team):
    """Neither infinite distances nor false copies come out."""
    with pytest.raises(InputError, match="too large or too small for float64: multiply X by a constant"):
        nearest_neighbors(mixture(300, 6).astype(float) * size, 5, metric="sqeuclidean", team=team)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("size", [1e-200, 1e200, 1e306])
def test_huge_and_tiny_sparse_values(metric, size, team):
    """They are scaled before scikit-learn squares them."""
    X = sparse.random(200, 30, 0.2, "csr", random_state=0)
    plain, scaled = (nearest_neighbors(X * s, 5, metric=metric, team=team) for s in (1.0, size))
    np.testing.assert_allclose(scaled.distances / size, plain.distances, rtol=1e-5, atol=1e-7)
    new = build_index(X * size, metric=metric).query(X[:9] * size, 5, team)
    np.testing.assert_allclose(
        new.distances / size, build_index(X, metric=metric).query(X[:9], 5, team).distances, atol=1e-7
    )


def test_one_far_value(team):
    """One value 10^25 times as large as the rest does not blur the rest."""
    X = np.random.default_rng(0).normal(size=(300, 4))
    X[7, 2] = 1e25
    near, truth = nearest_neighbors(X, 5, team=team), true_distances(np.delete(X, 7, 0), 5)
    np.testing.assert_allclose(np.delete(near.distances, 7, 0), truth, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.uint8, np.int64, np.bool_])
def test_every_dtype(dtype, team):
    """Every numeric dtype gives the distances of its float64 twin and is left as it was."""
    X = (np.random.default_rng(0).random((200, 20)) * 9).astype(dtype)
    before = X.copy()
    near = nearest_neighbors(X, 5, team=team)
    np.testing.assert_allclose(near.distances, true_distances(X, 5), rtol=1e-5)
    assert (before == X).all()


def test_read_only_memmap(tmp_path, mixture, team, forest_only):
    """A read-only file on disk, in any memory order, is searched as it is."""
    X = mixture(1000, 12)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    expected = nearest_neighbors(X, 5, team=team)
    for variant in (mapped, np.asfortranarray(X)):
        assert nearest_neighbors(variant, 5, team=team).indices.tobytes() == expected.indices.tobytes()


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_rows_without_direction(metric, team):
    """Rows of zeros (or constant ones) are copies of one another and at right angles to the rest: no NaN."""
    X = np.random.default_rng(0).normal(size=(40, 6))
    X[:3] = 0.0 if metric == "cosine" else [[0.1], [7.0], [0.3]]
    near = nearest_neighbors(X, 5, metric=metric, team=team)
    assert_valid(near, 40, 5)
    assert (near.distances[:3, :2] == 0).all()
    np.testing.assert_allclose(near.distances[:3, 2:], 1, atol=1e-6)
    assert (near.indices[3:] > 2).any()


@pytest.mark.parametrize("crowd", [1, 100])
def test_wide_rows_give_the_same_in_any_form(crowd, mixture, team, forest_only):
    """Types, orders and rows that need a copy change no neighbour and no distance, nor does the search change X."""
    X = mixture(900, 176).astype(np.float32)
    X[:crowd] = X[0]
    before = X.copy()
    expected = nearest_neighbors(X, 10, team=team)
    assert expected.method == "forest"
    assert (before == X).all()
    for other in (X.astype(float), np.asfortranarray(X)):
        assert bytes_of(nearest_neighbors(other, 10, team=team)) == bytes_of(expected)


# ------------------------------------------------------------------------------------------------------- scikit-learn


@pytest.mark.parametrize("metric", ["chebyshev", "canberra", "minkowski", "braycurtis", "hamming"])
def test_other_metrics(metric, mixture, team):
    """Every other metric comes from scikit-learn, exactly."""
    X = np.abs(np.round(mixture(300, 5)))
    near = nearest_neighbors(X, 7, metric=metric, team=team)
    assert near.method.startswith("scikit-learn")
    np.testing.assert_allclose(near.distances, by_sklearn(X, 7, metric), rtol=1e-6)
    assert_valid(near, 300, 7)


def test_own_function_as_metric(mixture, team):
    """A function of two rows is a metric."""
    X = mixture(60, 3)
    near = nearest_neighbors(X, 4, metric=lambda a, b: np.abs(a - b).max(), team=team)
    np.testing.assert_allclose(near.distances, true_distances(X, 4, "chebyshev"), rtol=1e-6)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
def test_sparse_rows(metric, make, team):
    """Sparse rows give the distances of their dense twins, the same bytes for any number of threads."""
    dense = np.random.default_rng(0).random((1200, 30)) * (np.random.default_rng(1).random((1200, 30)) < 0.2)
    dense[dense.sum(axis=1) == 0, 0] = 1.0
    near = nearest_neighbors(make(dense), 6, metric=metric, team=team)
    np.testing.assert_allclose(near.distances, true_distances(dense, 6, metric), atol=1e-6)
    assert_valid(near, 1200, 6)
    assert bytes_of(near) == bytes_of(nearest_neighbors(make(dense), 6, metric=metric, team=Team(1)))


def test_slow_ways_are_announced(monkeypatch, mixture, team):
    """Many rows with a metric that only scikit-learn has: a warning that names the quick ones."""
    monkeypatch.setattr(scikit_learn, "_SLOW_ABOVE_ROWS", 100)
    with pytest.warns(DataWarning, match=r"200 rows.*'canberra'.*'cosine'"):
        nearest_neighbors(mixture(200, 3), 3, metric="canberra", team=team)


# --------------------------------------------------------------------------------------------------------------- errors


def test_unknown_metric(mixture, team):
    """An unknown metric is refused with near names, or with all of them."""
    with pytest.raises(ParameterError, match="metric='euclidian' is not known; did you mean 'euclidean'"):
        nearest_neighbors(mixture(20, 3), 3, metric="euclidian", team=team)
    with pytest.raises(ParameterError, match=r"metric='zzzz' is not known; it can be one of braycurtis, .*euclidean"):
        nearest_neighbors(mixture(20, 3), 3, metric="zzzz", team=team)
    with pytest.raises(ParameterError, match="metric=3 is not known"):
        nearest_neighbors(mixture(20, 3), 3, metric=3, team=team)


def test_metric_that_does_not_fit_the_data(team):
    """A metric that the data do not suit is refused with scikit-learn's reason."""
    with pytest.raises(ParameterError, match="scikit-learn cannot search these data with metric 'haversine'"):
        nearest_neighbors(np.random.default_rng(0).random((30, 5)), 3, metric="haversine", team=team)


@pytest.mark.parametrize("metric", ["euclidean", "chebyshev"])
@pytest.mark.parametrize("k", [0, 20, 50])
def test_impossible_number_of_neighbours(k, metric, mixture, team):
    """The number k runs from 1 to n - 1."""
    with pytest.raises(ParameterError, match="between 1 and the number of rows less one, 19"):
        nearest_neighbors(mixture(20, 3), k, metric=metric, team=team)


def test_import_is_light():
    """Importing the search loads neither scikit-learn nor scipy.spatial."""
    code = "import sys, sce.graph.index as _; print([m for m in ('sklearn', 'scipy.spatial') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
