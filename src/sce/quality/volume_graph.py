"""A graph with the volumes of its nodes, the form that all kernels here take; subgraphs, merged nodes, numbers of groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from sce.core.parallel import Team
from sce.graph.csr import CSR, merge_points, row_sums, submatrix

_SUM_TOLERANCE = 1e-6  # a graph whose sum is this close to 1 is not scaled


class VolumeGraph(NamedTuple):
    """A symmetric graph in rows; the diagonal holds the mass inside a node. `volume`: the sum of each row."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    volume: np.ndarray

    @property
    def n(self) -> int:
        """The number of nodes."""
        return len(self.volume)

    @property
    def rows(self) -> CSR:
        """The matrix alone."""
        return CSR(*self[:3])


def as_graph(P: sp.csr_matrix) -> VolumeGraph:
    """P in float32, scaled to sum to 1."""
    data = P.data.astype(np.float32, copy=False)
    total = float(data.sum(dtype=np.float64))
    if total > 0 and abs(total - 1.0) > _SUM_TOLERANCE:
        data = data / np.float32(total)
    rows = CSR(P.indptr.astype(np.int64), P.indices.astype(np.int32, copy=False), data)
    return VolumeGraph(*rows, row_sums(rows, Team(1)))


def induce(graph: VolumeGraph, nodes: np.ndarray) -> VolumeGraph:
    """The graph of some of the nodes (ascending), without the edges that leave them."""
    rows = submatrix(graph.rows, nodes)
    return VolumeGraph(*rows, row_sums(rows, Team(1)))


def aggregate(graph: VolumeGraph, member: np.ndarray, count: int) -> VolumeGraph:
    """The graph between groups 0 ... count - 1 of nodes; the diagonal is the mass inside each."""
    merged = merge_points(graph.rows, member, count, Team(1), inside=True)
    return VolumeGraph(*merged, np.bincount(member, graph.volume, count))


# --------------------------------------------------------------------------------------------------- numbers of groups


def compact(member: np.ndarray) -> tuple[np.ndarray, int]:
    """Renumber the groups that are in use 0, 1, ..., keeping their order; and how many there are.

    Examples
    --------
    >>> compact(np.array([5, 2, 5, 9]))
    (array([1, 0, 1, 2], dtype=int32), 3)
    """
    used = np.bincount(member) > 0
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return number[member], int(used.sum())


def members_of(label: np.ndarray) -> list[np.ndarray]:
    """The members of each group 0, 1, ..., ascending."""
    order = np.argsort(label, kind="stable")
    return np.split(order, np.cumsum(np.bincount(label))[:-1])


def groups_of(member: np.ndarray, group: np.ndarray, count: int) -> np.ndarray:
    """The group of each of `count` communities; all members of a community are in one group."""
    result = np.empty(count, group.dtype)
    result[member] = group
    return result
