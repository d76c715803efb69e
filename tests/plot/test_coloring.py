"""Palettes, colour maps, highlighted classes and dark pictures."""

import re

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from plot.drawing import legend_of, normal, pixels, written
from sce import ParameterError, Sweep
from sce.plot import scatter, series

NAMES = np.array(["a", "b", "c"])[np.arange(90) % 3]


def colors_in(ax):
    """The colour of each class in the legend."""
    handles = ax.get_legend().legend_handles
    return {name: to_rgb(dot.get_color()) for name, dot in zip(legend_of(ax), handles, strict=True)}


@pytest.mark.parametrize(
    ("palette", "expected"),
    [
        ("Set2", [colormaps["Set2"](k)[:3] for k in range(3)]),
        ("viridis", [colormaps["viridis"](x)[:3] for x in (0.0, 0.5, 1.0)]),
        (["red", "#00ff00", (0, 0, 1)], [(1, 0, 0), (0, 1, 0), (0, 0, 1)]),
        ({"c": "blue", "a": "red", "b": "lime", "other": "black"}, [(1, 0, 0), (0, 1, 0), (0, 0, 1)]),
    ],
)
def test_a_palette_colours_the_classes(palette, expected):
    """In the order of the legend, or by name; dots and legend alike."""
    ax = scatter(normal(90), NAMES, palette=palette)
    np.testing.assert_allclose(list(colors_in(ax).values()), expected, atol=0.01)
    dots = np.unique(ax.collections[0].get_facecolor()[:, :3].round(3), axis=0)
    np.testing.assert_allclose(dots, np.unique(np.round(list(colors_in(ax).values()), 3), axis=0))


def test_a_dictionary_takes_classes_as_they_are_in_the_labels():
    """Numbers, whole or not, and booleans."""
    for labels, palette in (
        (np.arange(60) % 2, {0: "red", 1: "blue"}),
        (np.arange(60) % 2 * 1.0, {0: "red", 1.0: "blue"}),
        (np.arange(60) % 2 == 1, {False: "red", True: "blue"}),
    ):
        assert list(colors_in(scatter(normal(60), labels, palette=palette)).values()) == [(1, 0, 0), (0, 0, 1)]


def test_highlighted_classes_keep_their_colours_above_grey_ones():
    """The legend names them and the others; missing labels are among the others."""
    labels = np.array([*NAMES[:-1], ""], dtype=object)
    every = colors_in(scatter(normal(90), labels))
    for one in ("b", ["b"], np.array(["b"])):
        ax = scatter(normal(90), labels, highlight=one)
        assert legend_of(ax) == ["b", "others"]
        assert colors_in(ax)["b"] == every["b"]
        dots = ax.collections[0].get_facecolor()[:, :3]
        assert (np.ptp(dots[:60], axis=1) == 0).all()
        np.testing.assert_allclose(dots[60:], np.tile(every["b"], (30, 1)))
    assert legend_of(scatter(normal(60), np.arange(60) % 3, highlight=[2, 0])) == ["0", "2", "others"]
    assert legend_of(scatter(normal(60), np.arange(60) % 3, highlight=range(3))) == ["0", "1", "2"]


def test_many_points_are_highlighted_too():
    """As an image: mostly grey, with the colour of one class."""
    n = 100_001
    seen = pixels(scatter(normal(n), np.arange(n) % 50 == 0, highlight=True, width=2.0))
    colored = np.ptp(seen, axis=-1) > 0.2
    assert 0.01 < colored.mean() < 0.5


def test_a_dark_picture_is_dark_all_over():
    """Points without labels are white, text is light, and the darkest colours of numbers are left out."""
    Y = normal(300)
    for ax in (scatter(Y, theme="dark"), scatter(Y, np.arange(300) % 3, theme="dark", title="dark")):
        assert pixels(ax).mean() < 0.3
        assert np.mean(to_rgb(ax.figure.get_facecolor())) < 0.2
        assert np.mean(to_rgb(ax.title.get_color())) > 0.8
    assert all(np.mean(to_rgb(text.get_color())) > 0.8 for text in ax.get_legend().get_texts())
    assert (scatter(Y, theme="dark").collections[0].get_facecolor()[:, :3] == 1).all()
    bright = [
        scatter(Y, Y[:, 0], theme=theme).collections[0].get_facecolor()[:, :3].max(axis=1).min()
        for theme in ("light", "dark")
    ]
    assert bright[1] > bright[0]
    assert len(written(scatter(normal(50, 3), NAMES[:50], theme="dark"))) > 1000


def test_dark_axes_of_others_are_understood():
    """Made by a style of matplotlib, say: the same greys and inks as with the theme."""
    figure = Figure(facecolor="black")
    ax = scatter(normal(90), NAMES, ax=figure.add_subplot(facecolor="black"), highlight="a")
    assert np.mean(colors_in(ax)["others"]) < 0.4
    assert np.mean(to_rgb(ax.get_legend().get_texts()[0].get_color())) > 0.8


def test_a_sweep_takes_them_all():
    """Each map has the colours; so has the legend beside all of them."""
    sweep = Sweep(
        normal(180).reshape(2, 90, 2).astype(np.float32), np.arange(2.0), np.arange(90), labels=NAMES, label_name="kind"
    )
    figure = series(sweep, palette={"a": "red", "b": "lime", "c": "blue"}, highlight="a", theme="dark")
    explained = next(ax for ax in figure.axes if ax.get_legend() is not None)
    assert colors_in(explained)["a"] == (1, 0, 0)
    assert legend_of(explained) == ["a", "others"]
    assert np.mean(to_rgb(figure.get_facecolor())) < 0.2
    named = series(sweep, names=True)
    assert not any(ax.get_legend() for ax in named.axes)
    assert sum(text.get_text() == "a" for ax in named.axes for text in ax.texts) == 2


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (NAMES, {"palette": "Set22"}, "palette must be a palette or a colour map of matplotlib, such as 'Set2'; got 'Set22'"),
        (NAMES, {"palette": ["red"]}, "palette must have a colour for each of the 3 classes; the list has 1."),
        (np.arange(90) % 9, {"palette": "Set2"}, "palette must have a colour for each of the 9 classes; 'Set2' has 8."),
        (NAMES, {"palette": {"a": "red"}}, "palette must have a colour for each class; it has none for b, c."),
        (NAMES, {"palette": ["red", "bleu", "lime"]}, "'bleu' is none."),
        (NAMES, {"palette": 3}, "palette must be the name of one, a list of colours, or a dictionary of them; got 3."),
        (NAMES, {"cmap": "magma"}, "cmap must be left out: the labels are classes; use palette="),
        (NAMES, {"highlight": "d"}, "highlight must name classes; 'd' is none of a, b, c."),
        (NAMES, {"highlight": []}, "highlight must name a class at least"),
        (NAMES, {"theme": "drak"}, "theme must be 'light' or 'dark'; got 'drak'; did you mean 'dark'?"),
        (NAMES, {"names": "yes"}, "names must be True or False; got 'yes'."),
        (normal(90)[:, 0], {"palette": "Set2"}, "it is for classes, but the labels are numbers; use cmap=."),
        (normal(90)[:, 0], {"highlight": "a"}, "highlight must be left out: it is for classes, but the labels are numbers"),
        (normal(90)[:, 0], {"cmap": "virids"}, "cmap must be a colour map of matplotlib, such as 'viridis'; got 'virids'; did"),
        (None, {"names": True}, "names must be left out: it is for classes, but there are no labels; give labels."),
        (None, {"cmap": "magma"}, "cmap must be left out: it is for numbers, but there are no labels"),
    ],
)  # fmt: skip
def test_what_cannot_be_coloured(labels, options, message):
    """Is refused in a sentence that says what there is."""
    with pytest.raises(ParameterError, match=re.escape(message)):
        scatter(normal(90), labels, **options)
