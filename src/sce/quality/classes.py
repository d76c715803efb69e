"""How well a map agrees with classes that are known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from sce.clusters.hdbscan import cluster_series
from sce.quality.check import check_classes, map_points, sampled

GRID = (10, 20, 50, 100, 200, 500, 1000)  # min_cluster_size
MIN_SAMPLES = 5
_SAMPLE = 20_000  # points clustered at once
_SAMPLES = 5  # how often, where there are more points
_QUERIES = 10_000  # points classified
_PAIRWISE = 5_000  # points compared with each other for the silhouette


class ClassAgreement(NamedTuple):
    """How well a map agrees with known classes.

    Attributes
    ----------
    ari, ami : float
        Adjusted Rand index and adjusted mutual information of HDBSCAN's clusters with the classes; points in no cluster
        count as one more cluster. 0 is chance, 1 the very classes.
    accuracy : float
        The share of points whose 15 nearest on the map are mostly of their class.
    silhouette : float
        Of the classes on the map, from -1 to 1.
    min_cluster_size : int
        The one of the grid at which `ami` is best; `ari` is that of the same clusters.
    covered : float
        The share of points in a cluster there.
    """

    ari: float
    ami: float
    accuracy: float
    silhouette: float
    min_cluster_size: int
    covered: float


def class_agreement(Y: Any, classes: Any, *, random_state: int = 0, n_jobs: int | None = None) -> ClassAgreement:
    """How well a map agrees with known classes.

    The clusters are those of HDBSCAN with min_samples=5 and the best of min_cluster_size = 10, 20, 50, 100, 200, 500 and 1,000,
    so that no map is at a disadvantage by the size of its clusters. Of more than 20,000 points, five samples of 20,000 are
    clustered and the mean is taken: where clusters touch, one sample may part them and the next not.

    Parameters
    ----------
    Y : array of shape (n, 1..3), fitted SCE, or saved map
    classes : array of shape (n,)
        Numbers or texts.
    random_state : int, default=0
        Of the samples: the same points for every map of the same data.
    n_jobs : int or None, default=None
        Threads; None is all cores. Never changes the result.

    Returns
    -------
    ClassAgreement

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> Y, y = make_blobs([100, 300, 200], centers=[[0, 0], [50, 0], [0, 50]], random_state=0)
    >>> round(class_agreement(Y, y).ami, 2), class_agreement(Y, y).accuracy
    (1.0, 1.0)
    """
    points = map_points(Y)
    codes = check_classes(classes, len(points), "classes")
    found = np.mean(list(_cluster_scores(points, codes, random_state, n_jobs)), axis=0)
    best = int(found[:, 0].argmax())
    ami, ari, covered = map(float, found[best])
    return ClassAgreement(
        ari=ari,
        ami=ami,
        accuracy=label_accuracy(points, codes, random_state=random_state),
        silhouette=_silhouette(points, codes, random_state),
        min_cluster_size=GRID[best],
        covered=covered,
    )


def _cluster_scores(
    points: np.ndarray, codes: np.ndarray, random_state: int, n_jobs: int | None
) -> Iterator[np.ndarray]:
    """For each sample, a row (ami, ari, covered) for each min_cluster_size."""
    from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

    for number in range(_SAMPLES if len(points) > _SAMPLE else 1):
        rows = sampled(len(points), _SAMPLE, [random_state, number])
        yield np.array(
            [
                (
                    adjusted_mutual_info_score(codes[rows], labels),
                    adjusted_rand_score(codes[rows], labels),
                    (labels >= 0).mean(),
                )
                for _, labels in cluster_series(points[rows], GRID, MIN_SAMPLES, n_jobs=n_jobs)
            ]
        )


def label_accuracy(Y: Any, classes: Any, *, k: int = 15, random_state: int = 0) -> float:
    """The share of points (of at most 10,000) whose k nearest on the map are mostly of their own class.

    Of classes with equally many among the k nearest, the one that is first in order is taken.

    Examples
    --------
    >>> Y = np.array([[0.0, 0], [0, 1], [1, 0], [9, 9], [9, 8], [8, 9]])
    >>> label_accuracy(Y, list("aaabbb"), k=2)
    1.0
    """
    from scipy.spatial import cKDTree

    points = map_points(Y)
    codes = check_classes(classes, len(points), "classes")
    k = min(k, len(points) - 1)
    if k < 1:
        return 1.0
    rows = sampled(len(points), _QUERIES, random_state)
    near = cKDTree(points).query(points[rows], k + 1)[1]
    itself = near == rows[:, None]
    itself[~itself.any(axis=1), -1] = True  # copies have pushed it out
    votes = codes[near[~itself].reshape(len(rows), k)]
    counts = np.zeros((len(rows), codes.max() + 1), np.int32)
    np.add.at(counts, (np.arange(len(rows))[:, None], votes), 1)
    return float((counts.argmax(axis=1) == codes[rows]).mean())


def _silhouette(points: np.ndarray, codes: np.ndarray, random_state: int) -> float:
    """Of the classes, on a sample; NaN where there are fewer than two, or as many as points."""
    from sklearn.metrics import silhouette_score

    rows = sampled(len(points), _PAIRWISE, random_state)
    if not 2 <= len(np.unique(codes[rows])) < len(rows):
        return float("nan")
    return float(silhouette_score(points[rows], codes[rows]))
