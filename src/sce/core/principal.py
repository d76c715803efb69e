"""Principal axes of dense, sparse or memory-mapped data, from a sample of rows; the same bytes on any number of threads."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from sce.core.compiled import kernel
from sce.core.linalg import PRODUCT_ROWS, add_row, eigh, matmul, multiply, orthonormalize, power_of_two, sample_rows
from sce.core.mmap import releasing, take
from sce.core.parallel import Team
from sce.core.random import normal_array, stream

_PROJECTED_CELLS = 1 << 21  # numbers in that many rows at most, however many columns there are
_OVERSAMPLING = 8
_FLOAT32_DTYPES = frozenset("?bBhHef")  # dtypes that float32 holds well enough to subtract a mean in
_SAMPLE_CELLS, _SAMPLE_ROWS_AT_LEAST = 20_000_000, 512  # what a sample has by default, unless it is of few rows
_HELD_BYTES = 1 << 28  # what is kept of a sample; a larger one is read again for each product
_PIECE_CELLS = 1 << 22  # what is read of a sample at once


class PrincipalAxes(NamedTuple):
    """Mean (d), axes (d x n_axes, orthonormal columns) and the variance along each axis, largest first."""

    mean: np.ndarray
    axes: np.ndarray
    variances: np.ndarray


class _DenseSample:
    """Some rows of X, scaled and centred; kept in float32, or read again for each product if there are too many."""

    def __init__(self, X: np.ndarray, numbers: np.ndarray, team: Team) -> None:
        self.X, self.numbers, self.team = X, numbers, team
        shape = len(numbers), X.shape[1]
        self.pieces = _cut(np.full(shape[0], shape[1]))
        self.read: dict[int, np.ndarray] = {}  # pieces as they are in X, while they are few
        if 8 * shape[0] * shape[1] <= _HELD_BYTES // 2:
            self.read = {piece.start: self._read(piece) for piece in self.pieces}
        self.scale = power_of_two(max(_peak(self._read(piece)) for piece in self.pieces))
        total = np.zeros(shape[1])
        for piece in self.pieces:
            rows = self._read(piece) * self.scale
            rows[0] += total
            total = rows.sum(axis=0)
        self.mean = total / shape[0]
        # Values near 1e-30 of a column with a large mean would have squares below the range of float32.
        self.inner = power_of_two(max(_peak(self._centred(piece)) for piece in self.pieces))
        self.kept: np.ndarray | None = None
        if 4 * shape[0] * shape[1] <= _HELD_BYTES:
            kept = np.empty(shape, np.float32)
            for piece in self.pieces:
                kept[piece] = self._rows(piece)
                self.read.pop(piece.start, None)
            self.pieces, self.kept = [slice(0, shape[0])], kept

    def _read(self, piece: slice) -> np.ndarray:
        """Rows in float64, not to be changed."""
        found = self.read.get(piece.start)
        return take(self.X, self.numbers[piece], np.float64) if found is None else found

    def _centred(self, piece: slice) -> np.ndarray:
        rows = self._read(piece) * self.scale
        rows -= self.mean
        return rows

    def _rows(self, piece: slice) -> np.ndarray:
        """Centred rows with values near 1."""
        return (self._centred(piece) * self.inner).astype(np.float32) if self.kept is None else self.kept

    def forward(self, Q: np.ndarray) -> np.ndarray:
        """Centred rows times Q."""
        product = np.concatenate([matmul(self._rows(piece), Q, self.team) for piece in self.pieces])
        return product.astype(np.float64) / self.inner

    def backward(self, Y: np.ndarray) -> np.ndarray:
        """The transpose of the centred rows times Y, up to a factor."""
        peak = np.abs(Y).max(initial=0.0)
        Y = np.ascontiguousarray(Y / peak if peak > 0 else Y, np.float32)
        total = np.zeros((self.X.shape[1], Y.shape[1]))
        for piece in self.pieces:
            total += _transposed_product(self._rows(piece), Y[piece], self.team)
        return total


class _SparseSample:
    """Some rows of a CSR matrix, scaled, and centred implicitly; kept, or read again if there are too many."""

    def __init__(self, X: Any, numbers: np.ndarray) -> None:
        self.X, self.numbers, self.scale, self.kept = X, numbers, 1.0, None
        lengths = np.diff(X.indptr)[numbers]
        keep = 12 * int(lengths.sum()) <= _HELD_BYTES
        self.pieces = [slice(0, len(numbers))] if keep else _cut(lengths)
        self.scale = power_of_two(max(_peak(self._rows(piece).data) for piece in self.pieces))
        self.kept = self._rows(self.pieces[0]) if keep else None
        self.mean = np.zeros(X.shape[1])
        for piece in self.pieces:
            share = (piece.stop - piece.start) / len(numbers)
            self.mean += np.asarray(self._rows(piece).mean(axis=0)).ravel() * share

    def _rows(self, piece: slice) -> Any:
        if self.kept is not None:
            return self.kept
        rows = sparse.csr_matrix(self.X[self.numbers[piece]], dtype=np.float64)
        rows.data *= self.scale
        return rows

    def forward(self, Q: np.ndarray) -> np.ndarray:
        """Centred rows times Q."""
        product = np.concatenate([np.asarray(self._rows(piece) @ Q) for piece in self.pieces])
        return product - (self.mean[:, None] * Q).sum(axis=0)

    def backward(self, Y: np.ndarray) -> np.ndarray:
        """The transpose of the centred rows times Y."""
        total = -self.mean[:, None] * Y.sum(axis=0)
        for piece in self.pieces:
            total += self._rows(piece).T @ Y[piece]
        return total


def _cut(lengths: np.ndarray) -> list[slice]:
    """Pieces of rows with about four million numbers each, or of a single row; `lengths` are the numbers in each row."""
    before = np.cumsum(lengths, dtype=np.int64) - lengths
    firsts = np.flatnonzero(np.diff(before // _PIECE_CELLS, prepend=-1))
    return [slice(int(a), int(b)) for a, b in pairwise([*firsts, len(lengths)])]


def _peak(values: np.ndarray) -> float:
    """The largest absolute value."""
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def _transposed_product(A: np.ndarray, B: np.ndarray, team: Team) -> np.ndarray:
    """A' B for float32 matrices, without a transposed copy of all of A."""
    C = np.empty((A.shape[1], B.shape[1]), np.float32)

    def work(start: int, stop: int) -> None:
        multiply(np.ascontiguousarray(A[:, start:stop].T), B, C[start:stop])

    team.sweep(work, A.shape[1], PRODUCT_ROWS)
    return C


def principal_axes(
    X: Any,
    n_axes: int,
    seed: int,
    team: Team,
    *,
    n_sample: int = 8192,
    n_iter: int = 4,
    max_cells: int | None = _SAMPLE_CELLS,
) -> PrincipalAxes:
    """The directions along which X varies most, from a sample of its rows, by randomised subspace iteration.

    Neither a d x d matrix nor, for a sparse X, a dense copy of the sample is made. The sample takes at most 256 MB of memory:
    if it is larger, its rows are read from X again for each of the 2 `n_iter` + 1 products. There are also a few matrices of
    d x (`n_axes` + 8) float64 numbers.

    Parameters
    ----------
    X : array or scipy sparse matrix of shape (n, d)
        May be memory-mapped.
    n_axes : int
        Where it exceeds the rank of the sample, the last axes are zero.
    seed : int
    team : Team
    n_sample : int, default=8192
        Rows in the sample.
    n_iter : int, default=4
        Steps of the iteration; each goes through the sample twice.
    max_cells : int or None, default=20_000_000
        The sample of a dense X has fewer rows if it would hold more numbers than this, but at least 512 (or as many as make
        256 MB): a bound on the time for the widest data. With None it has `n_sample` rows, however long that takes.

    Returns
    -------
    PrincipalAxes
        `mean` (d), `axes` (d x n_axes; the largest entry of a column is positive) and `variances` (n_axes).

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    >>> principal_axes(X, 1, seed=0, team=Team(1)).axes.round(3)
    array([[0.707],
           [0.707]])
    """
    n, d = X.shape
    X = X.tocsr() if sparse.issparse(X) else X
    if max_cells is not None and not sparse.issparse(X):
        few = max(n_axes + _OVERSAMPLING, min(_SAMPLE_ROWS_AT_LEAST, _HELD_BYTES // 4 // max(d, 1)))
        n_sample = min(n_sample, max(few, max_cells // max(d, 1)))
    numbers = sample_rows(n, n_sample, stream(seed, "principal axes rows"))
    sample = _SparseSample(X, numbers) if sparse.issparse(X) else _DenseSample(X, numbers, team)
    width = min(d, n_axes + _OVERSAMPLING)
    Q = orthonormalize(normal_array(stream(seed, "principal axes start"), (d, width)))
    for _ in range(n_iter):
        Q = orthonormalize(sample.backward(sample.forward(Q)))
    Y = sample.forward(Q)
    peak = power_of_two(float(np.abs(Y).max(initial=0.0)))
    values, vectors = eigh(_gram(Y * peak))
    count = min(width, n_axes)
    axes = np.zeros((d, n_axes))
    axes[:, :count] = _small_product(Q, vectors[:, :count])
    variances = np.zeros(n_axes)
    unit = 1.0 / (peak * sample.scale)
    with np.errstate(over="ignore", under="ignore"):
        variances[:count] = np.maximum(values[:count], 0.0) / len(numbers) * unit * unit
    return PrincipalAxes(sample.mean / sample.scale, _fix_signs(axes), variances)


@kernel(fused=True)
def _product(A: Any, B: Any, C: Any) -> None:
    """C += A B in float64."""
    for i in range(A.shape[0]):
        add_row(C[i], A[i], B, (0, A.shape[1], 0, B.shape[1]))


@kernel(fused=True)
def _add_squares(Y: Any, G: Any) -> None:
    """G += Y' Y in float64."""
    for row in range(Y.shape[0]):
        y = Y[row]
        for i in range(y.size):
            for j in range(y.size):
                G[i, j] += y[i] * y[j]


def _small_product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A B in float64, in this thread."""
    C = np.zeros((A.shape[0], B.shape[1]))
    _product(np.ascontiguousarray(A), np.ascontiguousarray(B), C)
    return C


def _gram(Y: np.ndarray) -> np.ndarray:
    """Y' Y in float64, in this thread."""
    G = np.zeros((Y.shape[1], Y.shape[1]))
    _add_squares(np.ascontiguousarray(Y), G)
    return G


def _fix_signs(axes: np.ndarray) -> np.ndarray:
    """Flip columns so that the entry of largest absolute value is positive."""
    largest = np.abs(axes).argmax(axis=0)
    return axes * np.where(axes[largest, np.arange(axes.shape[1])] < 0, -1.0, 1.0)


def project(X: Any, mean: np.ndarray, axes: np.ndarray, team: Team, out: np.ndarray | None = None) -> np.ndarray:
    """The coordinates (X - mean) axes of all rows of X, a few rows at a time.

    Parameters
    ----------
    X : array or scipy sparse matrix of shape (n, d)
        May be memory-mapped; never copied as a whole, nor made dense.
    mean : ndarray of shape (d,)
    axes : ndarray of shape (d, n_axes)
    team : Team
    out : ndarray of shape (n, n_axes), optional
        Where to write them, in its own type.

    Returns
    -------
    ndarray of shape (n, n_axes)
        `out`, or float64.

    Examples
    --------
    >>> project(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 2.0]), np.eye(2), Team(1))
    array([[0., 0.],
           [2., 2.]])
    """
    n, d = X.shape
    Z = np.empty((n, axes.shape[1])) if out is None else out
    if sparse.issparse(X):
        X = X.tocsr()
        origin = (mean[:, None] * axes).sum(axis=0)
    narrow = np.ascontiguousarray(axes, np.float32)

    def work(start: int, stop: int) -> None:
        if sparse.issparse(X):
            Z[start:stop] = X[start:stop] @ axes - origin
        else:
            _project_rows(X[start:stop], mean, narrow, Z[start:stop])

    grain = PRODUCT_ROWS if sparse.issparse(X) else min(PRODUCT_ROWS, max(4, _PROJECTED_CELLS // max(1, d) // 4 * 4))
    team.sweep(work if sparse.issparse(X) else releasing(X, work), n, grain)
    return Z


def _project_rows(rows: np.ndarray, mean: np.ndarray, axes: np.ndarray, out: np.ndarray) -> None:
    """Write (rows - mean) axes to `out`.

    A power of two brings the rows near 1 first, so that no product leaves the range of float32.
    """
    dtype = np.float32 if rows.dtype.char in _FLOAT32_DTYPES else np.float64
    rows = rows.astype(dtype, order="C")
    rows -= mean.astype(dtype)
    peak = _peak(rows)
    scale = 1.0 if 1e-12 < peak < 1e18 else power_of_two(peak)
    if scale != 1.0:
        rows = rows.astype(np.float64) * scale
    result = np.empty((len(rows), axes.shape[1]), np.float32)
    multiply(rows.astype(np.float32, copy=False), axes, result)
    if scale == 1.0:
        out[:] = result
    else:
        most = np.finfo(np.float64).max * min(scale, 1.0)  # coordinates of the largest numbers may be larger than these
        out[:] = np.clip(result.astype(np.float64), -most, most) / scale
