"""The loop: reproducible, it reaches Eq. (6), keeps its history and stops when told."""

import numpy as np
import pytest
import scipy.sparse as sp

from layouts import run as lay_out
from sce.layout import objective
from sce.layout.scale import FixedScale, SCEScale, SNEScale


def clustered_graph(n_clusters=6, size=60, seed=0):
    """Clusters of random graphs with a few edges between them."""
    rng = np.random.default_rng(seed)
    n = n_clusters * size
    i = np.repeat(np.arange(n), 10)
    j = i // size * size + rng.integers(size, size=len(i))
    away = rng.random(len(i)) < 0.01
    j[away] = rng.integers(n, size=away.sum())
    A = sp.csr_matrix((np.ones(len(i)), (i, j)), (n, n))
    A = sp.lil_matrix(A.maximum(A.T))
    A.setdiag(0)
    A = sp.csr_matrix(A)
    A.eliminate_zeros()
    A.data[:] = 1.0
    return sp.csr_matrix(A / A.nnz).astype(np.float32)


def run(P, rule=None, *, n_jobs=1, d=2, start=None, **options):
    start = 0.01 * np.random.default_rng(0).normal(size=(P.shape[0], d)) if start is None else start
    options = {"n_epochs": 100} | options
    return lay_out(P, rule or SCEScale(), "sampler", start=start, n_jobs=n_jobs, n_components=start.shape[1], **options)


@pytest.mark.parametrize("alpha", [0.25, 0.5, 1.0])
def test_r_reaches_equation_6_from_a_random_start(alpha):
    """At the end of the run r is within 5 % of Eq. (6) at the final Y, computed exactly."""
    P = clustered_graph()
    layout = run(P, SCEScale(alpha), n_epochs=200)
    _, q_P, q_U = objective.means(P, layout.Y)
    assert layout.r == pytest.approx(SCEScale(alpha).weight(q_P, q_U), rel=0.05)
    assert max(record.r for record in layout.history) < 50


def test_the_papers_rate_stays_near_its_start():
    """With the paper's forgetting rate, N(N-1) draws of memory, r lags behind Eq. (6)."""
    P = clustered_graph()
    layout = run(P, SCEScale(0.5, forgetting="paper", start=1.0), n_epochs=5)
    _, q_P, q_U = objective.means(P, layout.Y)
    assert 1.0 < layout.r < 0.8 * SCEScale(0.5).weight(q_P, q_U)


def test_clusters_come_apart():
    """In the map, nearest neighbours are of the same cluster."""
    Y = run(clustered_graph()).Y
    cluster = np.repeat(np.arange(6), 60)
    distances = ((Y[:, None] - Y[None]) ** 2).sum(2)
    np.fill_diagonal(distances, np.inf)
    assert (cluster[distances.argmin(1)] == cluster).mean() > 0.97


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("weights", [None, "gamma"])
def test_threads_do_not_change_a_byte(graph, d, weights):
    """1, 2, 4 and 7 threads give the same coordinates, r and losses (the rounds are large enough to be shared out)."""
    P = graph(9000, weighted=True)
    w = np.random.default_rng(0).gamma(2.0, size=9000) if weights else None
    results = [run(P, n_jobs=n_jobs, d=d, n_epochs=3, weights=w) for n_jobs in (1, 2, 4, 7)]
    for other in results[1:]:
        assert other.Y.tobytes() == results[0].Y.tobytes()
        assert other.history[-1][:4] == results[0].history[-1][:4]


def test_equals_algorithm_1_at_equal_steps():
    """With the paper's rate and start, J(r = 1) is that of the sequential algorithm, within the spread of seeds."""
    P = clustered_graph(4, 30)
    n = P.shape[0]
    ours, papers = [], []
    for seed in range(3):
        start = np.random.default_rng(seed).normal(0, 0.01, (n, 2))
        layout = run(P, SCEScale(0.5, forgetting="paper", start=1.0), start=start, n_epochs=50, seed=seed)
        ours.append(objective.objective(P, layout.Y, 1.0))
        Y, _ = objective.algorithm_1(P, 50 * 10, n_workers=n, seed=seed)
        papers.append(objective.objective(P, Y, 1.0))
    assert np.mean(ours) < np.mean(papers) * 1.03 + np.std(papers)


@pytest.mark.parametrize("log_r", range(-4, 9))
def test_no_overflow_at_any_r(graph, log_r):
    """From r = 10^-4 to 10^8 coordinates, losses and r stay finite, from a start in one spot."""
    layout = run(graph(500, weighted=True), FixedScale(10.0**log_r), n_epochs=30)
    assert np.isfinite(layout.Y).all()
    assert np.abs(layout.Y).max() < 1e6
    assert all(np.isfinite(record[:4]).all() for record in layout.history)


@pytest.mark.parametrize("rule", [SNEScale(), SNEScale(12.0), SCEScale(0.0), SCEScale(0.5, forgetting=0.0)])
def test_rules_with_strong_repulsion_stay_finite(graph, rule):
    """t-SNE's scale, and Eq. (6) followed at once from a random start, are hard for the sampler, but finite."""
    layout = run(graph(800), rule, n_epochs=50)
    assert np.isfinite(layout.Y).all()
    assert np.isfinite(layout.r)


def test_loss_is_the_i_divergence(graph):
    """With a rate that has fallen to nothing, the reported loss is D_I at the final Y, within sampling error."""
    P = graph(400, weighted=True)
    w = np.random.default_rng(1).uniform(0.5, 2.0, 400)
    layout = run(P, FixedScale(3.0), n_epochs=300, weights=w)
    assert layout.history[-1].loss == pytest.approx(objective.i_divergence(P, layout.Y, 3.0, w), rel=0.02)


def test_history_has_a_record_for_each_epoch(graph):
    """Epochs count from 1, the rate falls linearly from its first value."""
    layout = run(graph(300), n_epochs=10, learning_rate=(0.8, 0.0))
    assert [record.epoch for record in layout.history] == list(range(1, 11))
    np.testing.assert_allclose([record.learning_rate for record in layout.history], 0.8 * (1 - np.arange(10) / 10))
    assert layout.stop_reason == "all epochs done"


def test_constant_learning_rate(graph):
    """The last rate may equal the first."""
    layout = run(graph(300), n_epochs=5, learning_rate=(0.3, 0.3))
    assert {record.learning_rate for record in layout.history} == {0.3}


def test_many_points_begin_with_a_higher_rate(graph):
    """Where no rate is given, it is 1 up to 20,000 points and grows as their fourth root beyond."""
    i = np.arange(320_000)
    ring = sp.csr_matrix((np.full(len(i), 1 / len(i), np.float32), (i, np.roll(i, 1))), (len(i), len(i)))
    assert [run(P, n_epochs=1).history[0].learning_rate for P in (graph(300), (ring + ring.T) / 2)] == [1.0, 2.0]


def test_callback_sees_the_map_and_may_stop(graph):
    """It is called as (epoch, Y, r, loss) with Y in the order of the data, and True ends the run."""
    P = clustered_graph()
    seen = []

    def callback(epoch, Y, r, loss):
        seen.append((epoch, Y, r, loss))
        return epoch == 7

    layout = run(P, callback=callback)
    assert [s[0] for s in seen] == list(range(1, 8))
    assert layout.stop_reason == "stopped by the callback"
    np.testing.assert_array_equal(seen[-1][1], layout.Y)
    assert seen[-1][2:] == (layout.history[-1].r, layout.history[-1].loss)


def test_tolerance_stops_when_y_and_r_have_settled(graph):
    """At a rate that falls to nothing, the last epochs change nothing, and the reason is kept."""
    layout = run(clustered_graph(), FixedScale(1.0), n_epochs=400, tol=1e-2)
    assert len(layout.history) < 400
    assert layout.history[-1].change < 1e-2
    assert layout.stop_reason == "relative changes of Y and r below tol = 0.01"


def test_several_repulsive_draws_lower_the_noise_not_the_force():
    """Five draws that each push a fifth as far lead to the same objective."""
    P = clustered_graph()
    one = objective.objective(P, run(P, FixedScale(2.0), n_epochs=200).Y, 2.0)
    five = objective.objective(P, run(P, FixedScale(2.0), n_epochs=200, n_repulsive=5).Y, 2.0)
    assert five == pytest.approx(one, rel=0.05)


def test_heavier_points_take_more_room():
    """A cluster whose points weigh more is pushed farther from its neighbours than one that weighs less."""
    P = clustered_graph(3, 60)
    w = np.ones(180)
    w[:60] = 20.0
    light = run(P, FixedScale(5.0), n_epochs=300).Y
    heavy = run(P, FixedScale(5.0), n_epochs=300, weights=w).Y

    def radius(Y):
        return np.linalg.norm(Y[:60] - Y[:60].mean(0), axis=1).mean()

    assert radius(heavy) > 1.2 * radius(light)


def test_isolated_points_stay_within_reach(graph):
    """A point without an edge is pushed out, and not beyond all bounds."""
    P = sp.lil_matrix(graph(300))
    P[5, :] = 0
    P[:, 5] = 0
    Y = run(sp.csr_matrix(P), n_epochs=200).Y
    extent = np.abs(np.delete(Y, 5, axis=0)).max()
    assert np.abs(Y[5]).max() < 20 * extent


def test_a_hub_is_no_outlier():
    """The centre of a star of 2,000 points lies among them."""
    n = 2000
    i = np.arange(1, n)
    A = sp.csr_matrix((np.ones(n - 1), (np.zeros(n - 1, int), i)), (n, n))
    P = sp.csr_matrix((A + A.T) / (2 * (n - 1))).astype(np.float32)
    Y = run(P, n_epochs=100).Y
    assert np.linalg.norm(Y[0] - np.median(Y, 0)) < 3 * np.linalg.norm(Y - np.median(Y, 0), axis=1).mean()
