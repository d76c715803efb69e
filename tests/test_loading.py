"""One function opens every result file."""

import numpy as np
import pytest

import sce
from sce import InputError, Map, Sweep


@pytest.fixture
def folder(tmp_path):
    """A map, a sweep, and files that are neither."""
    family = Sweep(np.ones((3, 20, 2), np.float32), np.arange(3.0), np.arange(20), P=np.eye(20))
    family.save(tmp_path / "sweep.npz")
    family.map(0).save(tmp_path / "map.npz")
    np.savez(tmp_path / "data.npz", X=np.zeros((3, 2)), y=np.zeros(3))
    np.save(tmp_path / "data.npy", np.zeros((3, 2)))
    return tmp_path


def test_a_file_is_what_it_is(folder):
    """A map gives a Map, a sweep a Sweep, with or without P."""
    assert isinstance(sce.load(folder / "map.npz"), Map)
    assert isinstance(sce.load(str(folder / "sweep.npz")), Sweep)
    assert sce.load(folder / "sweep.npz").P is not None
    assert sce.load(folder / "sweep.npz", whole=False).P is None
    assert sce.load(folder / "map.npz", whole=False).P is None


def test_other_files_are_refused(folder):
    """In a sentence that says what they are, and how to make a map or a sweep."""
    advice = r"; make one with: sce embed \S+ -o map.npz or sce sweep \S+ -o sweep.npz$"
    with pytest.raises(InputError, match=rf"data.npz is neither a map nor a sweep \(it holds X, y\){advice}"):
        sce.load(folder / "data.npz")
    with pytest.raises(InputError, match=rf"data.npy is neither a map nor a sweep: its name must end in .npz{advice}"):
        sce.load(folder / "data.npy")
    with pytest.raises(InputError, match=r"There is no file \S*mapp.npz; did you mean \S*map.npz\?"):
        sce.load(folder / "mapp.npz")
