"""Agreement of maps with each other."""

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
    turned = 3 * blobs @ [[0.6, 0.8], [0.8, -0.6]] + 7
    found = stability([blobs, turned])
    assert found.figures() == pytest.approx({"neighbors_stable": 1.0, "clusters_stable": 1.0, "procrustes": 0.0})


def test_noise_agrees_with_nothing(blobs):
    other = np.random.default_rng(0).normal(size=blobs.shape)
    figures = stability([blobs, other]).figures()
    assert figures["neighbors_stable"] < 0.1
    assert abs(figures["clusters_stable"]) < 0.05
    assert figures["procrustes"] > 0.9


def test_disparity_is_scipys(blobs):
    other = blobs + np.random.default_rng(0).normal(size=blobs.shape)
    assert _disparity(blobs, other) == pytest.approx(procrustes(blobs, other)[2])
    assert _disparity(blobs, np.zeros_like(blobs)) == 1.0


def test_means_are_over_pairs(blobs):
    other = np.random.default_rng(0).normal(size=blobs.shape)
    found = stability([blobs, blobs, other])
    assert found.neighbors.shape == (3, 3)
    assert (found.neighbors == found.neighbors.T).all()
    assert found.figures()["neighbors_stable"] == pytest.approx((1 + 2 * found.neighbors[0, 2]) / 3)


def test_needs_two_maps_of_the_same_points(blobs):
    with pytest.raises(InputError, match="two or more maps"):
        stability([blobs])
    with pytest.raises(InputError, match="two or more maps"):
        stability([blobs, blobs[1:]])
