"""Neighbour searches, for tests: each way by force, the truth, and what every list of neighbours must satisfy."""

import numpy as np
from scipy.spatial.distance import cdist

from sce.core import linalg
from sce.graph import vectors

METRICS = ("euclidean", "sqeuclidean", "cosine", "correlation", "manhattan")
_SCIPY_NAMES = {"manhattan": "cityblock", "l1": "cityblock"}


def only(monkeypatch, way):
    """Send every search under a metric of our own one way, unless few rows are left without their copies.

    The inverted index is for sparse rows, and takes them here however many of their numbers are not zero.
    """
    monkeypatch.setattr(linalg, "DENSE_FROM_SHARE", 2.0 if way == "inverted index" else 1 / 3)
    monkeypatch.setattr(vectors, "BRUTE_FORCE_UP_TO_TERMS", np.inf if way == "brute force" else 0)
    monkeypatch.setattr(vectors, "PRODUCTS_UP_TO_TERMS", np.inf if way == "products" else 0)
    monkeypatch.setattr(vectors, "KD_TREE_UP_TO_COLUMNS", 1000 if way == "k-d tree" else 0)


def distances_between(rows, X, metric="euclidean"):
    """All distances in float64."""
    return cdist(np.asarray(rows, float), np.asarray(X, float), _SCIPY_NAMES.get(metric, metric))


def true_distances(X, k, metric="euclidean", step=1):
    """The distances of every step-th row to its k nearest others, nearest first."""
    numbers = np.arange(0, len(X), step)
    D = distances_between(X[::step], X, metric)
    D[np.arange(len(numbers)), numbers] = np.inf
    return np.sort(D, axis=1)[:, :k]


def recall(near, truth, step=1):
    """The share of the true neighbours among those found, judged by distances."""
    return (near.distances[::step] <= truth[:, -1:] * (1 + 1e-5)).mean()


def assert_valid(near, n, k):
    """Every list holds k different others, nearest first, at finite distances."""
    assert_valid_query(near, n, n, k)
    assert (near.indices != np.arange(n)[:, None]).all()


def assert_valid_query(near, m, n, k):
    """Every list of m new rows holds k different rows of n, nearest first, at finite distances."""
    assert near.indices.shape == near.distances.shape == (m, k)
    assert near.indices.dtype == np.int32
    assert near.indices.min(initial=0) >= 0
    assert near.indices.max(initial=0) < n
    assert (np.diff(np.sort(near.indices, axis=1), axis=1) > 0).all()
    assert np.isfinite(near.distances).all()
    assert (np.diff(near.distances, axis=1) >= 0).all()


def bytes_of(near):
    """Lists and distances, bit for bit."""
    return near.indices.tobytes() + near.distances.tobytes() + repr((near.method, near.recall)).encode()
