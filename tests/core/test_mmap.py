"""Memory-mapped data: read without staying in memory, never changed, and embedded as if they were in memory."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes import run
from sce import SCE
from sce.core import mmap as mapped
from sce.core.parallel import Team
from sce.graph import index, rows, vectors


def mixture(n, d):
    """Rows from ten Gaussian clouds."""
    rng = np.random.default_rng(0)
    centres = 4 * rng.normal(size=(10, d))
    return (centres[rng.integers(0, 10, n)] + rng.normal(size=(n, d))).astype(np.float32)


linux = pytest.mark.skipif(sys.platform != "linux", reason="the system takes no pages back")


@pytest.fixture
def tiny_maps(monkeypatch):
    """Small maps are given back too, row by row."""
    monkeypatch.setattr(mapped, "_RELEASED_FROM_BYTES", 1)
    monkeypatch.setattr(mapped, "_RELEASE_EVERY_BYTES", 1)


@pytest.fixture
def load(tmp_path):
    """A function (array, mode) -> the array in a file, mapped."""

    def save_and_load(X, mode="r"):
        np.save(tmp_path / "x.npy", X)
        return np.load(tmp_path / "x.npy", mmap_mode=mode)

    return save_and_load


@linux
@pytest.mark.parametrize("view", [np.asarray, np.transpose, np.ravel, lambda X: X[5:, 2:], lambda X: X[::2].T[1:]])
def test_the_map_behind_a_view_is_found(view, load, tiny_maps):
    """Whatever view of a read-only map it is."""
    X = load(np.ones((50, 8)))
    assert mapped._read_only_map(view(X)) is X._mmap


@pytest.mark.parametrize("mode", ["c", "r+"])
def test_what_was_written_to_a_map_survives(mode, load, tiny_maps):
    """A map that can be written is never released, nor is a view of it: copy-on-write pages would be lost."""
    X = load(mixture(3000, 8), mode)
    X[7] = 5.0
    for variant in (X, np.asarray(X), X[3:]):
        assert mapped._read_only_map(variant) is None
        mapped.release(variant)
        mapped.releasing(variant, lambda start, stop: None)(0, len(variant))
        mapped.take(variant, np.arange(20), np.float32)
    SCE(n_epochs=1, random_state=0).fit(X[:100])
    assert (X[7] == 5.0).all()


def test_copies_and_small_maps_are_left_alone(load):
    """A copy of mapped rows is memory of its own, and a small map is not worth a call."""
    X = load(np.ones((50, 8)))
    for other in (X[[1, 2]], X + 1, np.ones(3), [1, 2], None, X):
        assert mapped._read_only_map(other) is None


@given(st.lists(st.integers(0, 299), max_size=40), st.sampled_from(["C", "F"]), st.booleans())
def test_taking_rows_equals_indexing(tmp_path_factory, rows, order, in_memory):
    """From a map in any order as from memory."""
    path = Path(tmp_path_factory.getbasetemp()) / f"taken{order}.npy"
    X = np.arange(2400.0).reshape(300, 8)
    if not path.exists():
        np.save(path, np.asarray(X, order=order))
    rows = np.array(rows, int)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mapped, "_RELEASED_FROM_BYTES", 1)
        patch.setattr(mapped, "_ROWS_TAKEN_AT_ONCE", 3)
        patch.setattr(mapped, "_RELEASE_EVERY_BYTES", 5000)
        taken = mapped.take(X if in_memory else np.load(path, mmap_mode="r"), rows, np.float32)
    assert taken.dtype == np.float32
    assert (taken == X[rows]).all()


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_every_row_is_worked_on_once(n_jobs, load, tiny_maps):
    """Releasing on the way changes neither calls nor results."""
    X = load(np.arange(4000.0).reshape(1000, 4))
    seen = np.zeros(1000, int)

    def work(start, stop):
        seen[start:stop] += 1
        return X[start:stop].sum()

    with Team(n_jobs) as team:
        team.sweep(mapped.releasing(X, work), 1000, 7)
    assert (seen == 1).all()
    assert mapped.releasing(X, work)(10, 20) == X[10:20].sum()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_mapped_data_give_the_bytes_of_data_in_memory(metric, order, load, tiny_maps, monkeypatch):
    """The forest, the PCA start and the checks see the same numbers."""
    monkeypatch.setattr(vectors, "BRUTE_FORCE_UP_TO_TERMS", 0)
    X = np.asarray(mixture(3000, 20), order=order)
    model = SCE(n_epochs=2, random_state=0, metric=metric)
    expected = model.fit_transform(X).tobytes()
    assert model.neighbor_method_ == "forest"
    assert model.fit_transform(load(X)).tobytes() == expected


def test_prepared_rows_are_gone_after_the_search(monkeypatch):
    """Nothing holds them while the graph is made and laid out, not even until the next garbage collection."""
    import weakref

    kept = []

    def centred_rows(*args, **options):
        made = rows.centred_rows(*args, **options)
        kept.append(weakref.ref(made.values))
        return made

    monkeypatch.setattr(vectors, "BRUTE_FORCE_UP_TO_TERMS", 0)
    monkeypatch.setattr(vectors, "centred_rows", centred_rows)
    for n_jobs in (1, 2):
        with Team(n_jobs) as team:
            index.nearest_neighbors(mixture(3000, 20), 5, team=team)
    assert [reference() for reference in kept] == [None, None]


MEMORY = """
import numpy as np
from sce import SCE
def status(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name)) * 1024
import sce.graph.forest as forest
import sce.graph.vectors as vectors
forest.TREES_PER_BATCH = forest.MAX_BATCHES = forest.MAX_JOINS = 1  # a poor search, in little time
vectors.BRUTE_FORCE_UP_TO_TERMS = 0
model = SCE(n_epochs=1, random_state=0, n_jobs=2, n_neighbors=2, optimizer="sampler")  # no grids
model.fit(np.random.default_rng(0).normal(size=(600, 160)).astype(np.float32))  # kernels are loaded
X = np.load({path!r}, mmap_mode={mode!r})
before = status("VmRSS")
model.fit(X)
print(model.neighbor_method_ == "forest" and (status("VmHWM") - before) / (4 * X.size))
"""


@linux
@pytest.mark.parametrize(("mode", "dtype"), [("r", np.float32), ("r", np.float64), (None, np.float32)])
def test_a_fit_takes_little_more_memory_than_one_copy(mode, dtype, tmp_path):
    """One copy of the data as float32 and what is small beside it, whether X is mapped, and then whole, or in memory.

    Mapped pages that stay would make it two of float32 or three of float64, and a second copy in the search one more.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((110_000, 10), np.float32) @ rng.standard_normal((10, 160), np.float32)  # 70 MB
    np.save(tmp_path / "x.npy", X.astype(dtype))
    code = "import warnings; warnings.simplefilter('ignore')" + MEMORY.format(path=str(tmp_path / "x.npy"), mode=mode)
    assert 1.0 < float(run(code)) < 1.75
