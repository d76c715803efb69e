"""The repulsion of all pairs, against the plain double sum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sce.core.parallel import Team
from sce.layout.gradient.repulsion import Repulsion

ASKED = {1: (1e-4, 1e-6), 2: (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8), 3: (1e-4, 1e-7)}  # kernels take time to compile
KINDS = ("cloud", "clusters", "thread", "disc", "outlier")


def exact(Y, charges):
    """Sums over all other points of q, and of q^2 (y_i - y_j), each times the other's charge."""
    difference = Y[:, None, :] - Y[None, :, :]
    q = 1.0 / (1.0 + (difference**2).sum(axis=2))
    np.fill_diagonal(q, 0.0)
    return q @ charges, ((q**2 * charges)[:, :, None] * difference).sum(axis=1)


def layout(kind, extent, n=700, d=2, seed=0):
    """A map of one of several kinds; clusters are tight however large the map is."""
    rng = np.random.default_rng(seed)
    normal, even = rng.normal(size=(n, d)), rng.uniform(size=(n, 1))
    if kind == "clusters":
        which = rng.integers(6, size=n)
        width = min(1.0, 0.1 * extent)
        return rng.uniform(0, extent, size=(6, d))[which] + width * rng.uniform(0.1, 1, 6)[which, None] * normal
    if kind == "thread":
        return extent * np.hstack([np.sin((3 + k) * even + k) for k in range(d)])
    if kind == "disc":
        return extent * normal / np.linalg.norm(normal, axis=1, keepdims=True) * even ** (1 / d)
    Y = normal * (extent / 5 if kind == "cloud" else min(extent, 10.0) / 5)
    if kind == "outlier":
        Y[0] = extent
    return Y


def off(found, true):
    """The size of the error against that of the truth."""
    return np.linalg.norm(found - true) / np.linalg.norm(true)


def summed(Y, charges=None, accuracy=1e-4, method="grid", n_jobs=2):
    """The field, from a new object."""
    charges = np.ones(len(Y)) if charges is None else charges
    with Team(n_jobs) as team:
        return Repulsion(charges, team, method)(Y, accuracy)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_is_as_accurate_as_asked(kind, d):
    """The error of the force is below what is asked for, at any extent, and that of the sum of potentials below 1e-4."""
    charges = np.random.default_rng(1).uniform(0.5, 2, size=700)
    extents = (1e-6, 0.3, 30.0, 1e3, 1e7) if d < 3 else (0.3, 300.0)
    with Team(2) as team:
        grid = Repulsion(charges, team, "grid")
        for extent in extents:
            Y = layout(kind, extent, d=d)
            potential, force = exact(Y, charges)
            for accuracy in ASKED[d]:
                found = grid(Y, accuracy)
                assert off(found.force, force) < accuracy, (extent, accuracy)
                assert abs(found.potential.sum() / potential.sum() - 1) < 1e-4, (extent, accuracy)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_all_pairs(d):
    """The exact method equals the double sum to rounding, for any number of points."""
    for n in (1, 2, 31, 33, 500):
        Y, charges = layout("clusters", 20.0, n, d), np.random.default_rng(n).uniform(0.5, 2, size=n)
        found = summed(Y, charges, method="exact")
        potential, force = exact(Y, charges)
        np.testing.assert_allclose(found.potential, potential, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.force, force, atol=1e-12 * n)


@pytest.mark.parametrize("method", ["exact", "grid"])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_same_bytes_on_any_number_of_threads(method, d):
    """With a grid alone, with near pairs and with grids for crowded parts."""
    maps = [("cloud", 20.0), ("clusters", 1e4), ("disc", 5e3)] if d < 3 else [("clusters", 300.0)]
    for kind, extent in maps:
        Y = layout(kind, extent, 12_000 if method == "grid" else 3000, d)
        seen = {b"".join(array.tobytes() for array in summed(Y, method=method, n_jobs=k)) for k in (1, 2, 3, 5)}
        assert len(seen) == 1


def test_the_same_bytes_whatever_was_summed_before():
    """What is kept between calls never changes a result."""
    maps = [layout(kind, extent, 3000) for kind in ("cloud", "clusters") for extent in (1.0, 40.0, 2e3)]
    with Team(2) as team:
        old = Repulsion(np.ones(3000), team, "grid")
        for Y in [*maps, *maps[::-1]]:
            for accuracy in (1e-3, 1e-5, 1e-6):
                new = Repulsion(np.ones(3000), team, "grid")(Y, accuracy)
                kept = old(Y, accuracy)
                assert kept.force.tobytes() == new.force.tobytes()
                assert kept.potential.tobytes() == new.potential.tobytes()


def test_crowded_parts_of_a_wide_map():
    """Tight clusters of thousands of points, an outlier far away: as accurate as elsewhere, on grids of their own."""
    Y = layout("clusters", 1e5, 9000)
    Y[0] = 3e6
    with Team(2) as team:
        true = Repulsion(np.ones(9000), team, "exact")(Y)
        grid = Repulsion(np.ones(9000), team, "grid")
        for accuracy in (1e-4, 1e-7):
            assert off(grid(Y, accuracy).force, true.force) < accuracy
        assert grid.n_bytes < 200e6


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 2, 3, 50])
def test_few_points_and_copies(n, d):
    """A point feels nothing of itself; copies feel each other's potential and no force."""
    field = summed(np.full((n, d), 7.0))
    np.testing.assert_allclose(field.potential, n - 1, atol=1e-12)
    np.testing.assert_allclose(field.force, 0, atol=1e-12)


@pytest.mark.parametrize("extent", [1e-300, 1e-12, 1.0, 1e7, 1e12])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_two_points_and_points_on_a_line(extent, d):
    """Finite and right for maps without a width, of any length."""
    for n in (2, 60):
        Y = np.zeros((n, d))
        Y[:, -1] = np.linspace(0, extent, n)
        field = summed(Y)
        potential, force = exact(Y, np.ones(n))
        assert np.isfinite(field.potential).all()
        np.testing.assert_allclose(field.potential.sum(), potential.sum(), rtol=1e-4)
        np.testing.assert_allclose(field.force / np.abs(force).max(), force / np.abs(force).max(), atol=1e-4)


@settings(max_examples=15, deadline=None)
@given(st.floats(-3, 5), st.floats(-1e3, 1e3), st.sampled_from(KINDS), st.sampled_from([1, 2]))
def test_moves_and_sums(power, shift, kind, d):
    """Moving the map changes nothing beyond the accuracy, and the forces on all points cancel."""
    Y = layout(kind, 10.0**power, 200, d)
    here, there = summed(Y, accuracy=1e-5), summed(Y + shift, accuracy=1e-5)
    assert off(there.force, here.force) < 2e-5 + 1e-12 * abs(shift) / 10.0**power
    assert np.abs(here.force.sum(axis=0)).max() < 1e-4 * np.abs(here.force).sum()


@settings(max_examples=15, deadline=None)
@given(st.floats(-1, 4), st.integers(0, 199), st.sampled_from(KINDS))
def test_the_force_is_minus_half_the_slope_of_the_potential(power, i, kind):
    """Of the potential energy, when a point moves a little."""
    Y = layout(kind, 10.0**power, 200)
    step = 1e-3 * min(1.0, 10.0**power)
    moved = [Y.copy(), Y.copy()]
    moved[0][i, 0] -= step
    moved[1][i, 0] += step
    before, after = (summed(Z, accuracy=1e-8).potential[i] for Z in moved)
    force = summed(Y, accuracy=1e-8).force
    assert -0.5 * (after - before) / (2 * step) == pytest.approx(force[i, 0], abs=1e-4 * np.abs(force).max())


def test_auto_is_one_of_the_two():
    """Few points are summed pair by pair, many on a grid."""
    for n, method in ((300, "exact"), (20_000, "grid")):
        Y = layout("cloud", 30.0, n)
        assert summed(Y, method="auto").force.tobytes() == summed(Y, method=method).force.tobytes()
