"""The oracle agrees with first principles: finite differences, the paper's Appendix A, the rules for s."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sce.layout import objective as o
from sce.layout.scale import FixedScale, SCEScale, SNEScale


def random_problem(seed, n=12, d=2):
    rng = np.random.default_rng(seed)
    P = rng.random((n, n)) * (rng.random((n, n)) < 0.4)
    P = P + P.T
    np.fill_diagonal(P, 0.0)
    P[0, 1] = P[1, 0] = 1.0
    return P / P.sum(), rng.normal(size=(n, d)) * rng.uniform(0.1, 3), rng.uniform(0.5, 3.0, n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("r", [1e-3, 1.0, 50.0])
def test_gradient_is_the_derivative_of_the_objective(r, weighted):
    """Central differences of J give its gradient, with and without point weights."""
    P, Y, w = random_problem(3)
    weights = w if weighted else None
    G = o.gradient(P, Y, r, weights)
    for i, c in [(0, 0), (5, 1), (11, 0)]:
        up, down = Y.copy(), Y.copy()
        up[i, c] += 1e-5
        down[i, c] -= 1e-5
        slope = (o.objective(P, up, r, weights) - o.objective(P, down, r, weights)) / 2e-5
        assert slope == pytest.approx(G[i, c], rel=1e-5, abs=1e-8)


@given(st.integers(0, 2**31))
@settings(max_examples=30, deadline=None)
def test_appendix_a_the_best_s_turns_the_i_divergence_into_kl(seed):
    """min over s of D_I(P || s q) is at s = 1 / sum q and equals D_KL(P || Q)."""
    P, Y, _ = random_problem(seed)
    n = len(Y)
    r_sne = n * (n - 1) / o.similarities(Y).sum()
    best = o.i_divergence(P, Y, r_sne)
    assert best == pytest.approx(o.kl_divergence(P, Y), abs=1e-12)
    assert r_sne == pytest.approx(SNEScale().weight(*o.means(P, Y)[1:]))
    for factor in (0.5, 0.99, 1.01, 2.0):
        assert o.i_divergence(P, Y, factor * r_sne) > best


@given(st.integers(0, 2**31), st.floats(0, 1))
@settings(max_examples=30, deadline=None)
def test_scale_of_sce_is_equation_6(seed, alpha):
    """s = 1 / sum w_ij q_ij with w_ij = alpha N(N-1) P_ij + 1 - alpha; alpha = 0 is t-SNE's choice."""
    P, Y, _ = random_problem(seed)
    n = len(Y)
    q = o.similarities(Y)
    s = 1.0 / ((alpha * n * (n - 1) * P + (1 - alpha)) * q).sum()
    _, q_P, q_U = o.means(P, Y)
    assert SCEScale(alpha).weight(q_P, q_U) == pytest.approx(s * n * (n - 1))
    assert SCEScale(0.0).weight(q_P, q_U) == pytest.approx(SNEScale().weight(q_P, q_U))
    assert SNEScale(12.0).weight(q_P, q_U) == pytest.approx(SNEScale().weight(q_P, q_U) / 12)
    assert FixedScale(3.0).weight(q_P, q_U) == 3.0


@given(st.integers(0, 2**31), st.floats(1e-4, 1e4))
@settings(max_examples=30, deadline=None)
def test_objective_and_divergence_differ_by_a_constant(seed, r):
    """D_I - J does not depend on Y, with point weights too."""
    P, Y, w = random_problem(seed)
    differences = [o.i_divergence(P, Z, r, w) - o.objective(P, Z, r, w) for Z in (Y, 2 * Y + 1)]
    assert differences[0] == pytest.approx(differences[1], abs=1e-8 * (1 + r))


def test_weights_stand_for_copies():
    """A point of weight 2 repels like two points in one place, up to the missing repulsion between the two."""
    _, Y, _ = random_problem(8)
    n = len(Y)
    doubled = np.vstack([Y, Y[:1]])
    q = o.similarities(doubled)
    q[0, n] = q[n, 0] = 0.0
    w = np.ones(n)
    w[0] = 2.0
    W = np.outer(w, w)
    np.fill_diagonal(W, 0.0)
    assert (W * o.similarities(Y)).sum() == pytest.approx(q.sum())


def test_algorithm_1_parts_two_cliques():
    """The paper's algorithm puts two cliques with one link between them apart."""
    n = 16
    P = np.zeros((n, n))
    P[:8, :8] = P[8:, 8:] = 1.0
    P[0, 8] = P[8, 0] = 1.0
    np.fill_diagonal(P, 0.0)
    P /= P.sum()
    Y, r = o.algorithm_1(P, 3000, seed=1)
    inside = np.linalg.norm(Y[:8] - Y[:8].mean(0), axis=1).mean() + np.linalg.norm(Y[8:] - Y[8:].mean(0), axis=1).mean()
    between = np.linalg.norm(Y[:8].mean(0) - Y[8:].mean(0))
    assert between > 2 * inside
    assert r > 1.0


def test_algorithm_1_follows_the_papers_forgetting_rate():
    """After omega draws, s^-1 is a mean of N(N-1) parts of its start and omega parts of what was drawn."""
    P = np.array([[0.0, 0.5], [0.5, 0.0]])
    _, r = o.algorithm_1(P, 1, n_workers=1, alpha=1.0, seed=0)
    assert 1.0 < r < 3.0 / 2.0 + 1e-9  # N(N-1) = 2 parts of 1, one part of a q in (0, 1)
