"""Exact nearest neighbours of wide rows: candidates by scalar products, ranked by their differences.

|x - y|^2 = |x|^2 + |y|^2 - 2 x.y takes one operation for each number instead of two, and tiles of scalar products stay in the
registers, so this is several times as fast as the sums over differences in :mod:`sce.graph.kernels`. What cancels in it is
made good: some more candidates than neighbours are kept and ranked by true distances, and the bound on rounding errors says
whether a row that was left out might be nearer than the last neighbour. The few rows for which it might are searched for by
differences, so the result is that of comparing all pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.core.simd import TILE_COLUMNS, TILE_ROWS, add_products, sum_squares
from sce.graph.kernels import Heaps, empty_heaps, exact_neighbors_of, offer
from sce.graph.metrics import SQUARES
from sce.graph.ranking import rank_for

_QUERIES_AT_ONCE = 252  # rows a thread searches for at once, a multiple of TILE_ROWS
_ROWS_AT_ONCE = 256  # rows that these are compared with, a multiple of TILE_COLUMNS
_COLUMNS_AT_ONCE = (
    256  # of which products are summed before they are added to the rest: this also bounds rounding errors
)
_SPARE_CANDIDATES = 16  # beyond the number of neighbours, at least
_LEAST_DISTANCE = 1e-30  # squared distances below this may have lost digits at the lower end of float32


@kernel
def _pack(X: Any, first_row: Any, first_column: Any, width: Any, packed: Any) -> None:
    """Write rows in panels: packed[p, c, r] is column first_column + c of row first_row + width p + r, zero beyond the last."""
    panels, columns = packed.shape[0], packed.shape[1]
    for p in range(panels):
        for r in range(width):
            i = first_row + p * width + r
            for c in range(columns):
                packed[p, c, r] = X[i, first_column + c] if i < X.shape[0] else np.float32(0.0)


@kernel(fused=True)
def _square_lengths(X: Any, squares: Any) -> None:
    """The squared length of each row."""
    zero = np.zeros(X.shape[1], X.dtype)
    for i in range(squares.size):
        squares[i] = sum_squares(X[i], zero)


@kernel
def _multiply_block(packed: Any, X: Any, first: Any, products: Any) -> None:
    """Scalar products of packed queries with the rows of X from number `first` on, as many as `products` has columns."""
    d, width = X.shape[1], products.shape[1]
    queries, sums = packed.ravel(), products.ravel()
    sums[:] = 0
    for start in range(0, d, _COLUMNS_AT_ONCE):
        columns = min(_COLUMNS_AT_ONCE, d - start)
        block = np.empty((width // TILE_COLUMNS, columns, TILE_COLUMNS), np.float32)
        _pack(X, first, start, TILE_COLUMNS, block)
        rows = block.ravel()
        for t in range(block.shape[0]):
            for p in range(packed.shape[0]):
                place = p * TILE_ROWS * width + t * TILE_COLUMNS
                query, row = (p * d + start) * TILE_ROWS, t * columns * TILE_COLUMNS
                add_products(sums, place, width, queries, query, rows, row, columns)


@kernel
def _search_rows(X: Any, squares: Any, queries: Any, lengths: Any, skip: Any, keys: Any, heaps: Any) -> None:
    """Compare each query with all rows of X by scalar products; a heap per query."""
    count = queries.shape[0]
    packed = np.empty((-(-count // TILE_ROWS), X.shape[1], TILE_ROWS), np.float32)
    _pack(queries, 0, 0, TILE_ROWS, packed)
    products = np.empty((packed.shape[0] * TILE_ROWS, _ROWS_AT_ONCE), np.float32)
    for first in range(0, X.shape[0], _ROWS_AT_ONCE):
        size = min(_ROWS_AT_ONCE, X.shape[0] - first)
        _multiply_block(packed, X, first, products)
        for q in range(count):
            found = products[q, :size]
            for j in range(size):
                found[j] = max(np.float32(0.0), lengths[q] + squares[first + j] - np.float32(2.0) * found[j])
            offer(heaps.distances[q], heaps.ids[q], found, first, skip[q], keys[q])


def _candidates(
    X: np.ndarray, squares: np.ndarray, queries: np.ndarray, skip: np.ndarray, keys: np.ndarray, k: int, team: Team
) -> tuple[Heaps, np.ndarray]:
    """The k rows of X nearest to each query as far as scalar products tell, in heaps, and the squared lengths of queries."""
    heaps = empty_heaps(len(queries), k)
    lengths = np.empty(len(queries), np.float32)

    def work(start: int, stop: int) -> None:
        _square_lengths(queries[start:stop], lengths[start:stop])
        part = Heaps(heaps.distances[start:stop], heaps.ids[start:stop])
        _search_rows(X, squares, queries[start:stop], lengths[start:stop], skip[start:stop], keys[start:stop], part)

    share = -(-len(queries) // team.n_jobs)
    team.sweep(work, len(queries), max(1, min(_QUERIES_AT_ONCE, share)))
    return heaps, lengths


def _uncertain(heaps: Heaps, near: Heaps, lengths: np.ndarray, columns: int) -> np.ndarray:
    """The queries for which a row that is no candidate may be as near as the last neighbour.

    A row of length |y| > |x| + t is farther than the last neighbour, at t, whatever the rounding errors. For all others
    these are at most a share of |x|^2 + |y|^2: products are summed in pieces, and a rounding error of a sum is at most half
    a unit in the last place for each number.
    """
    operations = _COLUMNS_AT_ONCE + -(-columns // _COLUMNS_AT_ONCE) + 8
    least = heaps.distances[:, 0].astype(np.float64)  # the farthest candidate: all other rows seem no nearer
    last, squares = near.distances[:, -1].astype(np.float64), lengths.astype(np.float64)
    errors = operations * 2.0**-24 * (squares + (np.sqrt(squares) + np.sqrt(last)) ** 2)
    complete = (last == 0.0) | ((last > _LEAST_DISTANCE) & (least - errors > last * (1 + 1e-5)))
    return np.flatnonzero(~complete)


def neighbors_by_products(
    X: np.ndarray, queries: np.ndarray, k: int, skip: np.ndarray, keys: np.ndarray, team: Team
) -> Heaps:
    """The k rows of X nearest to each query by their Euclidean distances, nearest first.

    Parameters
    ----------
    X, queries : float32 arrays of shapes (n, d) and (m, d), d a multiple of eight
    k : int
        At most n, less one where queries skip a row.
    skip : int64 array of shape (m,)
        A row of X that is not a neighbour of the query; -1 for none.
    keys : uint64 array of shape (m,)
        Decide ties.
    team : Team
    """
    squares = np.empty(len(X), np.float32)
    team.sweep(lambda start, stop: _square_lengths(X[start:stop], squares[start:stop]), len(X), _ROWS_AT_ONCE)
    most = len(X) - int((skip >= 0).any())
    width = min(most, k + max(_SPARE_CANDIDATES, k // 2))
    heaps, lengths = _candidates(X, squares, queries, skip, keys, width, team)
    near = rank_for(queries, X, heaps.ids, k, SQUARES, keys, team)
    again = _uncertain(heaps, near, lengths, X.shape[1]) if width < most else np.empty(0, np.int64)
    if again.size:
        exact = exact_neighbors_of(queries[again], X, k, SQUARES, keys[again], team, skip=skip[again])
        ranked = rank_for(queries[again], X, exact.ids, k, SQUARES, keys[again], team)
        near.distances[again], near.ids[again] = ranked
    return near
