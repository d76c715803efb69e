"""Pickles whose large arrays lie in files."""

import gc
import io

import numpy as np
import pytest
import scipy.sparse as sp

from sce.web.array_files import ArrayFiles, dump, load, map_array


def copied(value, folder):
    """A value as another process gets it, the files that it needed, and its pickle."""
    file = io.BytesIO()
    dump(value, file, ArrayFiles(folder).save)
    file.seek(0)
    return load(file, map_array), file.getvalue()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f4", "i8", "bool", "U3", "M8[D]"])
def test_large_arrays_come_from_files(tmp_path, order, dtype):
    """With the same bytes and layout, wherever in a value they are, and may be changed; the file may not."""
    array = np.asarray(np.arange(120_000).reshape(400, 300) % 7, dtype="i8").astype(dtype, order=order)
    (found, again), pickled = copied(({"deep": [array]}, array), tmp_path)
    found = found["deep"][0]
    assert type(found) is np.ndarray
    assert (found.dtype, found.flags.f_contiguous, found.flags.writeable) == (array.dtype, order == "F", True)
    assert np.array_equal(found, array)
    assert len(pickled) < 1000
    (path,) = tmp_path.iterdir()
    before = path.read_bytes()
    found[:] = found[0, 0]
    assert path.read_bytes() == before
    assert np.array_equal(again, array)


def test_sparse_matrices_and_what_is_small(tmp_path):
    """A graph travels by files of its parts; small arrays, and those of objects, in the pickle."""
    P = sp.random(3000, 3000, 0.01, "csr", random_state=np.random.default_rng(0))
    others = [np.arange(3), np.array([None, "a"] * 50_000, object), "text"]
    (graph, (few, objects, text)), _ = copied((P, others), tmp_path)
    assert len(list(tmp_path.iterdir())) == 2  # data and indices
    assert (graph != P).nnz == 0
    assert (few.tolist(), objects[:2].tolist(), text) == ([0, 1, 2], [None, "a"], "text")


def test_a_full_disk(small_disk):
    """Half a file does not stay."""
    with pytest.raises(OSError, match=r"No space|requested and"):
        ArrayFiles(small_disk).save(np.zeros(100_000))
    assert list(small_disk.iterdir()) == []


def test_a_file_lives_as_long_as_its_array(tmp_path):
    """Written once, also if it came from a file; gone when nobody has the array."""
    files = ArrayFiles(tmp_path)
    array = np.zeros(10)
    path = files.save(array)
    assert files.save(array) == path
    assert files.save(array.copy()) != path
    gc.collect()
    assert [str(each) for each in tmp_path.iterdir()] == [path]
    fetched = files.fetch(path)
    assert files.save(fetched) == path
    del array, fetched
    gc.collect()
    assert list(tmp_path.iterdir()) == []
