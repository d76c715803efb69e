"""Sparse matrices in rows (CSR) as kernels take them: one check, row sums, transposes, connected components, merged points.

The other packages use these functions for all work on the rows of P, so that nothing is written twice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.core.validate import check_sparse
from sce.errors import InputError

CSR_TASK_ROWS = 4096  # rows a thread takes at once
_MIN_EDGE_WEIGHT = 1e-38  # so that a sum over edges is zero only where there is none


class CSR(NamedTuple):
    """The arrays of a sparse matrix: row i has data[e] in column indices[e] for indptr[i] <= e < indptr[i + 1]."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


def arrays_of(P: sparse.csr_matrix) -> CSR:
    """The arrays of a matrix, not copied."""
    return CSR(P.indptr, P.indices, P.data)


def entry_rows(indptr: np.ndarray) -> np.ndarray:
    """The row of each entry.

    Examples
    --------
    >>> entry_rows(np.array([0, 2, 2, 3]))
    array([0, 0, 2])
    """
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


# --------------------------------------------------------------------------------------------------------------- check


def check_similarities(P: Any) -> sparse.csr_matrix:
    """A square matrix of finite numbers, none of them negative, as CSR; not copied if it has that form already.

    Examples
    --------
    >>> check_similarities([[0, 2], [1, 0]]).data
    array([2, 1])
    """
    P = P if sparse.issparse(P) else np.asarray(P)
    if P.dtype.kind not in "fiub":
        raise InputError(f"A similarity graph must hold real numbers; got {P.dtype}.")
    if P.ndim != 2 or P.shape[0] != P.shape[1]:
        raise InputError(
            f"A similarity graph must be a square matrix, one row and column per point; got shape {P.shape}."
        )
    check_sparse(P)
    P = sparse.csr_matrix(P)
    if P.nnz and P.dtype.kind in "fi" and not (P.data.min() >= 0 and np.isfinite(P.data.max())):  # NaN is not >= 0
        _refuse(P, ~np.isfinite(P.data), "not finite", "")
        _refuse(P, P.data < 0, "negative", "; for distances use metric='precomputed'")
    return P


def _refuse(P: sparse.csr_matrix, bad: np.ndarray, what: str, advice: str) -> None:
    """Raise an error that names the rows of bad entries, if there are any."""
    if bad.any():
        rows = np.unique(np.searchsorted(P.indptr, np.flatnonzero(bad), side="right") - 1)
        shown = ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")
        raise InputError(
            f"A similarity graph must hold finite, non-negative numbers, but {bad.sum()} are {what}, in rows {shown}{advice}."
        )


# ---------------------------------------------------------------------------------------------------------------- sums


def row_sums(graph: CSR, team: Team) -> np.ndarray:
    """The sum of each row, in float64.

    Examples
    --------
    >>> row_sums(arrays_of(sparse.csr_matrix([[0, 1, 2], [1, 0, 0], [2, 0, 0]])), Team(1))
    array([3., 1., 2.])
    """
    sums = np.zeros(len(graph.indptr) - 1)
    team.sweep(lambda start, stop: _sum_rows(graph.indptr, graph.data, start, stop, sums), len(sums), CSR_TASK_ROWS)
    return sums


@kernel
def _sum_rows(indptr: Any, data: Any, start: Any, stop: Any, sums: Any) -> None:
    for i in range(start, stop):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            total += data[e]
        sums[i] = total


# ----------------------------------------------------------------------------------------------------------- transpose


def transpose(lists: CSR, n_columns: int, team: Team) -> CSR:
    """The transposed matrix, each of its rows in ascending order, with float32 data.

    Entries in column -1 are left out. Data may be empty, if they are all the same; those of the result are then empty too.

    Examples
    --------
    >>> lists = CSR(np.array([0, 2, 3]), np.array([1, 0, 1], np.int32), np.array([3, 4, 5], np.float32))
    >>> transpose(lists, 2, Team(1))
    CSR(indptr=array([0, 1, 3]), indices=array([0, 0, 1], dtype=int32), data=array([4., 3., 5.], dtype=float32))
    """
    indptr = np.zeros(n_columns + 1, np.int64)
    _count_columns(lists.indices, indptr)
    np.cumsum(indptr, out=indptr)
    data = np.empty(indptr[-1] if lists.data.size else 0, np.float32)
    turned = CSR(indptr, np.empty(indptr[-1], np.int32), data)
    # Each thread reads all entries and writes its own rows: the writing is what takes the time.
    team.split(lambda low, high: _fill_transposed(lists, turned, low, high), n_columns)
    return turned


@kernel
def _count_columns(indices: Any, counts: Any) -> None:
    """Add to counts[j + 1] how many entries are in column j."""
    for j in indices:
        if j >= 0:
            counts[j + 1] += 1


@kernel
def _fill_transposed(lists: Any, turned: Any, low: Any, high: Any) -> None:
    """Write rows low to high of the transposed matrix; they are ascending because the entries are read in order."""
    position = turned.indptr[low:high].copy()
    for i in range(lists.indptr.size - 1):
        for e in range(lists.indptr[i], lists.indptr[i + 1]):
            j = lists.indices[e]
            if low <= j < high:
                q = position[j - low]
                turned.indices[q] = i
                if lists.data.size:
                    turned.data[q] = lists.data[e]
                position[j - low] = q + 1


# ---------------------------------------------------------------------------------------------------------- components


def components(graph: CSR, group: np.ndarray | None = None) -> np.ndarray:
    """The connected component of each point of a symmetric graph (int32), numbered in the order of their first points.

    With a `group` for each point, only edges within a group count.

    Examples
    --------
    >>> ring = arrays_of(sparse.csr_matrix([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]))
    >>> components(ring), components(ring, np.array([0, 0, 1, 2], np.int32))
    (array([0, 0, 1, 1], dtype=int32), array([0, 0, 1, 2], dtype=int32))
    """
    n = len(graph.indptr) - 1
    return np.asarray(_components(graph.indptr, graph.indices, np.zeros(0, np.int32) if group is None else group, n))


@kernel
def _components(indptr: Any, indices: Any, group: Any, n: Any) -> Any:
    """Depth-first search from each point that has not been reached."""
    part, stack = np.full(n, -1, np.int32), np.empty(n, np.int32)
    count = 0
    for first in range(n):
        if part[first] >= 0:
            continue
        part[first] = count
        stack[0] = first
        height = 1
        while height > 0:
            height -= 1
            i = stack[height]
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if part[j] < 0 and (group.size == 0 or group[j] == group[i]):
                    part[j] = count
                    stack[height] = j
                    height += 1
        count += 1
    return part


# --------------------------------------------------------------------------------------------------------- submatrices


def submatrix(graph: CSR, points: np.ndarray) -> CSR:
    """The rows and columns of some of the points (ascending), renumbered; float32.

    Examples
    --------
    >>> P = arrays_of(sparse.csr_matrix(np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0]], np.float32)))
    >>> submatrix(P, np.array([0, 2])).data
    array([1., 1.], dtype=float32)
    """
    place = np.full(len(graph.indptr) - 1, -1, np.int32)
    place[points] = np.arange(len(points))
    lengths = np.zeros(len(points) + 1, np.int64)
    _count_within(graph, points, place, lengths)
    indptr = np.cumsum(lengths)
    part = CSR(indptr, np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32))
    _copy_within(graph, points, place, part)
    return part


@kernel
def _count_within(graph: Any, points: Any, place: Any, lengths: Any) -> None:
    """The number of columns that each point keeps; `place` is each point's new number, or -1."""
    for k in range(points.size):
        i = points[k]
        for e in range(graph.indptr[i], graph.indptr[i + 1]):
            if place[graph.indices[e]] >= 0:
                lengths[k + 1] += 1


@kernel
def _copy_within(graph: Any, points: Any, place: Any, part: Any) -> None:
    for k in range(points.size):
        i = points[k]
        free = part.indptr[k]
        for e in range(graph.indptr[i], graph.indptr[i + 1]):
            j = place[graph.indices[e]]
            if j >= 0:
                part.indices[free] = j
                part.data[free] = graph.data[e]
                free += 1


# ------------------------------------------------------------------------------------------------------- merged points


def merge_points(graph: CSR, group: np.ndarray, count: int, team: Team, *, inside: bool) -> CSR:
    """The graph of groups of points: edges between two groups add up.

    Parameters
    ----------
    graph : CSR
    group : int32 array of shape (n,)
        The number of each point's group.
    count : int
        The number of groups.
    team : Team
        The result does not depend on the number of threads.
    inside : bool
        Whether edges within a group add up on the diagonal; otherwise they are left out.

    Returns
    -------
    CSR
        The columns of a row are in the order of their first edge.

    Examples
    --------
    >>> P = arrays_of(sparse.csr_matrix(np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0]], np.float32)))
    >>> merge_points(P, np.array([0, 0, 1], np.int32), 2, Team(1), inside=False).data.tolist()
    [3.0, 3.0]
    """
    members = np.argsort(group, kind="stable").astype(np.int32)
    groups = _Groups(group, members, np.searchsorted(group[members], np.arange(count + 1)))
    lengths = np.zeros(count + 1, np.int64)
    team.split(lambda start, stop: _count_groups(graph, groups, (start, stop), inside, lengths[1:]), count)
    indptr = np.cumsum(lengths)
    merged = CSR(indptr, np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32))
    team.split(lambda start, stop: _fill_groups(graph, groups, (start, stop), inside, merged), count)
    return merged


class _Groups(NamedTuple):
    """The group of each point, the points in the order of their groups, and where in that order each group begins."""

    of: np.ndarray
    members: np.ndarray
    firsts: np.ndarray


@kernel
def _count_groups(graph: Any, groups: Any, part: Any, inside: Any, lengths: Any) -> None:
    """The number of groups that each group of `part` has edges to."""
    seen = np.full(groups.firsts.size - 1, -1, np.int32)
    for g in range(part[0], part[1]):
        if not inside:
            seen[g] = g
        for k in range(groups.firsts[g], groups.firsts[g + 1]):
            i = groups.members[k]
            for e in range(graph.indptr[i], graph.indptr[i + 1]):
                h = groups.of[graph.indices[e]]
                if seen[h] != g:
                    seen[h] = g
                    lengths[g] += 1


@kernel
def _fill_groups(graph: Any, groups: Any, part: Any, inside: Any, merged: Any) -> None:
    """The groups that each group of `part` has edges to, and the sums of these edges."""
    total = np.zeros(groups.firsts.size - 1)
    for g in range(part[0], part[1]):
        filled = merged.indptr[g]
        for k in range(groups.firsts[g], groups.firsts[g + 1]):
            i = groups.members[k]
            for e in range(graph.indptr[i], graph.indptr[i + 1]):
                h = groups.of[graph.indices[e]]
                if h == g and not inside:
                    continue
                if total[h] == 0.0:
                    merged.indices[filled] = h
                    filled += 1
                total[h] += max(np.float64(graph.data[e]), _MIN_EDGE_WEIGHT)
        for place in range(merged.indptr[g], filled):
            merged.data[place] = total[merged.indices[place]]
            total[merged.indices[place]] = 0.0
