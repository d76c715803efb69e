"""The verdict of P on the clusters of a map: which are groups of P, which run into one another, which hold several groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from sce.core.random import stream
from sce.graph.csr import CSR, components
from sce.quality.partition import Partition, overlaps, partition
from sce.quality.volume_graph import as_graph, compact

_PART = (
    0.25  # of a cluster's points, or of those of a group in clusters: with fewer in common the two have nothing to do
)
_LEAST_OF_GROUPS = 0.5  # of the points of its groups that a real cluster has


class Verdict(NamedTuple):
    """What P says about clusters. All of it follows from one partition of P into groups, so nothing contradicts the rest.

    Attributes
    ----------
    names : array of shape (n_clusters,)
        The labels of the clusters.
    real : array of bool of shape (n_clusters,)
        Whether a cluster has a clear gap to all others: it is one group of P, or several, it shares none with another
        cluster, and there is something else that it is separated from.
    merges : list of lists of labels
        Clusters that run into one another: they share groups of P.
    splits : list of (label, sizes)
        Clusters that hold several groups of P, with the numbers of points in each, largest first.
    fragments : list of labels
        Clusters that are less than half of their group, whose other points are in no cluster.
    unseen : list of int
        The numbers of points of the groups that no cluster shows, largest first.
    groups : array of shape (n,), int32
        The group of P that each point is in, 0 for the largest; -1 for points in components too small to count.
    n_groups : int
    enough : bool
        Whether P has enough points for a lack of groups to mean something.
    """

    names: np.ndarray
    real: np.ndarray
    merges: list[list[int]]
    splits: list[tuple[int, list[int]]]
    fragments: list[int]
    unseen: list[int]
    groups: np.ndarray
    n_groups: int
    enough: bool

    @property
    def is_known(self) -> bool:
        """Whether P tells anything: it has groups, or so many points that a lack of groups means something."""
        return self.n_groups > 1 or (self.n_groups == 1 and self.enough)

    def says(self, c: int) -> str:
        """The verdict on cluster number c, in words."""
        if not self.is_known:
            return "cannot be judged" if self.n_groups == 0 else "cannot be judged: too few points"
        name = int(self.names[c])
        others = [str(other) for merge in self.merges if name in merge for other in merge if other != name]
        if self.real[c]:
            words = ["real: a clear gap to all others"]
        elif others:
            words = [f"runs into {', '.join(others)}"]
        elif name in self.fragments:
            words = ["part of a larger group whose other points are in no cluster"]
        elif self.n_groups > 1:
            words = ["no other cluster to compare with"]
        else:
            words = ["no gap"]
        words += [
            f"holds {len(sizes)} groups of {', '.join(map(str, sizes))} points"
            for label, sizes in self.splits
            if label == name
        ]
        return "; ".join(words)


def judge(P: sp.csr_matrix, codes: np.ndarray, names: np.ndarray, seed: int, *, thorough: bool = False) -> Verdict:
    """Judge clusters 0, 1, ... by P.

    Points in no cluster count with the cluster that P connects them to, so that an empty margin around a cluster does not make
    it more real.

    Examples
    --------
    >>> P = sp.csr_matrix(np.kron(np.eye(2), np.ones((9, 9)) - np.eye(9)) / 144)
    >>> judge(P, np.array([0] * 6 + [1] * 12), np.array([0, 1]), seed=0).real
    array([False, False])
    """
    found = partition(
        as_graph(P), codes, stream(seed, "judgement"), thorough=thorough
    )  # the name is part of the result
    return compare(found, codes, names)


def compare(found: Partition, codes: np.ndarray, names: np.ndarray) -> Verdict:
    """Judge clusters by the groups of P.

    A cluster and a group that have much in common are linked; clusters that are linked, also by way of others, run into one
    another.

    Examples
    --------
    >>> halves = Partition(np.repeat([0, 1], 6), 2, True)
    >>> compare(halves, np.repeat([0, 1, 2], [6, 3, 3]), np.arange(3)).merges
    [[1, 2]]
    """
    n_clusters, n_groups = len(names), found.n_groups
    real = np.zeros(n_clusters, np.bool_)
    merges: list[list[int]] = []
    splits: list[tuple[int, list[int]]] = []
    fragments: list[int] = []
    unseen: list[int] = []
    both = (codes >= 0) & (found.labels >= 0)
    common = overlaps(codes[both], found.labels[both], n_clusters, n_groups) if n_groups else np.zeros((n_clusters, 0))
    group_sizes = np.bincount(found.labels[found.labels >= 0], minlength=n_groups)
    for clusters, groups in _linked(common, np.bincount(codes[codes >= 0], minlength=n_clusters)):
        if len(clusters) == 0:
            unseen += group_sizes[groups].tolist()
            continue
        whole = common[np.ix_(clusters, groups)].sum() >= _LEAST_OF_GROUPS * group_sizes[groups].sum()
        if len(clusters) > 1:
            merges.append([int(names[c]) for c in clusters])
            continue
        (c,) = clusters
        real[c] = bool(len(groups)) and whole and len(groups) < n_groups
        if not whole:
            fragments.append(int(names[c]))
        elif len(groups) > 1:
            splits.append((int(names[c]), sorted(common[c, groups].astype(int).tolist(), reverse=True)))
    unseen.sort(reverse=True)
    return Verdict(names, real, sorted(merges), splits, fragments, unseen, found.labels, n_groups, found.enough)


def _linked(common: np.ndarray, sizes: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Clusters and groups that are linked, directly or by way of others: (clusters, groups) of each such set."""
    n_clusters, n_groups = common.shape
    clustered = common.sum(axis=0)
    links = (common > 0) & ((common >= _PART * sizes[:, None]) | (common >= _PART * clustered[None, :]))
    table = sp.csr_matrix(sp.bmat([[None, links], [links.T, None]])) if n_groups and n_clusters else None
    if table is None:
        return [(np.array([c]), np.zeros(0, np.int64)) for c in range(n_clusters)]
    graph = CSR(table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data.astype(np.float32))
    member = compact(components(graph, np.zeros(n_clusters + n_groups, np.int32)))[0]
    return [
        (np.flatnonzero(member[:n_clusters] == k), np.flatnonzero(member[n_clusters:] == k))
        for k in range(int(member.max()) + 1)
    ]
