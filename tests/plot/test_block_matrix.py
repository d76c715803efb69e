"""The block picture: P ordered by cluster."""

import numpy as np
import pytest
import scipy.sparse as sp
from drawing import pixels, written

from graphs import planted_graph, random_graph
from sce import InputError, ParameterError
from sce.plot import block_matrix


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pixels": 0}, "pixels must be a whole number"),
        ({"limits": (2, 1)}, "limits must be two numbers above 0"),
        ({"limits": (0, 1)}, "limits must be two numbers above 0"),
        ({"limits": 3}, "limits must be two numbers above 0"),
        ({"width": -1}, "width must be a number above 0"),
    ],
)
def test_parameters_that_mean_nothing(options, said):
    """Are refused."""
    with pytest.raises(ParameterError, match=said):
        block_matrix(random_graph(9), np.zeros(9, int), **options)


def darkness(ax):
    """How dark the picture is, by thirds: array of shape (3, 3)."""
    grey = 1 - pixels(ax).mean(axis=2)
    return np.array([[part.mean() for part in np.array_split(row, 3, axis=1)] for row in np.array_split(grey, 3)])


def test_clusters_are_dark_squares_on_a_diagonal_from_the_top_left():
    """And white is between them where P is nothing."""
    P, labels = planted_graph([300, 300, 300])
    dark = darkness(block_matrix(P, labels))
    assert np.diag(dark).min() > 0.2
    assert dark[~np.eye(3, dtype=bool)].max() < 0.05
    dark = darkness(block_matrix(P, np.random.default_rng(0).permutation(labels)))
    assert np.ptp(dark) < 0.05
    assert dark.max() < 0.3


def test_the_largest_cluster_is_at_the_top_left():
    """As dark as it is dense: less than the small ones."""
    P, labels = planted_graph([100, 800])
    ax = block_matrix(P, labels)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["1 (800)", "0 (100)"]
    picture = 1 - pixels(ax).mean(axis=2)
    half, end = len(picture) // 2, len(picture) // 12
    assert picture[:half, :half].mean() > 0.1
    assert picture[:half, -end:].max() < 0.01
    assert picture[-end:, -end:].mean() > picture[:half, :half].mean() + 0.2


def test_names_stand_where_there_is_room():
    """The others are only counted."""
    P, labels = planted_graph([60] * 100)
    ax = block_matrix(P, labels)
    assert not len(ax.get_yticklabels())
    assert ax.get_xlabel() == "6,000 points in 100 clusters"
    P, labels = planted_graph([900, *[2] * 50])
    labels[-10:] = -1
    ax = block_matrix(P, labels)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["0 (900)"]
    assert ax.get_xlabel() == "1,000 points in 46 clusters, 10 in none"
    ax = block_matrix(*planted_graph([30, 20]), title="a $ and a $")
    assert ax.get_title() == "a $ and a $"


def lines_of(ax):
    return [len(lines.get_segments()) for lines in ax.collections if hasattr(lines, "get_segments")]


def test_lines_stand_between_clusters_unless_they_crowd():
    """One across and one down at each border."""
    assert lines_of(block_matrix(*planted_graph([300, 200, 100]))) == [2, 2]
    assert lines_of(block_matrix(*planted_graph([9] * 300))) == [0, 0]


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (np.zeros(200, int), "200 points in 1 cluster"),
        (np.full(200, -1), "200 points in no cluster"),
        (np.arange(200), "200 points in 200 clusters"),
    ],
)
def test_odd_clusterings_are_drawn(labels, said):
    """One cluster, none, each point its own."""
    ax = block_matrix(random_graph(200), labels)
    assert ax.get_xlabel() == said
    assert darkness(ax).min() > 0.01


def test_an_empty_graph_and_a_single_point_are_white():
    """Without a colour bar."""
    for n in (1, 5):
        ax = block_matrix(sp.csr_matrix((n, n)), np.zeros(n, int))
        assert not ax.child_axes
        assert darkness(ax).max() < 0.01


def test_the_colour_bar_says_times_the_mean():
    """In plain numbers; limits are those given, and the ends show what lies beyond."""
    P, labels = planted_graph([300, 200, 100], inside=0.9)
    bar = block_matrix(P, labels, limits=(0.5, 2.0)).child_axes[0]
    assert bar.get_ylabel() == "P, times the mean"
    assert bar.get_ylim() == pytest.approx((0.5, 2.0))
    bar.figure.canvas.draw()
    assert "1" in [text.get_text() for text in bar.get_yticklabels()]
    bar = block_matrix(P, labels).child_axes[0]
    assert bar.get_ylim()[1] == pytest.approx(100.0)
    assert not block_matrix(P, labels, legend=False).child_axes


def test_the_same_limits_give_the_same_colours():
    """Denser is darker across pictures."""
    P, labels = planted_graph([300, 300, 300], inside=0.9)
    Q, _ = planted_graph([300, 300, 300], inside=0.5)
    one, other = (darkness(block_matrix(graph, labels, limits=(0.3, 10.0), pixels=3)) for graph in (P, Q))
    assert np.diag(one).min() > np.diag(other).max() + 0.03


def test_given_axes_are_used_and_kept_square():
    """With as many pixels as they have points, and room for the bar."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3))
    left, right = figure.subplots(1, 2)
    P, labels = planted_graph([600, 400])
    assert block_matrix(P, labels, ax=left) is left
    width, height = left.get_window_extent().size
    assert width == pytest.approx(height)
    assert left.child_axes[0].get_tightbbox().x1 < right.get_window_extent().x0
    assert left.collections[0].get_array().size <= 250**2
    with pytest.raises(InputError, match="ax must be matplotlib Axes"):
        block_matrix(P, labels, ax=3)


def test_files_are_small_and_repeatable():
    """The image is an image in SVG too."""
    P, labels = planted_graph([600, 400], inside=0.5)
    assert len(written(block_matrix(P, labels), "svg")) < 400_000
    assert written(block_matrix(P, labels)) == written(block_matrix(P, labels))
