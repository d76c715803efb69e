"""Agreement with classes, against scikit-learn and plain counting."""

import numpy as np
import pytest
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, pairwise_distances, silhouette_score

from sce.errors import InputError
from sce.quality import classes as module
from sce.quality.classes import are_spread, class_agreement, label_accuracy


@pytest.fixture(scope="module")
def blobs():
    return make_blobs([100, 300, 200, 150], centers=[[0, 0], [6, 0], [0, 6], [20, 20]], random_state=0)


def slow_accuracy(Y, y, k):
    """The vote of the k nearest, one point at a time."""
    distances = pairwise_distances(Y)
    np.fill_diagonal(distances, np.inf)
    votes = [np.bincount(y[row.argsort()[:k]]).argmax() for row in distances]
    return np.mean(np.array(votes) == y)


def test_accuracy_equals_counting_votes(blobs):
    """The accuracy equals that of counting votes in the full distance matrix."""
    Y, y = blobs
    noisy = np.where(np.random.default_rng(0).random(len(y)) < 0.3, 0, y)
    assert label_accuracy(Y, noisy) == pytest.approx(slow_accuracy(Y, noisy, 15))
    assert label_accuracy(Y, noisy, k=1) == pytest.approx(slow_accuracy(Y, noisy, 1))


def test_accuracy_survives_copies():
    """A point that its copies push out of its own neighbours is not counted as its own."""
    Y, y = np.zeros((40, 2)), np.repeat([0, 1], 20)
    assert 0.3 <= label_accuracy(Y, y) <= 0.7


def test_agreement_is_the_best_over_the_grid_of_scikit_learns_hdbscan(blobs):
    """The figures are those of the best of scikit-learn's runs over the grid."""
    Y, y = blobs
    runs = [HDBSCAN(min_cluster_size=size, min_samples=5, copy=True).fit_predict(Y) for size in (10, 20, 50, 100, 200)]
    found = class_agreement(Y, y)
    best = max(runs, key=lambda labels: adjusted_mutual_info_score(y, labels))
    assert found.ami == pytest.approx(adjusted_mutual_info_score(y, best), abs=0.02)
    assert found.ari == pytest.approx(adjusted_rand_score(y, best), abs=0.02)
    assert found.covered == pytest.approx((best >= 0).mean(), abs=0.02)
    assert found.silhouette == pytest.approx(silhouette_score(Y, y))
    assert found.min_cluster_size in module.MIN_CLUSTER_SIZES


def test_classes_of_known_clusters_agree_and_shuffled_ones_do_not(blobs):
    """The information is 1 for clouds far apart and 0 for shuffled classes."""
    Y, y = blobs
    assert class_agreement(Y + y[:, None] * 1000, y).ami == pytest.approx(1.0)
    shuffled = class_agreement(Y, np.random.default_rng(0).permutation(y))
    assert abs(shuffled.ami) < 0.05
    assert shuffled.accuracy < 0.5


def test_names_of_classes_do_not_matter(blobs):
    """Strings give the same agreement as numbers."""
    Y, y = blobs
    names = np.array(["d", "a", "c", "b"])[y]
    assert class_agreement(Y, names)[:2] == pytest.approx(class_agreement(Y, y)[:2])


def test_many_points_are_sampled_several_times(blobs, monkeypatch):
    """The mean over samples is close to the value of all points, and a function of the seed."""
    Y, y = blobs
    whole = class_agreement(Y, y)
    monkeypatch.setattr(module, "_CLUSTERED_POINTS", 400)
    monkeypatch.setattr(module, "_CLUSTERED_SAMPLES", 3)
    found = class_agreement(Y, y)
    assert found.ami == pytest.approx(whole.ami, abs=0.1)
    assert found == class_agreement(Y, y)
    assert found != class_agreement(Y, y, random_state=1)


def test_one_class_has_no_silhouette(blobs):
    """It is NaN."""
    Y, _ = blobs
    assert np.isnan(class_agreement(Y, np.zeros(len(Y))).silhouette)


def test_says_how_many_classes_are_needed(blobs):
    """Too few classes are refused with the number that is needed."""
    with pytest.raises(InputError, match="one value for each of the 750 points"):
        class_agreement(blobs[0], [1, 2])


@pytest.mark.parametrize("n", [200, 1000])
def test_patients_are_told_from_classes(n):
    """Labels spread over the whole map are no classes, even with a small shift between them; a rare class in one place is."""
    rng = np.random.default_rng(n)
    Y = rng.normal(size=(n, 2))
    patient = np.arange(n) % 4
    assert are_spread(Y, patient)
    assert are_spread(Y + 0.2 * patient[:, None], [f"patient {k}" for k in patient])
    assert not are_spread(Y + 5 * (patient[:, None] % 2), patient % 2)
    assert not are_spread(Y, np.where(Y[:, 0] > 1.2, "rare", "usual"))
    assert not are_spread(Y, np.zeros(n))  # a single label
