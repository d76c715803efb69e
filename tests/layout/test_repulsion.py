"""The repulsion of all pairs, against the plain double sum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sce.layout.grid import ORDER, make_grid, smooth_field, spectrum, spline
from sce.layout.repulsion import choose_split, repulsion
from sce.parallel import Team


def exact(Y, charges):
    """Sums over all other points of q, and of q^2 (y_i - y_j), each times the other's charge."""
    difference = Y[:, None, :] - Y[None, :, :]
    q = 1.0 / (1.0 + (difference**2).sum(axis=2))
    np.fill_diagonal(q, 0.0)
    return q @ charges, ((q**2 * charges)[:, :, None] * difference).sum(axis=1)


def clusters(extent, n=1500, seed=0):
    """Points in clusters of several widths, over a square."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(0, extent, size=(10, 2))
    return centres[rng.integers(10, size=n)] + 0.03 * extent * rng.gamma(1, size=(n, 1)) * rng.normal(size=(n, 2))


def off(found, true):
    return np.linalg.norm(found - true) / np.linalg.norm(true)


@pytest.mark.parametrize("extent", [1e-6, 0.1, 3.0, 50.0, 300.0, 2e3, 1e5, 1e7])
@pytest.mark.parametrize("nodes", [128, 512])
def test_equals_the_double_sum_at_any_extent(extent, nodes):
    """Potentials to 2e-5, their sum to 3e-6, forces to 3e-4, with a grid of bounded size."""
    Y = clusters(extent)
    charges = np.random.default_rng(1).uniform(0.5, 2, size=len(Y))
    split = choose_split(Y, nodes)
    assert max(split.grid.nodes) <= nodes + ORDER + 1
    with Team(2) as team:
        found = repulsion(Y, charges, split, team)
    potential, force = exact(Y, charges)
    assert off(found.potential, potential) < 2e-5
    assert abs(found.potential.sum() / potential.sum() - 1) < 3e-6
    assert off(found.force, force) < 3e-4


def test_the_same_bytes_on_any_number_of_threads():
    """With and without near pairs."""
    for extent in (20.0, 5e3):
        Y, seen = clusters(extent, n=6000), set()
        for n_jobs in (1, 2, 3):
            with Team(n_jobs) as team:
                field = repulsion(Y, np.ones(len(Y)), choose_split(Y, 256), team)
            seen.add(field.potential.tobytes() + field.force.tobytes())
        assert len(seen) == 1


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points_and_copies(n):
    """A point feels nothing of itself; copies feel each other's potential and no force."""
    with Team(1) as team:
        Y = np.zeros((n, 2))
        field = repulsion(Y, np.ones(n), choose_split(Y), team)
    np.testing.assert_allclose(field.potential, n - 1, atol=1e-5)
    np.testing.assert_allclose(field.force, 0, atol=1e-6)


def test_forces_cancel():
    """Action and reaction: the sum over all points is nothing against its parts."""
    Y = clusters(400.0)
    with Team(1) as team:
        field = repulsion(Y, np.ones(len(Y)), choose_split(Y, 256), team)
    assert np.abs(field.force.sum(axis=0)).max() < 1e-4 * np.abs(field.force).sum()


@given(st.floats(0, 1, exclude_max=True))
def test_splines(f):
    """Weights are positive and sum to one, slopes to zero; they are those of the recursion of Cox and de Boor."""
    w, slope = np.empty(ORDER), np.empty(ORDER)
    spline(f, w, slope)

    def basis(p, x):
        if p == 1:
            return float(0 <= x < 1)
        return (x * basis(p - 1, x) + (p - x) * basis(p - 1, x - 1)) / (p - 1)

    np.testing.assert_allclose(w, [basis(ORDER, f + ORDER - 1 - k) for k in range(ORDER)], atol=1e-12)
    assert slope.sum() == pytest.approx(0, abs=1e-12)
    step = 1e-6
    if f < 1 - step:
        above, unused = np.empty(ORDER), np.empty(ORDER)
        spline(f + step, above, unused)
        np.testing.assert_allclose((above - w) / step, slope, atol=1e-5)


def test_a_gaussian_on_the_grid():
    """The grid alone sums any kernel that it is fine enough for."""
    Y = clusters(30.0, n=400)
    grid = make_grid(Y, 0.5)
    with Team(2) as team:
        potential, slope = smooth_field(Y, np.ones(400), grid, spectrum(grid, lambda s: np.exp(-s / 8)), team)
    difference = Y[:, None] - Y[None]
    G = np.exp(-(difference**2).sum(axis=2) / 8)
    np.testing.assert_allclose(potential, G.sum(axis=1), rtol=1e-6)
    assert off(slope, -(G[:, :, None] * difference / 4).sum(axis=1)) < 1e-5
