"""Merging neighbours, and the maps of merged points that the finer ones start from."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from layouts import make_problem, run
from sce.core.parallel import Team
from sce.graph.csr import arrays_of, merge_points
from sce.layout.coarse import COARSEST_POINTS, make_levels, merge_start, split_points
from sce.layout.gradient.terms import Gradient
from sce.layout.plan import (
    COARSE_GRADIENT_UP_TO_POINTS,
    EPOCHS_BETWEEN,
    FINISHING_RANGE,
    GATHERING_R,
    GRADIENT,
    GRADIENT_ITERATIONS,
    SAMPLER,
    make_plan,
    wants_levels,
)
from sce.layout.scale import FixedScale
from sce.layout.settings import LayoutOptions
from sce.layout.similarities import Similarities


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


graphs = st.tuples(st.integers(1, 40), st.floats(0.0, 0.3), st.integers(0, 99))


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
        merged = merge_points(arrays_of(P), group.astype(np.int32), count, team, inside=False)
    found = sp.csr_matrix((merged.data, merged.indices, merged.indptr), (count, count))
    assert found.nnz == np.count_nonzero(right)
    np.testing.assert_allclose(found.toarray(), right, rtol=1e-6)


def test_merged_points_have_the_objective_of_their_points():
    """With all points of a group in one spot, both sums of J are those of the merged points, up to a constant."""
    P = ring(2500)
    weights = np.random.default_rng(0).integers(1, 4, 2500).astype(float)
    level = next(make_levels(make_problem(P, Team(1), weights)))
    assert level.weights.sum() == weights.sum()
    merged = np.random.default_rng(1).normal(size=(level.graph.n_points, 2)) * 3
    attraction = Gradient(Similarities(P, Team(1)), weights)(merged[level.group]).attraction
    assert level.outside * Gradient(level.graph, level.weights)(merged).attraction == pytest.approx(attraction)

    def push(w, Y, *, inside):
        q = 1 / (1 + ((Y[:, None] - Y) ** 2).sum(axis=2))
        return w @ q @ w - (0 if inside else (w**2).sum())

    within = (level.weights**2).sum() - (weights**2).sum()
    whole = push(weights, merged[level.group], inside=False)
    assert push(level.weights, merged, inside=False) + within == pytest.approx(whole)


def test_levels_go_down_to_few_points_and_hold_ever_less():
    levels = list(make_levels(make_problem(ring(20_000), Team(2))))
    sizes = [level.graph.n_points for level in levels]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] <= COARSEST_POINTS < sizes[-2]
    for level in levels:
        assert 0 < level.outside < 1
        assert level.graph.P.sum() == pytest.approx(1, abs=1e-5)
        assert level.group.max() + 1 == level.graph.n_points


def test_stops_where_nothing_can_be_merged():
    pairs = sp.csr_matrix(sp.block_diag([sp.csr_matrix(np.array([[0, 1], [1, 0]], np.float32))] * 600))
    assert list(make_levels(make_problem(pairs, Team(1)))) == []  # merged, they have no edges left
    lonely = sp.csr_matrix(ring(3000) + 0)
    lonely.resize(30_000, 30_000)
    assert list(make_levels(make_problem(lonely, Team(1)))) == []


def test_what_a_sampler_leaves_knotted_is_straightened():
    """A ring of 20,000 points from a random start: J after coarse levels is far below that of the sampler alone."""
    P = ring(20_000)
    found = []
    for optimizer in ("sampler", "auto"):
        Y = run(P, FixedScale(1.0), optimizer, start="random", n_epochs=30).Y
        with Team(2) as team:
            terms = Gradient(Similarities(P, team))(Y.astype(float))
        found.append(terms.attraction + terms.mean_q_U)
    assert found[1] < 0.7 * found[0]


def test_the_same_on_any_number_of_threads():
    """From the first level to the last."""
    maps = [run(ring(20_000), FixedScale(1.0), n_jobs=n_jobs, n_epochs=5).Y for n_jobs in (1, 3)]
    np.testing.assert_array_equal(*maps)


def planned(P, rule=FixedScale(1.0), **options):  # noqa: B008 (a constant)
    """The stages of a layout, and its levels."""
    chosen = LayoutOptions(rule, **options)
    problem = make_problem(P, Team(1))
    levels = list(make_levels(problem)) if wants_levels(chosen) else []
    return make_plan(problem, chosen, levels)


def test_few_points_have_no_levels():
    assert [stage.kind for stage in planned(ring(900))] == ["start", "sampler", "gradient"]


def test_stages_go_from_coarse_to_fine():
    """Start, the coarsest level first, all points, the gradient after each; the share of P outside raises r."""
    plan = planned(ring(9_000))
    coarse = [stage for stage in plan if stage.kind == SAMPLER and stage.level]
    assert [stage.kind for stage in plan] == ["start", *("sampler", "gradient") * (len(coarse) + 1)]
    assert [stage.level for stage in coarse] == list(range(len(coarse), 0, -1))
    assert [stage.n_points for stage in coarse] == sorted(stage.n_points for stage in coarse)
    assert all(before.rule.r > after.rule.r > 1.0 for before, after in itertools.pairwise(coarse))


def test_fewer_epochs_are_left_unless_they_are_given():
    for given_, left in ((None, EPOCHS_BETWEEN), (7, 7)):
        (stage,) = (
            stage for stage in planned(ring(1500), n_epochs=given_) if stage.kind == SAMPLER and not stage.level
        )
        assert stage.n_epochs == left


def test_the_gradient_finishes_small_levels_and_all_points():
    """At the r of the end on each level of few points; to the minimum, or some iterations of more points."""
    for n, iterations in ((9_000, GRADIENT_ITERATIONS), (40_000, FINISHING_RANGE[2][1])):
        stages = planned(ring(n))
        assert (stages[-1].kind, stages[-1].n_epochs, stages[-1].level) == (GRADIENT, iterations, 0)
        levels = {stage.level: stage for stage in stages if stage.level and stage.kind == SAMPLER}
        finished = {stage.level: stage for stage in stages if stage.level and stage.kind == GRADIENT}
        assert set(finished) == {k for k, stage in levels.items() if stage.n_points <= COARSE_GRADIENT_UP_TO_POINTS}
        assert all(finished[k].rule == levels[k].rule and finished[k].direct for k in finished)


def test_clusters_of_few_points_gather_at_every_level():
    """Weak repulsion up to the last stage, under which r grows."""
    *before, last = planned(ring(9_000), FixedScale(10.0))
    weak = planned(ring(9_000), FixedScale(GATHERING_R))[:-1]
    assert [stage.rule for stage in before[1:]] == [stage.rule for stage in weak[1:]]
    assert (last.rule.r, last.direct) == (10.0, False)


def test_clusters_of_many_points_gather_on_the_coarsest_level():
    """There r grows to that of the end, which all finer stages keep."""
    first, second, *others = planned(ring(40_000), FixedScale(10.0))[1:]
    weak = planned(ring(40_000), FixedScale(GATHERING_R))[1]
    assert (first.rule, first.level) == (weak.rule, second.level)
    assert (second.kind, second.direct, second.rule.r) == (GRADIENT, False, pytest.approx(10.0 * weak.rule.r))
    assert all(stage.rule.r >= 10.0 for stage in others)
    assert all(stage.direct for stage in others if stage.kind == GRADIENT)


def test_points_without_weight_have_a_start():
    """Also where all points that are merged into one have none."""
    P, weights = ring(3000), np.r_[np.zeros(2000), np.ones(1000)]
    merged = merge_start(np.ones((3000, 2), np.float32), weights, list(make_levels(make_problem(P, Team(1), weights))))
    np.testing.assert_allclose(merged, 1.0)


def test_all_maps_have_the_rate_of_all_points():
    rates = [stage.learning_rate for stage in planned(ring(40_000)) if stage.kind == SAMPLER]
    assert len(rates) > 2
    assert set(rates) == {(2**0.25, 0.0)}


def test_a_given_start_and_the_plain_sampler_have_no_levels():
    """Only optimizer="auto" with a start by name goes from coarse to fine."""
    P, start = ring(1200), np.random.default_rng(0).normal(size=(1200, 2))
    assert [stage.kind for stage in planned(P, init=start)] == ["start", "sampler", "gradient"]
    assert [stage.kind for stage in planned(P, optimizer="sampler")] == ["start", "sampler"]
    assert [stage.kind for stage in planned(P, optimizer="gradient")] == ["start", "gradient"]
    assert any(stage.level for stage in planned(P))


def test_a_merged_point_starts_amid_its_points_and_is_split_again():
    """At the mean of its points by their weights, level by level; splitting puts all of them where it is, nearly."""
    weights = np.random.default_rng(0).integers(1, 4, 3000).astype(float)
    levels = list(make_levels(make_problem(ring(3000), Team(1), weights)))
    Y = np.random.default_rng(1).normal(size=(3000, 2)).astype(np.float32)
    merged = merge_start(Y, weights, levels)
    member = np.arange(3000)
    for level in levels:
        member = level.group[member]
    mean = [np.bincount(member, weights * Y[:, c]) / np.bincount(member, weights) for c in range(2)]
    np.testing.assert_allclose(merged, np.column_stack(mean), atol=1e-5)
    split = split_points(merged, levels[-1], len(levels), seed=0)
    away = split - merged[levels[-1].group]
    assert 0.008 < away.std() < 0.012
