"""The command line, called in this process."""

from typing import NamedTuple

import numpy as np
import pytest

from sce.cli import main


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
