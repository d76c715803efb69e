"""The story in plain words: one story, the same in sentences, figures and the table, on data of many kinds."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs, make_moons

from sce import SCE
from sce.quality import assess
from sce.quality.classes import ClassAgreement
from sce.quality.partition import Partition
from sce.quality.story import GRAPH, cluster_story, label_story
from sce.quality.verdict import compare

RANDOM = np.random.default_rng(0)
DATA = {
    "digits": lambda: load_digits(return_X_y=True)[0][:900],
    "three clouds": lambda: make_blobs(500, 5, centers=3, random_state=1)[0],
    "ten clouds in a row": lambda: make_blobs(900, centers=[[7 * k, 0] for k in range(10)], random_state=0)[0],
    "clouds that touch": lambda: make_blobs(800, centers=[[0, 0], [4.5, 0], [20, 0]], random_state=0)[0],
    "moons": lambda: make_moons(600, noise=0.05, random_state=0)[0],
    "one cloud and a far one": lambda: np.r_[RANDOM.normal(size=(600, 5)), 40 + RANDOM.normal(size=(40, 5))],
    "uniform square": lambda: np.random.default_rng(0).random((500, 2)),
    "lognormal": lambda: np.random.default_rng(1).lognormal(size=(500, 5)),
    "50 points": lambda: np.random.default_rng(0).random((50, 2)),
}


@pytest.mark.filterwarnings("ignore::sce.ScalingWarning")
@pytest.mark.parametrize("name", DATA)
def test_sentences_figures_and_table_agree(name):
    """Numbers of clusters, groups and real clusters are the same everywhere; clusters run into one another in both."""
    X = DATA[name]().astype(float)
    quality = assess(SCE(random_state=0, verbose=False).fit(X), X=X)
    figures, story = quality.figures(), " ".join(quality.story())
    table = quality.clusters.lines()[2:]
    n_clusters, n_real, n_groups = (int(figures.get(key, 0)) for key in ("n_clusters", "n_real", "n_groups"))
    if "n_groups" not in figures:
        assert "too few points" in story
        assert all(line.endswith("cannot be judged: too few points") for line in table)
        return
    assert str(quality).startswith("\n".join(quality.story()))
    assert len(table) == n_clusters
    assert sum("real" in line for line in table) == n_real
    said = re.search(r"has (\d+) groups", story)
    assert (int(said[1]) if said else 1) == max(n_groups, 1)
    if n_groups <= 1:
        assert n_real == 0
        assert " real" not in story
    elif n_real and n_real == n_clusters:
        assert "all clusters are real" in story
    elif n_real:
        assert f"{n_real} of the clusters" in story
    told = {
        int(number)
        for run in re.findall(r"lusters ([\d, and]+) run into one another", story)
        for number in re.findall(r"\d+", run)
    }
    if n_groups > 1:
        assert told == {int(line.split()[0]) for line in table if "runs into" in line}


def test_what_is_said_of_each_kind_of_cluster():
    """Of a map without clusters, a single one, fragments, clusters with several groups, and a graph in crumbs."""
    groups = np.repeat([0, 1, 2, 3], 10).astype(np.int32)

    def story(codes, found=groups, enough=True):
        names = np.unique(codes[codes >= 0])
        verdict = compare(Partition(found, int(found.max()) + 1, enough), codes, names)
        told = cluster_story(len(names), float((codes >= 0).mean()), verdict)
        assert told[1] == GRAPH
        return " ".join([told[0], *told[2:]])

    none, one = np.full(40, -1), np.zeros(40, np.int32)
    assert "which the map does not show as clusters" in story(none)
    assert "all of them are in this one cluster. Cluster 0 holds 4 groups of 10, 10, 10 and 10 points." in story(one)
    assert "no clear gap anywhere, so the map in one piece is right" in story(none, one)
    assert "the cluster is not separated from the rest" in story(np.where(np.arange(40) < 20, 0, -1), one)
    assert "none of the clusters is separated" in story(np.arange(40) // 20, one)
    assert "too few points" in story(none, one, enough=False)
    assert "pieces too small" in story(none, none.astype(np.int32))
    assert "the cluster is real" in story(np.where(groups == 1, 0, -1))
    halves = story(np.where(groups == 3, 3 + (np.arange(40) % 2), groups))
    assert (
        "3 of the clusters are real: each has a clear gap to all others. Clusters 3 and 4 run into one another."
        in halves
    )
    fragment = np.where(np.arange(40) < 4, 0, np.where(groups > 0, groups, -1))
    assert "Cluster 0 is part of a larger group, whose other points are in no cluster." in story(fragment)
    assert "Cluster 0 holds 2 groups of 10 and 10 points; cluster 1 holds 2 groups" in story(groups // 2)


def test_nothing_is_said_where_nothing_can_be_judged():
    """With too few points, neither the table says that clusters run into one another, nor the figures that there are none."""
    X = np.random.default_rng(0).random((50, 2))
    for codes in (np.zeros(50, int), np.repeat([0, 1], 25)):
        quality = assess(SCE(random_state=0).fit(X), X=X, labels=codes)
        assert "There are too few points to judge by it" in quality.story()[2]
        assert not {"n_real", "n_groups"} & set(quality.figures())
        assert {line.split("  ")[-1] for line in quality.clusters.lines()[2:]} == {"cannot be judged: too few points"}


def test_groups_that_no_cluster_shows_are_named():
    """Otherwise the numbers of groups and of clusters in the sentences do not add up."""
    groups = np.repeat([0, 1, 2], [20, 12, 8]).astype(np.int32)
    codes = np.where(groups == 0, np.arange(40) % 2, -1)
    verdict = compare(Partition(groups, 3, True), codes, np.arange(2))
    assert cluster_story(2, 0.5, verdict)[2:] == [
        "It has 3 groups with clear gaps between them, but no cluster of the map is real: none has a clear gap to all others.",
        "Clusters 0 and 1 run into one another.",
        "2 groups are not shown as clusters: 12 and 8 points.",
    ]


@pytest.mark.parametrize(("accuracy", "said"), [(0.97, "The labels follow"), (0.55, "The labels partly follow")])
def test_labels_that_half_of_the_points_share_follow_in_part(accuracy, said):
    """As newsgroups do, with 55%."""
    assert label_story(False, ClassAgreement(0.5, 0.5, accuracy, 0.5, 20, 1.0))[0].startswith(said)
