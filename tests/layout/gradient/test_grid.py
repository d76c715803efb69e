"""Splines, and the convolution on a grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sce.core.parallel import Team
from sce.layout.gradient.grid import Workspace, make_grid, padded_length, smooth_field, spectrum
from sce.layout.gradient.pairs import around
from sce.layout.gradient.splines import coefficients, spread
from sce.layout.gradient.split import PADDED_NODES_AT_MOST, choose_split, precision_for, sharpest, survey
from sce.layout.gradient.tiles import AXES, Frame, embed, sort_points


@given(st.floats(0, 1, exclude_max=True), st.sampled_from([3, 8, 12, 16]))
def test_splines(f, order):
    """Weights are those of the recursion of Cox and de Boor and sum to one, slopes are their slopes and sum to zero."""

    def basis(p, x):
        if p == 1:
            return float(0 <= x < 1)
        return (x * basis(p - 1, x) + (p - x) * basis(p - 1, x - 1)) / (p - 1)

    powers = (f - 0.5) ** np.arange(order)
    weights, slopes = powers @ coefficients(order)
    if order < 12:
        np.testing.assert_allclose(weights, [basis(order, f + order - 1 - k) for k in range(order)], atol=1e-12)
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert slopes.sum() == pytest.approx(0, abs=1e-12)
    above = (f + 1e-6 - 0.5) ** np.arange(order) @ coefficients(order)[0]
    np.testing.assert_allclose((above - weights) / 1e-6, slopes, atol=1e-5)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_spreading(d):
    """The kernel equals the outer product of weights, point by point."""
    rng, order, n = np.random.default_rng(0), 8, 45
    mesh = np.zeros((3, n))
    mesh[list(AXES[d])] = rng.uniform(0, 5, size=(d, n))
    grid = make_grid(np.zeros(3), np.full(3, 5.0), AXES[d], 1.0, order)
    charges, density, twin = rng.uniform(size=n), np.zeros(grid.nodes), np.zeros(grid.nodes)
    spread(mesh, charges, coefficients(order), grid.orders, (0, n), density)
    for i in range(n):
        first = mesh[:, i].astype(int)
        u, v, w = (
            (mesh[k, i] - first[k] - 0.5) ** np.arange(order) @ coefficients(order)[0] if k in AXES[d] else np.ones(1)
            for k in range(3)
        )
        a, b, c = (slice(start, start + len(x)) for start, x in zip(first, (u, v, w), strict=True))
        twin[a, b, c] += charges[i] * u[:, None, None] * v[None, :, None] * w[None, None, :]
    np.testing.assert_allclose(density, twin, atol=1e-13)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_gaussian_on_the_grid(d):
    """The grid alone sums any kernel that it is fine enough for."""
    rng, n = np.random.default_rng(0), 300
    points = embed(rng.uniform(0, 12, size=(n, d)))
    low = points.min(axis=0)
    grid = make_grid(low, points.max(axis=0) - low, AXES[d], 0.5, 8)
    shape = tuple(24 // 8 + 1 if axis in AXES[d] else 1 for axis in range(3))
    with Team(2) as team:
        tiles = sort_points(points, np.ones(n), Frame(low, 2.0, 8, shape), team)
        field = smooth_field(tiles, grid, spectrum(grid, lambda s: np.exp(-s / 8)), team, Workspace())
    points = tiles.points.T
    difference = points[:, None] - points[None]
    G = np.exp(-(difference**2).sum(axis=2) / 8)
    np.testing.assert_allclose(field[:, 0], G.sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(field[:, 1:], -(G[:, :, None] * difference / 4).sum(axis=1), atol=1e-5)


def test_tiles_hold_their_points():
    """Every point is in the tile of its place, and points of a tile are in the order of the data."""
    Y = np.random.default_rng(0).uniform(0, 10, size=(500, 2))
    with Team(2) as team:
        tiles = sort_points(embed(Y), np.arange(500.0), Frame(np.zeros(3), 2.0, 5, (1, 4, 4)), team)
    np.testing.assert_array_equal(np.sort(tiles.order), np.arange(500))
    np.testing.assert_array_equal(tiles.charges, tiles.order)
    for tile in range(16):
        members = tiles.order[tiles.starts[tile] : tiles.starts[tile + 1]]
        assert (np.diff(members) > 0).all()
        np.testing.assert_array_equal(Y[members] // 2.5, np.tile(divmod(tile, 4), (len(members), 1)))


def test_sums_around_a_tile():
    """Equal to a loop over the tiles that touch it."""
    counts = np.random.default_rng(0).integers(9, size=(3, 4, 5))
    padded = np.pad(counts, 1)
    for a, b, c in np.ndindex(counts.shape):
        assert around(counts)[a, b, c] == padded[a : a + 3, b : b + 3, c : c + 3].sum()


@given(st.floats(0.05, 1e6), st.sampled_from([1e-3, 1e-4, 1e-6, 1e-8]))
def test_what_the_grid_cannot_show_is_below_the_tolerance(step, accuracy):
    """T + (pi / h)^2 / (4 T) is L, or T is infinite and pi / h at least L."""
    L = precision_for(accuracy).L
    T = sharpest(step, L)
    wave = np.pi / step
    if np.isinf(T):
        assert wave >= L * (1 - 1e-8)
    else:
        assert T + wave**2 / (4 * T) == pytest.approx(L)


@pytest.mark.parametrize("extent", [300.0, 500.0, 1e3, 1e5])
def test_the_grid_is_bounded(extent):
    """However many points there are, for which a large grid would be cheap."""
    points = embed(extent * np.random.default_rng(0).uniform(size=(400_000, 2)))
    for precision in map(precision_for, (1e-4, 1e-8)):
        split = choose_split(
            survey(points, AXES[2], points.min(axis=0), np.ptp(points, axis=0), precision), precision, 0.0
        )
        assert (
            padded_length(int(extent / split.step) + precision.order + 1, np.inf, precision.fade)
            <= PADDED_NODES_AT_MOST[2]
        )


@pytest.mark.parametrize("extent", [1.0, 100.0, 1e4, 1e9, 1e60])
def test_the_split_is_affordable(extent):
    """A mesh is found for any extent, at a finite cost, and never finer than the kernel needs."""
    points, precision = embed(extent * np.random.default_rng(0).uniform(size=(20_000, 2))), precision_for(1e-4)
    crowd = survey(points, AXES[2], points.min(axis=0), np.ptp(points, axis=0), precision)
    split = choose_split(crowd, precision, 0.0)
    assert np.isfinite(split.cost)
    assert split.step >= min(np.pi / precision.L, extent / 30) * (1 - 1e-9)
