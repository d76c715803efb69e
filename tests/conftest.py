"""What the tests share: graphs, data, threads, a small disk, the command line."""

import subprocess
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import settings

from sce.core.parallel import Team

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


@pytest.fixture
def team():
    """Two threads."""
    with Team(2) as two:
        yield two


@pytest.fixture
def mixture():
    """A function (n, d) -> rows from ten Gaussian clouds."""

    def draw(n, d, seed=0):
        rng = np.random.default_rng(seed)
        centres = 4 * rng.normal(size=(10, d))
        return (centres[rng.integers(0, 10, n)] + rng.normal(size=(n, d))).astype(np.float32)

    return draw


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def sce(capsys, monkeypatch, tmp_path):
    """Run `sce` with some words in the folder of the test."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        capsys.readouterr()
        from sce.cli.main import main

        code = main([str(word) for word in words])
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return run


@pytest.fixture
def table(tmp_path):
    """data.csv: two clusters of 40 rows, four columns and a label."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4)) + 8 * (np.arange(80) % 2)[:, None]
    rows = [f"{','.join(map(repr, row.tolist()))},{'uv'[i % 2]}" for i, row in enumerate(X)]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,c,d,kind", *rows]) + "\n")
    return X
