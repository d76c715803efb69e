"""The full gradient against its NumPy twin, the exact objective."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sce.core.parallel import Team
from sce.layout import objective
from sce.layout.gradient.attraction import _logarithm
from sce.layout.gradient.terms import Gradient
from sce.layout.similarities import Similarities


def evaluate(P, Y, weights=None, n_jobs=2, method="exact", accuracy=1e-4):
    with Team(n_jobs) as team:
        return Gradient(Similarities(P, team), weights, method)(Y, accuracy)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_terms_are_the_exact_ones(graph, d, weighted):
    """Both means, the attraction and the gradient at any r are those of the plain double sums."""
    rng = np.random.default_rng(d)
    P, Y = graph(300, weighted=True), 3.0 * rng.normal(size=(300, d))
    w = rng.gamma(2.0, size=300) if weighted else None
    terms = evaluate(P, Y, w)
    expected = objective.means(P, Y, w)
    np.testing.assert_allclose((terms.attraction, terms.mean_q_P, terms.mean_q_U), expected, rtol=1e-9)
    for r in (0.01, 1.0, 1000.0):
        exact = objective.gradient(P, Y, r, w)
        np.testing.assert_allclose(terms.pull + r * terms.push, exact, atol=1e-9 * np.abs(exact).max())


@pytest.mark.parametrize("d", [2, 3])
def test_the_grid_gives_the_same(graph, d):
    """By interpolation, to the accuracy that was asked for."""
    P, Y = graph(1000), 8.0 * np.random.default_rng(0).normal(size=(1000, d))
    exact, fast = evaluate(P, Y), evaluate(P, Y, method="grid", accuracy=1e-5)
    assert np.linalg.norm(fast.push - exact.push) < 1e-5 * np.linalg.norm(exact.push)
    assert fast.mean_q_U == pytest.approx(exact.mean_q_U, rel=1e-5)


def test_threads_do_not_change_a_byte(graph):
    """Pieces are summed in their order, whoever computed them."""
    P, Y = graph(9000, weighted=True), np.random.default_rng(0).normal(size=(9000, 2))
    results = []
    for n_jobs in (1, 2, 3):
        with Team(n_jobs) as team:
            results.append(Similarities(P, team).attract(Y))
    for other in results[1:]:
        assert other[:2] == results[0][:2]
        assert other[2].tobytes() == results[0][2].tobytes()


@given(st.floats(1.0, 1e300))
def test_logarithm(u):
    """To 1e-11 of the library's, also close to 1, where it is nearly 0."""
    assert _logarithm(u) == pytest.approx(math.log(u), rel=1e-11, abs=1e-16)


def test_points_without_edges(graph):
    """Are pulled nowhere."""
    P = graph(50).tolil()
    P[7, :] = 0
    P[:, 7] = 0
    terms = evaluate(P.tocsr(), np.random.default_rng(0).normal(size=(50, 2)))
    assert terms.pull[7].tolist() == [0.0, 0.0]
