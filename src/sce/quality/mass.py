"""The mass of P between clusters: what all judgement of clusters by the graph is made of."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.errors import InputError
from sce.graph.csr import arrays_of, row_sums


class BlockMass(NamedTuple):
    """What P holds between clusters.

    `mass`: from each cluster to each other one and, on the diagonal, inside it, both directions of an edge counted.
    `volume`: of each cluster, its share of all ends of edges; more than its row of `mass` by what goes to points in no cluster.
    `sizes`: the number of points. `loose`: the sum of squared volumes of the points in no cluster, each a cluster of its own.
    All are shares of what P sums to.
    """

    mass: np.ndarray
    volume: np.ndarray
    sizes: np.ndarray
    loose: float


def block_mass(P: sp.csr_matrix, labels: np.ndarray, team: Team) -> BlockMass:
    """Sum P over the blocks that clusters make of it.

    Parameters
    ----------
    P : csr matrix of shape (n, n)
        Symmetric, not negative.
    labels : array of shape (n,)
        Whole numbers from 0 up, a row of the result for each up to the largest; a point with a negative one is in no cluster.
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
    # A cluster's row is summed by one thread, in the order of its points: the sums do not depend on the others.
    team.sweep(lambda a, b: _sum_blocks(graph, codes, (order, starts), mass, volume, a, b), count, 1)
    degree = np.where(codes < 0, row_sums(arrays_of(P), team), 0.0)
    total = volume.sum() + degree.sum()
    scale = 1.0 / total if total > 0 else 1.0
    loose = float((degree * degree).sum()) * scale * scale
    return BlockMass(mass * scale, volume * scale, np.diff(starts), loose)


@kernel
def _sum_blocks(graph: Any, codes: Any, members: Any, mass: Any, volume: Any, first: Any, last: Any) -> None:
    """Sum the rows of P in clusters `first` to `last` - 1 by the cluster of their columns; `members` is (order, starts)."""
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
    """P in the form of a similarity graph: as it is where it has that form, else mended as SCE would.

    Symmetry is judged by the sums of rows and columns, so that a graph of 100 million edges takes a second.
    """
    if sp.issparse(P) and P.format == "csr" and P.shape[0] == P.shape[1] and P.dtype.kind == "f" and P.nnz:
        rows = np.asarray(P.sum(axis=1, dtype=np.float64)).ravel()
        columns = np.bincount(P.indices, P.data, P.shape[0])
        regular = P.data.min() >= 0 and np.isfinite(rows).all() and not P.diagonal().any()
        if regular and np.abs(rows - columns).max() <= 1e-5 * rows.max():
            return P
    from sce.graph.precomputed import check_affinity

    return check_affinity(P)


def check_labels(labels: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(codes, names): int32 numbers 0, 1, ... of the clusters, -1 for none, and the label that each number stands for."""
    given = np.asarray(labels)
    if given.shape != (n,):
        raise InputError(
            f"labels must be one number for each of the {n} points of the graph; the shape is {given.shape}."
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
        number = np.full(peak + 2, -1, np.int32)  # the last is for negative labels
        number[present] = np.arange(len(present))
        return number[np.maximum(given, -1)], present
    names, codes = np.unique(given[given >= 0], return_inverse=True)
    full = np.full(n, -1, np.int32)
    full[given >= 0] = codes
    return full, names
