"""The block picture: P ordered by cluster."""

import numpy as np
import pytest
import scipy.sparse as sp
from drawing import pixels, written
from hypothesis import given
from hypothesis import strategies as st

from conftest import random_graph
from sce import SCE, InputError, Map, ParameterError, find_clusters
from sce.plot import block_matrix
from sce.plot.block_picture import block_density


def slow_density(P, blocks):
    """The mean of P over the pairs of points of each pixel, times the mean over all pairs, from the dense matrix."""
    P = P.toarray().astype(np.float64)[np.ix_(blocks.order, blocks.order)]
    np.fill_diagonal(P, 0.0)
    away = ~np.eye(len(P), dtype=bool)
    m = len(blocks.edges) - 1
    out = np.zeros((m, m))
    for a in range(m):
        for b in range(m):
            part = np.ix_(*(range(blocks.edges[k], blocks.edges[k + 1]) for k in (a, b)))
            if away[part].any():
                out[a, b] = P[part][away[part]].mean() / P[away].mean()
    return out


def slow_order(labels):
    """The labels in the order in which the points should be."""
    clusters = sorted(set(labels[labels >= 0].tolist()), key=lambda c: (-np.sum(labels == c), c))
    return [c for c in clusters for _ in range(np.sum(labels == c))] + [-1] * np.sum(labels < 0)


def planted(sizes, inside=1.0, degree=12, seed=0):
    """A graph of blocks; a share of the edges goes anywhere."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    start = np.append(0, np.cumsum(sizes))
    i = np.repeat(np.arange(len(labels)), degree)
    j = start[labels[i]] + (rng.random(len(i)) * np.array(sizes)[labels[i]]).astype(int)
    j = np.where(rng.random(len(i)) < inside, j, rng.integers(0, len(labels), len(i)))
    A = sp.csr_matrix((np.ones(len(i)), (i, j)), (len(labels),) * 2)
    return sp.csr_matrix(A + A.T), labels


@given(
    st.integers(2, 60),
    st.integers(1, 8),
    st.integers(1, 80),
    st.booleans(),
    st.sampled_from([np.int8, np.int64, float]),
)
def test_density_is_that_of_the_slow_way(n, k, count, weighted, kind):
    """For any number of clusters and of pixels, weighted or not."""
    P = random_graph(n, weighted=weighted, seed=n)
    labels = np.random.default_rng(k).integers(-1, k, n)
    if kind is float and set(labels) == {-1, 1}:
        return  # as numbers with a point, these are two classes
    blocks = block_density(P, labels.astype(kind), count)
    np.testing.assert_allclose(blocks.density, slow_density(P, blocks), rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(blocks.density, blocks.density.T, rtol=1e-6)
    assert labels[blocks.order].tolist() == slow_order(labels)
    assert sorted(blocks.order) == list(range(n))


@given(st.lists(st.integers(1, 500), min_size=1, max_size=40), st.integers(1, 200))
def test_pixels_end_where_clusters_end(sizes, count):
    """Those that fill half a pixel or more; there are about as many pixels as asked for, and none is empty or large."""
    n = sum(sizes)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    blocks = block_density(sp.csr_matrix((n, n)), labels, count)
    width = np.diff(blocks.edges)
    assert blocks.edges[0] == 0
    assert blocks.edges[-1] == n
    assert width.min() >= 1
    assert np.array_equal(blocks.starts, np.append(0, np.cumsum(sorted(sizes, reverse=True))))
    if n <= count:
        assert len(width) == n
        return
    assert len(width) <= 2 * count + 1
    assert width.max() <= np.ceil(1.5 * n / count)
    large = np.flatnonzero(np.diff(blocks.starts) >= n / count / 2)
    assert set(blocks.starts[large]) | set(blocks.starts[large + 1]) <= set(blocks.edges)


def test_planted_blocks_have_the_known_densities():
    """Ten equal full blocks are ten times as dense as the whole, and nothing is between them."""
    P = sp.block_diag([np.ones((20, 20))] * 10).tocsr()
    density = block_density(P, np.repeat(np.arange(10), 20), 10).density
    np.testing.assert_allclose(density, np.eye(10) * (200 * 199) / (10 * 20 * 19))


def test_a_random_relabelling_shows_nothing():
    """All pixels are near 1, though the rows are sorted by the true clusters."""
    P, labels = planted([3000, 2000, 1000], inside=0.95)
    found = block_density(P, labels, 6).density
    assert found[0, 0] > 1.5
    assert found[0, -1] < 0.2
    mixed = block_density(P, np.random.default_rng(0).permutation(labels), 6).density
    assert np.abs(mixed - 1).max() < 0.1


def test_largest_first_and_loose_points_last():
    """Of equal ones the lower label comes first; all negative labels are no cluster."""
    labels = np.array([5, -1, 2, 9, 9, -7, 9, 2, 5])
    blocks = block_density(random_graph(9), labels)
    assert blocks.names == ["9", "2", "5", "none"]
    assert blocks.starts.tolist() == [0, 3, 5, 7, 9]
    big = block_density(random_graph(9), np.where(labels == 9, 10**12, labels))
    assert big.names == [str(10**12), "2", "5", "none"]
    assert np.array_equal(big.density, blocks.density)
    words = block_density(random_graph(9), ["b", "a", "b", None, "a", "b", "", "b", "a"])
    assert words.names == ["b", "a", "none"]
    assert block_density(random_graph(4), np.array([1, 0, 1, 1], np.uint8)).names == ["1", "0"]


def test_the_diagonal_counts_for_nothing_and_nothing_is_changed():
    """P may have one, may be dense, of any format, of any numbers."""
    P = random_graph(30)
    labels = np.arange(30) % 3
    expected = block_density(P, labels, 7).density
    with_diagonal = sp.csr_matrix(P + sp.eye(30))
    before = with_diagonal.copy()
    for same in (with_diagonal, with_diagonal.toarray(), with_diagonal.tocoo(), sp.csc_array(P), 1000 * P):
        np.testing.assert_allclose(block_density(same, labels, 7).density, expected, rtol=1e-6)
    assert (before != with_diagonal).nnz == 0
    assert block_density(P > 0, labels, 7).density.max() > 0


def test_models_and_maps_are_taken(mixture):
    """With their own P."""
    X = mixture(200, 4)
    model = SCE(random_state=0, n_epochs=5).fit(X)
    labels = np.arange(200) % 2
    expected = block_density(model.affinity_, labels).density
    assert np.array_equal(block_density(model, labels).density, expected)
    kept = Map.from_model(model, P=model.affinity_)
    assert np.array_equal(block_density(kept, labels).density, expected)
    with pytest.raises(InputError, match="The map has no P; save it"):
        block_density(Map.from_model(model), labels)
    with pytest.raises(InputError, match="not fitted"):
        block_density(SCE(), labels)


@pytest.mark.parametrize(
    ("P", "labels", "said"),
    [
        (np.ones((3, 2)), [0, 0, 0], r"square matrix of numbers; its shape is \(3, 2\)"),
        (np.zeros((0, 0)), [], r"square matrix of numbers; its shape is \(0, 0\)"),
        (np.eye(3) - 1, [0, 0, 0], "none negative"),
        (np.full((3, 3), np.nan), [0, 0, 0], "finite numbers"),
        (np.full((3, 3), np.inf), [0, 0, 0], "finite numbers"),
        (np.ones((3, 3)), [0, 0], "one value for each of the 3 points; got 2"),
        (np.array([["a"]]), [0], "square matrix of numbers"),
    ],
)
def test_what_cannot_be_drawn_is_said(P, labels, said):
    """In one sentence."""
    with pytest.raises(InputError, match=said):
        block_density(P, labels)


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
    P, labels = planted([300, 300, 300])
    dark = darkness(block_matrix(P, labels))
    assert np.diag(dark).min() > 0.2
    assert dark[~np.eye(3, dtype=bool)].max() < 0.05
    dark = darkness(block_matrix(P, np.random.default_rng(0).permutation(labels)))
    assert np.ptp(dark) < 0.05
    assert dark.max() < 0.3


def test_the_largest_cluster_is_at_the_top_left():
    """As dark as it is dense: less than the small ones."""
    P, labels = planted([100, 800])
    ax = block_matrix(P, labels)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["1 (800)", "0 (100)"]
    picture = 1 - pixels(ax).mean(axis=2)
    half, end = len(picture) // 2, len(picture) // 12
    assert picture[:half, :half].mean() > 0.1
    assert picture[:half, -end:].max() < 0.01
    assert picture[-end:, -end:].mean() > picture[:half, :half].mean() + 0.2


def test_names_stand_where_there_is_room():
    """The others are only counted."""
    P, labels = planted([60] * 100)
    ax = block_matrix(P, labels)
    assert not len(ax.get_yticklabels())
    assert ax.get_xlabel() == "6,000 points in 100 clusters"
    P, labels = planted([900, *[2] * 50])
    labels[-10:] = -1
    ax = block_matrix(P, labels)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["0 (900)"]
    assert ax.get_xlabel() == "1,000 points in 46 clusters, 10 in none"
    ax = block_matrix(*planted([30, 20]), title="a $ and a $")
    assert ax.get_title() == "a $ and a $"


def lines_of(ax):
    return [len(lines.get_segments()) for lines in ax.collections if hasattr(lines, "get_segments")]


def test_lines_stand_between_clusters_unless_they_crowd():
    """One across and one down at each border."""
    assert lines_of(block_matrix(*planted([300, 200, 100]))) == [2, 2]
    assert lines_of(block_matrix(*planted([9] * 300))) == [0, 0]


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
    P, labels = planted([300, 200, 100], inside=0.9)
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
    P, labels = planted([300, 300, 300], inside=0.9)
    Q, _ = planted([300, 300, 300], inside=0.5)
    one, other = (darkness(block_matrix(graph, labels, limits=(0.3, 10.0), pixels=3)) for graph in (P, Q))
    assert np.diag(one).min() > np.diag(other).max() + 0.03


def test_given_axes_are_used_and_kept_square():
    """With as many pixels as they have points, and room for the bar."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3))
    left, right = figure.subplots(1, 2)
    P, labels = planted([600, 400])
    assert block_matrix(P, labels, ax=left) is left
    width, height = left.get_window_extent().size
    assert width == pytest.approx(height)
    assert left.child_axes[0].get_tightbbox().x1 < right.get_window_extent().x0
    assert left.collections[0].get_array().size <= 250**2
    with pytest.raises(InputError, match="ax must be matplotlib Axes"):
        block_matrix(P, labels, ax=3)


def test_files_are_small_and_repeatable():
    """The image is an image in SVG too."""
    P, labels = planted([600, 400], inside=0.5)
    assert len(written(block_matrix(P, labels), "svg")) < 400_000
    assert written(block_matrix(P, labels)) == written(block_matrix(P, labels))


def test_clusters_of_a_map_are_in_its_graph(mixture):
    """The whole way: vectors, map, clusters, picture."""
    X = mixture(1500, 6)
    model = SCE(random_state=0).fit(X)
    labels = find_clusters(model)
    blocks = block_density(model, labels, 15)
    inside = np.diag(blocks.density)[:-1]
    assert inside.min() > 4
    assert np.median(blocks.density[~np.eye(len(blocks.density), dtype=bool)]) < 0.2
