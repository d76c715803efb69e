"""Exact nearest neighbours in few dimensions by SciPy's k-d tree."""

from __future__ import annotations

import numpy as np

from sce.core.linalg import sample_rows
from sce.core.parallel import Team
from sce.core.random import stream
from sce.graph.copies import content_keys
from sce.graph.found import Found, drawn, nearest_listed, without_self
from sce.graph.kernels import row_keys

_KD_TREE_TASK_ROWS = 4096  # rows a thread takes at once
_KD_TREE_LEAF_ROWS = 24
_TIES_SAMPLE_ROWS = 256  # rows that show whether there are ties
_TIED_RADIUS = 1 + 1e-12  # distances that differ by less, relatively, differ by rounding


class KDTree:
    """Search by a k-d tree: exact, and quick for a few columns.

    Parameters
    ----------
    values : float64 array of shape (n, d)
        Prepared rows.
    power : int
        The p of the Minkowski metric: 1 or 2.
    seed : int
        Decides ties.
    """

    def __init__(self, values: np.ndarray, power: int, seed: int) -> None:
        from scipy.spatial import cKDTree

        self._values, self._p, self._seed = values, power, seed
        self._tree = cKDTree(values, leafsize=_KD_TREE_LEAF_ROWS, balanced_tree=False, compact_nodes=True)

    def self_neighbors(self, k: int, team: Team) -> Found:
        """The k nearest other rows of each row."""
        n = len(self._values)
        ids, distances = np.empty((n, k), np.int32), np.empty((n, k))
        has_ties = self._has_ties(k)

        def work(start: int, stop: int) -> None:  # by our own threads, which stop on Ctrl-C, unlike scipy's
            rows, numbers = self._values[start:stop], np.arange(start, stop)
            if has_ties:
                near = self._nearest(rows, numbers, row_keys(self._seed, numbers), k)
            else:
                near = self._listed(rows, numbers, k)
            ids[start:stop], distances[start:stop] = near

        team.sweep(work, n, _KD_TREE_TASK_ROWS, share=1.0)
        return Found(ids, distances, False, "k-d tree", 1.0)

    def query(self, rows: np.ndarray, k: int, team: Team) -> Found:
        """The k nearest of the indexed rows for each prepared new row."""
        ids, distances = np.empty((len(rows), k), np.int32), np.empty((len(rows), k))
        keys = content_keys(rows, self._seed, team)

        def work(start: int, stop: int) -> None:
            nobody = np.full(stop - start, -1)
            ids[start:stop], distances[start:stop] = self._nearest(rows[start:stop], nobody, keys[start:stop], k)

        team.sweep(work, len(rows), _KD_TREE_TASK_ROWS)
        return Found(ids, distances, False, "k-d tree", 1.0)

    def _listed(self, rows: np.ndarray, numbers: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest others of each row, as the tree finds them; infinitely far where there are fewer.

        `numbers` are the rows' own, or -1.
        """
        distances, ids = self._tree.query(rows, np.arange(1, k + 2), p=self._p)
        return without_self(ids, distances, numbers)

    def _has_ties(self, k: int) -> bool:
        """Whether any row of a sample has several rows at the distance of its k-th neighbour: looking costs time."""
        numbers = sample_rows(len(self._values), _TIES_SAMPLE_ROWS, stream(self._seed, "ties sample"))
        distances = self._listed(self._values[numbers], numbers, k + 1)[1]
        return bool((distances[:, k] == distances[:, k - 1]).any())

    def _nearest(
        self, rows: np.ndarray, numbers: np.ndarray, keys: np.ndarray, k: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest others of each row; where more are at the distance of the k-th, the row's key decides."""
        listed = self._listed(rows, numbers, k + 1)
        ids, distances = (part[:, :k] for part in listed)
        tied = np.flatnonzero(listed[1][:, k] == listed[1][:, k - 1])
        if tied.size:
            longer = self._listed(rows[tied], numbers[tied], 2 * k + 16)
            ids[tied], distances[tied] = nearest_listed(*longer, k, keys[tied])
            for i in tied[longer[1][:, -1] == longer[1][:, k - 1]]:
                ids[i] = self._settled(rows[i], numbers[i], ids[i], distances[i], keys[i])
        return ids, distances

    def _settled(
        self, row: np.ndarray, number: int, ids: np.ndarray, distances: np.ndarray, key: np.uint64
    ) -> np.ndarray:
        """The k nearest of one row, chosen among all rows at the distance of the k-th."""
        nearer = ids[distances < distances[-1]]
        within = np.array(self._tree.query_ball_point(row, distances[-1] * _TIED_RADIUS, p=self._p))
        tied = within[~np.isin(within, nearer) & (within != number)]
        return np.concatenate([nearer, drawn(tied, len(ids) - len(nearer), key)])
