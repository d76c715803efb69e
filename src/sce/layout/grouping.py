"""Groups of neighbours to be merged, found in rounds that threads, or machines that hold P in parts, can share.

Points have random priorities. In a round each point without a group chooses its strongest neighbour that has room: one without
a group, too, or in a group that is not full. It asks that group, or the neighbour if it comes before it by priority. Of all
that ask the same, the first joins, unless it is asked itself: then it waits. So the outcome is much like that of letting the
points choose one after another, and yet what a point chooses depends on P and on the end of the last round alone, and who joins
only on who asks: the result is the same however the points are shared out. Priorities break ties between equal edges, too.

A point stays with its choice as long as there is room, so its row of P is read about once. All that travels between machines is
who asks which group, who is first, and who joined. MNIST takes 6 rounds, and so do graphs of usps with 15 or 50 equal
neighbours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.core.random import bits_array
from sce.graph.csr import CSR, CSR_TASK_ROWS

_HEARD_PER_TASK = 16_384  # points; for fewer, another thread does not pay


class _Rounds(NamedTuple):
    """The state between rounds, for each point.

    `priority`: random bits; the least come first. `leader`: the point that its group is named after, or -1. `size`: the number
    of points in the group named after it. `choice`: the neighbour that it chose, or -1. `first`: the first point that asks it,
    or the group named after it, in this round, or -1.
    """

    priority: np.ndarray
    leader: np.ndarray
    size: np.ndarray
    choice: np.ndarray
    first: np.ndarray


def match_neighbors(graph: CSR, key: np.uint64, most: int, team: Team) -> tuple[np.ndarray, int]:
    """Group each point with strong neighbours.

    Parameters
    ----------
    graph : CSR
        Symmetric, zero diagonal.
    key : np.uint64
        The stream of the priorities.
    most : int
        The largest size of a group.
    team : Team
        The result does not depend on the number of threads.

    Returns
    -------
    group : int32 array of shape (n,)
        The number of each point's group. A point stays alone only if all its neighbours are in full groups.
    count : int
        The number of groups.

    Examples
    --------
    >>> from scipy import sparse
    >>> P = sparse.csr_matrix(np.array([[0, 3, 0, 0], [3, 0, 1, 0], [0, 1, 0, 2], [0, 0, 2, 0]], np.float32))
    >>> match_neighbors(CSR(P.indptr, P.indices, P.data), np.uint64(0), 2, Team(1))
    (array([0, 0, 1, 1], dtype=int32), 2)
    """
    n = len(graph.indptr) - 1
    state = _Rounds(
        priority=bits_array(key, n),
        leader=np.full(n, -1, np.int32),
        size=np.ones(n, np.int32),
        choice=np.full(n, -1, np.int32),
        first=np.empty(n, np.int32),
    )
    points, before = np.arange(n, dtype=np.int32), n + 1
    while 0 < len(points) < before:
        before = len(points)
        _run_round(graph, state, points, most, team)
        points = points[(state.leader[points] < 0) & (state.choice[points] >= 0)]
    own = np.arange(n, dtype=np.int32)
    leader = np.where(state.leader < 0, own, state.leader)
    number = np.cumsum(leader == own, dtype=np.int32)
    return number[leader] - 1, int(number[-1]) if n else 0


def _run_round(graph: CSR, state: _Rounds, points: np.ndarray, most: int, team: Team) -> None:
    """Let the points that have no group ask, and those that may join."""
    n, asking = len(state.leader), len(points)
    asks = np.empty(asking, np.int32)
    team.sweep(
        lambda start, stop: _ask(graph, state, points[start:stop], asks[start:stop], most), asking, CSR_TASK_ROWS
    )
    # Each thread reads what all points ask and writes for its own groups: reading in sequence takes little time.
    parts = min(team.n_jobs, -(-asking // _HEARD_PER_TASK))
    team.sweep(lambda low, high: _hear(state, points, asks, low, high), n, -(-n // parts))
    team.sweep(lambda start, stop: _join(state, points[start:stop], asks[start:stop]), asking, _HEARD_PER_TASK)


@kernel
def _ask(graph: Any, state: Any, points: Any, asks: Any, most: Any) -> None:
    """The leader of the group that each point asks, or -1 if it asks nobody."""
    priority, leader, size = state.priority, state.leader, state.size
    for p in range(points.size):
        i = points[p]
        j = state.choice[i]
        if j < 0 or (leader[j] >= 0 and size[leader[j]] >= most):
            best, j, place = np.float32(0.0), -1, np.uint64(0)
            for e in range(graph.indptr[i], graph.indptr[i + 1]):
                k, strength = graph.indices[e], graph.data[e]
                better = strength > best or (strength == best and priority[i] ^ priority[k] < place)
                if better and (leader[k] < 0 or size[leader[k]] < most):
                    best, j, place = strength, k, priority[i] ^ priority[k]
            state.choice[i] = j
        asks[p] = -1 if j < 0 else leader[j]
        if j >= 0 and leader[j] < 0 and priority[i] < priority[j]:
            asks[p] = j


@kernel
def _hear(state: Any, points: Any, asks: Any, low: Any, high: Any) -> None:
    """The first of the points that ask each group with a leader from low to high."""
    state.first[low:high] = -1
    for p in range(points.size):
        group = asks[p]
        if low <= group < high:
            k = state.first[group]
            if k < 0 or state.priority[points[p]] < state.priority[k]:
                state.first[group] = points[p]


@kernel
def _join(state: Any, points: Any, asks: Any) -> None:
    """Let each point join the group that it asks if it is the first to ask and nobody asks it."""
    for p in range(points.size):
        i, group = points[p], asks[p]
        if group >= 0 and state.first[group] == i and state.first[i] < 0:
            state.leader[group] = state.leader[i] = group
            state.size[group] += 1
