"""The preconditioner: a fixed, symmetric, positive operator, close to the inverse of the Laplacian on quick modes."""

import numpy as np
import scipy.sparse as sp

from sce.core.parallel import Team
from sce.layout.gradient.precondition import DEGREE, DIAGONAL_SHIFT, Preconditioner
from sce.layout.similarities import Similarities


def laplacian(P):
    """Four times the shifted Laplacian of P, dense."""
    degree = np.asarray(P.sum(axis=1)).ravel()
    return 4.0 * (np.diag(degree + DIAGONAL_SHIFT * degree.mean()) - P.toarray())


def apply(P, G, n_jobs=2):
    with Team(n_jobs) as team:
        return Preconditioner(Similarities(P, team))(G)


def twin(P, G):
    """Chebyshev's iteration from 0, Jacobi-scaled, on eigenvalues from 2 / DEGREE^2 to 2: plain NumPy."""
    L = laplacian(P)
    diagonal = np.diag(L)[:, None]
    middle, half = 1.0 + 1.0 / DEGREE**2, 1.0 - 1.0 / DEGREE**2
    x, rho = np.zeros_like(G), half / middle
    step = G / diagonal / middle
    for _ in range(DEGREE):
        x = x + step
        after = 1.0 / (2.0 * middle / half - rho)
        step = after * rho * step + 2.0 * after / half * (G - L @ x) / diagonal
        rho = after
    return x


def test_is_chebyshevs_iteration(graph):
    """In one, two and three dimensions, to the precision of float32."""
    P = graph(200, weighted=True)
    for d in (1, 2, 3):
        G = np.random.default_rng(d).normal(size=(200, d))
        found, expected = apply(P, G), twin(P, G)
        assert np.linalg.norm(found - expected) < 1e-5 * np.linalg.norm(expected)


def test_is_symmetric_and_positive(graph):
    """As the first guess of an inverse Hessian must be."""
    P = graph(120, weighted=True)
    H = np.column_stack([apply(P, column[:, None])[:, 0] for column in np.eye(120)])
    assert np.abs(H - H.T).max() < 1e-5 * np.abs(H).max()
    assert np.linalg.eigvalsh((H + H.T) / 2).min() > 0


def test_brings_the_modes_together(graph):
    """The condition number of the Laplacian falls by far."""
    P = graph(150)
    L = laplacian(P)
    H = np.column_stack([apply(P, column[:, None])[:, 0] for column in np.eye(150)])
    project = np.eye(150) - 1.0 / 150  # the constant, which the gradient never has
    before = np.linalg.eigvalsh(project @ L @ project)[1:]
    after = np.sort(np.linalg.eigvals(project @ H @ L @ project).real)[1:]
    assert after.max() / after.min() < 0.3 * before.max() / before.min()


def test_threads_and_lonely_points(graph):
    """The same bytes on any number of threads; a point without edges gets a finite direction."""
    P = sp.lil_matrix(graph(9000))
    P[3, :] = 0
    P[:, 3] = 0
    P = sp.csr_matrix(P)
    G = np.random.default_rng(0).normal(size=(9000, 2))
    results = [apply(P, G, n_jobs) for n_jobs in (1, 2, 3)]
    assert results[1].tobytes() == results[0].tobytes() == results[2].tobytes()
    assert np.isfinite(results[0]).all()
