"""The exact objective in plain NumPy, for small N: the reference for the tests, and the paper as code.

With q_ij = 1 / (1 + |y_i - y_j|^2), P summing to 1, point weights w (all 1 unless given) and sums over i != j::

    J(Y; r) = -E_P[ln q] + r E_U[q]         E_P: mean over pairs drawn from P
                                            E_U: mean over pairs drawn in proportion to w_i w_j
    D_I(P || s w w q) = J + sum P ln (P / w w) - ln s - 1,      s = r / sum w_i w_j

Everything here takes O(N^2) time and memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp


class Means(NamedTuple):
    """The three means that the objective and all scale rules are made of."""

    attraction: float  # -E_P[ln q]
    q_P: float  # E_P[q]
    q_U: float  # E_U[q]


def similarities(Y: np.ndarray) -> np.ndarray:
    """q_ij = 1 / (1 + |y_i - y_j|^2), with a zero diagonal."""
    Y = np.asarray(Y, np.float64)
    q = 1.0 / (1.0 + ((Y[:, None, :] - Y[None, :, :]) ** 2).sum(2))
    np.fill_diagonal(q, 0.0)
    return q


def pair_weights(n: int, weights: np.ndarray | None = None) -> np.ndarray:
    """w_i w_j / sum w_a w_b, with a zero diagonal: the distribution of repulsive pairs."""
    w = np.ones(n) if weights is None else np.asarray(weights, np.float64)
    W = np.outer(w, w)
    np.fill_diagonal(W, 0.0)
    return W / W.sum()


def means(P: Any, Y: np.ndarray, weights: np.ndarray | None = None) -> Means:
    """-E_P[ln q], E_P[q] and E_U[q]."""
    P, q = _dense(P), similarities(Y)
    logs = np.log(q, out=np.zeros_like(q), where=q > 0)
    return Means(-(P * logs).sum(), (P * q).sum(), (pair_weights(len(q), weights) * q).sum())


def objective(P: Any, Y: np.ndarray, r: float, weights: np.ndarray | None = None) -> float:
    """J(Y; r) = -E_P[ln q] + r E_U[q].

    Examples
    --------
    >>> P = np.array([[0, 0.5], [0.5, 0]])
    >>> float(objective(P, np.array([[0.0, 0], [0, 0]]), r=3.0))
    3.0
    """
    m = means(P, Y, weights)
    return m.attraction + r * m.q_U


def gradient(P: Any, Y: np.ndarray, r: float, weights: np.ndarray | None = None) -> np.ndarray:
    """dJ/dy_i = 4 sum_j (P_ij q_ij - r U_ij q_ij^2) (y_i - y_j), where U are the pair weights."""
    q = similarities(Y)
    forces = 4.0 * (_dense(P) * q - r * pair_weights(len(q), weights) * q * q)
    return forces.sum(1)[:, None] * np.asarray(Y, np.float64) - forces @ np.asarray(Y, np.float64)


def i_divergence(P: Any, Y: np.ndarray, r: float, weights: np.ndarray | None = None) -> float:
    """D_I(P || s w w q), Eq. (1) of the paper, at s = r / sum w_i w_j."""
    P, q = _dense(P), similarities(Y)
    target = r * pair_weights(len(q), weights) * q
    ratio = np.log(np.divide(P, target, out=np.ones_like(P), where=P > 0))
    return float((P * ratio - P + target).sum())


def kl_divergence(P: Any, Y: np.ndarray) -> float:
    """D_KL(P || Q) with Q = q / sum q: what t-SNE minimises."""
    P, q = _dense(P), similarities(Y)
    ratio = np.log(np.divide(P, q / q.sum(), out=np.ones_like(P), where=P > 0))
    return float((P * ratio).sum())


def algorithm_1(
    P: Any, n_iterations: int, *, n_workers: int = 1, alpha: float = 0.5, n_components: int = 2, seed: int = 0
) -> tuple[np.ndarray, float]:
    """The paper's Algorithm 1, line by line, its workers one after another. Slow: for reading and for tests.

    Slips in the paper are corrected: s starts at 1 / N(N-1), and pairs i = j are skipped.

    Returns
    -------
    Y : ndarray of shape (N, n_components)
    r : float
        The repulsion weight s N(N-1) at the end.
    """
    pairs = sp.coo_matrix(P)
    p = pairs.data / pairs.data.sum()
    N, rng = pairs.shape[0], np.random.default_rng(seed)
    Y = rng.normal(0.0, 1e-2, (N, n_components))
    inverse_s = float(N * (N - 1))
    for t in range(n_iterations):
        eta = 1.0 - t / n_iterations
        xi = omega = 0.0
        for e, (a, b) in zip(rng.choice(len(p), n_workers, p=p), rng.integers(N, size=(n_workers, 2)), strict=True):
            i, j = pairs.row[e], pairs.col[e]  # attraction
            q = 1.0 / (1.0 + ((Y[i] - Y[j]) ** 2).sum())
            move = -2.0 * q * (Y[i] - Y[j])
            Y[i], Y[j] = Y[i] + eta * move, Y[j] - eta * move
            xi, omega = xi + alpha * q, omega + alpha
            if a != b:  # repulsion
                q = 1.0 / (1.0 + ((Y[a] - Y[b]) ** 2).sum())
                move = 2.0 * (N * (N - 1) / inverse_s) * q * q * (Y[a] - Y[b])
                Y[a], Y[b] = Y[a] + eta * move, Y[b] - eta * move
                xi, omega = xi + (1.0 - alpha) * q, omega + (1.0 - alpha)
        rho = N * (N - 1) / (N * (N - 1) + omega)
        inverse_s = rho * inverse_s + (1.0 - rho) * N * (N - 1) * xi / max(omega, 1e-300)
    return Y, N * (N - 1) / inverse_s


def _dense(P: Any) -> np.ndarray:
    return np.asarray(P.todense() if sp.issparse(P) else P, dtype=np.float64)
