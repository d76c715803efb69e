"""Maps as data frames and as tables in files."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

import sce
from processes import run
from sce import SCE, InputError, Map, OutputError, ParameterError
from sce.results.tabular import write_table

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
NAMES = [f"c{i}" for i in range(40)]
KINDS = np.array(["u", "v", ""])[np.arange(40) % 3]


def embedded(frame):
    return Map.from_model(SCE(random_state=0, n_epochs=2).fit(frame), labels=KINDS, label_name="kind")


def test_the_index_of_a_frame_names_the_points():
    """It is the index of the table again, so that tables join; labels have gaps where they are empty."""
    frame = pd.DataFrame(X, index=NAMES)
    table = embedded(frame).to_frame()
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == ["x", "y", "kind"]
    assert table.index.tolist() == NAMES
    assert table["kind"].isna().sum() == 13
    assert frame.join(table).shape == (40, 7)
    times = pd.date_range("2024-01-01", periods=40, freq="h")
    assert (embedded(frame.set_index(times)).to_frame().index == times).all()
    pairs = pd.MultiIndex.from_product([list("abcd"), range(10)])
    assert (embedded(frame.set_index(pairs)).to_frame().index == pairs).all()
    assert isinstance(embedded(pd.DataFrame(X)).to_frame().index, pd.RangeIndex)


def test_the_index_survives_a_file(tmp_path):
    """As text, where it is neither text nor numbers."""
    for index in (NAMES, np.arange(40) + 5, pd.date_range("2024-01-01", periods=40)):
        made = embedded(pd.DataFrame(X, index=index))
        made.save(tmp_path / "map.npz")
        back = sce.load(tmp_path / "map.npz").to_frame("pandas")
        assert back.index.astype(str).str[:10].tolist() == pd.Index(index).astype(str).str[:10].tolist()


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_other_libraries(library):
    """The library of the data, or the one that is asked for; ids are a column."""
    frame = pl.DataFrame(X) if library == "polars" else pa.table({f"c{k}": X[:, k] for k in range(4)})
    table = embedded(frame).to_frame()
    assert type(table).__module__.startswith(library)
    columns = table.columns if library == "polars" else table.column_names
    assert columns == ["id", "x", "y", "kind"]
    assert isinstance(embedded(X).to_frame(), pd.DataFrame)
    assert embedded(frame).to_frame("pandas").shape == (40, 3)


def test_more_columns():
    """Clusters and others, by name; one value for each point."""
    made = embedded(pd.DataFrame(X, index=NAMES))
    table = made.to_frame(cluster=sce.find_clusters(made.Y), age=pd.Series([1, None] * 20, dtype="Int64"))
    assert list(table.columns) == ["x", "y", "kind", "cluster", "age"]
    assert table["age"].isna().sum() == 20
    with pytest.raises(InputError, match=r"age must have one value for each of the 40 points; the shape is \(3,\)"):
        made.to_frame(age=[1, 2, 3])
    with pytest.raises(ParameterError, match="has a column 'x' already"):
        made.to_frame(x=np.zeros(40))
    with pytest.raises(
        ParameterError, match=r'"pandas", "polars" or "pyarrow"; got \'panda\'; did you mean \'pandas\'\?'
    ):
        made.to_frame("panda")


def test_labels_may_be_series():
    """Nullable, categorical, of polars: numbers stay numbers."""
    model = SCE(random_state=0, n_epochs=2).fit(X)
    assert Map.from_model(model, labels=pd.Series([1, None] * 20, dtype="Int64")).labels.dtype == np.float64
    assert Map.from_model(model, labels=pd.Series(["a", None] * 20, dtype="category")).labels[:2].tolist() == [
        "a",
        None,
    ]
    assert Map.from_model(model, labels=pl.Series([1, 2] * 20), ids=pl.Series(NAMES)).ids.tolist() == NAMES


def test_all_kinds_of_files(tmp_path):
    """Each holds the ids, coordinates as they are, labels and clusters, and is read back by sce.read and its own library."""
    ages = np.where(np.arange(40) % 4 == 0, np.nan, np.arange(40) / 4)
    made = Map.from_model(SCE(random_state=0, n_epochs=2).fit(X), labels=ages, label_name="age", ids=NAMES)
    columns = {"id": made.ids, "x": made.Y[:, 0], "y": made.Y[:, 1], "age": made.labels, "kind": KINDS}
    for name in ("t.csv", "t.tsv", "t.parquet", "t.arrow", "t.feather", "t.jsonl"):
        back = sce.read(write_table(tmp_path / name, columns), labels="kind")
        assert back.ids.tolist() == NAMES
        assert back.names == ["x", "y", "age"]
        np.testing.assert_array_equal(back.X.astype(np.float32), np.column_stack([made.Y, ages]).astype(np.float32))
        assert back.labels.tolist() == KINDS.tolist()
    assert parquet.read_table(tmp_path / "t.parquet").schema.field("x").type == pa.float32()
    assert feather.read_table(tmp_path / "t.feather").num_rows == 40
    assert ipc.open_file(tmp_path / "t.arrow").read_all()["kind"].null_count == 13
    first = json.loads((tmp_path / "t.jsonl").read_text().splitlines()[0])
    assert first == {
        "id": "c0",
        "x": pytest.approx(made.Y[0, 0]),
        "y": pytest.approx(made.Y[0, 1]),
        "age": None,
        "kind": "u",
    }
    with pytest.raises(OutputError, match=r"must end in .csv or .tsv or .parquet"):
        write_table(tmp_path / "t.xlsx", columns)


def test_text_tables_need_no_library(tmp_path):
    """Neither pandas nor pyarrow is loaded for .csv and .jsonl."""
    command = (
        "import sys, numpy as np; from sce.results.tabular import write_table;"
        f"[write_table('{tmp_path}/' + name, {{'id': np.arange(3), 'x': np.zeros(3)}}) for name in ('a.csv', 'a.jsonl')];"
        "print([name for name in ('pandas', 'pyarrow', 'narwhals') if name in sys.modules])"
    )
    assert run(command) == "[]"
