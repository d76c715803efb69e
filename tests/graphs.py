"""Random graphs, for tests."""

import numpy as np
import scipy.sparse as sp


def random_graph(n, degree=4, *, weighted=False, seed=0):
    """A symmetric random graph that sums to 1, with a ring so that no point is alone."""
    rng = np.random.default_rng(seed)
    i = np.concatenate([np.arange(n), rng.integers(n, size=n * degree)])
    j = np.concatenate([(np.arange(n) + 1) % n, rng.integers(n, size=n * degree)])
    A = sp.csr_matrix((np.ones(len(i)), (i, j)), (n, n))
    A = A.maximum(A.T).tolil()
    A.setdiag(0)
    A = sp.csr_matrix(A)
    A.eliminate_zeros()
    if weighted:
        upper = sp.triu(A, 1).tocoo()
        upper.data = rng.gamma(0.3, size=upper.nnz) + 1e-6
        A = sp.csr_matrix(upper + upper.T)
    A.sort_indices()
    A.data = (A.data / A.data.sum()).astype(np.float32)
    return A


def planted_graph(sizes, inside=1.0, degree=12, seed=0):
    """A graph of blocks; a share of the edges goes anywhere."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    start = np.append(0, np.cumsum(sizes))
    i = np.repeat(np.arange(len(labels)), degree)
    j = start[labels[i]] + (rng.random(len(i)) * np.array(sizes)[labels[i]]).astype(int)
    j = np.where(rng.random(len(i)) < inside, j, rng.integers(0, len(labels), len(i)))
    A = sp.csr_matrix((np.ones(len(i)), (i, j)), (len(labels),) * 2)
    return sp.csr_matrix(A + A.T), labels
