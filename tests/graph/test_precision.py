"""Data that float32 cannot tell apart: neighbours, distances and recall are those of X as given."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sce.core.parallel import Team
from sce.graph import precision, vectors
from sce.graph.build import GraphOptions, build_affinity
from sce.graph.found import Found
from sce.graph.index import build_index, nearest_neighbors
from sce.graph.kernels import exact_neighbors, pair_distance
from sce.graph.metrics import ABSOLUTES, SQUARES
from sce.graph.precision import ALL_COPIES, BLURRED, FINE, ROUNDING
from sce.graph.rows import centred_rows
from searches import assert_valid, bytes_of, distances_between


def clouds(gap, n=1000, d=6, seed=0):
    """Ten clouds of standard deviation 1 on a diagonal, this far apart."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 10, (n, 1)) * gap + rng.normal(size=(n, d))


def true_recall(X, near, metric="euclidean"):
    """The share of the true neighbours in float64 among the rows listed."""
    D = distances_between(X, X, metric)
    np.fill_diagonal(D, np.inf)
    k = near.indices.shape[1]
    farthest = np.partition(D, k - 1, axis=1)[:, k - 1 : k]
    return (np.take_along_axis(D, near.indices.astype(int), 1) <= farthest * (1 + 1e-9)).mean()


# ------------------------------------------------------------------------------------------------------------- searches


@pytest.mark.parametrize("way", ["brute force", "forest"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("gap", [1e4, 1e6, 1e7, 1e9])
def test_small_clouds_far_apart(way, metric, gap, team, send):
    """Whatever the gap, nearly all true neighbours are found, at true distances, and the recall says how many."""
    send(way)
    X = clouds(gap)
    near = nearest_neighbors(X, 12, metric=metric, team=team)
    assert near.method == way
    assert_valid(near, 1000, 12)
    found = true_recall(X, near, metric)
    assert found > (0.998 if way == "brute force" else 0.97)
    assert abs(found - near.recall) < 0.02
    own = np.take_along_axis(distances_between(X, X, metric), near.indices.astype(int), 1)
    np.testing.assert_allclose(near.distances, own, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
@pytest.mark.parametrize("way", ["brute force", "forest"])
def test_nearly_equal_directions(way, metric, team, send):
    """Rows within a millionth of ten directions."""
    send(way)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 8))[rng.integers(0, 10, 1000)] + 1e-6 * rng.normal(size=(1000, 8))
    near = nearest_neighbors(X, 12, metric=metric, team=team)
    unit = X - X.mean(axis=1, keepdims=True) if metric == "correlation" else X
    unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
    assert true_recall(unit, near) > 0.97


@pytest.mark.parametrize("way", ["brute force", "forest", "k-d tree"])
def test_bursts_of_events(way, team, send, recwarn):
    """Times in seconds since 1970, a hundred in each second of a burst: distinct rows are no copies."""
    send(way)
    rng = np.random.default_rng(0)
    X = (1.7e9 + np.repeat(rng.random(20) * 3e7, 100) + rng.random(2000))[:, None]
    near = nearest_neighbors(X, 15, team=team)
    assert (near.distances > 0).all()
    assert true_recall(X, near) > (0.99 if way != "forest" else 0.97)
    assert build_affinity(X, GraphOptions(), team, 0).notes == ()
    assert not recwarn.list


@pytest.mark.parametrize("way", ["brute force", "forest"])
def test_a_few_blurred_rows_among_many(way, team, send):
    """Rows in one far cloud are searched for again, all others keep what they had, bit for bit."""
    send(way)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    plain = nearest_neighbors(X, 8, team=team)
    far = np.concatenate([X, 1e7 + rng.normal(size=(60, 6))])
    near = nearest_neighbors(far, 8, team=team)
    assert true_recall(far[3000:], near._replace(indices=near.indices[3000:] - 3000)) == 1.0
    if way == "brute force":
        assert (near.indices[:3000] == plain.indices).all()


def test_true_copies_are_no_reason_to_search_again(team, monkeypatch):
    """Rows of float64 that are equal as given stay copies; so do multiples of a row under the cosine distance."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(30, 5)), 40, axis=0)
    monkeypatch.setattr(vectors.VectorIndex, "_search_again", None)
    for metric, rows in (("euclidean", X), ("cosine", X * rng.random((1200, 1)))):
        near = nearest_neighbors(rows, 10, metric=metric, team=team)
        assert (near.distances == 0).all()


def test_false_copies_are_told_apart(team):
    """Different rows that are equal in float32, and true copies beside them."""
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [1e9, 0.0]], 200, axis=0)
    X[:200] += 1e-3 * rng.normal(size=(200, 2))
    near = nearest_neighbors(X, 10, team=team)
    assert (near.distances[:200] > 0).all()
    assert (near.distances[200:] == 0).all()
    assert true_recall(X, near) == 1.0


@pytest.mark.parametrize("way", ["brute force", "forest"])
def test_same_bytes_on_any_number_of_threads(way, send):
    """Rows that are searched for again are, too."""
    send(way)
    X = clouds(1e7, n=1500)
    X[::3] = np.round(X[::3])
    results = []
    for n_jobs in (1, 2, 4):
        with Team(n_jobs) as team:
            results.append(bytes_of(nearest_neighbors(X, 12, seed=3, team=team)))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("way", ["brute force", "forest"])
@pytest.mark.parametrize("share", [0.02, 1.0])
def test_new_rows(way, share, team, send):
    """They find their neighbours among the indexed rows, alone or with others, where all or a few are blurred."""
    send(way)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1600, 6)) + 1e8 * rng.integers(0, 10, (1600, 1)) * (rng.random((1600, 1)) < share)
    index = build_index(X[:1500])
    near = index.query(X[1500:], 8, team)
    D = distances_between(X[1500:], X[:1500])
    truth = np.sort(D, axis=1)[:, :8]
    assert (np.take_along_axis(D, near.indices.astype(int), 1) <= truth[:, -1:] * (1 + 1e-6)).mean() > 0.97
    for i in range(0, 100, 9):
        alone = index.query(X[1500 + i : 1501 + i], 8, team)
        assert (alone.indices == near.indices[i]).all()
        assert alone.distances.tobytes() == near.distances[i].tobytes()


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.bool_])
def test_small_integers_need_no_check(dtype, team):
    """Float32 holds them as they are."""
    X = np.random.default_rng(0).integers(0, 2, (100, 5)).astype(dtype)
    assert centred_rows(X, 8, np.float32, team).errors is None


# -------------------------------------------------------------------------------------------------------- their kernels


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 99), st.floats(-3, 9))
def test_errors_bound_the_rounding(seed, exponent):
    """The rounding error of a prepared row is below its bound; there is none where nothing is rounded."""
    X = np.random.default_rng(seed).normal(size=(20, 5)) * 10**exponent + 1
    fine, coarse = (centred_rows(X, 8, dtype, Team(1)) for dtype in (np.float64, np.float32))
    assert fine.errors is None
    assert (np.linalg.norm(fine.values - coarse.values, axis=1) <= coarse.errors * (1 + 1e-6)).all()
    np.testing.assert_allclose(coarse.errors, ROUNDING * np.linalg.norm(fine.values, axis=1), rtol=1e-5)
    assert centred_rows(np.round(X / 10**exponent), 8, np.float32, Team(1)).errors is None


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(1, 9), st.booleans(), st.integers(0, 99))
def test_judgement_equals_twin(k, squared, seed):
    """A row is blurred if the first distance above zero, from a third of its list on, is below 128 errors."""
    rng = np.random.default_rng(seed)
    distances = np.sort(rng.choice([0.0, 1.0, 100.0, 200.0], (30, k)), axis=1).astype(np.float32)
    errors = rng.choice([0.0, 1.0, 5.0], 30).astype(np.float32)
    found = Found(np.zeros((30, k), np.int32), distances**2 if squared else distances, squared, "", 1.0)
    verdicts = precision.judge(found, errors, Team(1))
    for i in range(30):
        above = [d for d in distances[i, k // 3 :] if d > 0]
        expected = ALL_COPIES if not above else BLURRED if above[0] < 128 * errors[i] else FINE
        assert verdicts[i] == expected


@pytest.mark.parametrize("terms", [SQUARES, ABSOLUTES])
def test_distances_of_float64_rows(terms, team):
    """Sums and searches keep the digits of float64."""
    X = np.random.default_rng(0).normal(size=(60, 16)) + 1e9 * (np.arange(60) % 2)[:, None]
    gap = np.abs(X[:, None] - X[None])
    D = gap.sum(axis=2) if terms == ABSOLUTES else (gap**2).sum(axis=2)
    np.testing.assert_allclose([[pair_distance(x, y, terms) for y in X] for x in X], D, rtol=1e-14)
    near = exact_neighbors(X, np.arange(60), 5, terms, 0, team)
    np.fill_diagonal(D, np.inf)
    assert near.distances.dtype == np.float64
    assert (near.ids == np.argsort(D, axis=1)[:, :5]).all()
