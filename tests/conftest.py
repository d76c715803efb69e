"""What the tests share: graphs, data, threads, a small disk, the command line."""

import subprocess
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import settings

from graphs import random_graph
from sce.core.parallel import Team

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


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
