"""Groups drawn closer together."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from plot.drawing import normal
from sce.plot import scatter
from sce.plot.frames import view
from sce.plot.islands import draw_together


def far_groups(n_groups, n_points, apart=150.0):
    """Normal clouds at random places far from one another, and the number of the cloud of each point."""
    rng = np.random.default_rng(0)
    side = int(np.ceil(n_groups**0.5))
    places = np.stack(np.divmod(np.arange(n_groups), side), axis=1) * apart + rng.uniform(0, apart / 3, (n_groups, 2))
    group = np.arange(n_points) % n_groups
    return places[group] + rng.normal(size=(n_points, 2)), group


def covered(Y):
    """The share of a page of 20 x 20 squares that has points."""
    squares = np.floor((Y - Y.min(axis=0)) / np.ptp(Y, axis=0).max() * 19.99)
    return len(np.unique(squares, axis=0)) / 400


@pytest.mark.parametrize(("n_groups", "n_points"), [(3, 300), (10, 2_000), (60, 6_000), (10, 200_000)])
def test_small_groups_far_apart_fill_the_page(n_groups, n_points):
    """Each keeps its shape, none overlap, and they take much more of the page than where they lie."""
    Y, group = far_groups(n_groups, n_points)
    shown = view(Y)
    assert shown.together
    assert covered(shown.Y) > 2 * covered(Y)
    centers = []
    for k in range(n_groups):
        mine = group == k
        core = np.abs(Y[mine] - np.median(Y[mine], axis=0)).max(axis=1) < 2
        moves = (shown.Y - Y)[mine][core]
        assert np.ptp(moves, axis=0).max() < 1e-3 * np.ptp(Y)
        centers.append(np.median(shown.Y[mine], axis=0))
    assert pdist(centers).min() > 5


def test_neighbouring_groups_stay_neighbours():
    """A group in the upper left of a map is drawn there."""
    Y, group = far_groups(9, 1800)
    drawn = draw_together(Y)
    for axis in (0, 1):
        before, after = ([np.median(Z[group == k, axis]) for k in range(9)] for Z in (Y, drawn))
        assert np.corrcoef(before, after)[0, 1] > 0.95


@pytest.mark.parametrize(
    "Y",
    [normal(50), normal(5_000), np.random.default_rng(0).uniform(size=(60, 2)), np.zeros((5, 2)), np.eye(2)],
    ids=["few", "cloud", "uniform", "copies", "two"],
)
def test_what_has_no_far_groups_stays_as_it_is(Y):
    shown = view(Y)
    assert not shown.together
    np.testing.assert_array_equal(shown.Y, Y)


def test_the_picture_says_that_groups_are_drawn_closer_together():
    """And shows them where they lie on request."""
    Y, group = far_groups(5, 1000)
    assert scatter(Y, group).get_xlabel() == "groups are drawn closer together than they lie"
    for frame in ("near", "all"):
        ax = scatter(Y, group, frame=frame)
        assert ax.get_xlabel() == ""
        np.testing.assert_allclose(np.sort(ax.collections[0].get_offsets(), axis=0), np.sort(Y, axis=0))


def test_far_points_are_on_the_border_of_groups_drawn_together():
    Y, _ = far_groups(5, 1000)
    shown = view(np.vstack([Y, [[1e5, 1e5]]]))
    assert (shown.outside, shown.together) == (1, True)
    assert (shown.Y[-1] < shown.high).all()
    assert (shown.Y[-1] > shown.Y[:-1].max(axis=0)).all()
    np.testing.assert_array_equal(shown.Y[:-1], view(Y).Y)
