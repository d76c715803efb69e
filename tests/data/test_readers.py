"""Files of arrays, tables and graphs."""

import gzip
import warnings

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from sce import InputError
from sce.data.formats import Request, read
from sce.data.label_files import read_labels
from sce.data.table import Wanted, read_table
from sce.results.graphs import read_graph, write_graph

RNG = np.random.default_rng(0)
X = RNG.integers(0, 3, size=(20, 4)).astype(float)
COLORS = np.array(["red", "blue"])[RNG.integers(2, size=20)]


def test_npy_is_mapped(tmp_path):
    """The file is not read: its pages come when they are looked at."""
    np.save(tmp_path / "a.npy", X)
    source = read(tmp_path / "a.npy")
    assert isinstance(source.X, np.memmap)
    assert (source.X == X).all()
    assert (X[:, [2, 3, 0]] == read(tmp_path / "a.npy", Request(columns=["2:", "0"])).X).all()


def test_records_become_columns(tmp_path):
    """Fields of numbers with their names."""
    np.save(tmp_path / "a.npy", np.array([(1, 2.5), (3, 4.5)], dtype=[("n", "i4"), ("x", "f8")]))
    source = read(tmp_path / "a.npy")
    assert source.names == ["n", "x"]
    assert source.X.tolist() == [[1, 2.5], [3, 4.5]]


def test_npz_of_arrays(tmp_path):
    """X, or the only matrix, or the one asked for; arrays of one value a row are offered as labels, y first."""
    path = tmp_path / "a.npz"
    np.savez(path, age=np.arange(20), X=X, Z=X[:, :2], y=COLORS)
    assert (read(path).X == X).all()
    assert list(read(path).extra) == ["y", "age"]
    assert read(path, Request(array="Z")).X.shape == (20, 2)
    np.savez(path, only=X)
    assert (read(path).X == X).all()
    np.savez(path, one=X, two=X)
    with pytest.raises(InputError, match=r"2 matrices and none is called X; choose one with --array"):
        read(path)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.coo_matrix, sp.csc_array])
def test_npz_of_a_sparse_matrix(tmp_path, make):
    """As scipy saves it."""
    sp.save_npz(tmp_path / "a.npz", make(X))
    source = read(tmp_path / "a.npz")
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
        found = read(path).X
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
    source = read(tmp_path / "a.parquet")
    assert source.names == ["i", "f", "b", "n"]
    np.testing.assert_array_equal(source.X, [[1, 0.5, 1, 1], [2, np.nan, 0, 2], [np.nan, 2.5, np.nan, 3]])
    assert {name: values.tolist() for name, values in source.text.items()} == {
        "t": ["x", "", "z"],
        "c": ["u", "v", "u"],
    }
    assert read(tmp_path / "a.parquet", Request(columns=["f"], apart=("i",))).names == ["f"]
    parquet.write_table(pa.table({"when": pa.array([0], pa.timestamp("s"))}), tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"Column 'when' of .*b.parquet holds timestamp"):
        read(tmp_path / "b.parquet")


def test_h5ad(tmp_path):
    """X, layers and obsm; obs as labels, names of cells as ids, the graph of scanpy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        anndata = pytest.importorskip("anndata", reason=".h5ad needs anndata")
        import pandas as pd

        data = anndata.AnnData(
            sp.csr_matrix(X), obs=pd.DataFrame({"cell_type": COLORS}, index=[f"c{i}" for i in range(20)])
        )
        data.obsm["X_pca"] = X[:, :2]
        data.obsp["connectivities"] = sp.csr_matrix(np.eye(20)[::-1])
        data.write_h5ad(tmp_path / "a.h5ad")
    table = read_table(tmp_path / "a.h5ad")
    assert (table.X.toarray() == X).all()
    assert table.labels.tolist() == COLORS.tolist()
    assert table.ids[0] == "c0"
    assert (X[:, :2] == read(tmp_path / "a.h5ad", Request(array="X_pca")).X).all()
    assert read_graph(tmp_path / "a.h5ad").nnz == 20


def test_labels_are_recognised(tmp_path):
    """By name, be they numbers; or as the only text. Ids are recognised, too."""
    path = tmp_path / "a.csv"
    path.write_text("id,a,Label\n7,1,0\n8,2,1\n9,3,0\n")
    table = read_table(path)
    assert (table.names, table.labels.tolist(), table.ids.tolist()) == (["a"], [0, 1, 0], [7, 8, 9])
    path.write_text("a,colour\n1,red\n2,blue\n3,red\n")
    assert read_table(path).labels.tolist() == ["red", "blue", "red"]
    table = read_table(path, Wanted(labels="none"))
    assert table.labels is None
    assert list(table.text) == ["colour"]


def test_a_column_of_distinct_words_names_the_rows(tmp_path):
    """It is neither data nor labels."""
    path = tmp_path / "a.csv"
    path.write_text("cell,a,kind\n" + "".join(f"c{i},{i % 7},{'uv'[i % 2]}\n" for i in range(30)))
    table = read_table(path)
    assert table.ids[:2].tolist() == ["c0", "c1"]
    assert table.label_name == "kind"
    assert not table.text


def test_transpose(tmp_path):
    """Genes by cells become cells by genes; names go along."""
    path = tmp_path / "a.csv"
    path.write_text("gene,c1,c2,c3\ng1,1,2,3\ng2,4,5,6\n")
    table = read_table(path, Wanted(transpose=True))
    assert table.X.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert (table.names, table.ids.tolist()) == (["g1", "g2"], ["c1", "c2", "c3"])


def test_labels_of_other_files(tmp_path):
    """Arrays, columns by name, single columns; numbers in text are numbers."""
    np.save(tmp_path / "y.npy", COLORS)
    (tmp_path / "y.csv").write_text("id,age\n" + "".join(f"{i},{i / 2}\n" for i in range(20)))
    (tmp_path / "one.csv").write_text("kind\n" + "".join(f"{c}\n" for c in COLORS))
    assert read_labels(str(tmp_path / "y.npy"), 20, "x")[0].tolist() == COLORS.tolist()
    values, name = read_labels(f"{tmp_path / 'y.csv'}:age", 20, "x")
    assert (values.tolist(), name) == ([i / 2 for i in range(20)], "age")
    assert read_labels(str(tmp_path / "one.csv"), 20, "x")[0].tolist() == COLORS.tolist()
    with pytest.raises(InputError, match=r"2 columns; say which holds the labels: --labels .*y.csv:age"):
        read_labels(str(tmp_path / "y.csv"), 20, "x")
    with pytest.raises(InputError, match=r"one.csv has 20 labels, but data.csv has 19 rows"):
        read_labels(str(tmp_path / "one.csv"), 19, "data.csv")


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


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.mtx"])
def test_numbers_of_columns_are_those_of_the_file(tmp_path, name):
    """Whatever other columns are taken or left out."""
    data = np.arange(40.0).reshape(20, 2) % 7
    data = np.column_stack([np.arange(20) % 2, data, np.arange(20) % 3])
    np.save(tmp_path / "x.npy", data)
    np.savez(tmp_path / "x.npz", X=data)
    scipy.io.mmwrite(tmp_path / "x.mtx", data)
    table = read_table(tmp_path / name, Wanted(columns=["1:"], labels="0", weights="3"))
    assert table.names == ["1", "2"]
    assert (np.asarray(table.X) == data[:, 1:3]).all()
    assert table.labels.tolist() == data[:, 0].tolist()
    assert table.weights.tolist() == data[:, 3].tolist()


def test_a_range_of_columns_of_a_mapped_array_stays_mapped(tmp_path):
    """A view, not a copy."""
    np.save(tmp_path / "x.npy", np.zeros((30, 8)))
    assert isinstance(read(tmp_path / "x.npy", Request(columns=["2:7"])).X, np.memmap)
    assert isinstance(read_table(tmp_path / "x.npy", Wanted(labels="0")).X, np.memmap)


@pytest.mark.parametrize(
    "words",
    [
        ["007", "7", "8"],
        ["1.10", "1.1", "2"],
        ["1e5", "100000", "3"],
        ["1_2", "12", "3"],
        ["٣", "3", "4"],
        ["", "", ""],
    ],
)
def test_labels_that_only_look_like_numbers_stay_text(tmp_path, words):
    """Nothing is merged, and no zero is lost."""
    path = tmp_path / "a.csv"
    path.write_text("a,label\n" + "".join(f"{i},{word}\n" for i, word in enumerate(words * 7)), encoding="utf-8")
    assert read_table(path).labels.tolist() == words * 7


def test_ids_are_kept_as_they_are(tmp_path):
    """Leading zeros and numbers beyond 2^53 included; they are never data."""
    path = tmp_path / "a.csv"
    path.write_text("id,a\n" + "".join(f"{i:03d},{i % 5}\n" for i in range(30)))
    assert read_table(path).ids[:2].tolist() == ["000", "001"]
    path.write_text("id,a\n" + "".join(f"{10**17 + i},{i % 5}\n" for i in range(30)))
    table = read_table(path)
    assert table.names == ["a"]
    assert table.ids[:2].tolist() == [10**17, 10**17 + 1]
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({"id": np.arange(30) + 10**17, "a": np.arange(30) % 5}), tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    assert (table.names, table.ids[1]) == (["a"], 10**17 + 1)


def test_a_column_called_index_that_names_nothing_is_data(tmp_path):
    """Because its values repeat."""
    path = tmp_path / "a.csv"
    path.write_text("index,a\n" + "".join(f"{i % 3},{i % 5}\n" for i in range(30)))
    table = read_table(path)
    assert sorted(table.names) == ["a", "index"]
    assert table.ids is None
    assert table.X.dtype.kind == "f"


def test_transpose_with_an_index_of_numbers(tmp_path):
    """The index is no point."""
    path = tmp_path / "a.csv"
    path.write_text(",c1,c2\n0,1,2\n1,3,4\n2,5,6\n")
    table = read_table(path, Wanted(transpose=True))
    assert table.X.tolist() == [[1, 3, 5], [2, 4, 6]]
    assert table.ids.tolist() == ["c1", "c2"]


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
        read(tmp_path / "a.npz")


def test_entries_given_twice_are_summed(tmp_path):
    """Before anything is computed from them."""
    twice = sp.csr_matrix((np.ones(4), np.array([0, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 2))
    sp.save_npz(tmp_path / "a.npz", twice)
    assert read(tmp_path / "a.npz").X.data.tolist() == [2, 2]


def test_fractions_are_no_indices(tmp_path):
    """Of a Matrix Market file."""
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1.5 1 3\n")
    with pytest.raises(InputError, match="entry outside"):
        read(tmp_path / "a.mtx")


def test_labels_in_arrays_of_an_npz(tmp_path):
    """By name, or the likeliest; bytes are text, what is no label is refused."""
    path = tmp_path / "l.npz"
    np.savez(path, X=np.ones((20, 1)), y=np.arange(20) % 2, age=np.arange(20) / 3)
    assert read_labels(str(path), 20, "x")[1] == "y"
    assert read_labels(f"{path}:age", 20, "x")[0][1] == pytest.approx(1 / 3)
    np.savez(path, X=np.ones((20, 2)), y=np.array([b"a", b"\xc3\xa9"] * 10))
    assert read_table(path).labels[:2].tolist() == ["a", "é"]
    np.savez(path, X=np.ones((20, 2)), y=np.ones(20, complex))
    with pytest.raises(InputError, match=r"y of .* holds complex128"):
        read_table(path)


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
    assert len(set(read(tmp_path / "a.h5ad").names)) == 4
    assert read_labels(f"{tmp_path / 'a.h5ad'}:t", 20, "x")[0].tolist() == COLORS.tolist()
    assert read_labels(f"{tmp_path / 'a.h5ad'}:n", 20, "x")[0][0] == 1


def test_parquet_decimals_and_nulls(tmp_path):
    """Are numbers, and missing ones."""
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from decimal import Decimal

    from pyarrow import parquet

    parquet.write_table(pa.table({"d": [Decimal("1.5"), None], "n": pa.nulls(2), "i": [1, 2]}), tmp_path / "a.parquet")
    np.testing.assert_array_equal(read(tmp_path / "a.parquet").X, [[1.5, np.nan, 1], [np.nan, np.nan, 2]])


def test_classes_that_are_not_the_labels_are_said_to_be_data(tmp_path):
    """A column of classes among the data would give the map away."""
    path = tmp_path / "a.csv"
    path.write_text("a,b,target\n" + "".join(f"{i % 5},{i % 7},{i % 3}\n" for i in range(30)))
    assert read_table(path).names == ["a", "b"]
    table = read_table(path, Wanted(labels="a"))
    assert table.names == ["b", "target"]
    assert "Column 'target' is taken as data; --drop 'target' leaves it out" in table.notes
    table = read_table(path, Wanted(columns=["a", "b"]))
    assert (table.names, table.label_name) == (["a", "b"], "target")
    assert read_table(path, Wanted(columns=["a", "b"], labels="none")).names == ["a", "b"]


@pytest.mark.parametrize("cells", [[f"{i}%" for i in range(30)], [f'"1,{i:03d}.5"' for i in range(30)]])
def test_numbers_in_disguise_name_no_rows(tmp_path, cells):
    """Percentages and thousands are text to be dealt with, not ids."""
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(cells)))
    table = read_table(path)
    assert table.ids is None
    assert list(table.text) == ["a"]


def test_ids_and_labels_in_files_without_a_header(tmp_path):
    """As the barcodes of 10x Genomics: one fewer means that the first was taken for a header."""
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "barcodes.tsv").write_text("\n".join(f"AAC{i}-1" for i in range(20)))
    table = read_table(tmp_path / "x.npy", Wanted(ids=str(tmp_path / "barcodes.tsv")))
    assert table.ids[0] == "AAC0-1"
    with pytest.raises(InputError, match=r"barcodes.tsv has 19 weights, but x has 25 rows"):
        read_labels(str(tmp_path / "barcodes.tsv"), 25, "x", "weights")


def test_two_columns_that_say_the_same(tmp_path):
    """Words are the labels, their numbers are left out; other classes are not."""
    path = tmp_path / "a.csv"
    rows = [f"{i % 5},{i % 3},{['u', 'v', 'w'][i % 3]},{i % 2}" for i in range(30)]
    path.write_text("\n".join(["a,target,species,group", *rows]))
    table = read_table(path)
    assert (table.label_name, table.names) == ("species", ["a", "group"])
    assert "Column 'target' says the same as 'species' and is left out" in table.notes
    assert "Column 'group' is taken as data; --drop 'group' leaves it out" in table.notes
