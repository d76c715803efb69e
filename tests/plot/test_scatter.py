"""The scatter plot."""

import numpy as np
import pytest

from sce import InputError
from sce.plot import scatter
from sce.plot.scatter import dot_size


def test_black_or_coloured_by_labels(tmp_path):
    """Without labels all dots are black; with labels each class has a colour and a line in the legend."""
    Y = np.random.default_rng(0).normal(size=(200, 2))
    ax = scatter(Y)
    assert (ax.collections[0].get_facecolor() == [0, 0, 0, 1]).all()
    ax = scatter(Y, labels=np.arange(200) % 3)
    assert len(np.unique(ax.collections[0].get_facecolor(), axis=0)) == 3
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2"]
    ax.figure.savefig(tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 1000


def test_the_picture_is_square():
    """Both axes span the same length, so that distances in the picture are those of the map."""
    ax = scatter(np.array([[0.0, 0.0], [10.0, 1.0]]))
    assert np.ptp(ax.get_xlim()) == pytest.approx(np.ptp(ax.get_ylim()))


def test_more_points_get_smaller_dots():
    """And never none."""
    sizes = [dot_size(n) for n in (1, 1000, 100_000, 10**8)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] > 0


def test_wrong_shapes_are_refused():
    """Three columns, or labels of another length."""
    with pytest.raises(InputError, match="two columns"):
        scatter(np.zeros((5, 3)))
    with pytest.raises(InputError, match="as many as the points, 5; they are 4"):
        scatter(np.zeros((5, 2)), labels=[1, 2, 3, 4])
    for Y in (np.zeros((0, 2)), np.full((3, 2), np.nan)):
        with pytest.raises(InputError, match="at least one row, and finite numbers only"):
            scatter(Y)
