"""The mass of P between clusters, from which all figures about clusters in the graph are computed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sce.core.compiled import kernel
from sce.core.dataframes import as_column
from sce.core.parallel import Team
from sce.errors import InputError
from sce.graph.csr import arrays_of, row_sums

_ROW_SUM_TOLERANCE = 1e-5  # of the largest row sum: float32 arithmetic explains a smaller difference


class BlockMass(NamedTuple):
    """The mass of P within and between clusters; all masses are shares of the sum of P.

    `mass`: from each cluster to each other cluster and, on the diagonal, inside it; both directions of an edge count.
    `volume`: the sum of the rows of P in each cluster. It exceeds the row of `mass` by the mass to points in no cluster.
    `sizes`: the number of points in each cluster. `loose`: the sum of squared volumes of the points in no cluster, each
    taken as a cluster of its own.
    """

    mass: np.ndarray
    volume: np.ndarray
    sizes: np.ndarray
    loose: float


def block_mass(P: sp.csr_matrix, labels: np.ndarray, team: Team) -> BlockMass:
    """Sum P over its blocks, the pairs of clusters.

    Parameters
    ----------
    P : csr matrix of shape (n, n)
        Symmetric and non-negative.
    labels : array of shape (n,)
        Whole numbers; the result has a row for each number from 0 to the largest. A negative label means no cluster.
    team : Team
        Never changes the result.

    Examples
    --------
    >>> P = sp.csr_matrix(np.kron(np.eye(2), [[0, 0.25], [0.25, 0]]))
    >>> block_mass(P, np.array([0, 1, 1, -1]), Team(1)).mass
    array([[0.  , 0.25],
           [0.25, 0.  ]])
    """
    codes = np.ascontiguousarray(labels, np.int32)
    count = int(codes.max(initial=-1)) + 1
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(count + 1))
    mass, volume = np.zeros((count, count)), np.zeros(count)
    graph = (P.indptr, P.indices, P.data)
    # One thread sums a cluster's row, in the order of its points: the sums do not depend on the number of threads.
    team.sweep(lambda a, b: _sum_blocks(graph, codes, (order, starts), mass, volume, a, b), count, 1)
    degree = np.where(codes < 0, row_sums(arrays_of(P), team), 0.0)
    total = volume.sum() + degree.sum()
    scale = 1.0 / total if total > 0 else 1.0
    loose = float((degree * degree).sum()) * scale * scale
    return BlockMass(mass * scale, volume * scale, np.diff(starts), loose)


@kernel
def _sum_blocks(graph: Any, codes: Any, members: Any, mass: Any, volume: Any, first: Any, last: Any) -> None:
    """Sum the rows of P in clusters `first` to `last` - 1 by the clusters of their columns; `members` is (order, starts)."""
    indptr, indices, data = graph
    order, starts = members
    for c in range(first, last):
        row = mass[c]
        whole = 0.0
        for place in range(starts[c], starts[c + 1]):
            i = order[place]
            for e in range(indptr[i], indptr[i + 1]):
                p = np.float64(data[e])
                whole += p
                other = codes[indices[e]]
                if other >= 0:
                    row[other] += p
        volume[c] = whole


# ------------------------------------------------------------------------------------------------------------- checks


def check_graph(P: Any) -> sp.csr_matrix:
    """P as a similarity graph: unchanged if it is one, otherwise repaired as in SCE.

    Symmetry is checked by the sums of rows and columns only, so that a graph of 100 million edges takes a second.
    """
    in_rows = sp.issparse(P) and P.format == "csr" and P.dtype in (np.float32, np.float64)
    if in_rows and P.shape[0] == P.shape[1] and P.nnz:
        rows = row_sums(arrays_of(P), Team(1))
        columns = np.bincount(P.indices, P.data, P.shape[0])
        regular = P.data.min() >= 0 and np.isfinite(rows).all() and not P.diagonal().any()
        if regular and np.abs(rows - columns).max() <= _ROW_SUM_TOLERANCE * rows.max():
            return P
    from sce.graph.precomputed import check_affinity

    return check_affinity(P)


def check_labels(labels: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(codes, names): the int32 number 0, 1, ... of each point's cluster, -1 for none, and the label behind each number."""
    given = np.asarray(as_column(labels))
    if given.shape != (n,):
        raise InputError(
            f"labels must hold one number for each of the {n} points of the graph; the shape is {given.shape}."
        )
    if given.dtype.kind not in "iub":
        raise InputError(
            f"labels must be whole numbers, negative for points in no cluster; their type is {given.dtype}: turn names into "
            "numbers with numpy.unique(labels, return_inverse=True)[1]."
        )
    given = given.astype(np.int64, copy=False)
    peak = int(given.max(initial=-1))
    if peak < 4 * n:  # quicker than sorting
        present = np.flatnonzero(np.bincount(given[given >= 0]))
        number = np.full(peak + 2, -1, np.int32)  # the last entry is for negative labels
        number[present] = np.arange(len(present))
        return number[np.maximum(given, -1)], present
    names, codes = np.unique(given[given >= 0], return_inverse=True)
    full = np.full(n, -1, np.int32)
    full[given >= 0] = codes
    return full, names
