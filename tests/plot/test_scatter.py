"""The scatter plot."""

import importlib
import re

import numpy as np
import pytest
from matplotlib.figure import Figure

from plot.drawing import legend_of, normal, pixels, written
from processes import run
from sce import InputError, ParameterError
from sce.plot import scatter


def test_black_or_coloured_by_labels():
    """Without labels all dots are black; with labels each class has a colour and a line in the legend."""
    Y = normal(200)
    assert (scatter(Y).collections[0].get_facecolor()[:, :3] == 0).all()
    ax = scatter(Y, labels=np.arange(200) % 3)
    assert len(np.unique(ax.collections[0].get_facecolor()[:, :3], axis=0)) == 3
    assert legend_of(ax) == ["0", "1", "2"]
    assert len(written(ax)) > 1000


def test_numbers_have_a_colour_bar_and_no_legend():
    """Neither, if they are not wanted or there is no finite number."""
    Y = normal(100)
    ax = scatter(Y, Y[:, 0])
    assert len(ax.child_axes) == 1
    assert ax.get_legend() is None
    for quiet in (scatter(Y, Y[:, 0], legend=False), scatter(Y, np.full(100, np.nan))):
        assert not quiet.child_axes
    assert scatter(Y, np.arange(100) % 3, legend=False).get_legend() is None


def test_the_picture_has_the_shape_of_the_map():
    """On one scale, so that distances are those of the map; not longer than twice its height, nor the other way round."""
    for Y, shape in (
        (np.array([[0.0, 0.0], [10.0, 1.0]]), 2.0),
        (np.array([[0.0, 0.0], [10.0, 8.0]]), 10.6 / 8.6),
        (np.array([[0.0, 0.0], [0.0, 1.0]]), 0.5),
        (normal(100_001) * [1, 5], 0.5),
    ):
        ax = scatter(Y)
        box = ax.get_window_extent()
        assert box.width / box.height == pytest.approx(shape)
        assert np.ptp(ax.get_xlim()) / box.width == pytest.approx(np.ptp(ax.get_ylim()) / box.height)
        assert max(box.width, box.height) / ax.figure.dpi == pytest.approx(6.6)


def test_a_map_fills_given_axes():
    """Of any shape, on one scale, beside a legend too."""
    for inches in ((8, 3), (3, 8)):
        ax = Figure(figsize=inches).subplots()
        scatter(normal(60), np.arange(60) % 3, ax=ax)
        ax.figure.canvas.draw()
        place, box = ax.get_position(original=True), ax.get_position()
        np.testing.assert_allclose(box.extents, place.extents, atol=0.01)
        width, height = ax.get_window_extent().size
        assert np.ptp(ax.get_xlim()) / width == pytest.approx(np.ptp(ax.get_ylim()) / height, rel=0.01)


def test_few_dots_are_opaque_with_an_outline():
    """Of the colour behind them; many small ones are translucent without one, and so are those of a given opacity."""
    for n in (50, 1000, 5000):
        dots = scatter(np.random.default_rng(0).uniform(size=(n, 2)), np.arange(n) % 3).collections[0]
        assert (dots.get_facecolor()[:, 3] == 1).all()
        assert dots.get_linewidths()[0] > 0
        assert (dots.get_edgecolor() == 1).all()
    for plain in (scatter(normal(50_000)), scatter(normal(100), opacity=0.5)):
        assert plain.collections[0].get_linewidths()[0] == 0
        assert plain.collections[0].get_facecolor()[:, 3].min() < 0.9
    dark = Figure(facecolor="black").add_subplot(facecolor="none")
    assert (scatter(normal(50), ax=dark).collections[0].get_edgecolor()[0, :3] == 0).all()


def test_points_are_drawn_in_the_same_mixed_order():
    """The last class does not cover the others; and two pictures of one map are the same bytes."""
    Y, labels = normal(1000), np.arange(1000) // 500
    ax = scatter(Y, labels)
    first = (ax.collections[0].get_facecolor()[:500, 0] == ax.collections[0].get_facecolor()[0, 0]).mean()
    assert 0.4 < first < 0.6
    assert written(ax) == written(scatter(Y, labels))


def test_every_point_is_drawn_once_with_its_colour():
    """Whatever the order."""
    Y, labels = normal(50), np.arange(50) % 4
    dots = scatter(Y, labels).collections[0]
    place = {tuple(y): k for k, y in enumerate(Y)}
    order = [place[tuple(y)] for y in np.asarray(dots.get_offsets())]
    assert sorted(order) == list(range(50))
    colors = dots.get_facecolor()[np.argsort(order), :3]
    for k in range(4):
        assert (colors[labels == k] == colors[k]).all()


def test_missing_classes_are_grey_beneath_the_others():
    """Drawn first, and named last."""
    ax = scatter(normal(100), [None if k % 2 else "a" for k in range(100)])
    colors = ax.collections[0].get_facecolor()[:, :3]
    assert (np.ptp(colors[:50], axis=1) == 0).all()
    assert (np.ptp(colors[50:], axis=1) > 0).all()
    assert legend_of(ax) == ["a", "no label"]


def test_the_image_looks_like_the_markers(monkeypatch):
    """The same map as markers and as an image: nearly the same ink everywhere, in grey and in colour."""
    Y = np.concatenate([normal(15_000) * 0.3, normal(15_000, seed=1) + np.array([4, 0])])
    for labels in (None, np.arange(30_000) // 15_000):
        seen = []
        for most in (100_000, 10):
            monkeypatch.setattr(importlib.import_module("sce.plot.scatter"), "MAX_MARKERS", most)
            ax = scatter(Y, labels)
            assert bool(ax.images) == (most == 10)
            seen.append(pixels(ax))
        tiles = [x[:500, :640].reshape(25, 20, 32, 20, 3).mean(axis=(1, 3)) for x in seen]
        assert np.abs(tiles[0] - tiles[1]).max() < 0.15
        assert np.abs(tiles[0] - tiles[1]).mean() < 0.01


@pytest.mark.parametrize("n", [300, 2000, 60_000, 300_000])
def test_neither_blots_nor_dust(n):
    """A dense cluster shows its middle darker than its flank, and a point far from all others can be seen."""
    Y = np.vstack([normal(n), [[8.0, 8.0]]])
    ax = scatter(Y, frame="all")
    seen = 1 - pixels(ax).mean(axis=-1)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()

    def ink(x, y, reach):
        column = int((x - left) / (right - left) * seen.shape[1])
        row = int((top - y) / (top - bottom) * seen.shape[0])
        return seen[max(row - reach, 0) : row + reach + 1, max(column - reach, 0) : column + reach + 1]

    assert ink(8, 8, 6).max() > 0.25
    assert ink(0, 0, 30).mean() > 1.1 * ink(1.3, 1.3, 15).mean()


def test_many_points_are_small_files():
    """SVG and PDF of more points than there are markers at most hold an image, and text."""
    ax = scatter(normal(100_001), np.arange(100_001) % 12, title="many")
    assert ax.images
    for kind in ("svg", "pdf"):
        file = written(ax, kind, dpi=100)
        assert len(file) < 1_500_000
        assert (b"<image" if kind == "svg" else b"/Image") in file


def test_pyplot_and_global_settings_are_left_alone():
    """Neither is pyplot imported nor is any setting changed."""
    out = run(
        "import sys, matplotlib, numpy as np; before = matplotlib.rcParams.copy(); from sce.plot import scatter;"
        "scatter(np.random.rand(50, 2), np.arange(50) % 3).figure.savefig('/dev/null', format='png');"
        # Compared as plain dicts, because to ask for the backend by name imports pyplot.
        "print('matplotlib.pyplot' in sys.modules, dict.__eq__(before, matplotlib.rcParams))"
    )
    assert out == "False True"


@pytest.fixture(params=["markers", "image"])
def small(request, monkeypatch):
    """Draw even few points in either way, in small figures."""
    monkeypatch.setattr(
        importlib.import_module("sce.plot.scatter"), "MAX_MARKERS", 9 if request.param == "image" else 99
    )
    return {"width": 2.0}


@pytest.mark.parametrize("n", [1, 2, 60])
@pytest.mark.parametrize("scale", [0.0, 1e-30, 1e30])
def test_extreme_maps(n, scale, small):
    """One point, all points equal, tiny and huge maps, in float32, are pictures with ink."""
    ax = scatter((normal(n) * scale).astype(np.float32), np.arange(n) % 2, **small)
    assert pixels(ax).min() < 0.8


@pytest.mark.parametrize("value", [1.5, np.nan, np.inf, -np.inf, 1e308])
def test_extreme_numbers(value, small):
    """Constant, missing, infinite and huge numbers, alone and beside others."""
    Y = normal(60)
    for labels in (np.full(60, value), np.where(np.arange(60) % 2 == 0, Y[:, 0], value)):
        assert pixels(scatter(Y, labels, kind="number", **small)).min() < 0.9


def test_a_map_far_from_zero():
    """Is seen at its own scale."""
    ax = scatter(1e8 + 1e-3 * normal(100))
    assert np.ptp(ax.get_xlim()) < 0.1


def test_size_and_opacity_are_what_is_asked_for():
    """For markers; and an image is darker with larger or more opaque dots."""
    dots = scatter(normal(100), size=7.0, opacity=0.4).collections[0]
    assert dots.get_sizes().tolist() == [7.0]
    assert (dots.get_facecolor()[:, 3] == 0.4).all()
    Y = normal(100_001)
    ink = [1 - pixels(scatter(Y, size=s, opacity=o, width=2.0)).mean() for s, o in ((1, 0.2), (1, 0.6), (9, 0.6))]
    assert ink == sorted(ink)
    assert ink[0] < 0.9 * ink[1] < 0.8 * ink[2]


def test_three_columns_are_drawn_in_depth():
    """With the colours and the legend of a flat map."""
    ax = scatter(normal(100, 3), np.arange(100) % 3)
    assert ax.name == "3d"
    assert legend_of(ax) == ["0", "1", "2"]
    assert np.ptp(ax.get_xlim()) == pytest.approx(np.ptp(ax.get_zlim()))
    assert len(written(ax)) > 1000
    assert scatter(normal(20, 3), ax=Figure().add_subplot(projection="3d")).name == "3d"
    assert len(written(scatter(normal(50, 3), normal(50)[:, 0]))) > 1000


def test_one_column_is_a_strip_as_thick_as_it_is_dense():
    """The points keep their place on the line; the dense part spreads farther than the thin one; each time the same."""
    x = np.concatenate([np.linspace(0, 1, 900), np.linspace(1.2, 3, 100)])[:, None]
    places = np.asarray(scatter(x).collections[0].get_offsets())
    np.testing.assert_array_equal(np.sort(places[:, 0]), np.sort(x[:, 0]))
    dense, thin = (np.abs(places[part, 1]).max() for part in (places[:, 0] <= 1, places[:, 0] > 1.3))
    assert 0.9 < dense <= 1
    assert thin < 0.3 * dense
    np.testing.assert_array_equal(places, scatter(x).collections[0].get_offsets())
    assert scatter(normal(100_001, 1)).images


def test_wrong_maps_are_refused():
    """Shapes that cannot be drawn, no rows, rows that are not finite, which are named, and text."""
    for Y in (np.zeros((5, 4)), np.zeros(5), np.zeros((5, 0))):
        with pytest.raises(InputError, match=r"one, two or three columns to be drawn; its shape is"):
            scatter(Y)
    with pytest.raises(InputError, match=r"at least one row, and finite numbers only, .* shape is \(0, 2\)"):
        scatter(np.zeros((0, 2)))
    Y = np.zeros((9, 2))
    Y[[2, 5], 1] = np.nan, np.inf
    with pytest.raises(InputError, match=r"at least one row, and finite numbers only, .*: 2, 5 \(2 of 9\)"):
        scatter(Y)
    with pytest.raises(InputError, match="real numbers"):
        scatter([["a", "b"]])


def test_wrong_labels_are_refused():
    """Of another length."""
    with pytest.raises(InputError, match="one value for each of the 5 points; got 4"):
        scatter(np.zeros((5, 2)), labels=[1, 2, 3, 4])


def test_wrong_parameters_are_refused():
    """A kind even without labels, sizes and opacities that mean nothing."""
    for wrong, message in (
        ({"kind": "colour"}, "kind must be 'auto'"),
        ({"size": 0}, "size must be a number above 0, or None"),
        ({"size": "big"}, "got 'big'"),
        ({"size": np.inf}, "size must be"),
        ({"opacity": 1.5}, "opacity must be a number above 0, at most 1"),
        ({"opacity": True}, "opacity must be"),
    ):
        with pytest.raises(ParameterError, match=re.escape(message)):
            scatter(np.zeros((5, 2)), **wrong)


def test_wrong_axes_are_refused():
    """A figure, flat axes for three columns, deep axes for two, polar ones for any."""
    figure = Figure()
    with pytest.raises(InputError, match=r"ax must be matplotlib Axes, .*; got Figure"):
        scatter(np.zeros((5, 2)), ax=figure)
    for projection, columns, needed in (
        ("rectilinear", 3, "3d"),
        ("3d", 2, "rectilinear"),
        ("polar", 1, "rectilinear"),
    ):
        with pytest.raises(InputError, match=f"projection '{projection}', but .* needs '{needed}'"):
            scatter(np.zeros((5, columns)), ax=figure.add_subplot(projection=projection))
