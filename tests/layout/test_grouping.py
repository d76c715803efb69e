"""Groups of neighbours, found in rounds."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from sce.core.parallel import Team
from sce.core.random import bits_array
from sce.graph.csr import arrays_of
from sce.layout import grouping
from sce.layout.grouping import match_neighbors


def random_graph(n, density, levels, seed):
    """Symmetric, with few different weights, or all different ones if `levels` is 0."""
    rng = np.random.default_rng(seed)
    half = sp.triu(sp.random(n, n, density, random_state=seed), 1).tocsr()
    half.data = rng.integers(1, levels + 1, half.nnz) / levels if levels else rng.random(half.nnz) + 0.01
    return sp.csr_matrix(half + half.T, dtype=np.float32)


graphs = st.tuples(st.integers(1, 40), st.floats(0.0, 0.3), st.sampled_from([0, 1, 3]), st.integers(0, 99))


def slow_groups(P, priority, most):
    """Groups as lists that begin with their leaders: the rounds with dictionaries."""
    P, n = P.toarray(), P.shape[0]
    priority = [int(p) for p in priority]
    of = {i: [i] for i in range(n)}  # a point without a group is alone
    while True:
        alone = [i for i in range(n) if len(of[i]) == 1]
        asked = {}
        for i in alone:
            room = [j for j in np.flatnonzero(P[i]) if len(of[j]) < most]
            if room:
                j = max(room, key=lambda j: (P[i, j], -(priority[i] ^ priority[j])))
                if len(of[j]) > 1 or priority[i] < priority[j]:
                    asked.setdefault(of[j][0], []).append(i)
        first = {leader: min(points, key=priority.__getitem__) for leader, points in asked.items()}
        joining = [(leader, i) for leader, i in first.items() if i not in first]
        if not joining:
            return {frozenset(group) for group in of.values()}
        for leader, i in joining:
            of[leader].append(i)
            of[i] = of[leader]


def match(P, key=0, most=4, n_jobs=1):
    with Team(n_jobs) as team:
        return match_neighbors(arrays_of(P), np.uint64(key), most, team)


def as_sets(group, count):
    return {frozenset(np.flatnonzero(group == g)) for g in range(count)}


@settings(max_examples=100, deadline=None)
@given(graphs, st.integers(2, 6))
def test_equals_its_twin(graph, most):
    P = random_graph(*graph)
    group, count = match(P, graph[3], most)
    assert group.dtype == np.int32
    assert sorted(set(group)) == list(range(count))
    assert as_sets(group, count) == slow_groups(P, bits_array(np.uint64(graph[3]), P.shape[0]), most)


@settings(max_examples=100, deadline=None)
@given(graphs, st.integers(2, 6))
def test_groups_are_connected_small_and_as_full_as_can_be(graph, most):
    """No group has more than `most` points or parts without edges between them; no point with room beside it is alone."""
    P = random_graph(*graph)
    group, count = match(P, graph[3], most)
    sizes = np.bincount(group, minlength=count)
    assert sizes.max() <= most
    for g in range(count):
        members = np.flatnonzero(group == g)
        assert connected_components(P[members][:, members])[0] == 1
    for i in np.flatnonzero(sizes[group] == 1):
        assert (sizes[group[P[i].indices]] == most).all()


def wide_graph(n, k, *, weighted, seed=0):
    """Each point joined to k random points among the next hundred."""
    rng = np.random.default_rng(seed)
    i = np.repeat(np.arange(n), k)
    j = (i + rng.integers(1, 100, n * k)) % n
    half = sp.csr_matrix((rng.random(n * k) + 0.01 if weighted else np.ones(n * k), (i, j)), (n, n), np.float32)
    half.data = half.data if weighted else np.ones_like(half.data)
    return sp.csr_matrix(half.maximum(half.T))


@pytest.mark.parametrize("weighted", [True, False])
def test_the_same_on_any_number_of_threads(weighted):
    P = wide_graph(50_000, 5, weighted=weighted)
    results = [match(P, n_jobs=n_jobs)[0].tobytes() for n_jobs in (1, 2, 4)]
    assert results[0] == results[1] == results[2]
    assert results[0] != match(P, key=1)[0].tobytes()


def path(n):
    """Weights that rise along a path, so that every point prefers the next one."""
    edges = np.arange(1, n, dtype=np.float32)
    return sp.csr_matrix(sp.diags([edges, edges], [-1, 1]))


def star(n):
    """All points joined to the first."""
    P = sp.lil_matrix((n, n), dtype=np.float32)
    P[0, 1:] = P[1:, 0] = 1
    return sp.csr_matrix(P)


@pytest.mark.parametrize(
    ("P", "most_left"),
    [
        (wide_graph(20_000, 5, weighted=True), 0.4),
        (wide_graph(20_000, 5, weighted=False), 0.4),
        (path(20_000), 0.5),
        (star(20_000), 1.0),
    ],
    ids=["weighted", "equal", "path", "star"],
)
def test_few_rounds_leave_few_points(monkeypatch, P, most_left):
    """Neither equal weights nor long chains of preferences nor a centre that all prefer take many rounds."""
    rounds = []
    original = grouping._run_round
    monkeypatch.setattr(grouping, "_run_round", lambda *args: rounds.append(len(args[2])) or original(*args))
    _, count = match(P)
    assert len(rounds) <= 16
    assert count <= most_left * P.shape[0]


def test_a_star_has_one_group():
    group, count = match(star(100))
    assert count == 97
    assert np.bincount(group)[group[0]] == 4


def test_strong_edges_are_merged():
    """Edges within groups are much stronger than others."""
    P = wide_graph(20_000, 5, weighted=True)
    group, _ = match(P)
    coo = P.tocoo()
    within = group[coo.row] == group[coo.col]
    assert P.data[within].mean() > 1.3 * P.data.mean()


@pytest.mark.parametrize("n", [0, 1, 5])
def test_points_without_edges_stay_alone(n):
    group, count = match(sp.csr_matrix((n, n), dtype=np.float32))
    assert count == n
    assert group.tolist() == list(range(n))
