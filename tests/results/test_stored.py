"""Large arrays of a result file are mapped, not read, and are the same arrays."""

import os
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import sce
from processes import run
from sce import InputError, Map, Sweep
from sce.core.mmap import is_mapped
from sce.core.write import ALIGNMENT, write_npz
from sce.results import stored
from sce.results.stored import map_array

RNG = np.random.default_rng(0)
ARRAYS = npst.arrays(
    st.sampled_from(["f4", ">f8", "i2", "U3", "?", [("a", "f8"), ("b", "i1")]]),
    npst.array_shapes(min_dims=0, max_dims=3, max_side=7),
    elements=None,
)


@pytest.fixture
def all_large(monkeypatch):
    """Map arrays of any size."""
    monkeypatch.setattr(stored, "MAPPED_FROM_BYTES", 1)


def mapped(path, name):
    """An array of a file, mapped, or None."""
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        return map_array(file, archive, name)


@given(st.dictionaries(st.text("aé_", min_size=1, max_size=9), ARRAYS, min_size=1, max_size=4), st.booleans())
def test_any_array_is_mapped_as_it_was_written(tmp_path_factory, arrays, fortran):
    """Whatever its name, type, shape and order, from a multiple of 64 bytes in the file; and NumPy reads the same."""
    path = tmp_path_factory.mktemp("stored") / "a.npz"
    arrays = {name: np.asfortranarray(array) if fortran else array for name, array in arrays.items()}
    with path.open("wb") as file:
        write_npz(file, arrays)
    with np.load(path) as plain, zipfile.ZipFile(path) as archive, pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "MAPPED_FROM_BYTES", 1)
        assert archive.testzip() is None
        for name, array in arrays.items():
            found = mapped(path, name)
            assert found.dtype == plain[name].dtype == array.dtype
            assert found.tobytes() == plain[name].tobytes() == array.tobytes()
            assert found.shape == array.shape
            assert found.offset % ALIGNMENT == 0
            assert not found.flags.writeable


def test_what_cannot_be_mapped_is_left_to_be_read(tmp_path, all_large):
    """Compressed arrays, arrays of files that do not align them, and objects."""
    path = tmp_path / "a.npz"
    np.savez_compressed(path, a=np.zeros(50))
    assert mapped(path, "a") is None
    np.savez(path, a=np.zeros(50))
    assert mapped(path, "a") is None
    np.savez(path, a=np.array([None, 1]), allow_pickle=True)
    assert mapped(path, "a") is None


def test_small_arrays_are_read(tmp_path):
    """They can then be changed."""
    Sweep(np.zeros((3, 20, 2), np.float32), np.arange(3.0), np.arange(20)).save(tmp_path / "sweep.npz")
    frames = sce.load(tmp_path / "sweep.npz").frames
    assert not is_mapped(frames)
    assert frames.flags.writeable


def make_sweep(path, frames=None):
    """A sweep of three maps of fifty points in a file."""
    frames = RNG.normal(size=(3, 50, 2)).astype(np.float32) if frames is None else frames
    Sweep(frames, np.arange(3.0), np.arange(50)).save(path)
    return frames


def test_a_mapped_sweep_is_the_sweep(tmp_path, all_large):
    """Its maps are read into memory of their own, to be changed at will; a copy has the same bytes."""
    frames = make_sweep(tmp_path / "sweep.npz")
    family = sce.load(tmp_path / "sweep.npz")
    assert is_mapped(family.frames)
    assert (family.frames == frames).all()
    one = family.map(1)
    assert type(one.Y) is np.ndarray
    assert not is_mapped(one.Y)
    one.Y += 1
    assert (family.frames == frames).all()
    family.save(tmp_path / "copy.npz")
    assert (tmp_path / "copy.npz").read_bytes() == (tmp_path / "sweep.npz").read_bytes()


def test_another_file_may_take_the_name(tmp_path, all_large):
    """The sweep that is open keeps the frames of the old one; it can even be saved over its own file."""
    frames = make_sweep(tmp_path / "sweep.npz")
    family = sce.load(tmp_path / "sweep.npz")
    make_sweep(tmp_path / "sweep.npz", np.zeros((3, 50, 2), np.float32))
    assert (family.frames == frames).all()
    assert (sce.load(tmp_path / "sweep.npz").frames == 0).all()
    family.save(tmp_path / "sweep.npz")
    assert (sce.load(tmp_path / "sweep.npz").frames == frames).all()


def test_files_of_earlier_versions_are_read(tmp_path, all_large):
    """Their frames are not aligned."""
    frames = make_sweep(tmp_path / "sweep.npz")
    with np.load(tmp_path / "sweep.npz") as file:
        arrays = dict(file)
    np.savez(tmp_path / "old.npz", **arrays)
    family = sce.load(tmp_path / "old.npz")
    assert not is_mapped(family.frames)
    assert (family.frames == frames).all()


def test_no_nan_leaves_a_mapped_sweep(tmp_path, all_large):
    """A damaged frame is found when it is asked for, or saved; the others are good."""
    frames = make_sweep(tmp_path / "sweep.npz")
    raw = (tmp_path / "sweep.npz").read_bytes()
    place = raw.index(frames[1].tobytes())
    (tmp_path / "sweep.npz").write_bytes(raw[:place] + np.float32(np.nan).tobytes() + raw[place + 4 :])
    family = sce.load(tmp_path / "sweep.npz")
    assert (frames[2] == family.map(2).Y).all()
    with pytest.raises(InputError, match=r"Frame 1 of the sweep has NaN or infinity, so its file is damaged"):
        family.map(1)
    with pytest.raises(InputError, match="NaN or infinity"):
        family.save(tmp_path / "other.npz")


def test_a_file_cut_short_is_damaged(tmp_path, all_large):
    """However the archive describes it."""
    make_sweep(tmp_path / "sweep.npz")
    raw = bytearray((tmp_path / "sweep.npz").read_bytes())
    (tmp_path / "sweep.npz").write_bytes(raw[:-100])
    with pytest.raises(InputError, match="damaged or truncated"):
        sce.load(tmp_path / "sweep.npz")


def test_data_kept_in_a_map_are_mapped(tmp_path, all_large):
    """The coordinates are read: every use of a map needs all of them."""
    X = RNG.normal(size=(50, 4))
    Map(RNG.normal(size=(50, 2)), np.arange(50), X=X).save(tmp_path / "map.npz")
    made = sce.load(tmp_path / "map.npz")
    assert is_mapped(made.X)
    assert not is_mapped(made.Y)
    assert (made.X == X).all()
    assert sce.load(tmp_path / "map.npz", whole=False).X is None


MEASURED = """
import sys
from pathlib import Path
import sce
from sce.core.memory import peak_memory

def resident():
    entry = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return 1024 * int(entry.split()[1])

sce.Sweep, sce.load
before = resident()
family = sce.load(sys.argv[1])
opened = peak_memory() - before
sums = [float(family.map(k).Y.sum()) for k in range(len(family))]
print(opened, peak_memory() - before, sums == [2.0 * k * family.frames.shape[1] for k in range(len(family))])
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="asks Linux for the memory of a process")  # noqa: PTH110
def test_a_large_sweep_takes_no_memory(tmp_path):
    """200 MB: opened with less than 20 MB, most of it the ids; all its maps one after the other with less than 50 MB."""
    n = 800_000
    frames = np.repeat(np.arange(33, dtype=np.float32), 2 * n).reshape(33, n, 2)
    Sweep(frames, np.arange(33.0), np.arange(n)).save(tmp_path / "sweep.npz")
    assert (tmp_path / "sweep.npz").stat().st_size > 200e6
    code = f"import sys; sys.argv = ['', {str(tmp_path / 'sweep.npz')!r}]\n{MEASURED}"
    opened, used, right = run(code).split()
    assert right == "True"
    assert int(opened) < 20e6
    assert int(used) < 50e6
