"""How well a map agrees with known classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from sce.clusters.hdbscan import cluster_series
from sce.core.random import stream
from sce.core.validate import draw_seed
from sce.quality.check import check_classes, map_points, sampled, shuffled

MIN_CLUSTER_SIZES = (10, 20, 50, 100, 200, 500, 1000)  # of which the best one counts
MIN_SAMPLES = 5  # of HDBSCAN
_CLUSTERED_POINTS = 20_000  # in a sample
_CLUSTERED_SAMPLES = 5  # drawn where there are more points
_CLASSIFIED_POINTS = 10_000  # for the accuracy
_SILHOUETTE_POINTS = 5_000  # compared pairwise
_CELL_SHARE = 1 / 200  # of the points, in a cell of the map
_CELL_POINTS, _LEAST_CELLS = 50, 20  # at least so many points in a cell, where that leaves so many cells
_LEAST_LOCALITY = 1 / 3  # of classes
_MIN_LABELLED = 100  # points, below which labels are taken for classes


class ClassAgreement(NamedTuple):
    """How well a map agrees with known classes.

    Attributes
    ----------
    ari, ami : float
        Adjusted Rand index and adjusted mutual information of HDBSCAN's clusters with the classes; points in no cluster
        count as one more cluster. 0 is chance, 1 means that the clusters are the classes.
    accuracy : float
        The share of points whose class wins the vote of their 15 nearest on the map.
    silhouette : float
        The silhouette of the classes on the map, from -1 to 1.
    min_cluster_size : int
        The value on the grid with the best `ami`; `ari` and `covered` belong to the same clusters.
    covered : float
        The share of points that are in a cluster.
    """

    ari: float
    ami: float
    accuracy: float
    silhouette: float
    min_cluster_size: int
    covered: float


def class_agreement(Y: Any, classes: Any, *, random_state: Any = 0, n_jobs: int | None = None) -> ClassAgreement:
    """Measure how well a map agrees with known classes.

    The clusters are those of HDBSCAN with min_samples=5 and the best min_cluster_size of 10, 20, 50, 100, 200, 500 and 1,000,
    so that no map is at a disadvantage because of the size of its clusters. With more than 20,000 points, the mean over five
    samples of 20,000 is taken: where clusters touch, HDBSCAN may separate them in one sample and not in the next.

    Parameters
    ----------
    Y : array of shape (n, 1..3), fitted SCE, or saved map
    classes : array of shape (n,)
        Numbers or strings.
    random_state : int, RandomState or None, default=0
        The seed of the samples. An int gives the same points for every map of the same data.
    n_jobs : int or None, default=None
        The number of threads; None is all cores. Never changes the result.

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
        min_cluster_size=MIN_CLUSTER_SIZES[best],
        covered=covered,
    )


def _cluster_scores(
    points: np.ndarray, codes: np.ndarray, random_state: Any, n_jobs: int | None
) -> Iterator[np.ndarray]:
    """For each sample, a row (ami, ari, covered) for each min_cluster_size."""
    from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

    seed = draw_seed(random_state)
    for number in range(_CLUSTERED_SAMPLES if len(points) > _CLUSTERED_POINTS else 1):
        rows = sampled(len(points), _CLUSTERED_POINTS, seed, f"clusters against classes {number}")
        yield np.array(
            [
                (
                    adjusted_mutual_info_score(codes[rows], labels),
                    adjusted_rand_score(codes[rows], labels),
                    (labels >= 0).mean(),
                )
                for _, labels in cluster_series(points[rows], MIN_CLUSTER_SIZES, MIN_SAMPLES, n_jobs=n_jobs)
            ]
        )


def label_locality(Y: Any, classes: Any, *, random_state: Any = 0) -> float:
    """How far labels keep to places of the map: 1 if no two share a place, about 0 if each is spread over the whole map.

    The map is divided into cells of equal numbers of points. For each label the distribution over cells is compared with that
    of all points (half the sum of absolute differences); the mean over points is scaled so that shuffled labels have 0.
    Patients and batches are near 0, classes above one half.

    Examples
    --------
    >>> Y = np.random.default_rng(0).random((2000, 2))
    >>> round(label_locality(Y, Y[:, 0] > 0.5), 1), round(label_locality(Y, np.arange(2000) % 2), 1)
    (1.0, 0.0)
    """
    points = map_points(Y)
    codes = check_classes(classes, len(points), "classes")
    n = len(points)
    cell = _cells(points, max(2, int(_CELL_SHARE * n), min(_CELL_POINTS, n // _LEAST_CELLS)))
    share = np.bincount(codes) / len(codes)
    most = float((share * (1 - share)).sum())
    chance = _locality(shuffled(codes, stream(draw_seed(random_state), "label locality")), cell)
    return float(np.clip((_locality(codes, cell) - chance) / (most - chance), 0.0, 1.0)) if most > chance else 1.0


def are_spread(Y: Any, classes: Any, *, random_state: Any = 0) -> bool:
    """Whether every label is spread over the whole map, as those of patients or batches are, so that they are no classes.

    Examples
    --------
    >>> Y = np.random.default_rng(0).random((2000, 2))
    >>> are_spread(Y, Y[:, 0] > 0.5), are_spread(Y, np.arange(2000) % 2)
    (False, True)
    """
    enough = len(np.asarray(classes)) >= _MIN_LABELLED
    return enough and label_locality(Y, classes, random_state=random_state) < _LEAST_LOCALITY


def _locality(codes: np.ndarray, cell: np.ndarray) -> float:
    """Half the sum of absolute differences between the distributions over cells of a label and of all, mean over points."""
    counts = np.bincount(codes * (int(cell.max()) + 1) + cell, minlength=(codes.max() + 1) * (cell.max() + 1))
    counts = counts.reshape(codes.max() + 1, -1).astype(np.float64)
    sizes = counts.sum(axis=1)
    return float(0.5 * np.abs(counts - np.outer(sizes, counts.sum(axis=0) / len(codes))).sum() / len(codes))


def _cells(points: np.ndarray, size: int) -> np.ndarray:
    """The cell of each point: halves of halves along the longer side, each of `size` to twice as many points."""
    cell = np.zeros(len(points), np.int64)
    waiting, count = [np.arange(len(points))], 0
    while waiting:
        rows = waiting.pop()
        if len(rows) < 2 * size:
            cell[rows] = count
            count += 1
            continue
        ascending = rows[np.argsort(points[rows, np.ptp(points[rows], axis=0).argmax()], kind="stable")]
        waiting += [ascending[: len(rows) // 2], ascending[len(rows) // 2 :]]
    return cell


def label_accuracy(Y: Any, classes: Any, *, k: int = 15, random_state: Any = 0) -> float:
    """The share of points whose class wins the vote of their k nearest on the map, over at most 10,000 points.

    The class that comes first in sorted order wins a tie.

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
    rows = sampled(len(points), _CLASSIFIED_POINTS, random_state, "accuracy")
    near = cKDTree(points).query(points[rows], k + 1)[1]
    itself = near == rows[:, None]
    itself[~itself.any(axis=1), -1] = True  # pushed out by its copies
    votes = codes[near[~itself].reshape(len(rows), k)]
    counts = np.zeros((len(rows), codes.max() + 1), np.int32)
    np.add.at(counts, (np.arange(len(rows))[:, None], votes), 1)
    return float((counts.argmax(axis=1) == codes[rows]).mean())


def _silhouette(points: np.ndarray, codes: np.ndarray, random_state: Any) -> float:
    """The silhouette of the classes, on a sample; NaN with fewer than two classes, or as many classes as points."""
    from sklearn.metrics import silhouette_score

    rows = sampled(len(points), _SILHOUETTE_POINTS, random_state, "silhouette")
    if not 2 <= len(np.unique(codes[rows])) < len(rows):
        return float("nan")
    return float(silhouette_score(points[rows], codes[rows]))
