"""Dense linear algebra whose results depend on nothing but the numbers: no BLAS, no LAPACK.

A BLAS may sum in a different order with a different number of threads or on a different CPU. Here every sum is taken in the
order written, so the same input gives the same bytes on any number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.core.random import permutation

DENSE_FROM_SHARE = 1 / 3  # of numbers stored, from which a sparse matrix takes more memory than a dense one
PRODUCT_ROWS = 256  # rows that a thread takes at once: a fixed number, and a multiple of the kernel's four


# ---------------------------------------------------------------------------------------------------- multiplication


@kernel(fused=True)
def add_row(c: Any, a: Any, B: Any, tile: Any) -> None:
    """Add a B to c, the part of a row within a tile (k_start, k_stop, j_start, j_stop) of B, in the order of k."""
    k_start, k_stop, j_start, j_stop = tile
    for k in range(k_start, k_stop):
        ak, b = a[k], B[k, j_start:j_stop]
        for j in range(j_stop - j_start):
            c[j] += ak * b[j]


@kernel(fused=True)
def _add_four_rows(C: Any, A: Any, i: Any, B: Any, tile: Any) -> None:
    """C += A B in rows i to i + 3, within a tile of B, four terms at a time: each load of B serves four products."""
    k_start, k_stop, j_start, j_stop = tile
    c0, c1 = C[i, j_start:j_stop], C[i + 1, j_start:j_stop]
    c2, c3 = C[i + 2, j_start:j_stop], C[i + 3, j_start:j_stop]
    a0, a1, a2, a3 = A[i], A[i + 1], A[i + 2], A[i + 3]
    whole = k_start + (k_stop - k_start) // 4 * 4
    for k in range(k_start, whole, 4):
        b0, b1 = B[k, j_start:j_stop], B[k + 1, j_start:j_stop]
        b2, b3 = B[k + 2, j_start:j_stop], B[k + 3, j_start:j_stop]
        a00, a01, a02, a03 = a0[k], a0[k + 1], a0[k + 2], a0[k + 3]
        a10, a11, a12, a13 = a1[k], a1[k + 1], a1[k + 2], a1[k + 3]
        a20, a21, a22, a23 = a2[k], a2[k + 1], a2[k + 2], a2[k + 3]
        a30, a31, a32, a33 = a3[k], a3[k + 1], a3[k + 2], a3[k + 3]
        for j in range(j_stop - j_start):
            x0, x1, x2, x3 = b0[j], b1[j], b2[j], b3[j]
            c0[j] = c0[j] + a00 * x0 + a01 * x1 + a02 * x2 + a03 * x3
            c1[j] = c1[j] + a10 * x0 + a11 * x1 + a12 * x2 + a13 * x3
            c2[j] = c2[j] + a20 * x0 + a21 * x1 + a22 * x2 + a23 * x3
            c3[j] = c3[j] + a30 * x0 + a31 * x1 + a32 * x2 + a33 * x3
    for row in range(i, i + 4):
        add_row(C[row, j_start:j_stop], A[row], B, (whole, k_stop, j_start, j_stop))


@kernel(fused=True)
def multiply(A: Any, B: Any, C: Any) -> None:
    """C = A B in tiles of B that stay in the second-level cache."""
    m, d = A.shape
    n = B.shape[1]
    C[:] = 0
    for j in range(0, n, 512):
        for k in range(0, d, 256):
            tile = (k, min(d, k + 256), j, min(n, j + 512))
            for i in range(0, m - 3, 4):
                _add_four_rows(C, A, i, B, tile)
            for i in range(m // 4 * 4, m):
                add_row(C[i, tile[2] : tile[3]], A[i], B, tile)


def matmul(A: np.ndarray, B: np.ndarray, team: Team) -> np.ndarray:
    """The product of two float32 matrices: the same bytes for any number of threads.

    Examples
    --------
    >>> A = np.arange(6, dtype=np.float32).reshape(2, 3)
    >>> matmul(A, A.T, Team(1))
    array([[ 5., 14.],
           [14., 50.]], dtype=float32)
    """
    A, B = np.ascontiguousarray(A, np.float32), np.ascontiguousarray(B, np.float32)
    C = np.empty((A.shape[0], B.shape[1]), np.float32)
    team.sweep(lambda start, stop: multiply(A[start:stop], B, C[start:stop]), len(A), PRODUCT_ROWS)
    return C


# ------------------------------------------------------------------------------------------------- orthonormal columns


@kernel(fused=True)
def _gram_schmidt(Q: Any) -> None:
    """Make the columns of Q orthonormal in place; a column within the span of those before it becomes zero.

    The modified method, right-looking: each finished column is taken out of all later ones at once, so that the inner
    loops run along the rows of Q.
    """
    d, p = Q.shape
    before = np.zeros(p)
    overlap = np.empty(p)
    for i in range(d):
        for j in range(p):
            before[j] += Q[i, j] * Q[i, j]
    for j in range(p):
        square = 0.0
        for i in range(d):
            square += Q[i, j] * Q[i, j]
        # All that is left of a dependent column is rounding error.
        inverse = 1.0 / np.sqrt(square) if square > 1e-24 * before[j] else 0.0
        overlap[:] = 0.0
        for i in range(d):
            Q[i, j] *= inverse
            q = Q[i, j]
            for other in range(j + 1, p):
                overlap[other] += q * Q[i, other]
        for i in range(d):
            q = Q[i, j]
            for other in range(j + 1, p):
                Q[i, other] -= q * overlap[other]


def orthonormalize(A: np.ndarray) -> np.ndarray:
    """Orthonormal columns (float64) that span those of A, in order; dependent columns become zero.

    Examples
    --------
    >>> orthonormalize(np.array([[3.0, 3.0], [4.0, 4.0]])).round(3)
    array([[0.6, 0. ],
           [0.8, 0. ]])
    """
    Q = np.array(A, np.float64, order="C")
    peak = np.abs(Q).max(initial=0.0)
    if peak > 0:
        Q *= 1.0 / peak
    for _ in range(2):  # a single pass leaves an error that grows with the condition number
        _gram_schmidt(Q)
    return Q + 0.0  # no -0.0


# ------------------------------------------------------------------------------------------------- eigenvectors


@kernel
def _rotate(M: Any, i: Any, j: Any, cosine: Any, sine: Any) -> None:
    """Rotate rows i and j of M."""
    for column in range(M.shape[1]):
        a, b = M[i, column], M[j, column]
        M[i, column] = cosine * a - sine * b
        M[j, column] = sine * a + cosine * b


@kernel
def _jacobi(A: Any, V: Any) -> None:
    """Cyclic Jacobi method: A (symmetric) becomes diagonal, and the rows of V (first the identity) its eigenvectors."""
    n = A.shape[0]
    for _ in range(30):
        off = 0.0
        total = 0.0
        for i in range(n):
            total += A[i, i] * A[i, i]
            for j in range(i):
                off += A[i, j] * A[i, j]
        if off <= 1e-24 * total:
            return
        for i in range(n - 1):
            for j in range(i + 1, n):
                if A[i, j] != 0.0:
                    half = 0.5 * (A[j, j] - A[i, i]) / A[i, j]
                    tangent = (1.0 if half >= 0 else -1.0) / (abs(half) + np.sqrt(half * half + 1.0))
                    cosine = 1.0 / np.sqrt(tangent * tangent + 1.0)
                    _rotate(A, i, j, cosine, tangent * cosine)
                    _rotate(A.T, i, j, cosine, tangent * cosine)
                    _rotate(V, i, j, cosine, tangent * cosine)


def eigh(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, largest first, and eigenvectors (columns) of a small symmetric matrix.

    Examples
    --------
    >>> eigh(np.array([[2.0, 1.0], [1.0, 2.0]]))[0].round(6)
    array([3., 1.])
    """
    M = np.array(A, np.float64, order="C")
    peak = np.abs(M).max(initial=0.0)
    scale = peak if peak > 0 else 1.0
    M /= scale
    V = np.eye(len(M))
    _jacobi(M, V)
    values = np.diag(M).copy()
    order = np.argsort(-values, kind="stable")
    return values[order] * scale, V[order].T.copy()


def orthogonal_factor(A: np.ndarray) -> np.ndarray:
    """The orthogonal matrix nearest to a small square one, U V' of its singular value decomposition U S V'.

    Directions in which A is zero are completed to a basis in any way, the same each time.

    Examples
    --------
    >>> orthogonal_factor(np.array([[0.0, -3.0], [0.5, 0.0]])).round(6) + 0.0
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    n = len(A)
    squares, V = eigh((A[:, :, None] * A[:, None, :]).sum(axis=0))  # A'A
    images = (A[:, :, None] * V).sum(axis=1)  # A V = U S
    kept = squares > 1e-24 * max(float(squares[0]), 0.0)
    U = orthonormalize(np.column_stack([images[:, kept], np.eye(n)]))
    U = U[:, np.abs(U).max(axis=0) > 0][:, :n]
    return np.asarray((U[:, None, :] * V[None, :, :]).sum(axis=2))


# ------------------------------------------------------------------------------------------------- scales and samples


def power_of_two(peak: float) -> float:
    """The power of two that brings `peak` into [0.5, 1), bounded so that neither it nor its inverse overflows."""
    return float(np.ldexp(1.0, int(np.clip(-np.frexp(peak)[1], -1023, 1023)))) if peak > 0 else 1.0


def sample_rows(n: int, size: int, key: np.uint64) -> np.ndarray:
    """`size` of n row numbers (all of them if there are no more), ascending."""
    return np.arange(n) if n <= size else np.sort(permutation(key, n)[:size])


def is_hardly_sparse(X: Any) -> bool:
    """Whether a sparse matrix would take less memory as an array.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> is_hardly_sparse(csr_matrix([[1, 0], [0, 1]])), is_hardly_sparse(csr_matrix([[1, 0, 0], [0, 0, 0]]))
    (True, False)
    """
    return bool(X.nnz >= DENSE_FROM_SHARE * X.shape[0] * X.shape[1])
