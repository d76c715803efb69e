"""Exact nearest neighbours in few dimensions by SciPy's k-d tree."""

from __future__ import annotations

import numpy as np

from sce.core.parallel import Team
from sce.graph.found import Found, without_self

_KD_TREE_TASK_ROWS = 4096  # rows a thread takes at once
_KD_TREE_LEAF_ROWS = 24


class KDTree:
    """Search by a k-d tree: exact, and quick for a few columns.

    Parameters
    ----------
    values : float64 array of shape (n, d)
        Prepared rows.
    power : int
        The p of the Minkowski metric: 1 or 2.
    """

    def __init__(self, values: np.ndarray, power: int) -> None:
        from scipy.spatial import cKDTree

        self._values, self._p = values, power
        self._tree = cKDTree(values, leafsize=_KD_TREE_LEAF_ROWS, balanced_tree=False, compact_nodes=True)

    def self_neighbors(self, k: int, team: Team) -> Found:
        """The k nearest other rows of each row."""
        n = len(self._values)
        ids, distances = np.empty((n, k), np.int32), np.empty((n, k))

        def work(start: int, stop: int) -> None:  # by our own threads, which stop on Ctrl-C, unlike scipy's
            d, j = self._tree.query(self._values[start:stop], k + 1, p=self._p)
            ids[start:stop], distances[start:stop] = without_self(j, d, np.arange(start, stop))

        team.sweep(work, n, _KD_TREE_TASK_ROWS)
        return Found(ids, distances, False, "k-d tree", 1.0)

    def query(self, rows: np.ndarray, k: int, team: Team) -> Found:
        """The k nearest of the indexed rows for each prepared new row."""
        ids, distances = np.empty((len(rows), k), np.int32), np.empty((len(rows), k))

        def work(start: int, stop: int) -> None:
            d, j = self._tree.query(rows[start:stop], np.arange(1, k + 1), p=self._p)
            ids[start:stop], distances[start:stop] = j, d

        team.sweep(work, len(rows), _KD_TREE_TASK_ROWS)
        return Found(ids, distances, False, "k-d tree", 1.0)
