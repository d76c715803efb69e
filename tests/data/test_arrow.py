"""Parquet and Arrow files, and folders of them: vectors, dates, parts; read batch by batch into one matrix."""

import tracemalloc

import numpy as np
import pytest

from sce import InputError, read
from sce.data.formats import Request, read_source

pa = pytest.importorskip("pyarrow", reason="Parquet and Arrow need pyarrow")
from pyarrow import feather, ipc, parquet  # noqa: E402

N, D = 40, 6
RNG = np.random.default_rng(0)
E = RNG.normal(size=(N, D)).astype(np.float32)


def fixed(X):
    return pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), X.shape[1])


VECTORS = {
    "lists": pa.array(E.tolist(), pa.list_(pa.float32())),
    "large lists": pa.array(E.tolist(), pa.large_list(pa.float32())),
    "fixed-size lists": fixed(E),
    "tensors": pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.float32(), [D]), fixed(E)),
}


def texts(vectors):
    """A table as Hugging Face's data sets are: texts, labels, ids of tokens, pictures, and embeddings."""
    return pa.table(
        {
            "id": [f"r{i}" for i in range(N)],
            "text": [f"a long text {i}" for i in range(N)],
            "label": np.arange(N) % 3,
            "tokens": [[1] * (i % 4) for i in range(N)],
            "image": [{"path": "x"}] * N,
            "embedding": vectors,
        }
    )


def save_stream(table, path):
    with pa.OSFile(str(path), "wb") as file, ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)


def save_file(table, path):
    with pa.OSFile(str(path), "wb") as file, ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)


WRITERS = {
    "a.parquet": lambda table, path: parquet.write_table(table, path, row_group_size=7),
    "b.arrow": save_stream,
    "c.arrow": save_file,
    "d.feather": lambda table, path: feather.write_feather(table, str(path), compression="lz4"),
}


@pytest.mark.parametrize("vectors", VECTORS)
@pytest.mark.parametrize("name", WRITERS)
def test_a_column_of_embeddings_is_the_data(tmp_path, name, vectors):
    """Whatever kind of list it is, and whatever else is there; 32-bit numbers stay so, and the rest is at hand."""
    WRITERS[name](texts(VECTORS[vectors]), tmp_path / name)
    table = read(tmp_path / name)
    np.testing.assert_array_equal(table.X, E)
    assert table.X.dtype == np.float32
    assert table.names == [f"embedding[{k}]" for k in range(D)]
    assert (table.label_name, table.id_name, table.ids[1]) == ("label", "id", "r1")
    assert list(table.extra) == ["text", "tokens"]
    assert table.extra["text"][2] == "a long text 2"
    assert f"Column 'embedding' is used as data, {D} numbers in each row; the other columns are not" in table.notes[0]
    assert (read(tmp_path / name, columns="embedding").X == E).all()


def test_other_columns_of_vectors(tmp_path):
    """Two need a choice; lists of whole numbers are vectors where there are no others."""
    path = tmp_path / "a.parquet"
    two = {"title": fixed(E[:, :2]), "body": fixed(E), "year": np.arange(N)}
    parquet.write_table(pa.table(two), path)
    with pytest.raises(InputError, match=r"lists of numbers in columns 'title', 'body'; .* columns=\['title'\]"):
        read(path)
    assert (read(path, columns=["body"]).X == E).all()
    assert (np.column_stack([E, np.arange(N), E[:, :2]]) == read(path, columns=["body", "year", "title"]).X).all()
    parquet.write_table(pa.table({"title": fixed(E[:, :2]), "a": E[:, 0], "b": E[:, 1], "c": E[:, 2]}), path)
    with pytest.raises(InputError, match=r"'title' beside 3 columns of numbers; .* columns=\['title'\], or .*drop="):
        read(path)
    assert read(path, drop="title").names == ["a", "b", "c"]
    parquet.write_table(pa.table({"pixels": [[1, 2, 3], [4, 5, 6]]}), path)
    assert read(path).X.tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.list_(pa.float32(), 2)])
def test_missing_vectors(tmp_path, kind):
    """A row of missing values, which can be left out like any other; so is a gap within a vector."""
    parquet.write_table(pa.table({"e": pa.array([[1, 2], None, [3, None], [5, 6]], kind)}), tmp_path / "a.parquet")
    np.testing.assert_array_equal(read(tmp_path / "a.parquet").X, [[1, 2], [np.nan] * 2, [3, np.nan], [5, 6]])


def test_vectors_of_unequal_length(tmp_path):
    """The first row that differs is named, also in a later batch."""
    lists = [[1.0, 2.0]] * 9000 + [[3.0]]
    parquet.write_table(pa.table({"e": lists}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"Column 'e' of .*a.parquet .* 2 numbers in the first row, 1 in row 9000;"):
        read(tmp_path / "a.parquet")


def test_dates(tmp_path):
    """Not data, but at hand as dates, with a note."""
    days = np.arange(N).astype("datetime64[D]")
    stamps = pa.array(days.astype("datetime64[us]"), pa.timestamp("us", tz="Europe/Helsinki"))
    parquet.write_table(pa.table({"a": E[:, 0], "day": days, "stamp": stamps}), tmp_path / "a.parquet")
    table = read(tmp_path / "a.parquet")
    assert table.names == ["a"]
    assert table.notes[0].startswith("Column 'day' holds dates, and is not used as data")
    assert (table.extra["day"] == days).all()
    assert table.extra["stamp"].dtype == "datetime64[us]"
    assert read(tmp_path / "a.parquet", labels="day").labels.dtype == "datetime64[D]"
    assert read(tmp_path / "a.parquet", keep="day").X[:, 1].tolist() == list(range(N))


def test_gaps_in_whole_numbers(tmp_path):
    """They are found late, and turn the matrix into floats."""
    values = pa.array([*range(9000), None], pa.int32())
    parquet.write_table(pa.table({"a": values, "b": pa.array(range(9001), pa.int16())}), tmp_path / "a.parquet")
    X = read_source(tmp_path / "a.parquet").X
    assert X.dtype == np.float64
    assert np.isnan(X[-1, 0])
    np.testing.assert_array_equal(X[:-1, 0], X[:-1, 1])


def test_a_folder_of_parts(tmp_path):
    """In natural order; files of the writer's own are passed over."""
    table = texts(VECTORS["lists"])
    for k in range(12):
        parquet.write_table(table.slice(3 * k, 3), tmp_path / f"part.{k}.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "_metadata.parquet").write_text("x")
    (tmp_path / "README.md").write_text("x")
    found = read(tmp_path)
    assert (E[:36] == found.X).all()
    assert found.notes[0] == f"Read 12 files of {tmp_path}"
    assert found.extra["text"][35] == "a long text 35"


def test_shards_of_datasets(tmp_path):
    """As datasets.save_to_disk writes them: streams of Arrow beside JSON."""
    for k in range(2):
        save_stream(texts(VECTORS["lists"]).slice(20 * k, 20), tmp_path / f"data-0000{k}-of-00002.arrow")
    (tmp_path / "state.json").write_text("{}")
    assert (read(tmp_path).X == E).all()


def test_partitions(tmp_path):
    """The names of folders are columns."""
    for year in (2023, 2024):
        folder = tmp_path / "cells" / f"year={year}" / "site=New%20York"
        folder.mkdir(parents=True)
        parquet.write_table(pa.table({"a": E[:20, 0], "b": E[:20, 1]}), folder / "0.parquet")
    table = read(tmp_path / "cells", labels="year")
    assert (np.tile(E[:20, :2], (2, 1)) == table.X).all()
    assert table.labels.tolist() == [2023] * 20 + [2024] * 20
    assert set(table.extra["site"]) == {"New York"}


def test_parts_that_do_not_belong_together(tmp_path):
    """Other columns, other types, other formats, or no files at all."""
    parquet.write_table(pa.table({"a": [1.0]}), tmp_path / "1.parquet")
    parquet.write_table(pa.table({"b": [1.0]}), tmp_path / "2.parquet")
    with pytest.raises(InputError, match=r"2.parquet and .*1.parquet have different columns \('a', 'b'\)"):
        read(tmp_path)
    parquet.write_table(pa.table({"a": ["x"]}), tmp_path / "2.parquet")
    with pytest.raises(InputError, match=r"Column 'a' holds string in .*2.parquet, and double in .*1.parquet"):
        read(tmp_path)
    parquet.write_table(pa.table({"a": pa.nulls(1)}), tmp_path / "2.parquet")
    np.testing.assert_array_equal(read(tmp_path).X, [[1], [np.nan]])
    (tmp_path / "2.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(InputError, match=r"2.parquet cannot be read as a Parquet table: it is damaged"):
        read(tmp_path)
    save_stream(pa.table({"a": [1.0]}), tmp_path / "3.arrow")
    with pytest.raises(InputError, match=r"is a folder of .arrow and .parquet files"):
        read(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty is a folder without"):
        read(tmp_path / "empty")


@pytest.mark.parametrize("name", WRITERS)
def test_reading_takes_little_more_than_the_data(tmp_path, name):
    """One matrix, and a batch at a time."""
    X = RNG.normal(size=(20_000, 100)).astype(np.float32)
    WRITERS[name](pa.table({"e": fixed(X)}), tmp_path / name)
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    source = read_source(tmp_path / name)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (source.X == X).all()
    assert peak < 1.3 * X.nbytes
    assert pa.total_allocated_bytes() - before < 0.1 * X.nbytes


def test_words_are_kept_once(tmp_path):
    """A million rows of three words are three objects."""
    words = ["red", "green", None] * 1000
    parquet.write_table(pa.table({"a": np.arange(3000.0), "t": words}), tmp_path / "a.parquet")
    text = read_source(tmp_path / "a.parquet").text["t"]
    assert text[:3].tolist() == ["red", "green", ""]
    assert len({id(word) for word in text}) == 3


def test_labels_from_a_folder(tmp_path):
    """FOLDER:COLUMN, as FILE:COLUMN."""
    (tmp_path / "parts").mkdir()
    parquet.write_table(texts(VECTORS["lists"]), tmp_path / "parts" / "a.parquet")
    np.save(tmp_path / "X.npy", E)
    assert read(tmp_path / "X.npy", labels=f"{tmp_path / 'parts'}:label").labels.tolist() == (np.arange(N) % 3).tolist()


def test_a_request_for_one_column(tmp_path):
    """A column of vectors may be asked for by itself, unconverted."""
    parquet.write_table(texts(VECTORS["lists"]), tmp_path / "a.parquet")
    source = read_source(tmp_path / "a.parquet", Request(["embedding"], apart=("embedding",)))
    assert (source.text["embedding"] == E).all()


@pytest.mark.parametrize(
    ("index", "ids"),
    [
        ({"well": [7 * k for k in range(N)]}, [7 * k for k in range(N)]),
        ({"well": [k % 20 for k in range(N)]}, None),
        ({"plot": [k // 2 for k in range(N)], "visit": [k % 2 for k in range(N)]}, None),
    ],
    ids=["different", "repeated", "several"],
)
@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_the_index_of_a_saved_frame_is_no_data(tmp_path, index, ids, ending):
    """Numbers that name the rows, or several of them; which is said, and they can be kept."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({**index, "a": E[:, 0], "b": E[:, 1]}).set_index(list(index))
    getattr(frame, f"to_{ending}")(path := tmp_path / f"a.{ending}")
    table = read(path)
    assert table.names == ["a", "b"]
    assert (None if table.ids is None else table.ids.tolist()) == ids
    first = next(iter(index))
    assert f"Column '{first}', the index of the data frame, " in " ".join(table.notes)
    assert sorted(read(path, keep=list(index)).names) == sorted(["a", "b", *index])
    assert read(path, columns=["a", first]).names == ["a", first]
    assert read(path, labels=first).label_name == first
