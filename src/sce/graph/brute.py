"""Exact nearest neighbours by comparing all pairs of rows."""

from __future__ import annotations

import numpy as np

from sce.core.parallel import Team
from sce.graph.copies import content_keys
from sce.graph.found import Found
from sce.graph.kernels import exact_neighbors, exact_neighbors_of, pad_columns, row_keys
from sce.graph.metrics import SQUARES
from sce.graph.products import neighbors_by_products
from sce.graph.ranking import rank, rank_for


class BruteForce:
    """Search by comparing all pairs: exact.

    Parameters
    ----------
    values : array of shape (n, d)
        Prepared rows; copied unless d is a multiple of eight.
    terms : int
        What is summed over the columns: see :class:`sce.graph.metrics.Metric`.
    seed : int
        Decides ties.
    """

    def __init__(self, values: np.ndarray, terms: int, seed: int) -> None:
        self._values, self._terms, self._seed = _padded(values), terms, seed

    def self_neighbors(self, k: int, team: Team) -> Found:
        """The k nearest other rows of each row."""
        numbers = np.arange(len(self._values))
        candidates = exact_neighbors(self._values, numbers, k, self._terms, self._seed, team, share=0.9)
        near = rank(self._values, candidates, k, numbers.astype(np.int32), self._terms, self._seed, team)
        return Found(near.ids, near.distances, self._terms == SQUARES, "brute force", 1.0)

    def query(self, rows: np.ndarray, k: int, team: Team) -> Found:
        """The k nearest of the indexed rows for each prepared new row."""
        new = _padded(rows)
        keys = content_keys(new, self._seed, team)
        candidates = exact_neighbors_of(new, self._values, k, self._terms, keys, team)
        near = rank_for(new, self._values, candidates.ids, k, self._terms, keys, team)
        return Found(near.ids, near.distances, self._terms == SQUARES, "brute force", 1.0)

    def query_far(self, rows: np.ndarray, factor: float, k: int, team: Team) -> Found:
        """The k nearest for new rows so far away that they and the indexed rows have to be multiplied by a factor first.

        That has been done with `rows`; the distances are those of the products.
        """
        new = _padded(rows)
        keys = content_keys(new, self._seed, team)
        near = exact_neighbors_of(new, self._values, k, self._terms, keys, team, factor=factor)
        return Found(near.ids, near.distances, self._terms == SQUARES, "brute force", 1.0)


def _padded(values: np.ndarray) -> np.ndarray:
    """Rows with zero columns up to a multiple of eight; the same array if they are in that form."""
    n, d = values.shape
    if d == pad_columns(d):
        return values
    padded = np.zeros((n, pad_columns(d)), values.dtype)
    padded[:, :d] = values
    return padded


class Products:
    """Search by comparing all pairs of wide rows by scalar products: exact, and several times as fast.

    Parameters
    ----------
    values : float32 array of shape (n, d), d a multiple of eight
        Prepared rows.
    seed : int
        Decides ties.
    """

    def __init__(self, values: np.ndarray, seed: int) -> None:
        self._values, self._seed = values, seed

    def self_neighbors(self, k: int, team: Team) -> Found:
        """The k nearest other rows of each row, by Euclidean distances."""
        numbers = np.arange(len(self._values))
        near = neighbors_by_products(self._values, self._values, k, numbers, row_keys(self._seed, numbers), team)
        return Found(near.ids, near.distances, True, "brute force", 1.0)

    def query(self, rows: np.ndarray, k: int, team: Team) -> Found:
        """The k nearest of the indexed rows for each prepared new row."""
        keys = content_keys(rows, self._seed, team)
        near = neighbors_by_products(self._values, rows, k, np.full(len(rows), -1), keys, team)
        return Found(near.ids, near.distances, True, "brute force", 1.0)
