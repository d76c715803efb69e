"""The full gradient on its way: to the minimum at any r, to the rule, and no further."""

import itertools

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from sklearn.datasets import load_digits

from layouts import descend as run
from sce.core.parallel import Team
from sce.graph.build import GraphOptions, build_affinity
from sce.layout import objective
from sce.layout.components import LINK_WEIGHT
from sce.layout.gradient.continuation import KEPT
from sce.layout.scale import FixedScale, SCEScale, SNEScale

DECADES = (-4, -2, -1, 0, 1, 2, 4, 6, 8)


@pytest.fixture(scope="module")
def digits():
    """500 digits: P, and a start along two principal axes."""
    X = load_digits().data[:500]
    with Team(2) as team:
        P = build_affinity(X, GraphOptions("knn", 10), team, 0).P
    axes = np.linalg.svd(X - X.mean(0), full_matrices=False)[0][:, :2]
    return P, axes / axes.std()


@pytest.fixture(scope="module")
def family(digits):
    """Maps of the digits at r = 10^-4 to 10^8, each from the start, by the grid."""
    P, start = digits
    return {t: run(P, FixedScale(10.0**t), start, method="grid") for t in DECADES}


def excess(P, Y, r):
    """J(Y; r) - r, without cancellation where the map is nearly a point: all similarities are 1 there."""
    m = objective.means(P, Y)
    q = objective.similarities(np.asarray(Y, np.float64))
    away = (1.0 / np.where(q > 0, q, 1.0) - 1.0) * q  # 1 - q, zero on the diagonal
    return m.attraction - r * away.sum() / (len(Y) * (len(Y) - 1))


def long_run(P, Y, r):
    """The excess after many iterations of SciPy's L-BFGS with the exact gradient."""
    shape = Y.shape

    def value_and_slope(y):
        Y = y.reshape(shape)
        return objective.objective(P, Y, r), objective.gradient(P, Y, r).ravel()

    options = {"maxiter": 60, "maxfun": 80}
    y = scipy.optimize.minimize(value_and_slope, Y.ravel(), jac=True, method="L-BFGS-B", options=options).x
    return excess(P, y.reshape(shape), r)


def best_scaled(P, start, r):
    return min(excess(P, c * start, r) for c in 10.0 ** np.arange(-6, 6.5, 0.5))


@pytest.mark.parametrize("t", [-4, -2, -1, 0, 1, 2, 4, 8])
def test_closes_the_gap(digits, family, t):
    """At least 98 % of that between the best-scaled start and a long exact run from this very map on."""
    P, start = digits
    r, Y = 10.0**t, family[t].Y.astype(np.float64)
    first, found = best_scaled(P, start, r), excess(P, Y, r)
    best = min(found, long_run(P, Y, r))
    assert first - found >= 0.98 * (first - best)


def test_repulsion_falls_along_the_family(family, digits):
    """E_U never rises by more than 1 % as r grows."""
    E = [objective.means(digits[0], layout.Y).q_U for layout in family.values()]
    assert all(after <= 1.01 * before for before, after in itertools.pairwise(E))


def test_the_gradient_vanishes(digits, family):
    """In the maps of the middle of the family the two forces cancel: what is left is a fifth of either at most."""
    P = digits[0]
    for t in DECADES[2:]:
        Y, r = family[t].Y, 10.0**t
        left, pull = objective.gradient(P, Y, r), objective.gradient(P, Y, 0.0)
        assert np.linalg.norm(left) < 0.2 * np.linalg.norm(pull), t


def test_weak_repulsion_ends_in_a_point(digits, family):
    """Below N - 1 times the second eigenvalue of the Laplacian, and nowhere else; and the reason says so."""
    P = digits[0].toarray()
    second = 499 * np.linalg.eigvalsh(np.diag(P.sum(axis=1)) - P)[1]
    for t, layout in family.items():
        assert layout.r == 10.0**t
        is_point = "single point" in layout.stop_reason
        assert is_point == (10.0**t < second), (t, second)
        assert (layout.Y.std() < 1e-4) == is_point


@pytest.mark.parametrize(("r", "is_point"), [(0.45, True), (0.55, False)])
def test_where_the_point_ends(r, is_point):
    """At N - 1 times the second eigenvalue of the Laplacian: 0.5 for a star of any size, whose normalised one has 1."""
    A = np.zeros((50, 50), np.float32)
    A[0, 1:] = A[1:, 0] = 1 / 98
    layout = run(sp.csr_matrix(A), FixedScale(r), np.random.default_rng(0).normal(size=(50, 2)))
    assert ("single point" in layout.stop_reason) == is_point


def test_a_start_in_one_spot_is_separated(digits):
    """By a little noise, since no force can."""
    P, start = digits
    spot, large = (run(P, FixedScale(1.0), c * start) for c in (0.0, 1.0))
    assert objective.objective(P, spot.Y, 1.0) == pytest.approx(objective.objective(P, large.Y, 1.0), rel=0.05)


def test_iterations_may_end_on_the_way(digits):
    """Then the reason says so, and r is the one that was reached."""
    P, start = digits
    layout = run(P, FixedScale(1e8), start, n_epochs=20)
    assert layout.r < 1e3
    assert layout.stop_reason == "all iterations done before reaching the rule's r, 1e+08"


def test_a_small_start_is_no_point(digits):
    """A start of any size leads to the same place: only what shrinks again is a point."""
    P, start = digits
    small, large = (run(P, FixedScale(1.0), c * start) for c in (1e-6, 1.0))
    assert "point" not in small.stop_reason
    assert objective.objective(P, small.Y, 1.0) == pytest.approx(objective.objective(P, large.Y, 1.0), rel=0.01)


@pytest.mark.parametrize("rule", [SCEScale(a) for a in (0.0, 0.25, 0.5, 0.75, 1.0)] + [SNEScale(), SNEScale(12.0)])
def test_r_is_what_the_rule_says(digits, rule):
    """At the final map, exactly computed, within 0.1 %."""
    P, start = digits
    layout = run(P, rule, start)
    _, q_P, q_U = objective.means(P, layout.Y)
    assert layout.r == pytest.approx(rule.weight(q_P, q_U), rel=1e-3)


def test_t_sne_minimises_its_own_divergence(digits):
    """SNEScale, and SCEScale(0), end where D_KL is no higher than at the fixed r they arrive at."""
    P, start = digits
    sne = run(P, SNEScale(), start)
    fixed = run(P, FixedScale(sne.r), start)
    assert objective.kl_divergence(P, sne.Y) < 1.005 * objective.kl_divergence(P, fixed.Y)
    assert sne.history[-1].loss == pytest.approx(objective.kl_divergence(P, sne.Y), rel=1e-4)


def test_loss_is_the_i_divergence(digits):
    """With weights, exactly, at every iteration."""
    P, start = digits
    w = np.random.default_rng(0).uniform(0.5, 2.0, 500)
    for rule in (FixedScale(3.0), FixedScale(1000.0)):
        seen = []
        run(P, rule, start, weights=w, callback=lambda _, Y, r, loss, seen=seen: seen.append((Y, r, loss)) and None)
        for Y, r, loss in seen[:: max(len(seen) // 15, 1)]:
            assert loss == pytest.approx(objective.i_divergence(P, Y, r, w), rel=1e-5)


def test_a_warm_start_goes_on_from_its_own_r(digits, family):
    """From the map at r = 100 to r = 150 in a few iterations that leave it in shape; nothing is done twice."""
    P = digits[0]
    before = family[2]
    layout = run(P, FixedScale(150.0), before.Y)
    assert min(record.r for record in layout.history) >= 100.0
    assert len(layout.history) < len(family[2].history)
    a, b = before.Y / before.Y.std(), layout.Y / layout.Y.std()
    assert np.linalg.norm(a - b) < 0.15 * np.linalg.norm(a)


def test_tolerance_and_its_reason(digits):
    """A tighter one takes longer and gets lower; 0 runs on; the reason names what happened."""
    P, start = digits
    loose, tight = (run(P, FixedScale(1.0), start, tol=tol) for tol in (1e-2, 1e-4))
    assert "tol = 0.01" in loose.stop_reason
    assert "tol = 0.0001" in tight.stop_reason
    assert len(tight.history) > len(loose.history)
    assert tight.history[-1].loss <= loose.history[-1].loss
    forever = run(P, FixedScale(1.0), start, tol=0.0, n_epochs=70)
    assert (len(forever.history), forever.stop_reason) == (70, "all iterations done")


def test_callback_may_stop(digits):
    """It sees the map of each iteration, which is the result if it says True."""
    P, start = digits
    seen = []
    layout = run(P, SCEScale(), start, callback=lambda epoch, Y, *_: seen.append(Y) or epoch == 4)
    assert layout.stop_reason == "stopped by the callback"
    assert [record.epoch for record in layout.history] == [1, 2, 3, 4]
    np.testing.assert_array_equal(seen[-1], layout.Y)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("method", ["exact", "grid"])
def test_threads_do_not_change_a_byte(graph, d, method):
    """1, 2 and 3 threads give the same map and the same history, in any dimension."""
    P, start = graph(3000, weighted=True), np.random.default_rng(0).normal(size=(3000, d))
    results = [run(P, SCEScale(), start, n_jobs=n_jobs, method=method, n_epochs=4) for n_jobs in (1, 2, 3)]
    for other in results[1:]:
        assert other.Y.tobytes() == results[0].Y.tobytes()
        assert other.history == results[0].history


@pytest.mark.parametrize("rule", [FixedScale(1.0), FixedScale(1e4), SNEScale(), SCEScale()])
def test_components_stay_in_reach(rule):
    """A P in four parts, of which one is a single point, has no minimum; it gets a map of bounded extent, and stops."""
    rng = np.random.default_rng(0)
    blocks = [sp.random(n, n, 0.2, random_state=1, data_rvs=lambda k: rng.uniform(1, 2, k)) for n in (60, 40, 30)]
    A = sp.lil_matrix(sp.block_diag([*blocks, sp.csr_matrix((1, 1))]))
    A.setdiag(0)
    A = sp.csr_matrix(A)
    P = sp.csr_matrix((A + A.T) / (2 * A.sum())).astype(np.float32)
    layout = run(P, rule, rng.normal(size=(131, 2)), tol=1e-5, n_epochs=3000)
    assert "all iterations" not in layout.stop_reason
    assert np.abs(layout.Y).max() < 4.0 * np.sqrt(layout.r / LINK_WEIGHT)
    again = run(P, rule, layout.Y, tol=1e-5, n_epochs=500)
    assert np.abs(again.Y).max() < 1.2 * np.abs(layout.Y).max()


def test_a_start_with_a_lower_loss_is_kept():
    """Two components far apart, each at its minimum: links can only pull them together, and J of P rises."""
    pair = sp.csr_matrix(np.array([[0.0, 1.0], [1.0, 0.0]]))
    P = sp.csr_matrix(sp.block_diag([pair, pair]) / 4.0).astype(np.float32)
    gap = np.sqrt(10.0 / 3.0 - 1.0)  # the minimum of ln(1 + gap^2) + 10 / 3 / (1 + gap^2)
    start = np.array([[0.0, 0.0], [gap, 0.0], [0.0, 1e4], [gap, 1e4]])
    layout = run(P, FixedScale(10.0), start, tol=1e-9, n_epochs=50)
    assert layout.stop_reason == KEPT
    np.testing.assert_allclose(layout.Y, start - start.mean(axis=0), atol=1e-3)


@pytest.mark.parametrize("r", [1e-30, 1e12, 1e30])
def test_any_r_is_finite(digits, r):
    """Far beyond all that makes sense, there are still numbers."""
    P, start = digits
    layout = run(P, FixedScale(r), start)
    assert layout.r == r
    assert np.isfinite(layout.Y).all()
    assert all(np.isfinite(record).all() for record in layout.history)


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("rule", [FixedScale(1e-3), FixedScale(5.0), SNEScale(), SCEScale()])
def test_a_handful_of_points(n, rule):
    """Gets a finite map and a reason."""
    P = sp.csr_matrix((np.ones((n, n)) - np.eye(n)) / (n * (n - 1))).astype(np.float32)
    layout = run(P, rule, np.random.default_rng(n).normal(size=(n, 2)))
    assert np.isfinite(layout.Y).all()
    assert "all iterations" not in layout.stop_reason


def test_coinciding_points_come_apart(digits):
    """Two points with the same neighbours lie on one another while the repulsion is weak, and apart where it is strong."""
    P, start = digits
    twice = sp.csr_matrix(sp.bmat([[P, P], [P, P]]) / 4.0).astype(np.float32)
    layout = run(twice, FixedScale(1e6), np.vstack([start, start]))
    apart = np.linalg.norm(layout.Y[:500] - layout.Y[500:], axis=1)
    assert apart.min() > 1e-3 * layout.Y.std()
