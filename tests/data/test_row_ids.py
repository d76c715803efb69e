"""Columns that only name the rows: they are no data, which is said, and can be kept."""

import numpy as np
import pytest

from sce import InputError, read
from sce.data.row_ids import is_id_name

RNG = np.random.default_rng(0)
AGES = np.round(RNG.uniform(1, 80, size=40), 1)


def people(path, first="PassengerId", values=range(1, 41), more=""):
    rows = [f'{value},{age},{k % 3},"Smith, Mr. {k}"' for k, (value, age) in enumerate(zip(values, AGES, strict=True))]
    path.write_text("\n".join([f"{first},Age,Level{more},Name", *rows]))
    return path


@pytest.mark.parametrize(
    "name",
    ["PassengerId", "customerID", "cell_id", "Customer ID", "user-id", "patientid", "sample.key", "Case No", "Index"],
)
def test_ids_are_known_by_their_names(name, tmp_path):
    """However people write them; the numbers are all different, and rise where the name may mean something else."""
    values = RNG.permutation(10_000)[:40]
    values = np.sort(values) if name in ("sample.key", "Case No") else values
    table = read(people(tmp_path / "a.csv", name, values), drop=["Name"])
    assert (table.names, table.id_name, table.ids.tolist()) == (["Age", "Level"], name, values.tolist())


@pytest.mark.parametrize(
    "name", ["acid", "citric acid", "humid", "grid", "monkey", "paid", "solid", "casino", "Android"]
)
def test_other_names_are_no_names_of_ids(name):
    """Although they end in the same letters."""
    assert not is_id_name(name)


def test_a_column_that_numbers_the_rows_is_no_data(tmp_path):
    """Whatever it is called, from 0 or 1 on; this is said, with the way to keep it."""
    for start in (0, 1):
        table = read(people(tmp_path / "a.csv", "nth", range(start, start + 40)), drop=["Name"])
        assert (table.names, table.id_name) == (["Age", "Level"], "nth")
        assert (
            "Column 'nth' numbers the rows, which are kept as names of the rows, and is not used as data; keep=['nth'] uses it"
            in table.notes
        )
    assert read(tmp_path / "a.csv", drop=["Name"], keep=["nth"]).names == ["nth", "Age", "Level"]
    assert read(tmp_path / "a.csv", drop=["Name"], keep="nth").ids is None


def test_arrays_have_such_columns_too(tmp_path):
    """A frame that was saved with its index."""
    X = np.column_stack([np.arange(40), AGES, AGES[::-1]])
    np.save(tmp_path / "a.npy", X)
    np.savez(tmp_path / "a.npz", X=X)
    for name in ("a.npy", "a.npz"):
        table = read(tmp_path / name)
        assert (table.names, table.id_name, table.ids[-1]) == (["1", "2"], "0", 39)
        assert (X[:, 1:] == table.X).all()
    assert isinstance(read(tmp_path / "a.npy").X, np.memmap)
    assert read(tmp_path / "a.npy", keep="0").X.shape == (40, 3)


@pytest.mark.parametrize("name", ["refractive index", "key", "Index of crime", "vote no"])
def test_names_that_may_be_of_measurements(tmp_path, name):
    """Are data unless the numbers rise from row to row."""
    table = read(people(tmp_path / "a.csv", name, RNG.permutation(10_000)[:40]), drop=["Name"])
    assert sorted(table.names) == sorted([name, "Age", "Level"])


@pytest.mark.parametrize("name", ["time", "world rank", "Day", "frame_nr", "epoch"])
def test_what_may_be_measured_stays_data(tmp_path, name):
    """Even where it counts the rows; and this is said."""
    table = read(people(tmp_path / "a.csv", name), drop=["Name"])
    if name == "frame_nr":  # its name says that it is none
        assert table.id_name == name
        return
    assert table.names == [name, "Age", "Level"]
    assert f"Column {name!r} numbers the rows, and is used as data; drop=[{name!r}] leaves it out" in table.notes


@pytest.mark.parametrize(
    "values", [range(5, 45), RNG.permutation(40), np.arange(40) // 2, np.arange(40) / 2, [*range(39), 41]]
)
def test_whole_numbers_are_data(tmp_path, values):
    """Unless they count exactly the rows, or are named as ids."""
    assert read(people(tmp_path / "a.csv", "score", values), drop=["Name"]).names == ["score", "Age", "Level"]


def test_a_single_column_of_numbers_is_data(tmp_path):
    """Because there would be nothing else."""
    (tmp_path / "a.csv").write_text("n\n" + "".join(f"{i}\n" for i in range(40)))
    assert read(tmp_path / "a.csv").names == ["n"]


def test_ids_that_repeat_are_data_and_this_is_said(tmp_path):
    """Several rows of each patient, for example."""
    table = read(people(tmp_path / "a.csv", "patient_id", np.arange(40) // 4), drop=["Name"])
    assert sorted(table.names) == ["Age", "Level", "patient_id"]
    assert "Column 'patient_id' is used as data; drop=['patient_id'] leaves it out" in table.notes


@pytest.mark.parametrize("name", ["index", "id", "Unnamed: 0"])
def test_measurements_called_index_are_data_in_every_format(tmp_path, name):
    """In text as in Parquet."""
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from pyarrow import parquet

    (tmp_path / "a.csv").write_text("\n".join([f"{name},b", *(f"{age},{k % 7}" for k, age in enumerate(AGES))]))
    parquet.write_table(pa.table({name: AGES, "b": np.arange(40) % 7}), tmp_path / "a.parquet")
    for path in ("a.csv", "a.parquet"):
        table = read(tmp_path / path)
        assert (sorted(table.names), table.ids) == (sorted([name, "b"]), None)


def test_dropped_names_are_nowhere(tmp_path):
    """Neither ids, nor labels, nor extras, nor a note of the table, whatever they are called."""
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from pyarrow import parquet

    people(tmp_path / "a.csv")
    parquet.write_table(
        pa.table({"Age": AGES, "Level": np.arange(40) % 3, "Name": [f"Smith, Mr. {k}" for k in range(40)]}),
        tmp_path / "a.parquet",
    )
    for path, drop in (("a.csv", "Name"), ("a.csv", "3"), ("a.csv", "2:4"), ("a.parquet", "Name"), ("a.parquet", "2")):
        table = read(tmp_path / path, drop=[drop])
        held = [table.ids, table.labels, *table.text.values(), *table.extra.values(), table.notes]
        assert "Smith" not in repr([None if values is None else list(values) for values in held])
        assert table.id_name != "Name"


def test_no_ids_on_request(tmp_path):
    """The rows have their numbers; the column is not data either."""
    table = read(people(tmp_path / "a.csv"), ids="none", drop=["Name"])
    assert (table.ids, table.id_name, table.names) == (None, None, ["Age", "Level"])
    assert table.extra["PassengerId"][0] == "1"


def test_other_ids_leave_a_counter_out(tmp_path):
    """It becomes an extra."""
    table = read(people(tmp_path / "a.csv"), ids="Name")
    assert (table.id_name, table.ids[0], table.names) == ("Name", "Smith, Mr. 0", ["Age", "Level"])
    assert "Column 'PassengerId' holds ids, and is not used as data; keep=['PassengerId'] uses it" in table.notes


def test_a_column_to_keep_must_be_there(tmp_path):
    """The message names those that are."""
    with pytest.raises(InputError, match=r"no column 'Nme' to keep; did you mean 'Name'\? It has"):
        read(people(tmp_path / "a.csv"), keep=["Nme"])


def test_true_and_false_are_numbers(tmp_path):
    """In any case, with gaps, in files with and without a header; other words are not."""
    words = ["True", "FALSE", "true", ""] * 10
    path = tmp_path / "a.csv"
    path.write_text(
        "a,flag,vote\n" + "".join(f"{k % 7},{word},{'yes' if k % 2 else 'no'}\n" for k, word in enumerate(words))
    )
    table = read(path, labels="none")
    assert table.names == ["a", "flag"]
    np.testing.assert_array_equal(table.X[:4, 1], [1, 0, 1, np.nan])
    assert list(table.text) == ["vote"]
    path.write_text("".join(f"{k % 7},{bool(k % 2)}\n" for k in range(2000)))
    table = read(path)
    assert (table.X[:, 1] == np.arange(2000) % 2).all()
    assert table.names == ["0", "1"]
    path.write_text("a,flag\n1,True\n2,maybe\n3,False\n")
    assert list(read(path, labels="none").text) == ["flag"]
    path.write_text("a,flag\n" + "1,True\n2,False\n" * 600 + "3,maybe\n")
    with pytest.raises(InputError, match=r"column 'flag', row 1200 .* holds 'maybe'"):
        read(path)
    path.write_text("a,b\n1,2\n2,True\n3,4\n")
    with pytest.raises(InputError, match=r"column 'b', row 1 .* holds 'True'"):
        read(path)


def test_a_cell_of_prose_floods_no_message(tmp_path):
    """Nor does a name of a column."""
    path, prose = tmp_path / "a.csv", "many words " * 500
    path.write_text(f"a,b\n1,2\n2,{prose}\n3,4\n4,5\n")
    with pytest.raises(InputError) as caught:
        read(path)
    assert len(str(caught.value)) < 400
    path.write_text(f"a,{prose}\n1,2\n2,3\n")
    with pytest.raises(InputError) as caught:
        read(path, labels="c")
    assert len(str(caught.value)) < 400


def test_prose_names_no_rows(tmp_path):
    """A text of thousands of characters in each row is neither ids nor labels; so auto can leave it out."""
    path = tmp_path / "a.csv"
    path.write_text("a,b,name\n" + "".join(f"{age},{k % 3},{k} {'many words ' * 100}\n" for k, age in enumerate(AGES)))
    table = read(path)
    assert (table.ids, table.label_name, list(table.text)) == (None, None, ["name"])
    assert read(path, auto=True).names == ["a", "b"]
    with pytest.raises(InputError, match=r"Column 'name' of .* has a text of 1,102 characters as id in row 10 "):
        read(path, ids="name")
