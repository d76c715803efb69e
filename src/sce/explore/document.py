"""The document of named clusters, and what every operation on it comes down to: points that change their cluster.

A point is in at most one named cluster. What takes points from another cluster says so, and a cluster that has lost all its
points is gone, until that is undone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sce.explore.operations import NamingError

MOST_CLUSTERS = 10_000
NO_CODE = -1  # of a point in no cluster


class Cluster(NamedTuple):
    """A named cluster; `made` says by which tool, from which cluster, with which shape in which frame."""

    id: int
    name: str
    color: str | None
    made: Mapping[str, Any]


class Change(NamedTuple):
    """What undo and redo need: the points whose cluster changed, and the clusters before and after."""

    rows: np.ndarray
    old: np.ndarray
    new: np.ndarray
    clusters_before: tuple[Cluster, ...]
    clusters_after: tuple[Cluster, ...]


@dataclass(frozen=True, eq=False)
class Document:
    """Named clusters of n points, with what was done before and can be undone.

    Attributes
    ----------
    codes : ndarray of shape (n,), int32
        The id of the cluster of each point, -1 for none.
    clusters : tuple of Cluster
        In the order in which they were made.
    next_id : int
        Ids are never used again.
    revision : int
        The number of operations so far.
    past, future : linked pairs (change, rest) or None
        What undo and redo do next.
    note : str
        What the last operation did besides what was asked for.
    """

    codes: np.ndarray
    clusters: tuple[Cluster, ...] = ()
    next_id: int = 0
    revision: int = 0
    past: tuple[Change, Any] | None = None
    future: tuple[Change, Any] | None = None
    note: str = ""

    @classmethod
    def empty(cls, n: int) -> Document:
        """No clusters of n points."""
        return cls(np.full(n, NO_CODE, np.int32))

    @property
    def n(self) -> int:
        """The number of points."""
        return len(self.codes)

    def rows(self, cluster: int) -> np.ndarray:
        """The rows of a cluster, ascending."""
        return np.flatnonzero(self.codes == cluster)

    def find(self, cluster: Any) -> Cluster:
        """A cluster by its id."""
        found = next((each for each in self.clusters if each.id == cluster and type(cluster) is int), None)
        if found is None:
            raise NamingError(f"There is no cluster of id {str(cluster)[:20]}; it may have been deleted.")
        return found

    def places(self) -> np.ndarray:
        """The place in `clusters` of the cluster of each point, -1 for none: the labels of quality figures."""
        place = np.full(self.next_id + 1, NO_CODE, np.int32)
        place[[cluster.id for cluster in self.clusters]] = np.arange(len(self.clusters))
        return place[self.codes]

    def sizes(self) -> np.ndarray:
        """The number of points of each cluster."""
        return np.bincount(self.places() + 1, minlength=len(self.clusters) + 1)[1:]


def assign(document: Document, new: list[tuple[Cluster, np.ndarray]], gone: list[int] | None = None) -> Document:
    """Take clusters away, and then put points into new ones, which take them from others."""
    leaving = set(gone or ())
    codes = document.codes.copy()
    if leaving:
        codes[np.isin(codes, list(leaving))] = NO_CODE
    without = codes.copy()
    for cluster, rows in new:
        codes[rows] = cluster.id
    taken = without[(without != NO_CODE) & (codes != without)]
    kept, note = _after_taking(document, leaving, taken, codes)
    stays = {cluster.id: cluster for cluster, _ in new if cluster.id in leaving}
    clusters = tuple(stays.get(each.id, each) for each in kept if each.id not in leaving or each.id in stays)
    clusters += tuple(cluster for cluster, _ in new if cluster.id not in stays)
    if len(clusters) > MOST_CLUSTERS:
        raise NamingError(f"There may be at most {MOST_CLUSTERS:,} clusters.")
    next_id = max([document.next_id, *(cluster.id + 1 for cluster, _ in new)])
    return changed(document, codes, clusters, next_id, note)


def _after_taking(
    document: Document, leaving: set[int], taken: np.ndarray, codes: np.ndarray
) -> tuple[list[Cluster], str]:
    """The clusters that still have points, and what they lost, in words."""
    if not len(taken):
        return list(document.clusters), ""
    lost = np.bincount(taken, minlength=document.next_id)
    left = np.bincount(codes[codes != NO_CODE], minlength=document.next_id)
    kept, words = [], []
    for cluster in document.clusters:
        count = int(lost[cluster.id])
        is_empty = count and not left[cluster.id] and cluster.id not in leaving
        if count:
            end = ", which has none left and is gone" if is_empty else ""
            words.append(f"{count:,} point{'s' * (count > 1)} from {cluster.name!r}{end}")
        if not is_empty:
            kept.append(cluster)
    return kept, f"Took {'; '.join(words)}."


def with_cluster(document: Document, cluster: Cluster) -> Document:
    """A cluster in place of the one with its id."""
    clusters = tuple(cluster if each.id == cluster.id else each for each in document.clusters)
    return changed(document, document.codes, clusters, document.next_id, "")


def changed(document: Document, codes: np.ndarray, clusters: tuple[Cluster, ...], next_id: int, note: str) -> Document:
    """The next document, which remembers this one by what is different."""
    rows = np.flatnonzero(codes != document.codes)
    change = Change(rows, document.codes[rows], codes[rows], document.clusters, clusters)
    return Document(codes, clusters, next_id, document.revision, (change, document.past), None, note)


def recoded(codes: np.ndarray, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    """A copy with these values in these rows."""
    copy = codes.copy()
    copy[rows] = values
    return copy
