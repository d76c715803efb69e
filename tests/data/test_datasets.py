"""Data sets by name."""

import hashlib
import io
import json
import os
import urllib.error
import urllib.request
from email.message import Message
from pathlib import Path

import numpy as np
import pytest

from processes import run
from sce import SCE, DataWarning, InputError, datasets
from sce.data.datasets import find, known, openml

ROOT = Path(__file__).parent.parent.parent
REAL = os.environ.get("SCE_DATA")  # the tests themselves see another folder


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of data sets, and an empty cache beside it."""
    monkeypatch.setenv("SCE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("SCE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
def tiny(monkeypatch):
    """A known data set of 4 x 2 with 3 classes, which openml.org has."""
    one = known.About("tiny", "for the test", (4, 2), 3, "kinds", openml=7)
    monkeypatch.setitem(known.KNOWN, "tiny", one)
    return one


def write(path, X=((0, 1), (2, 3), (4, 5), (6, 7)), y=(0, 1, 2, 0)):
    arrays = {"X": np.array(X)} | ({} if y is None else {"y": np.array(y)})
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)


class PretendOpenML(urllib.request.BaseHandler):
    """Answers as openml.org does for data set 7; counts the questions."""

    ARFF = "@RELATION tiny\n@ATTRIBUTE a REAL\n@ATTRIBUTE b REAL\n@ATTRIBUTE class {2,10,x}\n@DATA\n"
    handler_order = 1  # before urllib's own

    def __init__(self, rows):
        self.file = (self.ARFF + rows).encode()
        self.asked = 0

    def https_open(self, request):
        self.asked += 1
        names = ("a", "b", "class")
        features = [
            {"index": str(k), "name": name, "data_type": "nominal" if name == "class" else "numeric",
             "is_target": str(name == "class").lower(), "is_ignore": "false", "is_row_identifier": "false",
             "number_of_missing_values": "0"} for k, name in enumerate(names)
        ]  # fmt: skip
        url = "https://www.openml.org/data/v1/download/1/tiny.arff"
        about = {"id": "7", "name": "tiny", "version": "1", "format": "ARFF", "status": "active", "file_id": "1", "url": url,
                 "description": "", "md5_checksum": hashlib.md5(self.file).hexdigest()}  # fmt: skip
        answers = {
            "features/7": {"data_features": {"feature": features}},
            "qualities/7": {"data_qualities": {"quality": [{"name": "NumberOfInstances", "value": "4"}]}},
            "data/7": {"data_set_description": about},
        }
        path = request.full_url
        sent = next((json.dumps(a).encode() for end, a in answers.items() if path.endswith(end)), self.file)
        response = urllib.request.addinfourl(io.BytesIO(sent), Message(), path, 200)
        response.msg = "OK"
        return response


class NoNetwork(urllib.request.BaseHandler):
    """A machine without network."""

    handler_order = 1

    def https_open(self, request):
        raise urllib.error.URLError("Name or service not known")


@pytest.fixture
def network(monkeypatch):
    """A function that puts a pretended network in place of the real one."""

    def pretend(handler):
        monkeypatch.setattr(urllib.request, "_opener", urllib.request.build_opener(handler))
        return handler

    return pretend


def test_reads_a_file_from_the_folder(folder):
    """X and y as they were saved; y is None where there is none."""
    write(folder / "a.npz", np.eye(3), np.arange(3))
    write(folder / "b.npz", np.eye(2), None)
    X, y = datasets.load("a")
    assert X.shape == (3, 3)
    assert y.tolist() == [0, 1, 2]
    assert datasets.load("b").y is None


def test_the_folder_goes_before_the_cache_and_the_cache_before_the_network(folder, tiny, network):
    """And what was downloaded is kept, so that the second time asks nobody."""
    server = network(PretendOpenML("1,2,x\n3,4,10\n5,6,2\n7,8,2\n"))
    X, y = datasets.load("tiny")
    assert X.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert y.tolist() == [2, 0, 1, 1]
    asked = server.asked
    again = datasets.load("tiny")
    assert again.X.tobytes() == X.tobytes()
    assert again.y.tobytes() == y.tobytes()
    assert server.asked == asked > 0
    write(folder / "tiny.npz", y=(5, 6, 7, 5))
    assert datasets.load("tiny").y.tolist() == [5, 6, 7, 5]


def test_downloads_without_pandas(tiny, network, monkeypatch):
    """The same numbers, by scikit-learn's own parser."""
    network(PretendOpenML("1,2,x\n3,4.5,10\n5,6,2\n7,8,2\n"))
    monkeypatch.setattr(openml.importlib.util, "find_spec", lambda name: None)
    X, y = datasets.load("tiny")
    assert X.tolist() == [[1, 2], [3, 4.5], [5, 6], [7, 8]]
    assert y.tolist() == [2, 0, 1, 1]
    with pytest.raises(InputError, match="pip install pandas"):
        datasets.load("higgs")


def test_without_network_one_sentence_says_so(network, monkeypatch):
    """With what to do; and nothing is left in the cache."""
    network(NoNetwork())
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # before each new try
    with pytest.raises(
        InputError, match=r"mnist is neither .* nor .* \(Name or service not known\); connect to the network"
    ):
        datasets.load("mnist")
    assert not find.cache_folder().exists()


def test_what_is_sent_is_checked_before_it_is_kept(tiny, network):
    """A data set that is not the right one stays out of the cache."""
    network(PretendOpenML("1,2,x\n3,4,10\n5,6,10\n7,8,10\n"))
    with pytest.raises(InputError, match=r"openml.org/d/7 holds 2 different labels, but tiny has 3 kinds"):
        datasets.load("tiny")
    assert not find.cache_folder().exists()


def test_a_cache_that_cannot_be_written_is_a_warning(tiny, network, monkeypatch, tmp_path):
    """The data are at hand all the same."""
    network(PretendOpenML("1,2,x\n3,4,10\n5,6,2\n7,8,2\n"))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SCE_CACHE", str(tmp_path / "file"))
    with pytest.warns(DataWarning, match="tiny was downloaded but could not be kept: .* Set SCE_CACHE"):
        assert datasets.load("tiny").X.shape == (4, 2)


def test_known_shapes_are_checked(folder, tiny):
    """Rows, columns and labels; both numbers are named."""
    write(folder / "tiny.npz", np.eye(4), (0, 1, 2, 0))
    with pytest.raises(InputError, match=r"tiny.npz holds 4 x 4 numbers, but tiny has 4 x 2; give the right file"):
        datasets.load("tiny")
    write(folder / "tiny.npz", y=(0, 1, 2))
    with pytest.raises(InputError, match=r"a label for each of the 4 rows of X; its shape is \(3,\)"):
        datasets.load("tiny")
    write(folder / "tiny.npz", y=(0, 1, 1, 1))
    with pytest.raises(InputError, match="holds 2 different labels, but tiny has 3 kinds"):
        datasets.load("tiny")
    write(folder / "tiny.npz", X=["a", "b"], y=None)
    with pytest.raises(InputError, match="must be a matrix of numbers"):
        datasets.load("tiny")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tomoradar", "tomoradar is not public; the nearest stand-in is mocap_120k; .* put tomoradar.npz, .* in "),
        ("flow_cytometry", "not public as the paper prepared it.* stand-ins are cytof_bcrxl and flow_hipc; .*put "),
        ("ijcnn", "not at openml.org in this form .* LIBSVM's files ijcnn1.tr and ijcnn1.t, .* put ijcnn.npz"),
        ("mocap_1m", "openml.org does not have; .* put mocap_1m.npz"),
    ],
)
def test_what_cannot_be_had_says_what_can(name, said, network):
    """Without asking the network."""
    server = network(PretendOpenML(""))
    with pytest.raises(InputError, match=said):
        datasets.load(name)
    assert server.asked == 0


def test_every_set_can_be_had_or_says_why_not():
    """And stand-ins stand for known ones, with the similarities of those."""
    for one in known.KNOWN.values():
        assert one.openml or one.hint or one.name == "digits", one.name
        if one.stands_for:
            assert one.similarities == known.KNOWN[one.stands_for].similarities
    assert not datasets.about("cytof_bcrxl").labels_are_classes


def test_the_similarities_are_those_of_the_paper():
    """As parameters that SCE takes."""
    k = {name: datasets.about(name).similarities.get("n_neighbors") for name in ("mnist", "tomoradar", "higgs")}
    assert k == {"mnist": 10, "tomoradar": 50, "higgs": 5}
    assert datasets.about("flow_cytometry").similarities == {"affinity": "knn", "n_neighbors": 15}
    for name in ("shuttle", "ijcnn"):
        assert datasets.about(name).similarities == {"affinity": "entropic", "perplexity": 30.0}
    for name in datasets.names():
        SCE(**datasets.about(name).similarities)


def test_unknown_names_are_answered_with_the_nearest(folder):
    """And with all there are, those of the folder with them."""
    write(folder / "mine.npz")
    with pytest.raises(
        InputError, match=r"no data set 'MNIST'; did you mean 'mnist'\? The data sets are shuttle, .*, mine\."
    ):
        datasets.load("MNIST")
    for wrong in ("qqq", "../data/mine", "", 3, None):
        with pytest.raises(InputError, match="There is no data set"):
            datasets.load(wrong)
    assert datasets.about("mine").shape is None
    assert datasets.names()[-1] == "mine"
    assert "| mine | a file of your own |" in datasets.describe()


def test_says_what_is_missing(folder, monkeypatch):
    """The folder, the array, the rest of the file."""
    np.savez(folder / "b.npz", Z=np.eye(2))
    with pytest.raises(InputError, match="has no array X; it holds: Z"):
        datasets.load("b")
    write(folder / "c.npz", np.zeros((99, 9)))
    (folder / "c.npz").write_bytes((folder / "c.npz").read_bytes()[:500])
    with pytest.raises(InputError, match=r"c.npz cannot be read as .* damaged or truncated"):
        datasets.load("c")
    monkeypatch.setenv("SCE_DATA", str(folder / "nowhere"))
    with pytest.raises(InputError, match=r"SCE_DATA names .*nowhere, which is not a folder"):
        datasets.load("digits")
    monkeypatch.delenv("SCE_DATA")
    with pytest.raises(InputError, match=r"no data set 'a'.* SCE_DATA may name a folder with more"):
        datasets.load("a")
    assert datasets.load("digits").X.shape == datasets.about("digits").shape


def test_the_cache_is_where_the_user_says(monkeypatch, tmp_path):
    """SCE_CACHE, else XDG_CACHE_HOME, else ~/.cache."""
    assert find.cache_folder() == tmp_path / "cache" / "data"
    monkeypatch.delenv("SCE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert find.cache_folder() == tmp_path / "xdg" / "sce" / "data"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert find.cache_folder() == tmp_path / "home" / ".cache" / "sce" / "data"


def test_labels_are_numbered_in_their_order():
    """Numbers by value, words by letter."""
    assert openml.numbered(["10", "9", "10", "-1"]).tolist() == [2, 1, 2, 0]
    assert openml.numbered(np.array(["b", "a"], dtype=object)).tolist() == [1, 0]
    assert openml.numbered(np.array([2.0, 1.0])).tolist() == [1, 0]


@pytest.mark.parametrize("odd", [256.0, -1.0, 0.5, np.nan])
def test_bytes_only_where_nothing_is_lost(odd):
    """Even if the first of the odd numbers comes late."""
    X = np.ones((2000, 2))
    assert openml.compact(X).dtype == np.uint8
    X[-1, -1] = odd
    assert openml.compact(X).dtype == np.float32
    assert np.array_equal(openml.compact(X), X, equal_nan=True)


def test_the_documentation_has_the_table():
    """As it is when SCE_DATA holds nothing more."""
    page = ROOT / "docs" / "datasets.md"
    if not page.exists():
        pytest.skip("the tests run without the documentation")
    assert datasets.describe() in page.read_text()


def test_import_is_light():
    """The facts of a data set need neither scikit-learn nor scipy."""
    loaded = run(
        "import sys; from sce import datasets; datasets.about('mnist');"
        "print([m for m in ('sklearn', 'scipy', 'numba') if m in sys.modules])"
    )
    assert loaded == "[]"


@pytest.mark.skipif(not REAL, reason="needs SCE_DATA")
@pytest.mark.parametrize("name", ["shuttle", "ijcnn", "coil20", "higgs_11k", "flow_hipc"])
def test_the_real_sets_are_as_the_table_says(name, monkeypatch):
    """Where there are any."""
    monkeypatch.setenv("SCE_DATA", REAL)
    if not (Path(REAL) / f"{name}.npz").exists():
        pytest.skip(f"{name} is not there")
    X, y = datasets.load(name)
    assert X.shape == datasets.about(name).shape
    assert len(np.unique(y)) == datasets.about(name).n_labels


def test_the_digits_are_those_of_scikit_learn():
    """Without importing it."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    found = find.digits()
    assert (found.X == X).all()
    assert (found.y == y).all()
    assert (found.X.dtype, found.y.dtype) == (X.dtype, y.dtype)
    code = "import sys; from sce import datasets; datasets.load('digits'); print('sklearn' in sys.modules)"
    assert run(code, SCE_DATA=None) == "False"


def test_the_digits_by_scikit_learn_itself(monkeypatch):
    """Where its files are somewhere else."""
    monkeypatch.setattr(find, "find_spec", lambda name: None)
    assert find.digits().X.shape == (1797, 64)
