"""L-BFGS: the directions of the textbook's two loops."""

import numpy as np
import pytest

from sce.core.parallel import Team
from sce.layout.gradient.lbfgs import STEPS_KEPT, Memory


def two_loops(G, pairs, H, factor):
    """Nocedal's two loops with the first guess factor * H."""
    q, back = G.copy(), []
    for s, y in reversed(pairs):
        back.append(s @ q / (s @ y))
        q = q - back[-1] * y
    p = factor * (H @ q)
    for (s, y), a in zip(pairs, reversed(back), strict=True):
        p = p + (a - y @ p / (s @ y)) * s
    return -p


@pytest.mark.parametrize("kept", [0, 1, 3, STEPS_KEPT, STEPS_KEPT + 4])
def test_directions_are_the_textbooks(kept):
    """With fewer, as many and more steps than are remembered."""
    rng = np.random.default_rng(kept)
    A, B = rng.normal(size=(2, 30, 30))
    A, H = A @ A.T + np.eye(30), B @ B.T + np.eye(30)
    pairs, factor = [], 1.0
    with Team(2) as team:
        memory = Memory(30, team)
        for _ in range(kept):
            s = rng.normal(size=30)
            y = A @ s
            memory.keep(s, y, H @ y)
            pairs, factor = [*pairs, (s, y)][-STEPS_KEPT:], s @ y / (y @ H @ y)
        G = rng.normal(size=30)
        expected = two_loops(G, pairs, H, factor)
        np.testing.assert_allclose(memory.direction(G, H @ G), expected, atol=2e-5 * np.abs(expected).max())


def test_negative_curvature_is_not_kept():
    """Along such a step a quadratic has no minimum."""
    G = np.array([1.0, 2.0])
    with Team(1) as team:
        memory = Memory(2, team)
        memory.keep(np.array([1.0, 0.0]), np.array([-1.0, 0.0]), np.array([-1.0, 0.0]))
        memory.keep(np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array([-1.0, 0.0]))
        memory.keep(np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array([0.0, 0.0]))
        np.testing.assert_array_equal(memory.direction(G, G), -G)


def test_forgetting_keeps_the_size_of_steps():
    """The steps are gone, the factor on the first guess is not."""
    G = np.array([1.0, 2.0])
    with Team(1) as team:
        memory = Memory(2, team)
        memory.keep(np.array([3.0, 0.0]), np.array([1.0, 0.0]), np.array([1.0, 0.0]))
        memory.forget()
        np.testing.assert_array_equal(memory.direction(G, G), -3.0 * G)


def test_threads_do_not_change_a_byte():
    """Inner products are summed in pieces of fixed size."""
    rng = np.random.default_rng(0)
    s, y, G = rng.normal(size=(3, 50_000))
    y = y + 3.0 * s
    results = []
    for n_jobs in (1, 2, 3):
        with Team(n_jobs) as team:
            memory = Memory(50_000, team)
            memory.keep(s, y, y)
            results.append((memory.dot(s, G), memory.direction(G, G).tobytes()))
    assert results[0] == results[1] == results[2]
