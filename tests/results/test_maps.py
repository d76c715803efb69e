"""The map file."""

import json
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import sce
from sce import SCE, InputError, Map, OutputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))


@pytest.fixture(scope="module")
def model():
    """A fitted model."""
    return SCE(random_state=0, n_epochs=5).fit(X)


def test_a_map_comes_back(tmp_path, model):
    """All of it: coordinates, ids, labels, parameters, r, history, facts, and on request P and X."""
    labels = np.array(["a", "b", ""])[RNG.integers(3, size=60)]
    ids = np.array([f"row {i}" for i in range(60)])
    made = Map.from_model(
        model, labels=labels, ids=ids, label_name="kind", P=model.affinity_, X=X, facts={"source": "x.csv"}
    )
    made.save(tmp_path / "map.npz")
    back = sce.load(tmp_path / "map.npz")
    assert (model.embedding_ == back.Y).all()
    assert back.Y.dtype == np.float32
    assert back.ids.tolist() == ids.tolist()
    assert back.labels.tolist() == labels.tolist()
    assert back.label_name == "kind"
    assert back.r == model.scale_
    assert back.parameters["n_epochs"] == 5
    assert back.facts["source"] == "x.csv"
    assert back.facts["stop_reason"] == model.stop_reason_
    assert all((back.history[name] == model.history_[name]).all() for name in ("epoch", "loss", "r", "learning_rate"))
    assert (model.affinity_ != back.P).nnz == 0
    assert (back.X == X).all()


def test_sparse_data_and_no_extras(tmp_path, model):
    """P and X are there only on request; a sparse X stays sparse."""
    Map.from_model(model).save(tmp_path / "map.npz")
    back = sce.load(tmp_path / "map.npz")
    assert (back.P, back.X, back.labels) == (None, None, None)
    assert back.ids.tolist() == list(range(60))
    Map.from_model(model, X=sp.csr_matrix(X)).save(tmp_path / "map.npz")
    assert (sce.load(tmp_path / "map.npz").X.toarray() == X).all()


def test_the_same_run_gives_the_same_bytes(tmp_path):
    """No date, no address of an object, no name of a folder gets into the file."""
    for name in "ab":
        model = SCE(random_state=0, n_epochs=2, affinity=lambda X: np.abs(X @ X.T)).fit(X)
        Map.from_model(model).save(tmp_path / f"{name}.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_plain_arrays_and_json(tmp_path, model):
    """Any program can read it, without sce and without pickles."""
    Map.from_model(model, labels=np.array([None, "a"] * 30, dtype=object)).save(tmp_path / "map.npz")
    with np.load(tmp_path / "map.npz", allow_pickle=False) as file:
        header = json.loads(str(file["sce_map"]))
        assert header["format"] == 1
        assert file["labels"].tolist() == [0, 1] * 30
        assert file["label_names"].tolist() == ["", "a"]
    with zipfile.ZipFile(tmp_path / "map.npz") as archive:
        assert archive.testzip() is None


def test_nothing_else_is_overwritten(tmp_path, model):
    """A map replaces a map, and no other file."""
    np.savez(tmp_path / "data.npz", X=X)
    with pytest.raises(OutputError, match=r"data.npz exists and is not a map; choose another name"):
        Map.from_model(model).save(tmp_path / "data.npz")
    Map.from_model(model).save(tmp_path / "map.npz")
    Map.from_model(model, labels=np.arange(60)).save(tmp_path / "map.npz")
    assert sce.load(tmp_path / "map.npz").labels is not None


def test_a_full_disk_keeps_the_old_map(small_disk, model):
    """And leaves no part of the new one."""
    path = small_disk / "map.npz"
    Map.from_model(model).save(path)
    before = path.read_bytes()
    with pytest.raises(OutputError, match="the disk is full"):
        Map.from_model(model, X=np.zeros((60, 1000))).save(path)
    assert path.read_bytes() == before
    assert list(small_disk.iterdir()) == [path]


def test_labels_must_fit(model):
    """One for each point."""
    with pytest.raises(InputError, match=r"labels must have one value for each of the 60 points; the shape is \(59,\)"):
        Map.from_model(model, labels=np.arange(59))
    with pytest.raises(InputError, match="The model is not fitted; call fit first"):
        Map.from_model(SCE())


KINDS = st.sampled_from([np.int8, np.int64, np.float64, np.bool_, np.dtype("U5")])


@given(KINDS.flatmap(lambda dtype: npst.arrays(dtype, 60)))
def test_labels_of_any_kind_come_back(tmp_path_factory, model, labels):
    """Numbers as numbers of the same type, text as text."""
    path = tmp_path_factory.mktemp("maps") / "map.npz"
    Map.from_model(model, labels=labels).save(path)
    np.testing.assert_array_equal(sce.load(path).labels, labels)


def test_what_is_no_map_is_not_saved(tmp_path, model):
    """NaN never leaves."""
    made = Map.from_model(model)
    made.Y = made.Y.copy()
    made.Y[3] = np.nan
    with pytest.raises(InputError, match="Y has NaN or infinity"):
        made.save(tmp_path / "map.npz")


def test_labels_of_bytes_and_of_pandas(tmp_path, model):
    """Bytes are text; what pandas calls missing is none."""
    pd = pytest.importorskip("pandas", reason="needs pandas")
    Map.from_model(model, labels=np.array([b"a", b"b"] * 30)).save(tmp_path / "map.npz")
    assert sce.load(tmp_path / "map.npz").labels[:2].tolist() == ["a", "b"]
    Map.from_model(model, labels=pd.Series(["a", None] * 30, dtype="string")).save(tmp_path / "map.npz")
    assert sce.load(tmp_path / "map.npz").labels[:2].tolist() == ["a", ""]


def test_a_map_without_its_graph_and_data(tmp_path, model):
    """Is all that a picture needs."""
    Map.from_model(model, P=model.affinity_, X=X).save(tmp_path / "map.npz")
    light = sce.load(tmp_path / "map.npz", whole=False)
    assert (light.P, light.X) == (None, None)
    assert (model.embedding_ == light.Y).all()


def test_codes_of_labels(tmp_path, model):
    """-1 has no name; a code beyond the names is damage."""
    Map.from_model(model, labels=np.array(["a", "b"] * 30)).save(tmp_path / "map.npz")
    with np.load(tmp_path / "map.npz") as file:
        arrays = dict(file)
    arrays["labels"][:2] = -1, 1
    np.savez(tmp_path / "map.npz", **arrays)
    assert sce.load(tmp_path / "map.npz").labels[:2].tolist() == ["", "b"]
    arrays["labels"][0] = 7
    np.savez(tmp_path / "map.npz", **arrays)
    with pytest.raises(InputError, match="labels without names"):
        sce.load(tmp_path / "map.npz")


def test_a_map_says_what_it_is(model):
    """In a line."""
    assert repr(Map.from_model(model, labels=np.arange(60))).startswith("Map(60 points in 2 dimensions, r = ")
    assert repr(Map.from_model(model, labels=np.arange(60))).endswith(", with labels)")


def test_shapes_that_could_not_be_read_again(tmp_path):
    """Are refused in time."""
    with pytest.raises(InputError, match=r"Y must be a table of floating point numbers"):
        Map(np.zeros(5), np.arange(5)).save(tmp_path / "b.npz")
    with pytest.raises(InputError, match="ids must have one value for each of the 5 points"):
        Map(np.zeros((5, 2)), np.arange(3)).save(tmp_path / "b.npz")
