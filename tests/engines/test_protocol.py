"""What the layout asks of an engine, and what an engine gets: the problem, nothing of the threads' own."""

import math

import numpy as np
import pytest

from layouts import make_problem
from sce import SCE
from sce.core.parallel import Team
from sce.engines.choose import make_engine
from sce.engines.threads import ThreadEngine
from sce.layout.engine import Lap, Outcome


class PlainSession:
    """Algorithm 1 in NumPy, all draws of a lap at once, with random numbers of its own."""

    def __init__(self, problem, Y):
        self.pairs, self.Y = problem.graph.P.tocoo(), np.array(Y, np.float32)
        self.rng = np.random.default_rng(problem.seed)

    def run(self, laps, *, measure=False):
        sums, before = np.zeros(5), self.Y.copy()
        for lap in laps:
            n = int(lap.steps)
            e = self.rng.choice(len(self.pairs.data), n, p=self.pairs.data / self.pairs.data.sum())
            q = self.move(self.pairs.row[e], self.pairs.col[e], lambda q, lap=lap: -lap.attraction * q)
            i, j = self.rng.integers(len(self.Y), size=(2, n))
            p = self.move(i, j, lambda q, lap=lap: lap.repulsion * q * q)
            sums += [q.sum(), -np.log(q).sum(), n, p[i != j].sum(), (i != j).sum()]
        moved, square = (float(np.square(Z).sum()) if measure else math.nan for Z in (self.Y - before, self.Y))
        return Outcome(*sums.tolist(), bool(np.isfinite(self.Y).all()), square, moved)

    def move(self, i, j, strength):
        away = self.Y[i] - self.Y[j]
        q = 1.0 / (1.0 + (away**2).sum(axis=1))
        step = np.clip(strength(q)[:, None] * away, -1.0, 1.0) / 20  # so many at once that each may go a short way only
        np.add.at(self.Y, i, step)
        np.add.at(self.Y, j, -step)
        return q

    def coordinates(self):
        return self.Y.copy()

    def close(self):
        self.Y = None


class PlainEngine:
    """Another engine: no blocks, no threads, other bytes."""

    reproducible = False

    def open(self, problem, start, coordinates=None):
        return PlainSession(problem, start if coordinates is None else coordinates)


def test_an_engine_needs_the_problem_alone():
    """An engine that shares no code with the threads makes a map of three clusters in which they are apart."""
    X = np.random.default_rng(0).normal(size=(300, 5)) + 12 * (np.arange(300) % 3)[:, None]
    model = SCE(engine=PlainEngine(), optimizer="sampler", tol=1e-6, n_epochs=150, random_state=0).fit(X)
    distances = np.square(model.embedding_[:, None] - model.embedding_).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (distances.argmin(axis=1) % 3 == np.arange(300) % 3).mean() > 0.95
    assert np.isfinite(model.history_["change"]).all()


def test_threads_promise_the_same_bytes_and_others_may_not():
    """Which an engine says itself."""
    assert make_engine("threads", Team(1)).reproducible
    assert not PlainEngine.reproducible


@pytest.mark.parametrize("d", [1, 2, 3])
def test_coordinates_go_in_and_out_in_the_order_of_the_data(graph, d):
    """What a session is opened with comes back, whatever its own order is; and it may begin elsewhere than it started."""
    start, other = np.random.default_rng(0).normal(size=(2, 500, d)).astype(np.float32)
    with Team(2) as team:
        problem, engine = make_problem(graph(500), team), ThreadEngine(team)
        np.testing.assert_array_equal(engine.open(problem, start).coordinates(), start)
        np.testing.assert_array_equal(engine.open(problem, start, other).coordinates(), other)


def test_a_session_says_how_far_the_map_moved(graph):
    """|Y|^2 and |dY|^2 over all laps of the call, and whether all is finite; NaN for what was not asked for."""
    start = np.random.default_rng(0).normal(size=(400, 2)).astype(np.float32)
    laps = [Lap(k, 2000.0, 1.0, np.float32(0.5), np.float32(1), np.float32(1.5), np.uint64(7)) for k in (0, 1)]
    with Team(2) as team:
        problem, engine = make_problem(graph(400), team), ThreadEngine(team)
        session = engine.open(problem, start)
        done = session.run(laps, measure=True)
        Y = session.coordinates().astype(np.float64)
        assert done.square == pytest.approx((Y**2).sum())
        assert done.moved == pytest.approx(((Y - start) ** 2).sum(), rel=1e-5)
        assert done.finite
        assert done.count_P == pytest.approx(4000, rel=0.02)
        again = engine.open(problem, start).run(laps)
        assert math.isnan(again.moved)
        assert again[:6] == done[:6]
        start[3, 0] = np.inf
        assert not engine.open(problem, start).run(laps).finite
