"""The part of a map that a picture shows."""

import numpy as np
import pytest

from plot.drawing import normal
from sce import ParameterError
from sce.plot import scatter
from sce.plot.frames import view


def with_far_points(n, far):
    """A normal cloud, and points a thousand deviations away."""
    return np.vstack([normal(n), np.full((far, 2), 1000.0)])


@pytest.mark.parametrize("n", [2_000, 150_000])
def test_few_far_points_do_not_shrink_the_others(n):
    """They are drawn on the border, markers and image alike, and counted; frame="all" shows them where they are."""
    Y = with_far_points(n, 2)
    ax = scatter(Y)
    assert ax.get_xlim()[1] < 20
    assert "points on the border lie farther out" in ax.get_xlabel()
    if n < 100_000:
        drawn = np.asarray(ax.collections[0].get_offsets())
        assert (drawn < [ax.get_xlim()[1], ax.get_ylim()[1]]).all()
        assert len(drawn) == len(Y)
    whole = scatter(Y, frame="all")
    assert whole.get_xlim()[1] > 1000
    assert whole.get_xlabel() == ""


@pytest.mark.parametrize("n", [300, 30_000, 1_000_000])
def test_tails_are_not_far(n):
    """All points of a normal cloud are where they are."""
    shown = view(normal(n))
    assert shown.outside == 0
    assert (shown.low <= shown.Y).all()
    assert (shown.high >= shown.Y).all()


def test_a_small_cluster_is_never_on_the_border():
    """One point in a hundred is too many to be moved."""
    assert view(with_far_points(990, 10)).outside == 0


def test_lines_and_depth_show_everything():
    for columns in (1, 3):
        Y = np.vstack([normal(2000, columns), np.full((1, columns), 1000.0)])
        assert view(Y).outside == 0


def test_the_points_given_stay_as_they_are():
    Y = with_far_points(2000, 1)
    before = Y.copy()
    scatter(Y)
    np.testing.assert_array_equal(Y, before)


def test_another_frame_is_refused():
    with pytest.raises(ParameterError, match="frame must be 'auto', 'near' or 'all'; got 'tight'"):
        scatter(normal(10), frame="tight")
