"""The densities of blocks: P ordered by cluster."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from graphs import planted_graph, random_graph
from processes import run
from sce import SCE, InputError, Map, find_clusters
from sce.quality.block_density import block_density


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


@given(
    st.integers(2, 40),
    st.integers(1, 8),
    st.integers(1, 50),
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
    P, labels = planted_graph([3000, 2000, 1000], inside=0.95)
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
    model = SCE(random_state=0, n_epochs=5).fit(mixture(60, 4))
    labels = np.arange(60) % 2
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
        (np.ones((3, 2)), [0, 0, 0], r"must be a square matrix.* \(3, 2\)"),
        (np.zeros((0, 0)), [], "must have at least one point"),
        (np.eye(3) - 1, [0, 0, 0], "6 are negative, in rows 0, 1, 2"),
        (np.full((3, 3), np.nan), [0, 0, 0], "9 are not finite"),
        (np.full((3, 3), np.inf), [0, 0, 0], "9 are not finite"),
        (np.ones((3, 3)), [0, 0], "one value for each of the 3 points; got 2"),
        (np.array([["a"]]), [0], "must hold real numbers"),
    ],
)
def test_wrong_input_is_refused(P, labels, said):
    """In one sentence."""
    with pytest.raises(InputError, match=said):
        block_density(P, labels)


def test_clusters_of_a_map_are_in_its_graph(mixture):
    """The whole way: vectors, map, clusters, picture."""
    X = mixture(1500, 6)
    model = SCE(random_state=0).fit(X)
    labels = find_clusters(model)
    blocks = block_density(model, labels, 15)
    inside = np.diag(blocks.density)[:-1]
    assert inside.min() > 4
    assert np.median(blocks.density[~np.eye(len(blocks.density), dtype=bool)]) < 0.2


def test_pictures_can_be_computed_without_matplotlib():
    """Densities of blocks, rasters, sizes and opacities of dots, colours of classes: all that a page needs to draw."""
    run(
        "import sys; sys.modules['matplotlib'] = None\n"
        "import numpy as np\n"
        "from sce.core import dots, palette, raster\n"
        "from sce.data.labels import as_labels\n"
        "from sce.quality.block_density import block_density\n"
        "assert block_density(np.ones((9, 9)), np.arange(9) // 3, 3).density.shape == (3, 3)\n"
        "Y = np.random.default_rng(0).normal(size=(50, 2))\n"
        "classes = as_labels(np.arange(50) % 3, 50, 'auto')\n"
        "paint = palette.by_class(classes.codes, palette.class_colors(3))\n"
        "frame = raster.Frame(Y.min(axis=0), Y.max(axis=0), np.full(2, 100.0))\n"
        "radius = dots.dot_size(Y, frame) ** 0.5 / 2\n"
        "image = raster.image(Y, paint, frame, 1.0, radius, lambda D: dots.fit_tone(dots.crowd(D), colored=True))\n"
        "assert image.shape == (100, 100, 4)"
    )
