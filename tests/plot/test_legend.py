"""What stands beside a picture, and the room it takes."""

import numpy as np
from matplotlib.figure import Figure

from plot.drawing import legend_of, normal, written
from sce.plot import scatter


def test_a_legend_has_the_height_of_the_picture_at_most():
    """In columns, up to forty classes; in the figure as a whole, so nothing is cut off."""
    for k in (11, 20, 21, 40):
        ax = scatter(normal(200), np.arange(200) % k)
        assert len(legend_of(ax)) == k
        box, axes = ax.get_legend().get_window_extent(), ax.get_window_extent()
        assert axes.y0 <= box.y0 <= box.y1 <= axes.y1
        assert axes.x1 <= box.x0 <= box.x1 <= ax.figure.bbox.x1


def test_of_many_classes_the_largest_are_named():
    """In the order of all, and a line without a dot says how many others there are."""
    labels = np.repeat([f"trial {k}" for k in range(92)], 1 + np.arange(92) % 7 * 3)
    ax = scatter(normal(len(labels)), labels)
    shown = legend_of(ax)
    assert len(shown) == 41
    assert shown[-1] == "and 52 others"
    assert ax.get_legend().legend_handles[-1].get_marker() == ""
    assert {int(name[6:]) % 7 for name in shown[:-1]} == {4, 5, 6, 3}
    numbers = [int(name[6:]) for name in shown[:-1]]
    assert numbers == sorted(numbers)
    box, axes = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert axes.y0 <= box.y0 <= box.y1 <= axes.y1


def test_where_many_classes_have_no_room_fewer_are_named():
    """Rather than none."""
    ax = Figure(figsize=(6, 3)).subplots()
    scatter(normal(920), [f"trial {k % 92}" for k in range(920)], ax=ax)
    assert 10 < len(legend_of(ax)) < 41
    assert "others" in legend_of(ax)[-1]


def test_names_are_shown_as_they_are():
    """With leading underscores and dollars; long ones keep their beginning and end."""
    names = ["$a$", "$", "_hidden", "x" * 60 + "1", "x" * 60 + "2"]
    ax = scatter(normal(5), names)
    shown = legend_of(ax)
    assert shown[:3] == ["$", "$a$", "_hidden"]
    assert shown[3] != shown[4]
    assert all(len(name) < 30 for name in shown)
    assert not any(text.get_parse_math() for text in ax.get_legend().get_texts())
    assert len(written(ax)) > 1000


def test_given_axes():
    """Drawn there, within their own place, without touching their neighbours, with many points as with few."""
    for n in (100, 100_001):
        figure = Figure(figsize=(9, 4))
        axes = figure.subplots(1, 3)
        before = [ax.get_position().extents for ax in axes]
        Y = normal(n)
        assert scatter(Y, np.arange(n) % 4, ax=axes[0], title="left") is axes[0]
        scatter(Y, Y[:, 0], ax=axes[1])
        figure.canvas.draw()
        for ax, place in zip(axes[:2], before, strict=False):
            tight = ax.get_tightbbox().transformed(figure.transFigure.inverted())
            assert tight.x0 >= place[0] - 0.01
            assert tight.x1 <= place[2] + 0.01
        np.testing.assert_array_equal(axes[2].get_position().extents, before[2])
        assert axes[2].get_xlim() == (0, 1)
        assert not axes[2].collections + axes[2].images


def test_axes_too_small_for_a_legend_count_the_classes():
    """An inset has not even room for that."""
    ax = Figure(figsize=(8, 2)).subplots(1, 4)[0]
    scatter(normal(60), np.arange(60) % 30, ax=ax)
    assert ax.get_legend() is None
    assert ax.get_xlabel() == "30 classes"
    inset = scatter(normal(60)).inset_axes((0, 0, 0.25, 0.25))
    scatter(normal(60), np.arange(60) % 3, ax=inset)
    assert inset.get_legend() is None
    assert inset.get_xlabel() == ""


def test_layouts_of_matplotlib_make_room_themselves():
    """With a layout engine the place of given axes is left to it."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.subplots(1, 2)
    for ax in axes:
        scatter(normal(50), np.arange(50) % 3, ax=ax)
    figure.draw_without_rendering()
    left, right = (ax.get_tightbbox() for ax in axes)
    assert left.x1 <= right.x0
    assert right.x1 <= figure.bbox.x1 + 1


def test_axes_anywhere():
    """Axes placed by hand give up some of their width to the legend as well."""
    ax = Figure(figsize=(6, 5)).add_axes((0.1, 0.1, 0.8, 0.8))
    scatter(normal(50), np.arange(50) % 3, ax=ax)
    assert ax.get_position(original=True).x1 < 0.9
