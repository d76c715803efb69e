"""`sce.read`: which columns are data, labels, ids and weights, and what becomes of the others."""

import warnings

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from sce import InputError, ParameterError, read
from sce.data.formats import Request, read_source
from sce.data.label_files import read_label_file
from sce.results.graphs import read_graph

RNG = np.random.default_rng(0)
X = RNG.integers(0, 3, size=(20, 4)).astype(float)
COLORS = np.array(["red", "blue"])[RNG.integers(2, size=20)]


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
    table = read(tmp_path / "a.h5ad")
    assert (table.X.toarray() == X).all()
    assert table.labels.tolist() == COLORS.tolist()
    assert table.ids[0] == "c0"
    assert (X[:, :2] == read_source(tmp_path / "a.h5ad", Request(array="X_pca")).X).all()
    assert read_graph(tmp_path / "a.h5ad").nnz == 20


def test_labels_are_recognised(tmp_path):
    """By name, be they numbers; or as the only text. Ids are recognised, too."""
    path = tmp_path / "a.csv"
    path.write_text("id,a,Label\n7,1,0\n8,2,1\n9,3,0\n")
    table = read(path)
    assert (table.names, table.labels.tolist(), table.ids.tolist()) == (["a"], [0, 1, 0], [7, 8, 9])
    path.write_text("a,colour\n1,red\n2,blue\n3,red\n")
    assert read(path).labels.tolist() == ["red", "blue", "red"]
    table = read(path, labels="none")
    assert table.labels is None
    assert list(table.text) == ["colour"]


def test_a_column_of_distinct_words_names_the_rows(tmp_path):
    """It is neither data nor labels."""
    path = tmp_path / "a.csv"
    path.write_text("cell,a,kind\n" + "".join(f"c{i},{i % 7},{'uv'[i % 2]}\n" for i in range(30)))
    table = read(path)
    assert table.ids[:2].tolist() == ["c0", "c1"]
    assert table.label_name == "kind"
    assert not table.text


def test_transpose(tmp_path):
    """Genes by cells become cells by genes; names go along."""
    path = tmp_path / "a.csv"
    path.write_text("gene,c1,c2,c3\ng1,1,2,3\ng2,4,5,6\n")
    table = read(path, transpose=True)
    assert table.X.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert (table.names, table.ids.tolist()) == (["g1", "g2"], ["c1", "c2", "c3"])


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.mtx"])
def test_numbers_of_columns_are_those_of_the_file(tmp_path, name):
    """Whatever other columns are taken or left out."""
    data = np.arange(40.0).reshape(20, 2) % 7
    data = np.column_stack([np.arange(20) % 2, data, np.arange(20) % 3])
    np.save(tmp_path / "x.npy", data)
    np.savez(tmp_path / "x.npz", X=data)
    scipy.io.mmwrite(tmp_path / "x.mtx", data)
    table = read(tmp_path / name, columns=["1:"], labels="0", weights="3")
    assert table.names == ["1", "2"]
    assert (np.asarray(table.X) == data[:, 1:3]).all()
    assert table.labels.tolist() == data[:, 0].tolist()
    assert table.weights.tolist() == data[:, 3].tolist()


def test_a_range_of_columns_of_a_mapped_array_stays_mapped(tmp_path):
    """A view, not a copy."""
    np.save(tmp_path / "x.npy", np.zeros((30, 8)))
    assert isinstance(read_source(tmp_path / "x.npy", Request(columns=["2:7"])).X, np.memmap)
    assert isinstance(read(tmp_path / "x.npy", labels="0").X, np.memmap)


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
    assert read(path).labels.tolist() == words * 7


def test_ids_are_kept_as_they_are(tmp_path):
    """Leading zeros and numbers beyond 2^53 included; they are never data."""
    path = tmp_path / "a.csv"
    path.write_text("id,a\n" + "".join(f"{i:03d},{i % 5}\n" for i in range(30)))
    assert read(path).ids[:2].tolist() == ["000", "001"]
    path.write_text("id,a\n" + "".join(f"{10**17 + i},{i % 5}\n" for i in range(30)))
    table = read(path)
    assert table.names == ["a"]
    assert table.ids[:2].tolist() == [10**17, 10**17 + 1]
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({"id": np.arange(30) + 10**17, "a": np.arange(30) % 5}), tmp_path / "a.parquet")
    table = read(tmp_path / "a.parquet")
    assert (table.names, table.ids[1]) == (["a"], 10**17 + 1)


def test_a_column_called_index_that_names_nothing_is_data(tmp_path):
    """Because its values repeat."""
    path = tmp_path / "a.csv"
    path.write_text("index,a\n" + "".join(f"{i % 3},{i % 5}\n" for i in range(30)))
    table = read(path)
    assert sorted(table.names) == ["a", "index"]
    assert table.ids is None
    assert table.X.dtype.kind == "f"


def test_transpose_with_an_index_of_numbers(tmp_path):
    """The index is no point."""
    path = tmp_path / "a.csv"
    path.write_text(",c1,c2\n0,1,2\n1,3,4\n2,5,6\n")
    table = read(path, transpose=True)
    assert table.X.tolist() == [[1, 3, 5], [2, 4, 6]]
    assert table.ids.tolist() == ["c1", "c2"]


def test_labels_in_arrays_of_an_npz(tmp_path):
    """By name, or the likeliest; bytes are text, what is no label is refused."""
    path = tmp_path / "l.npz"
    np.savez(path, X=np.ones((20, 1)), y=np.arange(20) % 2, age=np.arange(20) / 3)
    assert read_label_file(str(path), 20, "x")[1] == "y"
    assert read_label_file(f"{path}:age", 20, "x")[0][1] == pytest.approx(1 / 3)
    np.savez(path, X=np.ones((20, 2)), y=np.array([b"a", b"\xc3\xa9"] * 10))
    assert read(path).labels[:2].tolist() == ["a", "é"]
    np.savez(path, X=np.ones((20, 2)), y=np.ones(20, complex))
    with pytest.raises(InputError, match=r"y of .* holds complex128"):
        read(path)


def test_classes_that_are_not_the_labels_are_said_to_be_data(tmp_path):
    """A column of classes among the data would give the map away."""
    path = tmp_path / "a.csv"
    path.write_text("a,b,target\n" + "".join(f"{i % 5},{i % 7},{i % 3}\n" for i in range(30)))
    assert read(path).names == ["a", "b"]
    table = read(path, labels="a")
    assert table.names == ["b", "target"]
    assert "Column 'target' is used as data; drop=['target'] leaves it out" in table.notes
    table = read(path, columns=["a", "b"])
    assert (table.names, table.label_name) == (["a", "b"], "target")
    assert read(path, columns=["a", "b"], labels="none").names == ["a", "b"]


@pytest.mark.parametrize("cells", [[f"{i}%" for i in range(30)], [f'"1,{i:03d}.5"' for i in range(30)]])
def test_numbers_in_disguise_name_no_rows(tmp_path, cells):
    """Percentages and thousands are numbers, not ids."""
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "".join(f"{cell},{i % 7}\n" for i, cell in enumerate(cells)))
    table = read(path)
    assert (table.ids, sorted(table.names)) == (None, ["a", "b"])


def test_ids_and_labels_in_files_without_a_header(tmp_path):
    """As the barcodes of 10x Genomics: one fewer means that the first was taken for a header."""
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "barcodes.tsv").write_text("\n".join(f"AAC{i}-1" for i in range(20)))
    table = read(tmp_path / "x.npy", ids=str(tmp_path / "barcodes.tsv"))
    assert table.ids[0] == "AAC0-1"
    with pytest.raises(InputError, match=r"barcodes.tsv has 19 weights, but x has 25 rows"):
        read_label_file(str(tmp_path / "barcodes.tsv"), 25, "x", "weights")


def test_two_columns_that_say_the_same(tmp_path):
    """Words are the labels, their numbers are left out; other classes are not."""
    path = tmp_path / "a.csv"
    rows = [f"{i % 5},{i % 3},{['u', 'v', 'w'][i % 3]},{i % 2}" for i in range(30)]
    path.write_text("\n".join(["a,target,species,group", *rows]))
    table = read(path)
    assert (table.label_name, table.names) == ("species", ["a", "group"])
    assert "Column 'target' has the same classes as 'species' and is left out" in table.notes
    assert "Column 'group' is used as data; drop=['group'] leaves it out" in table.notes
    assert table.extra["target"].tolist() == [str(i % 3) for i in range(30)]


# ------------------------------------------------------------------------------------------------- columns not used as data

ROWS = [f"r{i},{i % 7},{i % 5},{'uv'[i % 2]},{1900 + i % 9},{['Oslo', 'Rome', 'Lima'][i % 3]}" for i in range(30)]


@pytest.fixture
def cities(tmp_path):
    """cities.csv: an id, two columns of data, a label, and two columns to show."""
    path = tmp_path / "cities.csv"
    path.write_text("\n".join(["id,a,b,label,year,city", *ROWS]))
    return path


def test_columns_not_chosen_are_extras_read_on_demand(cities, monkeypatch):
    """As they are written, and only the one that is asked for; labels and ids are not among them."""
    table = read(cities, columns=["a", "b"])
    assert (table.names, table.label_name, table.id_name) == (["a", "b"], "label", "id")
    assert list(table.extra) == ["year", "city"]
    asked = []

    def spy(path, request):
        asked.append(request.columns)
        return read_source(path, request)

    monkeypatch.setattr("sce.data.reader.read_source", spy)
    assert table.extra["city"][:3].tolist() == ["Oslo", "Rome", "Lima"]
    assert table.extra["city"] is table.extra["city"]
    assert asked == [["city"]]
    with pytest.raises(KeyError):
        table.extra["a"]


def test_extras_of_every_format(tmp_path, cities):
    """Arrays of an .npz, columns of a matrix and of a Parquet file that are not chosen."""
    np.savez(tmp_path / "a.npz", X=X, y=COLORS, age=np.arange(20))
    table = read(tmp_path / "a.npz", columns=["0:2"])
    assert (table.label_name, list(table.extra)) == ("y", ["age", "2", "3"])
    assert table.extra["3"].tolist() == X[:, 3].tolist()
    np.save(tmp_path / "a.npy", X)
    assert read(tmp_path / "a.npy", columns=[0, 1]).extra["2"].tolist() == X[:, 2].tolist()
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({"a": [1.0, 2.0], "when": [3, 4], "city": ["x", "y"]}), tmp_path / "a.parquet")
    table = read(tmp_path / "a.parquet", columns="a")
    assert {name: table.extra[name].tolist() for name in table.extra} == {"when": [3, 4], "city": ["x", "y"]}


def test_an_extra_of_a_file_that_has_changed(cities):
    """Is refused, because its rows would not be those of the table."""
    table = read(cities, columns=["a", "b"])
    cities.write_text("\n".join(["id,a,b,label,year,city", *ROWS[1:]]))
    with pytest.raises(InputError, match=r"cities.csv had 30 rows and now has 29; read it again"):
        table.extra["city"]


def test_dropped_columns_do_not_come_back(cities):
    """Neither as ids, nor as labels, nor as extras; X is the same as if they had been found."""
    table = read(cities, drop=["id", "label", "city", "year"])
    assert (table.ids, table.labels, list(table.extra), table.notes) == (None, None, [], [])
    assert (table.X == read(cities, columns=["a", "b"]).X).all()
    table = read(cities, drop=["0:1", "year", "city"])
    assert (table.ids, table.label_name) == (None, "label")


def test_a_dropped_label_makes_no_other_column_a_label(cities):
    """The other column of text stays data."""
    table = read(cities, drop=["label", "year"])
    assert table.labels is None
    assert list(table.text) == ["city"]
    assert read(cities, drop=["label", "year"], labels="city").label_name == "city"


def test_a_dropped_column_may_still_be_named(cities):
    """As labels or ids: it is left out of the data only."""
    table = read(cities, drop=["label", "id"], labels="label", ids="id", columns=["a", "b", "label"])
    assert (table.label_name, table.id_name, table.names) == ("label", "id", ["a", "b"])


def test_columns_by_number_and_by_name(cities):
    """A single name, numbers, ranges."""
    assert read(cities, columns="b").names == ["b"]
    assert read(cities, columns=[2, "a"]).names == ["b", "a"]
    assert read(cities, columns=("1:3",)).names == ["a", "b"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"header": "maybe"}, r'header must be "auto", "yes" or "no"; got \'maybe\''),
        ({"header": "yess"}, "did you mean 'yes'"),
        ({"columns": 2.5}, "columns must be a list of names"),
        ({"drop": [None]}, "drop must be a list of names"),
        ({"labels": 3}, "labels must be a name, as text; got 3"),
        ({"transpose": "yes"}, "transpose must be True or False"),
    ],
)
def test_wrong_parameters(cities, wrong, message):
    """Are refused with their names."""
    with pytest.raises(ParameterError, match=message):
        read(cities, **wrong)


def test_a_table_says_what_it_holds(cities):
    """In a line, however many rows there are."""
    assert repr(read(cities, columns=["a"])) == "Table(30 x 1, with labels, ids, extra columns b, year, city)"
