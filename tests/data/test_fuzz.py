"""Readers raise nothing but our own errors, whatever is in a file."""

import gzip
import io
import json
import warnings

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sce
from sce.cli.commands.info import describe
from sce.data.formats import read_source
from sce.data.kinds import FILE_KINDS
from sce.data.label_files import read_label_file
from sce.data.preparation import Preparation
from sce.errors import SCEError
from sce.results.graphs import read_graph

X = np.arange(12.0).reshape(4, 3)
QUICK = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def saved(write, *args, **options):
    """The bytes of what a writer writes to a file."""
    file = io.BytesIO()
    write(file, *args, **options)
    return file.getvalue()


def parquet_bytes():
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(pa.table({"a": [1.0, 2.0], "t": ["x", "y"]}), file)
    return file.getvalue()


def arrow_bytes(new):
    pa = pytest.importorskip("pyarrow", reason="Arrow needs pyarrow")
    from pyarrow import ipc

    file = io.BytesIO()
    table = pa.table({"e": [[1.0, 2.0], [3.0, 4.0]], "t": ["x", "y"]})
    with getattr(ipc, new)(file, table.schema) as writer:
        writer.write_table(table)
    return file.getvalue()


def map_bytes(header):
    return saved(np.savez, sce_map=np.array(json.dumps(header)), Y=X.astype(np.float32), ids=np.arange(4))


GOOD = {
    "data.npy": saved(np.save, X),
    "data.npz": saved(np.savez, X=X, y=np.arange(4)),
    "packed.npz": saved(np.savez_compressed, X=X, y=np.array(list("abcd"))),
    "sparse.npz": saved(sp.save_npz, sp.csr_matrix(X)),
    "csc.npz": saved(sp.save_npz, sp.csc_matrix(X)),
    "bsr.npz": saved(sp.save_npz, sp.bsr_matrix(X)),
    "coo.npz": saved(sp.save_npz, sp.coo_matrix(X), compressed=False),
    "dia.npz": saved(sp.save_npz, sp.dia_matrix(X), compressed=False),
    "map.npz": map_bytes({"format": 1, "r": 1.0, "parameters": {}, "facts": {}}),
    "data.csv": b"a,b,label\n1,2,x\n3,4,y\n5,,x\n",
    "data.jsonl": b'{"id": "u", "e": [1.5, 2]}\n{"id": null, "e": [3, 4]}\n',
    "data.tsv": b"a\tb\n1\t2\n3\t4\n",
    "data.csv.gz": gzip.compress(b"a,b\n1,2\n3,4\n", mtime=0),
    "data.mtx": saved(scipy.io.mmwrite, sp.coo_matrix(X)),
    "dense.mtx": saved(scipy.io.mmwrite, X),
}


def attempt(path):
    """Do with a file all that the command line does before the work; our errors are the only ones allowed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of NumPy's, about odd numbers
        for use in (
            read_source,
            read_graph,
            lambda p: describe(sce.load(p)),
            lambda p: read_label_file(str(p), 4, "data"),
            prepared,
        ):
            assert is_one_line(use, path)


def is_one_line(use, path):
    """Whether a use of a file works, or ends in an error of ours that is one line."""
    try:
        use(path)
    except SCEError as error:
        return len(str(error)) < 1000 and "\n" not in str(error)
    return True


def prepared(path):
    table, _ = Preparation(missing="median", normalize="robust", one_hot=True).fit_transform(sce.read(path))
    assert np.isfinite(table.X.data if sp.issparse(table.X) else table.X).all()


@QUICK
@given(kind=st.sampled_from([*FILE_KINDS, ".csv.gz", ".mtx.gz"]), content=st.binary(max_size=300))
def test_any_bytes(tmp_path_factory, kind, content):
    """Under any name."""
    path = tmp_path_factory.mktemp("fuzz") / f"data{kind}"
    path.write_bytes(content)
    attempt(path)


@QUICK
@given(
    text=st.lists(
        st.sampled_from([*"ab1.,;\t\n\"' -+e0é#_\x00", "nan", "inf", "1e999", "NA", "\r\n"]), max_size=80
    ).map("".join)
)
def test_any_text(tmp_path_factory, text):
    """Of the kind that tables are made of."""
    path = tmp_path_factory.mktemp("fuzz") / "data.csv"
    path.write_bytes(text.encode())
    attempt(path)


WITH_PYARROW = {
    "data.parquet": parquet_bytes,
    "file.arrow": lambda: arrow_bytes("new_file"),
    "stream.arrow": lambda: arrow_bytes("new_stream"),
}
NAMES = [*GOOD, *WITH_PYARROW]


def content(name):
    return GOOD[name] if name in GOOD else WITH_PYARROW[name]()


def damaged(good, rng):
    """The bytes with some changed, put in or taken out."""
    bad = bytearray(good)
    for _ in range(rng.integers(1, 5) if len(bad) > 20 else 1):
        place, way = rng.integers(len(bad)), rng.integers(3)
        if way == 0:
            bad[place] = rng.integers(256)
        elif way == 1:
            bad.insert(place, rng.choice(np.frombuffer(b'0123456789,;"\n\r\t .-eE\x00\xff', np.uint8)))
        else:
            del bad[place : place + rng.integers(1, 6)]
    return bytes(bad)


@pytest.mark.parametrize("name", NAMES)
def test_files_cut_short_or_damaged(tmp_path, name):
    """Every beginning of a good file, and good files with bytes changed here and there."""
    good, path = content(name), tmp_path / name
    for length in np.unique(np.linspace(0, len(good), 60).astype(int)):
        path.write_bytes(good[:length])
        attempt(path)
    rng = np.random.default_rng(0)
    for _ in range(60):
        path.write_bytes(damaged(good, rng))
        attempt(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_thousands_of_damaged_files(tmp_path, name):
    """The same for longer."""
    good, path, rng = content(name), tmp_path / name, np.random.default_rng(1)
    for _ in range(3000):
        path.write_bytes(damaged(good, rng))
        attempt(path)


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@QUICK
@given(
    _JSON
    | st.fixed_dictionaries({"format": st.integers(-1, 3)}, optional={"r": _JSON, "parameters": _JSON, "facts": _JSON})
)
def test_any_header_of_a_map(tmp_path_factory, header):
    """JSON of any shape."""
    path = tmp_path_factory.mktemp("fuzz") / "map.npz"
    path.write_bytes(map_bytes(header))
    attempt(path)


@pytest.mark.parametrize(
    "text",
    [
        "%%MatrixMarket matrix coordinate real general\n1000000000000 5 1\n1 1 1.0\n",
        "%%MatrixMarket matrix coordinate real general\n5 5 1000000000000\n1 1 1.0\n",
        "%%MatrixMarket matrix array real general\n1000000 1000000\n1.0\n",
        "%%MatrixMarket matrix coordinate real general\n-5 5 1\n1 1 1.0\n",
        "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1.0 2.0\n",
    ],
)
def test_sizes_that_are_not_true(tmp_path, text):
    """A header that promises more than the file can hold takes no memory."""
    path = tmp_path / "data.mtx"
    path.write_text(text)
    with pytest.raises(SCEError):
        read_source(path)
