"""Kernels of the neighbour search against slow, obvious twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sce.graph import forest, kernels, trees


def rows(n, d, seed=0):
    """Random float32 rows."""
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


def all_distances(X, Y, manhattan):
    """The twin of every distance kernel, in float64."""
    gap = X[:, None].astype(float) - Y[None].astype(float)
    return np.abs(gap).sum(axis=2) if manhattan else (gap**2).sum(axis=2)


@pytest.mark.parametrize("manhattan", [False, True])
@pytest.mark.parametrize("d", [8, 64, 104])
def test_distances(d, manhattan):
    """Pairwise and two-row kernels equal the sum over columns."""
    X, Y = rows(2, d), rows(37, d, 1)
    expected = all_distances(X, Y, manhattan)
    pairs = [[kernels.pair_distance(x, y, manhattan) for y in Y] for x in X]
    np.testing.assert_allclose(pairs, expected, rtol=1e-5)
    c = np.empty((2, 30), np.float32)
    kernels.two_rows(c[0], c[1], X[0], X[1], np.ascontiguousarray(Y.T), 7, manhattan)
    np.testing.assert_allclose(c, expected[:, 7:], rtol=1e-5)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 20), min_size=1, max_size=60), st.integers(1, 20))
def test_heap_keeps_the_nearest(values, k):
    """After any sequence of offers a heap holds the k least distances, and sorting it puts the farthest first."""
    heaps = kernels.empty_heaps(1, k)
    distances, ids = heaps.distances[0], heaps.ids[0]
    for j, value in enumerate(values):
        if value < distances[0]:
            kernels.push(distances, ids, np.float32(value), j)
            assert kernels.holds(ids, j)
    assert not kernels.holds(ids, len(values))
    kernels.sort_heap(distances, ids)
    expected = sorted(values)[:k]
    assert list(distances[::-1][: len(expected)]) == expected
    assert all(values[j] == distance for j, distance in zip(ids, distances, strict=True) if j >= 0)
    assert (ids >= 0).sum() == len(expected)


@pytest.mark.parametrize("manhattan", [False, True])
@pytest.mark.parametrize("n", [2, 9, 513, 1100])
def test_exact_search(n, manhattan, team):
    """Exact search finds what sorting all distances finds, across blocks, for odd numbers of queries."""
    X = rows(n, 8)
    queries, k = np.arange(0, n, 3), min(n - 1, 12)
    found = kernels.exact_neighbors(X, queries, k, manhattan, team)
    truth = all_distances(X[queries], X, manhattan)
    truth[np.arange(len(queries)), queries] = np.inf
    assert (found.ids == np.argsort(truth, axis=1, kind="stable")[:, :k]).all()
    np.testing.assert_allclose(found.distances, np.sort(truth, axis=1)[:, :k], rtol=1e-5)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=50), st.data())
def test_selection(values, data):
    """The n-th smallest is that of the sorted list, ties or not."""
    n = data.draw(st.integers(0, len(values) - 1))
    assert trees._nth(np.array(values, np.float32), n) == sorted(values)[n]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.integers(-3, 3), min_size=2, max_size=50), st.data())
def test_partition(heights, data):
    """A split at a value that occurs leaves no side empty, nothing lost, and nothing on the wrong side."""
    threshold = data.draw(st.sampled_from(heights))
    order = np.arange(len(heights), dtype=np.int32)
    heights = np.array(heights, np.float32)
    front = trees._partition(order, heights, np.float32(threshold), np.empty(len(heights), np.int32))
    assert 0 < front < len(heights)
    assert sorted(order) == list(range(len(heights)))
    assert (heights[order[:front]] <= threshold).all()
    assert (heights[order[front:]] >= threshold).all()


@pytest.mark.parametrize("copies", [False, True])
def test_tree_is_a_partition(copies):
    """The leaves of a tree hold every row once, none is larger than asked for, and few are much smaller."""
    Z = np.ones((5000, 8), np.float32) if copies else rows(5000, 8)
    tree = trees.grow_tree(Z, 100, np.uint64(5))
    sizes = np.diff(tree.starts)
    assert sorted(tree.order) == list(range(5000))
    assert tree.starts[0] == 0
    assert tree.starts[-1] == 5000
    assert sizes.max() <= 100
    assert sizes.min() >= 20


def test_leaves_hold_near_rows():
    """A leaf's rows are nearer to one another than rows at large: trees do split by place."""
    Z = rows(4000, 8)
    tree = trees.grow_tree(Z, 100, np.uint64(5))
    leaf = Z[tree.order[tree.starts[3] : tree.starts[4]]]
    assert all_distances(leaf, leaf, False).mean() < 0.8 * all_distances(Z[:100], Z[:100], False).mean()


def test_leaf_search_equals_twin(team):
    """Each row's heap holds its nearest within its leaves, over two trees, without repetition."""
    Z, k = rows(300, 8), 7
    grown = [trees.grow_tree(Z, 40, np.uint64(key)) for key in (1, 2)]
    heaps = kernels.empty_heaps(300, k)
    allowed = np.zeros((300, 300), bool)
    for tree in grown:
        forest.search_leaves(Z, tree, heaps, False, team)
        for start, stop in zip(tree.starts[:-1], tree.starts[1:], strict=True):
            leaf = tree.order[start:stop]
            allowed[np.ix_(leaf, leaf)] = True
    np.fill_diagonal(allowed, False)
    truth = np.where(allowed, all_distances(Z, Z, False), np.inf)
    np.testing.assert_allclose(np.sort(heaps.distances, axis=1), np.sort(truth, axis=1)[:, :k], rtol=1e-5)
    assert all(len(set(ids)) == k for ids in heaps.ids)


@pytest.mark.parametrize("d", [8, 128])
def test_join_equals_twin(d, team):
    """A pass finds the nearest among the neighbours of the nearest, read from the state before the pass."""
    Z, k, reach = rows(200, d), 6, 3
    rng = np.random.default_rng(0)
    ids = np.array([rng.choice(np.delete(np.arange(200), i), k, replace=False) for i in range(200)], np.int32)
    truth = all_distances(Z, Z, False)
    heaps = kernels.Heaps(np.take_along_axis(truth, ids, 1).astype(np.float32), ids.copy())
    near = np.take_along_axis(ids, np.argsort(np.take_along_axis(truth, ids, 1), axis=1), 1)
    forest.join_neighbors(Z, heaps, reach, False, team)
    for i in range(200):
        met = set(near[i]) | set(near[near[i, :reach]].ravel()) - {i}
        assert set(heaps.ids[i]) == set(sorted(met, key=lambda j: truth[i, j])[:k])


@pytest.mark.parametrize("k", [4, 10])
def test_rank_on_full_rows(k, team):
    """The rows in a heap are sorted by their distance on the full rows, called by their names, missing ones last."""
    X = rows(50, 16)
    names = np.random.default_rng(0).permutation(50).astype(np.int32)
    heaps = kernels.empty_heaps(50, 10)
    heaps.ids[:] = [[(i + s) % 50 for s in range(1, 11)] for i in range(50)]
    heaps.ids[7, 3:] = -1
    candidates = heaps.ids.copy()
    ranked = forest.rank(X, heaps, k, names, False, team)
    truth = all_distances(X, X, False)
    for i in range(50):
        expected = sorted((j for j in candidates[i] if j >= 0), key=lambda j: truth[i, j])[:k]
        assert [j for j in ranked.ids[i] if j >= 0] == list(names[expected])
        np.testing.assert_allclose(ranked.distances[i, : len(expected)], truth[i, expected], rtol=1e-5)
        assert (ranked.distances[i, len(expected) :] == np.inf).all()


def test_rank_of_rows_that_were_not_moved(team):
    """Row j of the heaps is then row names[j] of X."""
    X = rows(50, 16)
    names = np.random.default_rng(0).permutation(50).astype(np.int32)
    heaps = kernels.empty_heaps(50, 10)
    heaps.ids[:] = [[(i + s) % 50 for s in range(1, 11)] for i in range(50)]
    moved = forest.rank(X[names], heaps, 4, names, False, team)
    ranked = forest.rank(X, heaps, 4, names, False, team, moved=False)
    assert (ranked.ids == moved.ids).all()
    assert (ranked.distances == moved.distances).all()


def test_ties_in_rank_go_to_the_lesser_name(team):
    """The order of the rows in memory decides nothing."""
    X = np.zeros((4, 8), np.float32)
    heaps = kernels.Heaps(
        np.zeros((4, 3), np.float32), np.array([[j for j in range(4) if j != i] for i in range(4)], np.int32)
    )
    ranked = forest.rank(X, heaps, 3, np.array([3, 1, 0, 2], np.int32), False, team)
    assert ranked.ids.tolist() == [[0, 1, 2], [0, 2, 3], [1, 2, 3], [0, 1, 3]]


@pytest.mark.parametrize("manhattan", [False, True])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("d", [24, 320])
def test_forest_leaves_the_rows_as_they_were(d, own, manhattan, team):
    """They are put in order, and put back; or, if they are someone else's, not even that."""
    X = rows(3000, d)
    before = X.copy()
    X.flags.writeable = own
    forest.forest_neighbors(X, 5, manhattan=manhattan, seed=0, team=team, own=own)
    assert (before == X).all()


@pytest.mark.parametrize("d", [8, 24])
def test_block_of_exact_search_changes_nothing(d, team):
    """Where columns are many, fewer rows are compared at once; the result is the same."""
    X = rows(700, d)
    X[300:] = X[:400]  # ties
    expected = kernels.exact_neighbors(X, np.arange(700), 6, False, team)
    wide = np.zeros((700, 60_000), np.float32)
    wide[:, :d] = X
    found = kernels.exact_neighbors(wide, np.arange(8), 6, False, team)
    assert (found.ids == expected.ids[:8]).all()


def test_rows_with_too_few_candidates_are_completed(team):
    """A row whose list is short is searched for exactly; the others are left alone."""
    X = rows(60, 8)
    near = kernels.exact_neighbors(X, np.arange(60), 5, False, team)
    broken = kernels.Heaps(near.distances.copy(), near.ids.copy())
    broken.ids[7, 3:], broken.distances[7, 3:] = -1, np.inf
    forest._complete(X, broken, False, team)
    assert (broken.ids == near.ids).all()


def test_table_of_numbers():
    """The hash table tells new numbers from known ones, also when places collide."""
    table = np.full(64, -1, np.int32)
    numbers = np.random.default_rng(0).integers(0, 40, 200)
    seen = set()
    for j in numbers:
        assert forest._insert(table, j) == (j not in seen)
        seen.add(j)


def test_recall_is_measured_not_assumed(team):
    """Recall of true lists is 1; with a quarter of each list wrong it is three quarters."""
    X = rows(400, 8)
    near = kernels.exact_neighbors(X, np.arange(400), 8, False, team)
    near = forest.rank(X, near, 8, np.arange(400, dtype=np.int32), False, team)
    truth = forest.probe(X, 8, False, 0, team)
    assert forest.sampled_recall(truth, near) == 1.0
    near.distances[:, -2:] = 1e9
    assert forest.sampled_recall(truth, near) == 0.75
