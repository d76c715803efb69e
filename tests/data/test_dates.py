"""Dates are dates: read where they can mean only one thing, kept out of the data, and used for colours."""

import numpy as np
import pytest

from sce import InputError, read
from sce.data.dates import read_dates
from sce.data.label_files import read_label_file
from sce.data.preparation import Preparation

DAYS = np.datetime64("2020-01-28") + np.arange(40) * 11 % 37


def dates_of(*words):
    return read_dates(np.array(words, object)).dates


def table_of(path, cells, more="", kinds=None):
    lines = [f'{k % 7},"{cell}"' + (f",{kinds[k]}" if more else "") for k, cell in enumerate(cells)]
    path.write_text("\n".join([f"a,when{more}", *lines]))
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("2024-02-29", "2023-12-01"),
        ("2024/2/29", "2023/12/1"),
        ("29.02.2024", "1.12.2023"),
        ("29/02/2024", "01/12/2023"),
        ("02/29/2024", "12/01/2023"),
        ("29 Feb 2024", "1 December 2023"),
        ("February 29, 2024", "Dec 1, 2023"),
        ("29-Feb-2024", "01-Dec-2023"),
        ("2024-02-29T00:00:00Z", "2023-12-01 02:00:00+02:00"),
        ("2/29/2024 12:00:00 AM", "12/1/2023 12:00 AM"),
    ],
)
def test_forms_of_dates(words):
    """All that can mean only one thing; gaps are NaT."""
    found = dates_of(*words, "")
    assert found.dtype == "datetime64[D]"
    assert found.astype(str).tolist() == ["2024-02-29", "2023-12-01", "NaT"]


def test_times_of_day():
    """To the microsecond, in UTC."""
    assert dates_of("2024-02-29 13:05").dtype == "datetime64[s]"
    assert str(dates_of("2024-02-29T01:30:00.25-05:30")[0]) == "2024-02-29T07:00:00.250000"
    assert str(dates_of("2/29/2024 1:30 PM")[0]) == "2024-02-29T13:30:00"


@pytest.mark.parametrize(
    "words",
    [
        ("2024-02-30",),
        ("2024-02-29", "later"),
        ("2024-02-29", "29.02.2024"),
        ("13/13/2024",),
        ("2024-02-29T01:00Z", "2024-02-29T01:00"),
        ("a", "b"),
        ("12-34", "56-78"),
        ("1.2.3", "1.2.4"),
        ("",),
    ],
)
def test_other_text(words):
    """Is no date, and nothing of it is lost."""
    assert dates_of(*words) is None


def test_day_and_month_that_may_be_either_stay_text(tmp_path):
    """Until a number above 12 says which is which; this is said."""
    table = read(table_of(tmp_path / "a.csv", [f"{k % 12 + 1:02}/0{k % 9 + 1}/2024" for k in range(40)]), labels="none")
    assert list(table.text) == ["when"]
    assert any("may be day and month or month and day" in note for note in table.notes)


def test_dates_are_no_data(tmp_path):
    """They are extras, which is said; on request they are numbers of days."""
    path = table_of(tmp_path / "a.csv", DAYS, ",kind", ["u", "v"] * 20)
    table = read(path)
    assert (table.names, table.label_name, list(table.text)) == (["a"], "kind", [])
    assert (table.extra["when"] == DAYS).all()
    assert (
        "Column 'when' holds dates, and is not used as data; keep=['when'] uses it as a number of days" in table.notes
    )
    table = read(path, keep=["when"])
    assert table.names == ["a", "when"]
    assert (table.X[:, 1] == DAYS.astype(int)).all()
    prepared, fitted = Preparation(missing="median").fit_transform(table)
    assert (fitted.apply(read(path)).X == prepared.X).all()
    assert read(path, drop="when").extra.in_memory == {}


def test_dates_as_labels(tmp_path):
    """As datetime64: on request, from another file, and where nothing else may be labels."""
    path = table_of(tmp_path / "a.csv", [*DAYS[:-1], ""])
    for table in (read(path), read(path, labels="when")):
        assert table.labels.dtype == "datetime64[D]"
        assert (table.labels[:-1] == DAYS[:-1]).all()
        assert np.isnat(table.labels[-1])
        assert "Labels: 'when' (37 dates, 1 rows without a label)" in table.notes
    assert (read_label_file(f"{path}:when", 40, "x")[0][:-1] == DAYS[:-1]).all()
    assert read(path, labels="none").labels is None
    different = np.datetime64("2020-01-01") + np.arange(40)
    assert read(table_of(path, different), labels="when").labels[3] == different[3]


def test_dates_that_are_the_index_name_the_rows(tmp_path):
    """As pandas writes them."""
    path = tmp_path / "a.csv"
    path.write_text(",a,b\n" + "".join(f"{np.datetime64('2020-01-01') + k},{k % 7},{k % 5}\n" for k in range(40)))
    table = read(path)
    assert (table.ids[0], table.names) == ("2020-01-01", ["a", "b"])


def test_a_table_of_dates_alone(tmp_path):
    """Has nothing to embed."""
    path = tmp_path / "a.csv"
    path.write_text("when\n" + "\n".join(map(str, DAYS)))
    with pytest.raises(InputError, match="nothing to embed"):
        read(path)


def test_dates_of_parquet(tmp_path):
    """Timestamps and days, with gaps and time zones: as in text, the same notes and the same labels."""
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    when = pa.array([*DAYS[:-1].astype("datetime64[us]").tolist(), None], pa.timestamp("us", tz="UTC"))
    parquet.write_table(pa.table({"a": np.arange(40) % 7, "when": when, "day": pa.array(DAYS.tolist())}), path)
    table = read(path)
    assert (table.names, table.labels, set(table.extra)) == (["a"], None, {"when", "day"})
    assert (
        "Column 'when' holds dates, and is not used as data; keep=['when'] uses it as a number of days" in table.notes
    )
    table = read(path, labels="when")
    assert (table.labels[:-1] == DAYS[:-1]).all()
    assert np.isnat(table.labels[-1])
    assert read(path, drop="day").label_name == "when"
    kept = read(path, keep=["day"], labels="none")
    assert (kept.X[:, kept.names.index("day")] == DAYS.astype(int)).all()
    assert not any("'day' holds dates" in note for note in kept.notes)
