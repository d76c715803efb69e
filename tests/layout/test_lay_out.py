"""Sampler and full gradient, alone and one after the other."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from layouts import descend, make_problem, run
from sce.core.parallel import Team
from sce.graph.build import GraphOptions, build_affinity
from sce.layout import objective
from sce.layout.scale import FixedScale, SCEScale, SNEScale
from sce.layout.start import starting_points


def some(P):
    """A start."""
    return np.random.default_rng(0).normal(size=(P.shape[0], 2))


def test_each_alone_is_itself(graph):
    """The names mean the two optimisers."""
    P, start = graph(300), np.random.default_rng(1).normal(size=(300, 2)).astype(np.float32)
    descended = run(P, SCEScale(), "gradient", start=start, n_epochs=20)
    assert [record.learning_rate for record in descended.history] != [1 - k / 20 for k in range(20)]
    np.testing.assert_array_equal(descended.Y, descend(P, SCEScale(), start, n_epochs=20).Y)
    sampled = run(P, SCEScale(), "sampler", start=start, n_epochs=20)
    np.testing.assert_allclose([record.learning_rate for record in sampled.history], [1 - k / 20 for k in range(20)])


@pytest.fixture(scope="module")
def digits():
    """600 digits: P, and a start along two principal axes."""
    X = load_digits().data[:600]
    with Team(2) as team:
        P = build_affinity(X, GraphOptions("knn", 10), team, 0).P
        return P, starting_points(make_problem(P, team), "pca", 2, X)


@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_polishing_lowers_j_and_meets_equation_6(digits, alpha):
    """J at the final r is as low as the sampler's at as many epochs, within 0.2 %, and at many more, within 0.5 %."""
    P, start = digits
    rule = SCEScale(alpha)
    polished = run(P, rule, start=start, n_epochs=500)
    _, q_P, q_U = objective.means(P, polished.Y)
    assert polished.r == pytest.approx(rule.weight(q_P, q_U), rel=0.01)
    J = objective.objective(P, polished.Y, polished.r)
    for n_epochs, factor in {200: 0.998, 500: 0.998, 5000: 0.995}.items():
        sampled = run(P, rule, "sampler", start=start, n_epochs=n_epochs)
        assert factor * J < objective.objective(P, sampled.Y, polished.r)


def test_strong_repulsion_is_no_cloud(graph):
    """Where the sampler alone fails, the attraction stays what the minimum has, not several times that."""
    P = graph(800, degree=1)
    start = np.random.default_rng(0).normal(size=(800, 2))
    auto, sampler = (run(P, FixedScale(3000.0), name, start=start) for name in ("auto", "sampler"))
    assert objective.objective(P, auto.Y, 3000.0) < objective.objective(P, sampler.Y, 3000.0) - 0.5


def test_epochs_go_on_counting(graph):
    """One history, one count; the callback sees the same, and may stop either."""
    P, seen = graph(300), []

    def see(epoch, _, r, loss):
        seen.append((epoch, r, loss))

    layout = run(P, SNEScale(), start=some(P), n_epochs=30, callback=see)
    assert [record.epoch for record in layout.history] == list(range(1, len(layout.history) + 1))
    assert seen == [(record.epoch, record.r, record.loss) for record in layout.history]
    assert len(seen) > 35
    for last in (10, 35):
        stopped = run(P, SNEScale(), start=some(P), n_epochs=30, callback=lambda epoch, *_, last=last: epoch == last)
        assert (len(stopped.history), stopped.stop_reason) == (last, "stopped by the callback")


def test_threads_do_not_change_a_byte(graph):
    """From the start to the end of both."""
    P = graph(4000)
    results = [run(P, SNEScale(), start=some(P), n_epochs=3, n_jobs=n_jobs, tol=0.02) for n_jobs in (1, 2, 3)]
    for other in results[1:]:
        assert other.Y.tobytes() == results[0].Y.tobytes()
