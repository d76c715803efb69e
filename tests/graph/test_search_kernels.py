"""Kernels of the neighbour search against slow, obvious twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sce.core.parallel import Team
from sce.core.random import below
from sce.graph import candidates, copies, forest, kernels, ranking, routing, trees
from sce.graph.found import tie_draws
from sce.graph.metrics import ABSOLUTES, SQUARES
from sce.graph.sketch import Directions, project_singly

KEY = np.uint64(7)
KEYS = np.full(1000, KEY)


def rows(n, d, seed=0):
    """Random float32 rows."""
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


def all_distances(X, Y, terms):
    """The twin of every distance kernel, in float64."""
    gap = X[:, None].astype(float) - Y[None].astype(float)
    return np.abs(gap).sum(axis=2) if terms == ABSOLUTES else (gap**2).sum(axis=2)


@pytest.mark.parametrize("terms", [SQUARES, ABSOLUTES])
@pytest.mark.parametrize("d", [8, 64, 104])
def test_distances(d, terms):
    """Pairwise and two-row kernels equal the sum over columns."""
    X, Y = rows(2, d), rows(37, d, 1)
    expected = all_distances(X, Y, terms)
    pairs = [[kernels.pair_distance(x, y, terms) for y in Y] for x in X]
    np.testing.assert_allclose(pairs, expected, rtol=1e-5)
    c = np.empty((2, 30), np.float32)
    kernels.two_rows(c[0], c[1], X[0], X[1], np.ascontiguousarray(Y.T), 7, terms)
    np.testing.assert_allclose(c, expected[:, 7:], rtol=1e-5)


def nearest_first(numbers, distances, key=KEY):
    """The twin of every order of neighbours: by distance, ties by a random number for each."""
    draws = tie_draws(key, np.arange(len(distances)))
    return sorted(numbers, key=lambda j: (distances[j], draws[j]))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 20), min_size=1, max_size=60), st.integers(1, 20), st.randoms(use_true_random=False))
def test_heap_keeps_the_nearest(values, k, random):
    """Whatever the order of offers, a heap holds the k nearest, of those tied for the last place those drawn first."""
    heaps = kernels.empty_heaps(1, k)
    distances, ids = heaps.distances[0], heaps.ids[0]
    offers = list(range(len(values)))
    random.shuffle(offers)
    for j in offers:
        if values[j] <= distances[0]:
            assert kernels.admit(distances, ids, np.float32(values[j]), j, KEY) == distances.max()
            assert kernels.holds(ids, j) == (j in nearest_first(offers[: offers.index(j) + 1], values)[:k])
    assert not kernels.holds(ids, len(values))
    kernels.sort_heap(distances, ids, KEY)
    expected = nearest_first(range(len(values)), values)[:k]
    assert list(ids[::-1][: len(expected)]) == expected
    assert list(distances[::-1][: len(expected)]) == [values[j] for j in expected]
    assert (ids >= 0).sum() == len(expected)


@pytest.mark.parametrize("terms", [SQUARES, ABSOLUTES])
@pytest.mark.parametrize("n", [2, 9, 513, 1100])
def test_exact_search(n, terms, team):
    """Exact search finds what sorting all distances finds, across blocks, for odd numbers of queries."""
    X = rows(n, 8)
    queries, k = np.arange(0, n, 3), min(n - 1, 12)
    found = kernels.exact_neighbors(X, queries, k, terms, 0, team)
    truth = all_distances(X[queries], X, terms)
    truth[np.arange(len(queries)), queries] = np.inf
    assert (found.ids == np.argsort(truth, axis=1, kind="stable")[:, :k]).all()
    np.testing.assert_allclose(found.distances, np.sort(truth, axis=1)[:, :k], rtol=1e-5)


@pytest.mark.parametrize("terms", [SQUARES, ABSOLUTES])
@pytest.mark.parametrize("factor", [1.0, 0.5])
def test_exact_search_for_other_rows(factor, terms, team):
    """Rows that are not indexed have the nearest of all indexed ones, which may be multiplied by a factor."""
    X, new = rows(600, 8), rows(33, 8, 1)
    found = kernels.exact_neighbors_of(new, X, 12, terms, KEYS[:33], team, factor=factor)
    truth = all_distances(new, factor * X, terms)
    assert (found.ids == np.argsort(truth, axis=1, kind="stable")[:, :12]).all()
    np.testing.assert_allclose(found.distances, np.sort(truth, axis=1)[:, :12], rtol=1e-5)


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


def test_rows_descend_to_their_own_leaf():
    """Keeping the splits changes no tree; a row that is at no threshold ends in the leaf that holds it, in each tree."""
    Z = rows(3000, 8)
    keys = [np.uint64(5), np.uint64(6)]
    grown = [trees.grow_tree_with_splits(Z, 50, key) for key in keys]
    for (tree, splits), key in zip(grown, keys, strict=True):
        plain = trees.grow_tree(Z, 50, key)
        assert (plain.order == tree.order).all()
        assert (plain.starts == tree.starts).all()
        assert len(splits.thresholds) == len(tree.starts) - 2
    routes = routing.join_routes(grown)
    leaves = np.empty((3000, 2), np.int32)
    routing.find_leaves(routes, Z, leaves)
    for t in range(2):
        own = np.empty(3000, int)
        sizes = np.diff(routes.starts)
        own[routes.order[t * 3000 : (t + 1) * 3000]] = np.repeat(np.arange(len(sizes)), sizes)[
            t * 3000 : (t + 1) * 3000
        ]
        assert (leaves[:, t] == own).mean() > 0.98


def test_descent_equals_twin():
    """A new row goes left where its product with the direction is below the threshold."""
    Z, new = rows(1000, 8), rows(40, 8, 1)
    routes = routing.join_routes([trees.grow_tree_with_splits(Z, 30, np.uint64(key)) for key in (1, 2, 3)])
    leaves = np.empty((40, 3), np.int32)
    routing.find_leaves(routes, new, leaves)
    for row, found in zip(new, leaves, strict=True):
        for root, leaf in zip(routes.roots, found, strict=True):
            node = root
            while node >= 0:
                height = float(np.sum(routes.directions[node].astype(float) * row))
                node = routes.children[node, int(height >= routes.thresholds[node])]
            assert leaf == -1 - node


def test_a_tree_of_one_leaf():
    """Fewer rows than a leaf holds: every new row ends in it."""
    routes = routing.join_routes([trees.grow_tree_with_splits(rows(20, 8), 30, np.uint64(key)) for key in (1, 2)])
    leaves = np.empty((5, 2), np.int32)
    routing.find_leaves(routes, rows(5, 8), leaves)
    assert leaves.tolist() == [[0, 1]] * 5


@pytest.mark.parametrize("terms", [SQUARES, ABSOLUTES])
def test_candidates_of_new_rows_equal_twin(terms, team):
    """The nearest of what the leaves hold and of what the nearest offer, until all of the nearest have offered theirs."""
    Z, new, width = rows(800, 8), rows(30, 8, 1), 9
    links = kernels.exact_neighbors(Z, np.arange(800), 5, terms, 0, team).ids
    routes = routing.join_routes([trees.grow_tree_with_splits(Z, 30, np.uint64(key)) for key in (1, 2)])
    absent = np.where(np.arange(30) % 3 == 0, np.arange(30), -1).astype(np.int32)
    twins = np.where(np.arange(30) % 3 == 1, np.arange(30), -1).astype(np.int32)
    marks, spaces = routing.Marks(twins, absent, KEYS[:30]), routing.Spaces(None, None)
    found = routing.candidates_of(new, routing.Network(Z, routes, links), spaces, marks, width, terms, team)
    leaves = np.empty((30, 2), np.int32)
    routing.find_leaves(routes, new, leaves)
    truth = all_distances(new, Z, terms)
    for i in range(30):
        met = {twins[i]} | {j for t in leaves[i] for j in routes.order[routes.starts[t] : routes.starts[t + 1]]}
        offered = set()
        while True:
            met -= {-1, absent[i]}
            nearest = sorted(met, key=lambda j: truth[i, j])[:width]
            if set(nearest) <= offered:
                break
            first = next(j for j in nearest if j not in offered)
            offered.add(first)
            met |= set(links[first])
        assert list(found[i]) == nearest


def test_projection_of_single_rows():
    """The coordinates are those of the product, and the same bits for a row alone."""
    X = rows(40, 16)
    directions = Directions(np.linspace(-1, 1, 16), np.linalg.qr(rows(16, 16, 2))[0][:, :8])
    together = project_singly(X, directions)
    np.testing.assert_allclose(together, (X - directions.mean) @ directions.axes, atol=1e-5)
    assert all((project_singly(X[i : i + 1], directions) == together[i]).all() for i in range(40))


def test_leaves_hold_near_rows():
    """A leaf's rows are nearer to one another than rows at large: trees do split by place."""
    Z = rows(4000, 8)
    tree = trees.grow_tree(Z, 100, np.uint64(5))
    leaf = Z[tree.order[tree.starts[3] : tree.starts[4]]]
    assert all_distances(leaf, leaf, SQUARES).mean() < 0.8 * all_distances(Z[:100], Z[:100], SQUARES).mean()


def test_leaf_search_equals_twin(team):
    """Each row's heap holds its nearest within its leaves, over two trees, without repetition."""
    Z, k = rows(300, 8), 7
    grown = [trees.grow_tree(Z, 40, np.uint64(key)) for key in (1, 2)]
    heaps = kernels.empty_heaps(300, k)
    allowed = np.zeros((300, 300), bool)
    for tree in grown:
        candidates.search_leaves(Z, tree, heaps, SQUARES, KEY, team)
        for start, stop in zip(tree.starts[:-1], tree.starts[1:], strict=True):
            leaf = tree.order[start:stop]
            allowed[np.ix_(leaf, leaf)] = True
    np.fill_diagonal(allowed, False)
    truth = np.where(allowed, all_distances(Z, Z, SQUARES), np.inf)
    np.testing.assert_allclose(np.sort(heaps.distances, axis=1), np.sort(truth, axis=1)[:, :k], rtol=1e-5)
    assert all(len(set(ids)) == k for ids in heaps.ids)


@pytest.mark.parametrize("d", [8, 128])
def test_join_equals_twin(d, team):
    """A pass finds the nearest among the neighbours of the nearest, read from the state before the pass."""
    Z, k, reach = rows(200, d), 6, 3
    rng = np.random.default_rng(0)
    ids = np.array([rng.choice(np.delete(np.arange(200), i), k, replace=False) for i in range(200)], np.int32)
    truth = all_distances(Z, Z, SQUARES)
    heaps = kernels.Heaps(np.take_along_axis(truth, ids, 1).astype(np.float32), ids.copy())
    near = np.take_along_axis(ids, np.argsort(np.take_along_axis(truth, ids, 1), axis=1), 1)
    candidates.join_neighbors(Z, heaps, reach, SQUARES, KEY, team)
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
    ranked = ranking.rank(X, heaps, k, names, SQUARES, 0, team)
    truth = all_distances(X, X, SQUARES)
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
    moved = ranking.rank(X[names], heaps, 4, names, SQUARES, 0, team)
    ranked = ranking.rank(X, heaps, 4, names, SQUARES, 0, team, moved=False)
    assert (ranked.ids == moved.ids).all()
    assert (ranked.distances == moved.distances).all()


@pytest.mark.parametrize("terms", [SQUARES, ABSOLUTES])
def test_rank_for_other_rows(terms):
    """The candidates of rows that are not indexed are ranked on the full rows, missing ones last."""
    X, new = rows(50, 16), rows(7, 16, 1)
    listed = np.array([np.random.default_rng(i).permutation(50)[:10] for i in range(7)], np.int32)
    listed[3, 2:] = -1
    ranked = ranking.rank_for(new, X, listed, 4, terms, KEYS[:7], Team(1))
    truth = all_distances(new, X, terms)
    for i in range(7):
        expected = sorted((j for j in listed[i] if j >= 0), key=lambda j: truth[i, j])[:4]
        assert [j for j in ranked.ids[i] if j >= 0] == expected
        np.testing.assert_allclose(ranked.distances[i, : len(expected)], truth[i, expected], rtol=1e-5)


@pytest.mark.parametrize("k", [3, 9])
def test_names_and_seed_decide_ties_in_rank(k, team):
    """The order of the rows in memory decides nothing."""
    X = np.zeros((10, 8), np.float32)
    names = np.random.default_rng(0).permutation(10).astype(np.int32)
    lists = np.array([[j for j in range(10) if j != i] for i in range(10)], np.int32)
    heaps = kernels.Heaps(np.zeros((10, 9), np.float32), lists)
    ranked = ranking.rank(X, heaps, k, names, SQUARES, 3, team)
    keys = kernels.row_keys(3, names)
    for i in range(10):
        expected = nearest_first(np.delete(np.arange(10), names[i]), np.zeros(10), keys[i])[:k]
        assert ranked.ids[i].tolist() == expected


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(2, 60), st.integers(1, 59), st.integers(0, 99))
def test_exact_search_among_ties(n, k, seed):
    """Of the rows tied for the last place those drawn first are taken, whatever their numbers."""
    X, k = np.zeros((n, 8), np.float32), min(k, n - 1)
    X[:, :2] = np.random.default_rng(seed).integers(0, 2, (n, 2))
    found = kernels.exact_neighbors(X, np.arange(n), k, SQUARES, seed, Team(1))
    keys = kernels.row_keys(seed, np.arange(n))
    distances = all_distances(X, X, SQUARES)
    for i in range(n):
        assert found.ids[i].tolist() == nearest_first(np.delete(np.arange(n), i), distances[i], keys[i])[:k]
    other = kernels.exact_neighbors_of(X, X, k, SQUARES, keys, Team(1))
    for i in range(n):
        assert other.ids[i].tolist() == nearest_first(range(n), distances[i], keys[i])[:k]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(1, 6), st.integers(0, 99))
def test_copies_in_lists_are_spread(k, seed):
    """Copies of a large group are replaced by as many of the same group, in a ring from a random one on; others stay."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (80, 1)).astype(np.float32)
    X[:40] = 0
    groups = copies.find_copies(X, Team(1))
    rows = np.flatnonzero(groups.sizes() <= k)
    ids = np.array([rng.permutation(80)[:k] for _ in range(80)], np.int32)
    before = ids.copy()
    copies._spread_copies(groups, rows, ids, KEY)
    for i in range(80):
        seen = {}
        for a, j in enumerate(before[i]):
            group = groups.group[j]
            members = groups.order[groups.starts[group] : groups.starts[group + 1]]
            if i in rows and len(members) > k + 1:
                key = kernels.row_key(KEY, np.uint64(i))
                first = below.py_func(tie_draws(key, np.array([group]))[0], len(members))
                place = first + seen.get(group, 0)
                seen[group] = seen.get(group, 0) + 1
                assert ids[i, a] == members[place % len(members)]
            else:
                assert ids[i, a] == j


@pytest.mark.parametrize("terms", [SQUARES, ABSOLUTES])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("d", [24, 320])
def test_forest_leaves_the_rows_as_they_were(d, own, terms, team):
    """They are put in order, and put back; or, if they are someone else's, not even that."""
    X = rows(1000, d)
    before = X.copy()
    X.flags.writeable = own
    forest.forest_neighbors(X, 5, terms=terms, seed=0, team=team, own=own)
    assert (before == X).all()


@pytest.mark.parametrize("d", [8, 24])
def test_block_of_exact_search_changes_nothing(d, team):
    """Where columns are many, fewer rows are compared at once; the result is the same."""
    X = rows(700, d)
    X[300:] = X[:400]  # ties
    expected = kernels.exact_neighbors(X, np.arange(700), 6, SQUARES, 0, team)
    wide = np.zeros((700, 20_000), np.float32)
    wide[:, :d] = X
    found = kernels.exact_neighbors(wide, np.arange(8), 6, SQUARES, 0, team)
    assert (found.ids == expected.ids[:8]).all()


def test_rows_with_too_few_candidates_are_completed(team):
    """A row whose list is short is searched for exactly; the others are left alone."""
    X = rows(60, 8)
    near = kernels.exact_neighbors(X, np.arange(60), 5, SQUARES, 0, team)
    broken = kernels.Heaps(near.distances.copy(), near.ids.copy())
    broken.ids[7, 3:], broken.distances[7, 3:] = -1, np.inf
    forest._complete(X, broken, SQUARES, 0, team)
    assert (broken.ids == near.ids).all()


def test_table_of_numbers():
    """The hash table tells new numbers from known ones, also when places collide."""
    table = np.full(64, -1, np.int32)
    numbers = np.random.default_rng(0).integers(0, 40, 200)
    seen = set()
    for j in numbers:
        assert candidates.add_number(table, j) == (j not in seen)
        seen.add(j)


def test_recall_is_measured_not_assumed(team):
    """Recall of true lists is 1; with a quarter of each list wrong it is three quarters."""
    X = rows(400, 8)
    near = kernels.exact_neighbors(X, np.arange(400), 8, SQUARES, 0, team)
    near = ranking.rank(X, near, 8, np.arange(400, dtype=np.int32), SQUARES, 0, team)
    truth = ranking.probe(X, 8, SQUARES, 0, team)
    assert ranking.sampled_recall(truth, near) == 1.0
    near.distances[:, -2:] = 1e9
    assert ranking.sampled_recall(truth, near) == 0.75
