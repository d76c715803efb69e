"""Clusters of a map equal those of slow twins and of scikit-learn, on any number of threads, with copies and noise."""

import types

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.cluster import HDBSCAN
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score

from sce import SCE, InputError, ParameterError
from sce.clusters import spanning
from sce.clusters.hdbscan import cluster_series, find_clusters
from sce.clusters.spanning import spanning_tree
from sce.core.parallel import Team


def mutual_reachability(Y, min_samples):
    """All squared distances, each at least the squared core distances of both points."""
    D = cdist(Y, Y, "sqeuclidean")
    core = np.sort(D, axis=1)[:, min(min_samples, len(Y)) - 1]
    return np.maximum(D, np.maximum(core[:, None], core))


def prim(D):
    """The sorted weights of a minimum spanning tree, one point at a time."""
    near, weights = D[0].copy(), []
    outside = np.ones(len(D), bool)
    outside[0] = False
    while outside.any():
        p = np.flatnonzero(outside)[near[outside].argmin()]
        weights.append(near[p])
        outside[p] = False
        near = np.minimum(near, D[p])
    return np.sort(weights)


def slow_cluster(D, rows, birth, smallest):
    """A cluster and those within it: (rows, points times birth density, stability, [(distance, rows that leave)], children)."""
    born, leavers = rows, []
    while True:
        height = prim(D[np.ix_(rows, rows)])[-1]  # the longest edge that must be cut
        names = connected_components(D[np.ix_(rows, rows)] < height)[1]
        parts = [rows[names == name] for name in np.unique(names)]
        large = [part for part in parts if len(part) >= smallest]
        leavers.append((height, np.setdiff1d(rows, np.concatenate([*large, rows[:0]]))))
        if len(large) != 1:
            mass, left = len(born) * birth, sum(len(gone) / h for h, gone in leavers) + sum(map(len, large)) / height
            children = [slow_cluster(D, part, 1 / height, smallest) for part in large]
            return born, mass, left - mass, leavers, children
        rows = large[0]


def slow_choice(cluster, contrast, min_samples):
    """The stability of the best clusters that are this one or within it, and these clusters."""
    rows, mass, stability, _, children = cluster
    choices = [slow_choice(child, contrast, min_samples) for child in children]
    within, chosen = sum(value for value, _ in choices), [c for _, found in choices for c in found]
    if (
        mass == 0
        or stability < (contrast ** (1 + 3 * np.sqrt(min_samples / len(rows))) - 1) * mass
        or stability < within
    ):
        return within, chosen
    return stability, [cluster]


def leaving_heights(cluster):
    """The distance at which each point leaves the smallest cluster that it is in."""
    *_, leavers, children = cluster
    own = [height for height, gone in leavers for _ in gone]
    return own + [height for child in children for height in leaving_heights(child)]


def slow_near(cluster, min_samples, d):
    """The rows of a cluster without those farther from the rest than twice its width."""
    rows, *_, leavers, _ = cluster
    heights = np.array(leaving_heights(cluster))
    for height, _ in leavers[::-1]:
        before = heights[heights < height]
        if 2 * len(before) >= len(rows):
            width = 4 * (np.sum(before**d) / min(min_samples, len(before))) ** (1 / d)
            if height > width * (1 + 1e-6):
                gone = [part for h, part in leavers if h >= height]
                return np.setdiff1d(rows, np.concatenate(gone))
    return rows


def slow_clusters(Y, smallest, min_samples, contrast=1.0):
    """find_clusters by definition."""
    labels = np.full(len(Y), -1)
    if len(Y) < smallest:
        return labels
    D = np.sqrt(mutual_reachability(Y, min_samples))
    D = np.maximum(D, prim(D)[prim(D) > 0].min() / 2) if D.any() else D + 1.0  # the density of copies would be infinite
    tree = slow_cluster(D, np.arange(len(Y)), 0.0, smallest)
    d = Y.shape[1]
    for number, cluster in enumerate(slow_choice(tree, contrast ** (1 / d), min_samples)[1]):
        labels[slow_near(cluster, min(min_samples, len(Y)), d) if contrast > 1 else cluster[0]] = number
    return renumbered(labels)


def renumbered(labels):
    """Labels by decreasing size, then by the first row."""
    names = sorted(set(labels) - {-1}, key=lambda k: (-(labels == k).sum(), np.argmax(labels == k)))
    return np.array([names.index(k) if k >= 0 else -1 for k in labels])


def scattered(n, d, seed=0):
    """A mixture of wide and narrow clusters and some noise, without ties."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(6, d)) * 5
    Y = centres[rng.integers(6, size=n)] + rng.normal(size=(n, d)) * rng.choice([0.2, 1.0], size=(n, 1))
    return np.where(rng.random((n, 1)) < 0.1, rng.uniform(-15, 15, size=(n, d)), Y)


grids = st.tuples(st.integers(1, 3), st.integers(2, 6), st.integers(2, 45), st.integers(0, 999)).map(
    lambda t: np.random.default_rng(t[3]).integers(t[1], size=(t[2], t[0])) ** 2.0
)
clouds = st.tuples(st.integers(1, 3), st.integers(2, 45), st.integers(0, 999)).map(
    lambda t: scattered(t[1], t[0], t[2])
)


@settings(max_examples=60)
@given(st.one_of(grids, clouds), st.integers(1, 12))
def test_tree_is_a_minimum_spanning_one(Y, min_samples):
    """The weights are those of Prim's tree on the full matrix, ties and copies or not, and the edges join all rows."""
    edges = spanning_tree(Y, min_samples, Team(1))
    D = mutual_reachability(Y, min_samples)
    np.testing.assert_allclose(edges.weight, prim(D), rtol=1e-12)
    np.testing.assert_allclose(edges.weight, D[edges.a, edges.b], rtol=1e-12)
    joined = np.zeros((len(Y), len(Y)))
    joined[edges.a, edges.b] = 1
    assert connected_components(joined)[0] == 1


@pytest.mark.parametrize(("d", "min_samples"), [(1, 5), (2, 1), (2, 10), (3, 30)])
def test_tree_of_more_points_than_leaves(d, min_samples):
    """The weights are right where the k-d tree is deep and there are several rounds."""
    Y = scattered(1500, d).astype(np.float32)
    expected = prim(mutual_reachability(Y.astype(float), min_samples))
    np.testing.assert_allclose(spanning_tree(Y, min_samples, Team(2)).weight, expected, rtol=1e-12)


@settings(max_examples=100)
@given(st.one_of(grids, clouds), st.integers(2, 9), st.integers(1, 6), st.sampled_from([1.0, 1.75, 4.0]))
def test_labels_are_those_of_the_definition(Y, smallest, min_samples, contrast):
    """Labels equal those found by cutting the full matrix at every height, ties and copies or not."""
    found = find_clusters(Y, min_cluster_size=smallest, min_samples=min_samples, min_contrast=contrast, n_jobs=1)
    np.testing.assert_array_equal(found, slow_clusters(Y, smallest, min_samples, contrast))


@settings(max_examples=60)
@given(
    st.one_of(grids, clouds),
    st.integers(2, 9),
    st.integers(1, 12),
    st.lists(st.integers(1, 6), min_size=1, max_size=3),
    st.sampled_from([1.75, 50.0]),
)
def test_labels_are_those_of_the_definition_with_distant_groups(Y, smallest, min_samples, sizes, contrast):
    """As above, with small groups of points far away from all others."""
    rng = np.random.default_rng(len(Y))
    groups = [rng.integers(3, size=(size, Y.shape[1])) + 60.0 + 90 * k for k, size in enumerate(sizes)]
    Y = np.concatenate([Y, *groups])
    found = find_clusters(Y, min_cluster_size=smallest, min_samples=min_samples, min_contrast=contrast, n_jobs=1)
    np.testing.assert_array_equal(found, slow_clusters(Y, smallest, min_samples, contrast))


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize(("n", "smallest", "min_samples"), [(60, 2, 1), (500, 5, 2), (3000, 20, 2), (3000, 60, 1)])
def test_same_partition_as_scikit_learn(d, n, smallest, min_samples):
    """Up to min_samples=2 there are no ties, and labels equal scikit-learn's."""
    Y = scattered(n, d, seed=n)
    expected = HDBSCAN(min_cluster_size=smallest, min_samples=min_samples, copy=True).fit_predict(Y)
    found = find_clusters(Y, min_cluster_size=smallest, min_samples=min_samples, min_contrast=1)
    assert found.max() >= 1
    np.testing.assert_array_equal(found, renumbered(expected))


@settings(max_examples=40)
@given(st.integers(10, 80), st.integers(1, 3), st.integers(2, 8), st.integers(1, 2), st.integers(0, 10**6))
def test_same_partition_as_scikit_learn_on_small_data(n, d, smallest, min_samples, seed):
    """Labels equal scikit-learn's on any small data without ties."""
    Y = np.random.default_rng(seed).normal(size=(n, d)) ** 3
    expected = HDBSCAN(min_cluster_size=smallest, min_samples=min_samples, copy=True).fit_predict(Y)
    found = find_clusters(Y, min_cluster_size=smallest, min_samples=min_samples, min_contrast=1, n_jobs=1)
    np.testing.assert_array_equal(found, renumbered(expected))


@pytest.mark.parametrize(("d", "smallest", "min_samples"), [(1, 100, 20), (2, 50, 10), (2, 100, 20), (3, 40, 40)])
def test_nearly_the_partition_of_scikit_learn_with_ties(d, smallest, min_samples):
    """Core distances tie: only points where clusters touch may have another label than scikit-learn's."""
    Y = scattered(4000, d, seed=1)
    expected = HDBSCAN(min_cluster_size=smallest, min_samples=min_samples, copy=True).fit_predict(Y)
    found = find_clusters(Y, min_cluster_size=smallest, min_samples=min_samples, min_contrast=1)
    assert found.max() == expected.max() >= 1
    assert adjusted_rand_score(found, expected) > 0.99


def test_any_number_of_threads():
    """The same labels on 1, 2 and 5 threads, with many ties and copies."""
    Y = np.round(scattered(20_000, 2), 2).astype(np.float32)
    results = [find_clusters(Y, n_jobs=n_jobs).tobytes() for n_jobs in (1, 2, 5)]
    assert len(np.unique(Y, axis=0)) < 20_000
    assert results[0] == results[1] == results[2]


@settings(max_examples=30)
@given(grids, st.integers(2, 5), st.integers(1, 5), st.integers(0, 99))
def test_order_of_rows_does_not_matter(Y, smallest, min_samples, seed):
    """Shuffled rows have the same clusters, though distances tie."""
    order = np.random.default_rng(seed).permutation(len(Y))
    options = {"min_cluster_size": smallest, "min_samples": min_samples, "n_jobs": 1}
    found = renumbered(find_clusters(Y[order], **options)[np.argsort(order)])
    np.testing.assert_array_equal(found, find_clusters(Y, **options))


@pytest.mark.parametrize("factor", [1e-300, 1e-30, 1.0, 1e30, 1e300])
def test_unit_does_not_matter(factor):
    """The same labels in any unit, without overflow."""
    Y = scattered(500, 2)
    np.testing.assert_array_equal(find_clusters(Y * factor), find_clusters(Y))


def test_numbers_fall_with_size():
    """The largest cluster is 0; of two equal ones the one with the first row comes first."""
    Y, y = make_blobs([40, 60, 40], centers=[[0, 0], [50, 0], [0, 50]], random_state=0)
    found = find_clusters(Y)
    assert found.dtype == np.int32
    first = y[np.flatnonzero(y != 1)[0]]
    np.testing.assert_array_equal(found, np.where(y == 1, 0, np.where(y == first, 1, 2)))


def test_copies():
    """Copies of one point have no clusters; copies of three points are three clusters."""
    assert (find_clusters(np.ones((100, 2))) == -1).all()
    y = np.arange(300) % 3
    places = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 1.0]])
    np.testing.assert_array_equal(find_clusters(places[y]), y)
    np.testing.assert_array_equal(find_clusters(places[y] * -0.0), np.full(300, -1))


def test_copies_are_searched_once(monkeypatch):
    """Half of a map at one point adds a single point to the search, which would take quadratic time with copies."""
    searched = []
    original = spanning._boruvka
    monkeypatch.setattr(spanning, "_boruvka", lambda points, *rest: searched.append(points) or original(points, *rest))
    Y = scattered(4000, 2)
    Y[::2] = Y[0]
    assert find_clusters(Y).max() >= 0
    assert len(searched[0]) == len(np.unique(Y, axis=0)) == 2001


@pytest.mark.parametrize("n", [1, 2, 9])
def test_fewer_points_than_a_cluster_needs(n):
    """No point is in a cluster."""
    assert (find_clusters(np.arange(2.0 * n).reshape(n, 2)) == -1).all()


def test_collinear_points():
    """Points on a line in the plane have the same clusters as in one dimension."""
    x = np.sort(np.concatenate([np.random.default_rng(0).normal(c, 1, 50) for c in (0, 20, 50)]))
    in_the_plane = find_clusters(np.column_stack([x, 2 * x]))
    np.testing.assert_array_equal(in_the_plane, np.repeat(in_the_plane[[0, 50, 100]], 50))
    np.testing.assert_array_equal(in_the_plane, find_clusters(x[:, None]))


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("n", [300, 1000, 5000])
def test_noise_has_no_clusters(n, d):
    """Nothing is found in uniform and Gaussian noise."""
    rng = np.random.default_rng(n)
    for noise in (rng.random((n, d)), rng.normal(size=(n, d))):
        assert (find_clusters(noise) == -1).all()


def test_clusters_in_noise():
    """Three clusters in as many points of uniform noise are found, and nothing else."""
    rng = np.random.default_rng(0)
    Y, _ = make_blobs(3000, centers=[[5, 5], [15, 5], [10, 15]], cluster_std=0.5, random_state=0)
    found = find_clusters(np.vstack([Y, rng.uniform(0, 20, size=(3000, 2))]))
    assert found.max() == 2
    assert (found[:3000] >= 0).mean() > 0.95
    assert (found[3000:] >= 0).mean() < 0.4


def cluster_and_group(n_group, distance, seed, d=2):
    """Two wide clusters of 200 points, 100 apart, and a group at `distance` from the centre of the first."""
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=d)
    direction[0] = -abs(direction[0])  # away from the second
    away = distance * direction / np.linalg.norm(direction)
    Y = rng.normal(size=(400 + n_group, d)) * np.where(np.arange(400 + n_group) < 400, 1.0, 0.3)[:, None]
    Y[200:400, 0] += 100
    Y[400:] += away
    return Y


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 31), st.floats(20, 80), st.integers(0, 9999), st.integers(1, 3), st.sampled_from([10, 20, 32]))
def test_a_small_group_does_not_join_a_distant_cluster(n_group, distance, seed, d, min_samples):
    """A group below min_cluster_size is noise, whatever its size and distance; the clusters stay whole."""
    Y = cluster_and_group(n_group, distance, seed, d)
    found = find_clusters(Y, min_cluster_size=32, min_samples=min_samples, n_jobs=1)
    np.testing.assert_array_equal(found[:400], np.repeat([found[0], found[200]], 200))
    assert set(found[:400]) == {0, 1}
    assert (found[400:] == -1).all()


def test_a_group_joins_a_distant_cluster_with_any_contrast():
    """min_contrast=1 is scikit-learn's HDBSCAN, where the group is part of the cluster."""
    Y = cluster_and_group(27, 20, seed=0)
    found = find_clusters(Y, min_cluster_size=32, min_samples=20, min_contrast=1)
    assert (found[400:] == found[0]).all()
    ((_, one_of_series),) = cluster_series(Y, [32], 20)
    np.testing.assert_array_equal(found, one_of_series)


@settings(max_examples=40, deadline=None)
@given(st.integers(60, 300), st.integers(1, 3), st.integers(0, 9999), st.sampled_from([10, 20]))
def test_tails_stay_in_their_cluster(n, d, seed, min_samples):
    """All points of two Gaussian clusters are in one, the farthest as well."""
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(2 * n, d))
    Y[n:, 0] += 40
    found = find_clusters(Y, min_cluster_size=20, min_samples=min_samples, n_jobs=1)
    np.testing.assert_array_equal(found, np.repeat([0, 1], n))


def test_a_dense_spot_does_not_drop_what_is_around_it():
    """A cluster keeps its points though a few of them are far denser than the rest."""
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(600, 2))
    Y[300:, 0] += 60
    Y[:40] *= 1e-4
    found = find_clusters(Y, min_cluster_size=20)
    np.testing.assert_array_equal(found, np.repeat([0, 1], 300))


def test_points_that_leave_at_once_stay_or_go_together():
    """Ten points at equal distances from one another, and fewer than ten before them: all stay, in any order of the rows."""
    chain = np.append(7.0 + 100 * np.arange(1, 10), 907.0)
    Y = np.concatenate([np.arange(8.0), chain, 1e5 + np.arange(20.0)])[:, None]
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(Y))
        found = find_clusters(Y[order], min_cluster_size=8, min_samples=3)
        np.testing.assert_array_equal(found, np.where(order < 18, 1, 0))


def test_a_cluster_of_distant_clusters_keeps_the_groups_between_them():
    """Where a high contrast makes one cluster of two, a group nearer to one of them than these are to each other stays."""
    left = np.concatenate([np.arange(30) / 10, 20 + np.arange(3) / 10, 50 + np.arange(10) / 10])
    Y = np.concatenate([left, 1e4 + np.arange(100) / 10])[:, None]
    options = {"min_cluster_size": 5, "min_samples": 5}
    np.testing.assert_array_equal(find_clusters(Y, min_contrast=13, **options), np.repeat([1, 0], [43, 100]))
    np.testing.assert_array_equal(find_clusters(Y, **options), np.repeat([1, -1, 2, 0], [30, 3, 10, 100]))


@pytest.mark.parametrize("seed", [0, 2])
def test_distant_ones_are_not_sixes(seed):
    """The map of the digits has an island of 27 ones, too few for a cluster: none of them is in the cluster of sixes."""
    X, y = load_digits(return_X_y=True)
    found = find_clusters(SCE(random_state=seed).fit(X))
    sixes = np.bincount(found[(y == 6) & (found >= 0)]).argmax()
    assert (found[y == 6] == sixes).mean() > 0.95
    assert (y[found == sixes] == 1).sum() <= 1


def test_map_of_digits():
    """The map of the ten digits has about ten clusters, each nearly of one digit."""
    X, y = load_digits(return_X_y=True)
    found = find_clusters(SCE(n_neighbors=10, alpha=0.1, random_state=0).fit(X))
    assert 9 <= found.max() + 1 <= 12
    assert adjusted_rand_score(y, found) > 0.75


def test_what_may_be_given():
    """An array of any numbers, a list, a data frame (even with a column Y), a model and a map give the same; none changes."""
    Y = np.round(scattered(200, 2))
    before = Y.copy()
    expected = find_clusters(Y)
    model = types.SimpleNamespace(embedding_=Y.astype(np.float32))
    frame = pd.DataFrame({"X": Y[:, 0].astype(int), "Y": Y[:, 1]})
    for given_ in (Y.tolist(), Y.astype(np.int8), Y.astype(np.float16), np.asfortranarray(Y), model, frame):
        np.testing.assert_array_equal(find_clusters(given_), expected)
    np.testing.assert_array_equal(find_clusters(types.SimpleNamespace(Y=Y)), expected)
    Y.flags.writeable = False
    np.testing.assert_array_equal(find_clusters(Y), expected)
    np.testing.assert_array_equal(Y, before)


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (np.array([[0.0, 1.0], [np.nan, 2.0]]), r"Y has NaN or infinity \(inf\) in 1 of 2 rows: 1; drop"),
        (np.empty((0, 2)), "Y has no rows"),
        (np.arange(5.0), r"Y must be 2-D.*\(5,\).*reshape"),
        (np.zeros((4, 2, 2)), "Y must be 2-D"),
        (np.zeros((4, 5)), "Y must have 1, 2 or 3 columns.*it has 5"),
        (np.zeros((4, 0)), "Y must have 1, 2 or 3 columns.*it has 0"),
        ([["a", "b"]], "Y must be an array of numbers"),
        (np.array([[1j, 0]]), "Y must be an array of numbers"),
        (np.zeros((3, 2), "M8[s]"), "Y must be an array of numbers"),
        ([[1.0, None]], "Y has NaN"),
        ([[1.0, 2.0], [3.0]], "Y must be"),
        (None, "Y must be an array of numbers.*NoneType"),
        ("map.npz", "Y must be an array of numbers.*str"),
        (SCE(), "The SCE is not fitted; call fit first"),
    ],
)
def test_what_may_not_be_given(Y, message):
    """Unusable input is refused in a sentence."""
    with pytest.raises(InputError, match=message):
        find_clusters(Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_cluster_size": 1}, 'min_cluster_size must be a whole number, 2 or more, or "auto"; got 1'),
        ({"min_cluster_size": "many"}, "min_cluster_size must be .* or \"auto\"; got 'many'"),
        ({"min_cluster_size": 2.5}, "min_cluster_size"),
        ({"min_cluster_size": None}, "min_cluster_size"),
        ({"min_samples": 0}, 'min_samples must be a whole number, 1 or more, or "auto"; got 0'),
        ({"min_samples": True}, "min_samples"),
        ({"min_contrast": 0.9}, "min_contrast must be a number, 1 or more; got 0.9"),
        ({"min_contrast": float("nan")}, "min_contrast"),
        ({"min_contrast": "high"}, "min_contrast"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_parameters_that_mean_nothing(options, message):
    """A parameter out of range is refused in a sentence, however few the points."""
    with pytest.raises(ParameterError, match=message):
        find_clusters(np.zeros((3, 2)), **options)


def test_more_samples_than_points():
    """min_samples beyond the number of points is the number of points."""
    Y = scattered(50, 2)
    options = {"min_cluster_size": 5, "min_contrast": 1}
    np.testing.assert_array_equal(
        find_clusters(Y, min_samples=999, **options), find_clusters(Y, min_samples=50, **options)
    )
