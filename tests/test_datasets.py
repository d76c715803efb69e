"""Data sets by name."""

import numpy as np
import pytest

from sce import InputError, datasets


def test_reads_a_file_from_the_folder(tmp_path, monkeypatch):
    """X and y as they were saved; y is None where there is none."""
    monkeypatch.setenv("SCE_DATA", str(tmp_path))
    np.savez(tmp_path / "a.npz", X=np.eye(3), y=np.arange(3))
    np.savez(tmp_path / "b.npz", X=np.eye(2))
    X, y = datasets.load("a")
    assert X.shape == (3, 3)
    assert y.tolist() == [0, 1, 2]
    assert datasets.load("b").y is None


def test_says_what_is_missing(tmp_path, monkeypatch):
    """The folder, the file or the array."""
    monkeypatch.delenv("SCE_DATA", raising=False)
    with pytest.raises(InputError, match="SCE_DATA is not set; point it to a folder"):
        datasets.load("a")
    monkeypatch.setenv("SCE_DATA", str(tmp_path))
    np.savez(tmp_path / "b.npz", Z=np.eye(2))
    with pytest.raises(InputError, match=r"no data set 'a' in .*; it has: b"):
        datasets.load("a")
    with pytest.raises(InputError, match="has no array X; it holds: Z"):
        datasets.load("b")
