"""Small graphs that many tests use, and a small disk."""

import subprocess

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


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


@pytest.fixture
def graph():
    """The function that makes random graphs."""
    return random_graph


@pytest.fixture
def small_disk(tmp_path):
    """A folder with room for 64 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("needs the right to mount a small disk")
    yield folder
    subprocess.run(["umount", folder], check=True)
