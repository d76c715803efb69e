"""The picture of a sweep."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plot.drawing import legend_of, written
from sce import InputError, ParameterError, Sweep
from sce.plot import series
from sce.plot.series import choose_frames

SHARES = ("accuracy", "share", "share_null", "edges_kept")


def made(n_maps=20, columns=2, **other):
    """A sweep of some maps of thirty points with all figures, SCE in the 2nd map and t-SNE in the 10th."""
    rng = np.random.default_rng(0)
    sweep = Sweep(
        rng.normal(size=(n_maps, 30, columns)).astype(np.float32),
        np.arange(n_maps) / 2,
        np.arange(30),
        figures={name: rng.uniform(size=n_maps) for name in SHARES}
        | {"n_clusters": rng.integers(9, size=n_maps) * 1.0},
        **other,
    )
    sweep.mark("SCE", 10**0.45)
    sweep.mark("t-SNE", 10**4.6)
    return sweep


def titles(figure):
    return [ax.get_title() for ax in figure.axes if ax.get_title()]


def test_maps_and_curves():
    """As many maps as asked for, each with its r, those of SCE and t-SNE named and in a box; curves with their marks."""
    sweep = made(labels=np.arange(30) % 3, label_name="kind")
    figure = series(sweep, n_maps=8)
    assert len(titles(figure)) == 8
    assert titles(figure)[0] == "log10 r = 0"
    assert titles(figure)[-1] == "log10 r = 9.5"
    assert "SCE: log10 r = 0.5" in titles(figure)
    assert "t-SNE: log10 r = 4.5" in titles(figure)
    boxed = [ax.get_title() for ax in figure.axes if ax.get_title() and ax.spines["left"].get_linewidth() > 1]
    assert boxed == ["SCE: log10 r = 0.5", "t-SNE: log10 r = 4.5"]
    curves = [ax for ax in figure.axes if ax.get_xlabel() == "log10 r"]
    assert len(curves) == 2
    for ax in curves:
        assert [text.get_text() for text in ax.texts] == ["SCE", "t-SNE"]
        assert [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"] == pytest.approx([0.45, 4.6])
    drawn = {line.get_label(): line.get_ydata() for line in curves[0].lines if not line.get_label().startswith("_")}
    assert len(drawn) == 4
    np.testing.assert_array_equal(drawn["P inside the clusters seen"], sweep.figures["share"])
    assert any(
        (line.get_ydata() == sweep.figures["n_clusters"]).all()
        for line in curves[1].lines
        if len(line.get_ydata()) == 20
    )
    assert len(written(figure.axes[0])) > 1000


def test_classes_are_explained_once():
    """Beside the maps, under the name of the labels; the maps have the same colours."""
    figure = series(made(labels=np.arange(30) % 3, label_name="kind"))
    named = [
        ax for ax in figure.axes if ax.get_legend() is not None and ax.get_legend().get_title().get_text() == "kind"
    ]
    assert [legend_of(ax) for ax in named] == [["0", "1", "2"]]
    colors = [np.unique(ax.collections[0].get_facecolor()[:, :3], axis=0) for ax in figure.axes if ax.get_title()]
    assert all((found == colors[0]).all() and len(found) == 3 for found in colors)
    assert all((ax.collections[0].get_facecolor()[:, :3] == 0).all() for ax in series(made()).axes if ax.get_title())


def test_over_alpha_the_axis_is_alpha():
    """SCE stands at its alpha, t-SNE at 0; titles also give r."""
    sweep = made(3, alphas=np.array([0.0, 0.5, 1.0]), parameters={"alpha": 0.5})
    sweep.log10_r = np.array([4.6, 0.45, 0.1])
    sweep.mark("SCE", 10**0.45)
    sweep.mark("t-SNE", 10**4.6)
    figure = series(sweep)
    assert titles(figure) == ["t-SNE: alpha = 0, r = 3.98e+04", "SCE: alpha = 0.5, r = 2.82", "alpha = 1, r = 1.26"]
    ax = next(ax for ax in figure.axes if ax.get_xlabel() == "alpha")
    assert [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"] == [0.5, 0.0]


@pytest.mark.parametrize(("n_maps", "columns"), [(1, 2), (2, 3), (5, 1), (13, 2)])
def test_any_number_of_maps_in_any_dimension(n_maps, columns):
    """Also one, also without figures and marks."""
    sweep = made(n_maps, columns)
    sweep.figures, sweep.marks = {}, {}
    figure = series(sweep, n_maps=13)
    assert len(titles(figure)) == n_maps
    assert len(written(figure.axes[0])) > 1000


def test_the_same_sweep_gives_the_same_picture():
    """Bit for bit."""
    assert written(series(made(), n_maps=3).axes[0]) == written(series(made(), n_maps=3).axes[0])


@given(st.integers(1, 40), st.integers(1, 15), st.sets(st.integers(0, 39), max_size=2))
def test_frames_are_chosen_evenly_with_those_of_the_marks(n_maps, n_shown, marked):
    """As many as asked for, all different; marks first; without marks no gap is much larger than another."""
    sweep = Sweep(np.zeros((n_maps, 1, 2), np.float32), np.arange(float(n_maps)), np.arange(1))
    for k, frame in enumerate(sorted(marked)):
        sweep.mark(str(k), 10.0**frame)
    found = choose_frames(sweep, n_shown)
    assert len(found) == len(set(found)) == min(n_shown, n_maps)
    assert found == sorted(found)
    there = {mark.frame for mark in sweep.marks.values()} - {None}
    assert len(there & set(found)) == min(len(there), n_shown)
    if not there and len(found) > 2:
        gaps = np.diff(found)
        assert gaps.max() - gaps.min() <= 1


def test_what_cannot_be_drawn():
    """In a sentence."""
    with pytest.raises(InputError, match=r"A series shows a Sweep, from sce\.sweep or sce\.load; got ndarray"):
        series(np.zeros((3, 5, 2)))
    with pytest.raises(ParameterError, match="n_maps must be a whole number"):
        series(made(), n_maps=0)
