"""Candidates ranked by their distances on the full rows, and the share of the true neighbours among those found."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.linalg import sample_rows
from sce.core.parallel import Team
from sce.core.random import stream
from sce.graph.kernels import Heaps, empty_heaps, exact_neighbors, pair_distance, row_keys, sort_heap

_RANK_TASK_ROWS = 1024  # rows a thread takes at once
_PROBE_CELLS = 4e9  # numbers that a probe compares: about a second's work
_PROBE_ROWS = 64, 1024  # rows of a probe, at least and at most
_SHARE_ROWS = 64  # rows whose lists are compared at once
_SAME_DISTANCE = 1e-6  # distances that differ by less, relatively, differ by rounding


class _Lists(NamedTuple):
    """Lists of candidates: number j is called names[j], and is row j of the indexed rows if they were moved, else names[j].

    `keys` decide ties, one for each list.
    """

    ids: np.ndarray
    names: np.ndarray
    moved: bool
    keys: np.ndarray


@kernel(fused=True)
def _rank_rows(X: Any, rows: Any, numbers: Any, lists: Any, ranked: Any, terms: Any) -> None:
    """Write the candidates nearest to rows[numbers[i]] on X by their names, nearest first."""
    k = ranked.ids.shape[1]
    distances, ids = np.empty(lists.ids.shape[1], X.dtype), np.empty(lists.ids.shape[1], np.int32)
    for i in range(numbers.size):
        x = rows[numbers[i]]
        for a in range(ids.size):
            j = lists.ids[i, a]
            ids[a], distances[a] = np.int32(-1), np.float32(np.inf)
            if j >= 0:
                ids[a] = lists.names[j]
                distances[a] = pair_distance(x, X[j if lists.moved else lists.names[j]], terms)
        sort_heap(distances, ids, lists.keys[i])
        for a in range(k):
            ranked.distances[i, a] = distances[ids.size - 1 - a]
            ranked.ids[i, a] = ids[ids.size - 1 - a]


def rank(
    X: np.ndarray, heaps: Heaps, k: int, names: np.ndarray, terms: int, seed: int, team: Team, *, moved: bool = True
) -> Heaps:
    """The k nearest of the rows in each heap by their distances on X, nearest first, with row j of the heaps called names[j].

    Row j of the heaps is row j of X, or with moved=False row names[j]. The seed and the names decide ties. Where the heaps
    have k places, they are overwritten and returned.
    """
    ranked = heaps if heaps.ids.shape[1] == k else empty_heaps(len(X), k, X.dtype)

    def work(start: int, stop: int) -> None:
        part = Heaps(ranked.distances[start:stop], ranked.ids[start:stop])
        numbers = np.arange(start, stop, dtype=np.int32) if moved else names[start:stop]
        keys = row_keys(seed, names[start:stop])
        _rank_rows(X, X, numbers, _Lists(heaps.ids[start:stop], names, moved, keys), part, terms)

    team.sweep(work, len(X), _RANK_TASK_ROWS, share=1.0)
    return ranked


def rank_for(
    rows: np.ndarray, X: np.ndarray, candidates: np.ndarray, k: int, terms: int, keys: np.ndarray, team: Team
) -> Heaps:
    """The k nearest of the candidates (numbers of rows of X, -1 for none) of each of some other rows, nearest first.

    Their keys decide ties.
    """
    ranked = empty_heaps(len(rows), k, X.dtype)
    names = np.arange(len(X), dtype=np.int32)
    numbers = np.arange(len(rows), dtype=np.int32)

    def work(start: int, stop: int) -> None:
        part = Heaps(ranked.distances[start:stop], ranked.ids[start:stop])
        lists = _Lists(candidates[start:stop], names, True, keys[start:stop])
        _rank_rows(X, rows, numbers[start:stop], lists, part, terms)

    team.sweep(work, len(rows), _RANK_TASK_ROWS)
    return ranked


# ------------------------------------------------------------------------------------------------ a sample of the truth


class Probe(NamedTuple):
    """A sample of rows, their true k nearest, and the distance of the farthest of these (one column)."""

    rows: np.ndarray
    ids: np.ndarray
    farthest: np.ndarray


def probe(X: np.ndarray, k: int, terms: int, seed: int, team: Team) -> Probe:
    """Search exactly for the neighbours of a sample of rows."""
    size = int(np.clip(_PROBE_CELLS / X.size, *_PROBE_ROWS))
    rows = sample_rows(len(X), size, stream(seed, "probe"))
    found = exact_neighbors(X, rows, k, terms, seed, team)
    # Distances are summed again as `rank` does: no neighbour may count as missed because of a rounding error.
    ranked = empty_heaps(len(rows), k, X.dtype)
    numbers = np.arange(len(X), dtype=np.int32)
    lists = _Lists(found.ids, numbers, True, row_keys(seed, rows))
    _rank_rows(X, X, numbers[rows], lists, ranked, terms)
    return Probe(rows, ranked.ids, ranked.distances[:, -1:])


def sampled_recall(truth: Probe, near: Heaps) -> float:
    """The share of the true k nearest that was found; a neighbour as near as the true k-th counts."""
    return recall_of(truth, near.distances[truth.rows])


def recall_of(truth: Probe, distances: np.ndarray) -> float:
    """The share of the true k nearest among those found for the sample at these distances."""
    return float((distances <= truth.farthest * np.float32(1 + _SAME_DISTANCE)).mean())


def share_found(wanted: np.ndarray, found: np.ndarray) -> float:
    """The share of the numbers in each row of `wanted` that are in the same row of `found`.

    Examples
    --------
    >>> share_found(np.array([[1, 2], [3, 4]]), np.array([[2, 1, 0], [4, 0, 0]]))
    0.75
    """
    hits = 0
    for start in range(0, len(wanted), _SHARE_ROWS):  # all pairs of a few rows at a time: np.isin takes 0.3 ms a row
        part = slice(start, start + _SHARE_ROWS)
        hits += int((wanted[part, :, None] == found[part, None, :]).any(axis=2).sum())
    return hits / wanted.size
