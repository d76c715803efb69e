"""A walk over r: each map from its neighbour."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts import make_problem
from sce.core.parallel import Team
from sce.layout import objective
from sce.layout.family import SAME_SHAPE, _plan, turned, walk
from sce.layout.scale import FixedScale, SCEScale


def walked(P, start, rules, **options):
    """The frames and layouts, in the order of the rules."""
    frames = np.full((len(rules), *start.shape), np.nan, np.float32)
    with Team(2) as team:
        layouts = dict(walk(make_problem(P, team), start, rules, frames, **options))
    return frames, [layouts[k] for k in range(len(rules))]


def test_maps_follow_one_another(graph):
    """In the order asked for, each with its r; neighbours look alike, and E_U falls as r grows."""
    P, start = graph(400, degree=1), np.random.default_rng(0).normal(size=(400, 2))
    weights = [30.0, 0.3, 1.0, 3.0, 10.0, 100.0]
    frames, layouts = walked(P, start, [FixedScale(r) for r in weights])
    assert [layout.r for layout in layouts] == weights
    assert all((layout.Y == Y).all() for layout, Y in zip(layouts, frames, strict=True))
    order = np.argsort(weights)
    maps = [frames[k] / frames[k].std() for k in order]
    for before, after in itertools.pairwise(maps):
        assert np.linalg.norm(before - after) < 0.6 * np.linalg.norm(before)
    assert (np.diff([objective.means(P, frames[k]).q_U for k in order]) < 0).all()


def test_over_alpha_the_rule_holds_at_every_map(graph):
    """r is that of Eq. (6) with the map's own alpha, and falls as alpha grows."""
    P, start = graph(300, degree=1), np.random.default_rng(0).normal(size=(300, 2))
    alphas = [0.2, 1.0, 0.5]
    frames, layouts = walked(P, start, [SCEScale(alpha) for alpha in alphas])
    for alpha, Y, layout in zip(alphas, frames, layouts, strict=True):
        means = objective.means(P, Y)
        assert layout.r == pytest.approx(1 / (alpha * means.q_P + (1 - alpha) * means.q_U), rel=0.02)
    assert layouts[0].r > layouts[2].r > layouts[1].r


def test_strong_repulsion_only_changes_the_size(graph):
    """Where all distances are large, the best map of another r is the same, sqrt(r) times as large; J is no worse for it."""
    P, start = graph(300, degree=1), np.random.default_rng(0).normal(size=(300, 2))
    frames, layouts = walked(P, start, [FixedScale(10.0**t) for t in (1, 5, 6, 7)])
    assert [layout.stop_reason == SAME_SHAPE for layout in layouts] == [False, False, True, True]
    for k in (2, 3):
        before, after = frames[k - 1], frames[k]
        assert after.std() / before.std() == pytest.approx(10**0.5, rel=0.01)
        np.testing.assert_allclose(after / after.std(), before / before.std(), atol=1e-4)
    last = [objective.objective(P, scale * frames[3].astype(np.float64), 1e7) for scale in (0.98, 1.0, 1.02)]
    assert np.argmin(last) == 1


def test_afresh_means_from_the_same_start(graph):
    """The map of an r is the same whatever other r are in the sweep."""
    P, start = graph(200, degree=1), np.random.default_rng(0).normal(size=(200, 2))
    many, _ = walked(P, start, [FixedScale(r) for r in (1.0, 5.0, 20.0)], afresh=True)
    alone, _ = walked(P, start, [FixedScale(20.0)], afresh=True)
    assert (many[2] == alone[0]).all()
    assert (walked(P, start, [FixedScale(r) for r in (1.0, 5.0, 20.0)])[0][2] != alone[0]).any()


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=20, unique=True))
def test_every_map_is_made_once_after_its_neighbour(logs):
    """The first is the one nearest to 0; every other is made from the one next to it, on the side of 0."""
    plan = _plan(logs)
    assert sorted(k for k, _ in plan) == list(range(len(logs)))
    assert plan[0] == (int(np.argmin(np.abs(logs))), None)
    rank = {k: place for place, k in enumerate(np.argsort(logs))}
    made = {plan[0][0]}
    for k, before in plan[1:]:
        assert before in made
        assert abs(rank[k] - rank[before]) == 1
        made.add(k)


@given(st.integers(0, 1000), st.booleans())
def test_turning_undoes_a_rotation_and_a_reflection(seed, mirrored):
    """And leaves distances, so no scale, alone."""
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(30, 2)) * [3, 1]
    Y -= Y.mean(axis=0)
    angle = rng.uniform(0, 2 * np.pi)
    Q = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    if mirrored:
        Q[0] *= -1
    np.testing.assert_allclose(turned(2 * Y @ Q + 5, like=Y), 2 * Y, atol=1e-9)
