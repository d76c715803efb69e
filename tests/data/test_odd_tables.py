"""Tables as spreadsheets and people write them: what is read, and what is said about it."""

import numpy as np
import pytest

from sce import InputError, read
from sce.data.formatted import read_formatted
from sce.data.preparation import Preparation

RNG = np.random.default_rng(0)
A, B = np.round(RNG.normal(50, 20, size=(2, 30)), 2)


def write(tmp_path, lines, name="a.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes("\r\n".join(lines).encode(encoding))
    return path


def comma(value):
    """1.234,50 for 1234.5."""
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def test_a_german_spreadsheet(tmp_path):
    """Byte order mark, semicolons, decimal commas, points between thousands: nothing needs to be said."""
    lines = [
        "\ufeffGröße;Preis;Art",
        *(f"{comma(a)};{comma(1000 * b)};{'uv'[k % 2]}" for k, (a, b) in enumerate(zip(A, B, strict=True))),
    ]
    table = read(write(tmp_path, lines))
    assert (table.names, table.label_name) == (["Größe", "Preis"], "Art")
    np.testing.assert_allclose(table.X, np.column_stack([A, 1000 * B]))
    assert "Numbers are read with decimal commas" in table.notes


def test_commas_that_may_separate_thousands_are_not_decimal(tmp_path):
    """1,500 may be either; so it is asked."""
    with pytest.raises(InputError, match="decimal_comma=True if the comma"):
        read(write(tmp_path, ["a;b", *("1,500;2" for _ in range(9))]))


@pytest.mark.parametrize(
    ("cells", "unit"),
    [
        ([f"{a} kg" for a in A], "kg"),
        ([f"{a}%" for a in A], "%"),
        ([f"${a}" if a >= 0 else f"-${-a}" for a in A], "$"),
        ([f"{a} km/h" for a in A], "km/h"),
        ([f"{a:,.2f} €" for a in 1000 * A], "€"),
    ],
)
def test_numbers_with_units(tmp_path, cells, unit):
    """Are numbers, which is said; the column is neither ids nor labels."""
    lines = ["w,b", *(f'"{cell}",{b}' for cell, b in zip(cells, B, strict=True))]
    table = read(write(tmp_path, lines))
    assert sorted(table.names) == ["b", "w"]
    factor = 1000 if unit == "€" else 1
    np.testing.assert_allclose(table.X[:, table.names.index("w")], factor * A)
    assert f"Column 'w' is read as numbers, in {unit}" in table.notes


@pytest.mark.parametrize(
    "cells",
    [
        ["12 kg", "7 g"],
        ["12 kg", "7"],
        ["1st", "2nd"],
        ["5a", "6a"],
        ["1.2.3", "1.2.4"],
        ["12,34", "5"],
        ["3 rd 4"],
        ["1,23,456"],
        ["+", "-"],
        ["kg 5"],
    ],
)
def test_other_text_with_digits_stays_text(cells):
    """Different units, ordinals, codes, versions."""
    assert read_formatted(np.array(cells, object)) is None


def test_thousands(tmp_path):
    """Marks of any kind, if there are three digits between them."""
    for mark in (",", "'", " ", "\u00a0"):
        numbers = (np.abs(A) * 10_000).astype(int) + 1_000_000
        lines = ["n;b", *(f"{f'{n:,}'.replace(',', mark)};{b}" for n, b in zip(numbers, B, strict=True))]
        table = read(write(tmp_path, lines))
        assert (table.X[:, table.names.index("n")] == numbers).all()


def test_titles_above_the_header(tmp_path):
    """With and without empty cells; also the upper of two headers, and the line that names the separator."""
    rows = [f"{a},{b},{a + b:.2f}" for a, b in zip(A, B, strict=True)]
    for above in (["Plants of 2021,,", ",,", "Source: a ministry,,"], ["Plants", ""], ["size,,weight"], ["sep=,"]):
        table = read(write(tmp_path, [*above, "a,b,c", *rows]))
        assert table.names == ["a", "b", "c"]
        assert (table.X[:, 0] == A).all()
        assert any("above the header" in note for note in table.notes)
        with pytest.raises(InputError):
            read(write(tmp_path, [*above, "a,b,c", *rows, "1,2,x"]))
    semicolons = [row.replace(",", ";") for row in rows]
    assert read(write(tmp_path, ["sep=;", "a;b;c", *semicolons])).names == ["a", "b", "c"]
    assert read(write(tmp_path, ["a,b,c", *rows])).notes == []


def test_empty_columns_and_rows_of_a_spreadsheet(tmp_path):
    """Empty columns without a name are none; empty rows at the end are left out, which is said."""
    lines = ["a,b,,,", *(f"{a},{b},,," for a, b in zip(A, B, strict=True)), *[",,,,"] * 20]
    table = read(write(tmp_path, lines))
    assert (table.names, table.X.shape) == (["a", "b"], (30, 2))
    assert "Left out 20 rows without any value at the end" in table.notes
    lines = ["a,b,,", *(f"{a},{b},{k % 5},{k % 3}" for k, (a, b) in enumerate(zip(A, B, strict=True)))]
    assert read(write(tmp_path, lines)).names == ["a", "b", "unnamed 2", "unnamed 3"]


def test_marks_for_missing_numbers(tmp_path):
    """Dashes, points and the errors of spreadsheets among numbers; among words they are words."""
    marks = ["-", "--", ".", "#N/A", "#DIV/0!", "\u2013", "n.a."]
    lines = [
        "a,b,strand",
        *(f"{marks[k] if k < 7 else a},{b},{'+-'[k % 2]}" for k, (a, b) in enumerate(zip(A, B, strict=True))),
    ]
    table = read(write(tmp_path, lines))
    assert np.isnan(table.X[:7, 0]).all()
    assert (table.X[7:, 0] == A[7:]).all()
    assert table.labels[:2].tolist() == ["+", "-"]


def test_a_row_of_totals(tmp_path):
    """Is told; and left out on `auto`."""
    lines = ["city,a,b", *(f"town {k},{a},{b}" for k, (a, b) in enumerate(zip(A, B, strict=True)))]
    total = f"Total,{A.sum():.2f},{B.sum():.2f}"
    table = read(write(tmp_path, [*lines, total]))
    assert any("last row is the sum of all others" in note for note in table.notes)
    assert len(Preparation(auto=True).fit_transform(table)[0].X) == 30
    assert not any("sum" in note for note in read(write(tmp_path, lines)).notes)


def test_a_single_row_of_very_many_columns(tmp_path):
    """May be lying down."""
    lines = [",".join(f"g{k}" for k in range(2000)), ",".join(f"{k % 7}.5" for k in range(2000))]
    table = read(write(tmp_path, lines))
    assert "There is only 1 row of 2000 columns; if the columns are the points, add transpose=True" in table.notes
    assert read(write(tmp_path, lines), transpose=True).X.shape == (2000, 1)


def test_lists_of_numbers_in_cells(tmp_path):
    """As pandas writes embeddings: they are the data."""
    lines = [
        "text,n,vector",
        *(f'word {k},{k % 3},"[{a}, {b}, 0.5]"' for k, (a, b) in enumerate(zip(A, B, strict=True))),
    ]
    table = read(write(tmp_path, lines))
    assert table.names == ["vector[0]", "vector[1]", "vector[2]"]
    assert (table.X[:, 1] == B).all()
    assert list(table.extra) == ["text", "n"] or set(table.extra) == {"text", "n"}


def test_dates_without_marks(tmp_path):
    """20240229 in a column whose name says that it is a date."""
    days = np.datetime64("2024-02-01") + np.arange(30)
    lines = ["a,b,Date", *(f"{a},{b},{str(day).replace('-', '')}" for a, b, day in zip(A, B, days, strict=True))]
    table = read(write(tmp_path, lines))
    assert (table.names, table.label_name) == (["a", "b"], "Date")
    assert (table.labels == days).all()
    assert read(tmp_path / "a.csv", keep="Date").X[0, 2] == 20240201


def test_unicode_text_of_excel_and_quotes_in_quotes(tmp_path):
    """UTF-16 with tabs; cells of several lines with quotes in them."""
    lines = ["a\tb\tart", *(f"{a}\t{b}\t{'éü'[k % 2]}" for k, (a, b) in enumerate(zip(A, B, strict=True)))]
    assert read(write(tmp_path, lines, "a.txt", "utf-16")).labels[:2].tolist() == ["é", "ü"]
    lines = [
        "a,b,note",
        *(f'{a},{b},"he said ""hi, {k}""\nand left"' for k, (a, b) in enumerate(zip(A, B, strict=True))),
    ]
    table = read(write(tmp_path, lines))
    assert table.ids[1] == 'he said "hi, 1"\nand left'
    assert (table.X[:, 0] == A).all()


def numbered(header, separator=","):
    return [header, *(separator.join(map(str, row)) for row in zip(A, B, range(30), strict=True))]


def test_a_comment_is_no_header_above_a_header(tmp_path):
    """Even if it has a cell less, as headers of R have."""
    lines = ["# made by a program", "# units: cm", "a,b", *(f"{a},{b}" for a, b in zip(A, B, strict=True))]
    table = read(write(tmp_path, lines))
    assert table.names == ["a", "b"]
    np.testing.assert_array_equal(table.X, np.column_stack([A, B]))


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_spaces_separate_where_nothing_else_does(tmp_path, name):
    """Whatever the name of the file says; but they do not cut text."""
    path = write(tmp_path, numbered("a b  c", " "), name)
    assert read(path, keep=["c"]).names == ["a", "b", "c"]
    edges = ["protein1 protein2 combined_score", *(f"p{k % 7} p{k % 5} {k + 1}" for k in range(30))]
    assert read(write(tmp_path, edges, name)).is_graph
    path = write(tmp_path, ["weight", *(f"{a} kg" for a in A)], name)
    assert read(path).names == ["weight"]


def test_a_number_that_floats_round_is_pointed_out(tmp_path):
    """Whole numbers above 2 ** 53 are probably ids under a name that is not recognised; which keeps them exactly."""
    key = [10**18 + 7 * k for k in range(30)]
    path = write(tmp_path, ["key,a", *(f"{k},{a}" for k, a in zip(key, A, strict=True))])
    assert any(
        "Column 'key' has numbers above 9,007,199,254,740,992, which are rounded" in note for note in read(path).notes
    )
    table = read(path, ids="key")
    assert table.ids.tolist() == [str(k) for k in key]
    assert not any("rounded" in note for note in table.notes)


def test_a_single_row_is_pointed_out(tmp_path):
    """A map of it shows nothing."""
    assert "There is only 1 row, so the map is a single point" in read(write(tmp_path, ["a,b", "1,2"])).notes


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("a.xlsx", "save the sheet as .csv"), ("a.csv.xz", "unpack it"), ("a.json", "name it .jsonl")],
)
def test_what_to_do_about_files_of_other_kinds(tmp_path, name, remedy):
    """Is in the message."""
    with pytest.raises(InputError, match=remedy):
        read(write(tmp_path, ["a,b", "1,2"], name))


def test_a_list_of_objects_is_no_json_lines(tmp_path):
    """It is on several lines, and the message says how to write JSON lines."""
    path = write(tmp_path, ['[{"a": 1, "b": 2},', '{"a": 2, "b": 3}]'], "a.jsonl")
    with pytest.raises(InputError, match=r"is a list over several lines.*lines=True"):
        read(path)


def test_a_folder_without_parts(tmp_path):
    """The message says what parts are."""
    (tmp_path / "parts").mkdir()
    with pytest.raises(InputError, match=r"parts is a folder without \.parquet, \.arrow or \.feather files"):
        read(tmp_path / "parts")


def test_gaps_in_vectors_are_named_in_short(tmp_path):
    """Not number by number."""
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    from pyarrow import parquet

    vectors = [[float(k), 1.0, 2.0] for k in range(30)]
    parquet.write_table(pa.table({"e": [None, *vectors]}), path := tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"row 0\), in columns 'e\[0:3\]': add"):
        Preparation().fit_transform(read(path))


def test_a_document_in_a_cell(tmp_path):
    """May be longer than the 131,072 characters that Python's csv allows by default, which stay as they are."""
    import csv

    before = csv.field_size_limit()
    lines = [
        "a,b,text",
        *(f'{a},{b},"{"x, " * 50_000 * (k == 3)}{"uv"[k % 2]}"' for k, (a, b) in enumerate(zip(A, B, strict=True))),
    ]
    table = read(write(tmp_path, lines))
    assert (table.names, len(table.text["text"][3])) == (["a", "b"], 150_001)
    assert csv.field_size_limit() == before
