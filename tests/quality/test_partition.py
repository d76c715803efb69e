"""The one partition of the graph: its kernels against twins, and what it finds started from good and bad clusters."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from test_clusters_in_graph import neighbours
from test_communities import planted

from graphs import random_graph
from sce.quality.partition import Partition, _polish_once, _spread_once, partition
from sce.quality.verdict import compare
from sce.quality.volume_graph import as_graph

KEY = np.uint64(7)


def slow_heaviest(dense, i, member):
    """The cluster with most of point i's mass, by a sum over all points; its own cluster wins a tie, then the lowest."""
    mass = {int(c): float(dense[i, member == c].sum()) for c in np.unique(member[(dense[i] > 0) & (member >= 0)])}
    most = max(mass.values(), default=0.0)
    best = [c for c, m in mass.items() if m == most]
    return member[i] if not best or member[i] in best else min(best)


@pytest.mark.parametrize("seed", range(5))
def test_kernels_equal_their_twins(seed):
    """Spreading is one round over all points at once, polishing goes point after point."""
    P = random_graph(60, weighted=False)
    dense = P.toarray()
    member = np.random.default_rng(seed).integers(-1, 3, 60).astype(np.int32)
    graph = as_graph(P)
    following = member.copy()
    _spread_once(graph, member, following)
    assert following.tolist() == [slow_heaviest(dense, i, member) if member[i] < 0 else member[i] for i in range(60)]
    expected = member.copy()
    for i in range(60):
        expected[i] = slow_heaviest(dense, i, expected)
    assert _polish_once(graph, member) > 0
    assert member.tolist() == expected.tolist()


@pytest.mark.parametrize("start", ["blocks", "none", "half", "shuffled"])
def test_planted_blocks_are_found_from_any_start(start):
    """From the blocks, from no clusters, from half of the blocks in one, and from clusters that mean nothing."""
    P, blocks = planted(4, 150, 0.9)
    codes = {"blocks": blocks, "none": np.full(600, -1), "half": blocks // 2}.get(
        start, np.random.default_rng(0).integers(0, 3, 600)
    )
    found = partition(as_graph(P), codes.astype(np.int32), KEY)
    assert found.n_groups == 4
    assert adjusted_rand_score(blocks, found.labels) > 0.98


def test_thorough_finds_no_fewer():
    """The search without the map only adds to what is found."""
    X, blob = make_blobs(600, centers=[[0, 0], [9, 0], [0, 9]], random_state=1)
    graph = as_graph(neighbours(X))
    for codes in (blob, np.full(600, -1)):
        plain, thorough = (partition(graph, codes.astype(np.int32), KEY, thorough=flag) for flag in (False, True))
        assert plain.n_groups <= thorough.n_groups == 3


def test_few_points_are_not_enough():
    """50 points with 10 neighbours each are too few to say that there are no groups; 800 are enough."""
    random = np.random.default_rng(0)
    for n, enough in ((50, False), (800, True)):
        found = partition(as_graph(neighbours(random.random((n, 2)))), np.zeros(n, np.int32), KEY)
        assert (found.n_groups, found.enough) == (1, enough)


@pytest.mark.parametrize("seed", range(20))
def test_the_parts_of_a_verdict_agree(seed):
    """For any clusters and groups: every cluster is said one thing, and real ones share no group with another."""
    random = np.random.default_rng(seed)
    n_groups, n_clusters = random.integers(0, 5, 2)
    groups = random.integers(-1, n_groups, 90).astype(np.int32) if n_groups else np.full(90, -1, np.int32)
    codes = np.where(random.random(90) < 0.6, groups, random.integers(-1, max(n_clusters, 1), 90))
    codes = np.unique(codes, return_inverse=True)[1].reshape(-1) + min(int(codes.min()), 0)
    names = np.unique(codes[codes >= 0])
    codes = np.searchsorted(names, np.maximum(codes, -1)) - (codes < 0)
    verdict = compare(Partition(groups, int(groups.max()) + 1, True), codes, np.arange(len(names)))
    merged = [c for merge in verdict.merges for c in merge]
    real = np.flatnonzero(verdict.real).tolist()
    assert len(set(merged)) == len(merged)
    assert not set(real) & {*merged, *verdict.fragments}
    assert not {name for name, _ in verdict.splits} & {*merged, *verdict.fragments}
    assert len(real) <= verdict.n_groups
    assert not real or verdict.n_groups > 1
    assert all((verdict.says(c).startswith("real")) == bool(verdict.real[c]) for c in range(len(names)))
