"""Merging neighbours, and the maps of merged points that the finer ones start from."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sce import SCE
from sce.core.parallel import Team
from sce.engines import make_engine
from sce.layout import coarse
from sce.layout.coarse import _merge, coarse_start, make_levels, merged_graph
from sce.layout.gradient.terms import Gradient
from sce.layout.records import LayoutOptions
from sce.layout.sampler.epochs import sample
from sce.layout.scale import FixedScale


def ring(n, reach=3):
    """Points in a circle, joined to the next few; sums to 1."""
    i = np.arange(n)
    half = sum(sp.csr_matrix((np.full(n, 1.0 / k), (i, (i + k) % n)), (n, n)) for k in range(1, reach + 1))
    P = sp.csr_matrix(half + half.T)
    return sp.csr_matrix(P / P.sum(), dtype=np.float32)


def random_graph(n, density, seed):
    half = sp.random(n, n, density, random_state=seed)
    P = sp.csr_matrix(sp.triu(half, 1), dtype=np.float32)
    return sp.csr_matrix(P + P.T)


def slow_groups(P, order, most):
    """Groups as sets: each point in turn joins the set of its strongest neighbour with room."""
    P, of = P.toarray(), {}
    for i in order:
        if i in of:
            continue
        free = [j for j in np.flatnonzero(P[i]) if j not in of or len(of[j]) < most]
        own = {i}
        if free:
            best = max(free, key=lambda j: (P[i, j], -j))
            own = of.get(best, {best})
            own.add(i)
            of[best] = own
        of[i] = own
    return {frozenset(group) for group in of.values()}


graphs = st.tuples(st.integers(1, 40), st.floats(0.0, 0.3), st.integers(0, 99))


@settings(max_examples=50, deadline=None)
@given(graphs, st.integers(2, 6))
def test_merging_equals_its_twin(graph, most):
    P = random_graph(*graph)
    order = np.random.default_rng(graph[2]).permutation(P.shape[0])
    group, count = _merge(P.indptr, P.indices, P.data, order, most)
    assert sorted(set(group)) == list(range(count))
    assert {frozenset(np.flatnonzero(group == g)) for g in range(count)} == slow_groups(P, order, most)


@settings(max_examples=50, deadline=None)
@given(graphs, st.integers(1, 3))
def test_the_merged_graph_adds_up_what_is_between_groups(graph, n_jobs):
    P = random_graph(*graph)
    n = P.shape[0]
    group = np.unique(np.random.default_rng(graph[2]).integers(0, n, n), return_inverse=True)[1]
    count = int(group.max()) + 1
    joined = sp.csr_matrix((np.ones(n), (np.arange(n), group)), (n, count))
    right = (joined.T @ P.astype(np.float64) @ joined).toarray()
    np.fill_diagonal(right, 0.0)
    with Team(n_jobs) as team:
        found = merged_graph(P, group.astype(np.int32), count, team)
    assert found.nnz == np.count_nonzero(right)
    np.testing.assert_allclose(found.toarray(), right, rtol=1e-6)


def test_merged_points_have_the_objective_of_their_points():
    """With all points of a group in one spot, both sums of J are those of the merged points, up to a constant."""
    P = ring(2500)
    weights = np.random.default_rng(0).integers(1, 4, 2500).astype(float)
    level = next(make_levels(P, weights, 0, Team(1)))
    assert level.weights.sum() == weights.sum()
    merged = np.random.default_rng(1).normal(size=(level.P.shape[0], 2)) * 3
    attraction = Gradient(P, weights, Team(1))(merged[level.group]).attraction
    assert level.outside * Gradient(level.P, level.weights, Team(1))(merged).attraction == pytest.approx(attraction)

    def push(w, Y, *, inside):
        q = 1 / (1 + ((Y[:, None] - Y) ** 2).sum(axis=2))
        return w @ q @ w - (0 if inside else (w**2).sum())

    within = (level.weights**2).sum() - (weights**2).sum()
    whole = push(weights, merged[level.group], inside=False)
    assert push(level.weights, merged, inside=False) + within == pytest.approx(whole)


def test_levels_go_down_to_few_points_and_hold_ever_less():
    levels = list(make_levels(ring(20_000), None, 0, Team(2)))
    sizes = [level.P.shape[0] for level in levels]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] <= coarse.COARSEST < sizes[-2]
    for level in levels:
        assert 0 < level.outside < 1
        assert level.P.sum() == pytest.approx(1, abs=1e-5)
        assert level.group.max() + 1 == level.P.shape[0]


def test_stops_where_nothing_can_be_merged():
    pairs = sp.csr_matrix(sp.block_diag([sp.csr_matrix(np.array([[0, 1], [1, 0]], np.float32))] * 600))
    assert list(make_levels(pairs, None, 0, Team(1))) == []  # merged, they have no edges left
    lonely = sp.csr_matrix(ring(3000) + 0)
    lonely.resize(30_000, 30_000)
    assert list(make_levels(lonely, None, 0, Team(1))) == []


@pytest.fixture(scope="module")
def knotted():
    """A ring of 20,000 points in random places, and how it is laid out."""
    start = np.random.default_rng(0).normal(size=(20_000, 2)).astype(np.float32)
    return ring(20_000), start, LayoutOptions(FixedScale(1.0), n_epochs=30)


def test_what_a_sampler_leaves_knotted_is_straightened(knotted):
    P, start, options = knotted
    with Team(2) as team:
        engine = make_engine("threads", team)
        better, _, sizes = coarse_start(P, start, LayoutOptions(FixedScale(1.0)), engine, team)
        gradient = Gradient(P, None, team)
        plain, straight = (gradient(sample(P, Y, options, engine, team).Y.astype(float)) for Y in (start, better))
    assert sizes == sorted(sizes)
    assert len(sizes) == 3
    assert straight.attraction + straight.mean_q_U < 0.7 * (plain.attraction + plain.mean_q_U)


def test_the_same_on_any_number_of_threads(knotted):
    P, start, options = knotted
    found = []
    for n_jobs in (1, 3):
        with Team(n_jobs) as team:
            found.append(coarse_start(P, start, options, make_engine("threads", team), team).start)
    np.testing.assert_array_equal(*found)


def test_few_points_keep_their_start():
    start = np.random.default_rng(0).normal(size=(900, 2)).astype(np.float32)
    with Team(1) as team:
        options = LayoutOptions(FixedScale(1.0))
        found = coarse_start(ring(900), start, options, make_engine("threads", team), team)
    assert found.sizes == []
    assert found.options is options
    np.testing.assert_array_equal(found.start, start)


def test_fewer_epochs_are_left_unless_they_are_given():
    P, start = ring(1500), np.random.default_rng(0).normal(size=(1500, 2)).astype(np.float32)
    with Team(1) as team:
        for given, left in ((None, coarse.ENOUGH), (7, 7)):
            options = LayoutOptions(FixedScale(1.0), n_epochs=given)
            assert coarse_start(P, start, options, make_engine("threads", team), team).options.n_epochs == left


def test_all_maps_have_the_rate_of_all_points(monkeypatch):
    P, rates = ring(40_000), []
    monkeypatch.setattr(
        "sce.layout.coarse.sample",
        lambda P, start, options, *_: rates.append(options.learning_rate) or SimpleNamespace(Y=start),
    )
    with Team(1) as team:
        coarse_start(P, np.zeros((40_000, 2)), LayoutOptions(FixedScale(1.0)), make_engine("threads", team), team)
    assert len(rates) > 1
    assert set(rates) == {(2**0.25, 0.0)}


def test_a_given_start_and_the_plain_sampler_stay_as_they_are(monkeypatch):
    """Only optimizer="auto" with a start by name goes from coarse to fine."""

    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr("sce.estimator.coarse_start", refuse)
    P, start = ring(1200), np.random.default_rng(0).normal(size=(1200, 2))
    SCE(affinity="precomputed", init=start, n_epochs=1).fit(P)
    SCE(affinity="precomputed", optimizer="sampler", n_epochs=1).fit(P)
    with pytest.raises(AssertionError):
        SCE(affinity="precomputed", n_epochs=1).fit(P)
