"""Agreement of several maps: 1 for a map moved rigidly, chance for noise."""

import numpy as np
import pytest
from scipy.spatial import procrustes
from sklearn.datasets import make_blobs

from sce.errors import InputError
from sce.quality.stability import _disparity, stability


@pytest.fixture(scope="module")
def blobs():
    return make_blobs([100, 300, 200], centers=[[0, 0], [9, 0], [0, 9]], random_state=0)[0]


def test_a_map_agrees_with_itself_turned_mirrored_and_scaled(blobs):
    """Rotation, reflection, shift and scale do not matter."""
    turned = 3 * blobs @ [[0.6, 0.8], [0.8, -0.6]] + 7
    found = stability([blobs, turned])
    assert found.figures() == pytest.approx({"neighbors_stable": 1.0, "clusters_stable": 1.0, "procrustes": 0.0})


def test_noise_agrees_with_nothing(blobs):
    """An unrelated map has the figures of chance."""
    other = np.random.default_rng(0).normal(size=blobs.shape)
    figures = stability([blobs, other]).figures()
    assert figures["neighbors_stable"] < 0.1
    assert abs(figures["clusters_stable"]) < 0.05
    assert figures["procrustes"] > 0.9


def lapack_disparity(A, B):
    """From the singular values of the matrix of products."""
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    values = np.linalg.svd(A.T @ B, compute_uv=False)
    return 1 - (values.sum() / np.linalg.norm(A) / np.linalg.norm(B)) ** 2


def test_disparity_is_scipys(blobs):
    """It equals that of scipy.spatial.procrustes, and is 1 for a map in one point."""
    other = blobs + np.random.default_rng(0).normal(size=blobs.shape)
    assert _disparity(blobs, other) == pytest.approx(procrustes(blobs, other)[2])
    assert _disparity(blobs, np.zeros_like(blobs)) == 1.0


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("thin", [1.0, 1e-3, 1e-9, 0.0])
def test_disparity_of_thin_maps_is_that_of_lapack(d, thin):
    """Within rounding error in one to three dimensions, also for maps that are nearly or exactly on a line."""
    rng = np.random.default_rng(d)
    A, B = (rng.normal(size=(50, d)) * np.array([1.0, thin, thin])[:d] for _ in range(2))
    assert _disparity(A, B) == pytest.approx(lapack_disparity(A, B), abs=1e-14)
    assert _disparity(A, 3 * A) == pytest.approx(0.0, abs=1e-14)


def test_means_are_over_pairs(blobs):
    """The figures of three maps are means over their three pairs."""
    other = np.random.default_rng(0).normal(size=blobs.shape)
    found = stability([blobs, blobs, other])
    assert found.neighbors.shape == (3, 3)
    assert (found.neighbors == found.neighbors.T).all()
    assert found.figures()["neighbors_stable"] == pytest.approx((1 + 2 * found.neighbors[0, 2]) / 3)


def test_needs_two_maps_of_the_same_points(blobs):
    """One map, or maps of different points, are refused."""
    with pytest.raises(InputError, match="two or more maps"):
        stability([blobs])
    with pytest.raises(InputError, match="two or more maps"):
        stability([blobs, blobs[1:]])
