"""Files of arrays, tables and graphs: the readers of each format."""

import gzip
import warnings

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from sce import InputError
from sce.data.formats import Request, read_source
from sce.data.label_files import read_label_file
from sce.results.graphs import read_graph, write_graph

RNG = np.random.default_rng(0)
X = RNG.integers(0, 3, size=(20, 4)).astype(float)
COLORS = np.array(["red", "blue"])[RNG.integers(2, size=20)]


def test_npy_is_mapped(tmp_path):
    """The file is not read: its pages come when they are looked at."""
    np.save(tmp_path / "a.npy", X)
    source = read_source(tmp_path / "a.npy")
    assert isinstance(source.X, np.memmap)
    assert (source.X == X).all()
    assert (X[:, [2, 3, 0]] == read_source(tmp_path / "a.npy", Request(columns=["2:", "0"])).X).all()


def test_records_become_columns(tmp_path):
    """Fields of numbers with their names."""
    np.save(tmp_path / "a.npy", np.array([(1, 2.5), (3, 4.5)], dtype=[("n", "i4"), ("x", "f8")]))
    source = read_source(tmp_path / "a.npy")
    assert source.names == ["n", "x"]
    assert source.X.tolist() == [[1, 2.5], [3, 4.5]]


def test_npz_of_arrays(tmp_path):
    """X, or the only matrix, or the one asked for; arrays of one value a row are offered as labels, y first."""
    path = tmp_path / "a.npz"
    np.savez(path, age=np.arange(20), X=X, Z=X[:, :2], y=COLORS)
    assert (read_source(path).X == X).all()
    assert list(read_source(path).extra) == ["y", "age"]
    assert read_source(path, Request(array="Z")).X.shape == (20, 2)
    np.savez(path, only=X)
    assert (read_source(path).X == X).all()
    np.savez(path, one=X, two=X)
    with pytest.raises(InputError, match=r"2 matrices and none named X; choose one with array="):
        read_source(path)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.coo_matrix, sp.csc_array])
def test_npz_of_a_sparse_matrix(tmp_path, make):
    """As scipy saves it."""
    sp.save_npz(tmp_path / "a.npz", make(X))
    source = read_source(tmp_path / "a.npz")
    assert source.X.format == "csr"
    assert (source.X.toarray() == X).all()


@pytest.mark.parametrize("packed", [False, True])
def test_matrix_market(tmp_path, packed):
    """Arrays are dense, coordinates sparse; also packed."""
    for matrix, name in ((X, "dense"), (sp.coo_matrix(X), "sparse")):
        path = tmp_path / f"{name}.mtx"
        scipy.io.mmwrite(path, matrix)
        if packed:
            path = tmp_path / f"{name}.mtx.gz"
            path.write_bytes(gzip.compress((tmp_path / f"{name}.mtx").read_bytes()))
        found = read_source(path).X
        assert sp.issparse(found) == (name == "sparse")
        assert ((found.toarray() if sp.issparse(found) else found) == X).all()


def test_parquet(tmp_path):
    """Numbers of all types, booleans, nulls, text and categories."""
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from pyarrow import parquet

    table = pa.table(
        {
            "i": pa.array([1, 2, None], pa.int32()),
            "f": pa.array([0.5, None, 2.5], pa.float32()),
            "b": pa.array([True, False, None]),
            "t": pa.array(["x", None, "z"]),
            "c": pa.array(["u", "v", "u"]).dictionary_encode(),
            "n": pa.array([1, 2, 3], pa.uint8()).dictionary_encode(),
        }
    )
    parquet.write_table(table, tmp_path / "a.parquet")
    source = read_source(tmp_path / "a.parquet")
    assert source.names == ["i", "f", "b", "n"]
    np.testing.assert_array_equal(source.X, [[1, 0.5, 1, 1], [2, np.nan, 0, 2], [np.nan, 2.5, np.nan, 3]])
    assert {name: values.tolist() for name, values in source.text.items()} == {
        "t": ["x", "", "z"],
        "c": ["u", "v", "u"],
    }
    assert read_source(tmp_path / "a.parquet", Request(columns=["f"], apart=("i",))).names == ["f"]
    parquet.write_table(pa.table({"a": [1], "s": pa.array([{"x": 1}]), "b": [b"y"]}), tmp_path / "b.parquet")
    with pytest.raises(
        InputError, match=r"b.parquet has .*: 's' \(struct<x: int64>\), 'b' \(binary\); .*drop=\['s', 'b'\]"
    ):
        read_source(tmp_path / "b.parquet")


def test_labels_of_other_files(tmp_path):
    """Arrays, columns by name, single columns; numbers in text are numbers."""
    np.save(tmp_path / "y.npy", COLORS)
    (tmp_path / "y.csv").write_text("id,age\n" + "".join(f"{i},{i / 2}\n" for i in range(20)))
    (tmp_path / "one.csv").write_text("kind\n" + "".join(f"{c}\n" for c in COLORS))
    assert read_label_file(str(tmp_path / "y.npy"), 20, "x")[0].tolist() == COLORS.tolist()
    values, name = read_label_file(f"{tmp_path / 'y.csv'}:age", 20, "x")
    assert (values.tolist(), name) == ([i / 2 for i in range(20)], "age")
    assert read_label_file(str(tmp_path / "one.csv"), 20, "x")[0].tolist() == COLORS.tolist()
    with pytest.raises(InputError, match=r"2 columns; choose one with labels='.*y.csv:age'"):
        read_label_file(str(tmp_path / "y.csv"), 20, "x")
    with pytest.raises(InputError, match=r"one.csv has 20 labels, but data.csv has 19 rows"):
        read_label_file(str(tmp_path / "one.csv"), 19, "data.csv")


def test_graphs_come_back(tmp_path, graph):
    """Saved as scipy saves them, replaced only by graphs, read also from dense files."""
    P = graph(30)
    write_graph(P, tmp_path / "P.npz")
    write_graph(P, tmp_path / "P.npz")
    assert (read_graph(tmp_path / "P.npz") != P).nnz == 0
    assert (sp.load_npz(tmp_path / "P.npz") != P).nnz == 0
    np.save(tmp_path / "P.npy", P.toarray())
    assert (read_graph(tmp_path / "P.npy") == P.toarray()).all()
    np.savez(tmp_path / "other.npz", a=1)
    with pytest.raises(OSError, match="exists and is not a graph"):
        write_graph(P, tmp_path / "other.npz")
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(InputError, match=r"has the shape \(20, 4\); a graph is a square matrix"):
        read_graph(tmp_path / "X.npy")


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_matrix, sp.bsr_matrix, sp.csc_array, sp.coo_matrix])
def test_sparse_matrices_with_indices_out_of_range(tmp_path, make):
    """Are refused before anything follows the indices."""
    sp.save_npz(tmp_path / "a.npz", make(X))
    with np.load(tmp_path / "a.npz") as file:
        arrays = dict(file)
    name = "row" if "row" in arrays else "indices"
    arrays[name] = arrays[name] + 10**6
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(InputError):
        read_source(tmp_path / "a.npz")


def test_entries_given_twice_are_summed(tmp_path):
    """Before anything is computed from them."""
    twice = sp.csr_matrix((np.ones(4), np.array([0, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 2))
    sp.save_npz(tmp_path / "a.npz", twice)
    assert read_source(tmp_path / "a.npz").X.data.tolist() == [2, 2]


def test_fractions_are_no_indices(tmp_path):
    """Of a Matrix Market file."""
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1.5 1 3\n")
    with pytest.raises(InputError, match="entry outside"):
        read_source(tmp_path / "a.mtx")


def test_h5ad_with_gaps_and_double_names(tmp_path):
    """Nullable columns of obs, genes of the same name, labels by FILE:COLUMN."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        anndata = pytest.importorskip("anndata", reason=".h5ad needs anndata")
        import pandas as pd

        obs = pd.DataFrame(
            {"n": pd.array([1, None] * 10, dtype="Int64"), "t": COLORS}, index=[f"c{i}" for i in range(20)]
        )
        data = anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=["g", "g", "h", "i"]))
        data.write_h5ad(tmp_path / "a.h5ad")
    assert len(set(read_source(tmp_path / "a.h5ad").names)) == 4
    assert read_label_file(f"{tmp_path / 'a.h5ad'}:t", 20, "x")[0].tolist() == COLORS.tolist()
    assert read_label_file(f"{tmp_path / 'a.h5ad'}:n", 20, "x")[0][0] == 1


def test_parquet_decimals_and_nulls(tmp_path):
    """Are numbers, and missing ones."""
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from decimal import Decimal

    from pyarrow import parquet

    parquet.write_table(pa.table({"d": [Decimal("1.5"), None], "n": pa.nulls(2), "i": [1, 2]}), tmp_path / "a.parquet")
    np.testing.assert_array_equal(read_source(tmp_path / "a.parquet").X, [[1.5, np.nan, 1], [np.nan, np.nan, 2]])
