"""Tables of text."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sce import InputError
from sce.data.formats import Request, read_source


def write(folder, text, name="data.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("data.csv", "a,b\n1,2\n3,4\n"),
        ("data.csv", '"a","b"\r\n"1","2"\r\n3,4'),
        ("data.csv", "a;b\n1;2\n3;4\n"),
        ("data.csv", "a, b\n1, 2\n\n3, 4\n\n"),
        ("data.csv", "# a,b\n1,2\n3,4\n"),
        ("data.csv", "\ufeffa,b\n1,2\n3,4\n"),
        ("data.csv", "a,b\n1,2\n3,4\n".encode("utf-16")),
        ("data.csv", "a|b\n1|2\n3|4\n"),
        ("data.tsv", "a\tb\n1\t2\n3\t4\n"),
        ("data.txt", "# a b\n1  2\n 3 4\n"),
        ("data.csv.gz", gzip.compress(b"a,b\n1,2\n3,4\n", mtime=0)),
    ],
)
def test_separators_headers_and_encodings_are_recognised(tmp_path, name, text):
    """The same table, however it is written."""
    source = read_source(write(tmp_path, text, name))
    assert source.names == ["a", "b"]
    assert source.X.tolist() == [[1, 2], [3, 4]]


def test_a_table_without_a_header(tmp_path):
    """Its columns are called by their numbers."""
    source = read_source(write(tmp_path, "1,x\n2,y\n3,x\n"))
    assert (source.names, list(source.text)) == (["0"], ["1"])
    assert source.X.ravel().tolist() == [1, 2, 3]
    assert source.text["1"].tolist() == ["x", "y", "x"]


def test_names_of_rows_as_r_writes_them(tmp_path):
    """A header that is one name short."""
    source = read_source(write(tmp_path, '"a","b"\n"r1",1,2\n"r2",3,4\n'))
    assert source.names == ["a", "b"]
    assert source.text[""].tolist() == ["r1", "r2"]


def test_a_header_over_text_only(tmp_path):
    """A first row that never occurs again is a header; one that does is a row."""
    assert read_source(write(tmp_path, "kind\ncat\ndog\ncat\n")).text["kind"].tolist() == ["cat", "dog", "cat"]
    assert read_source(write(tmp_path, "cat\ncat\ndog\n")).text["0"].tolist() == ["cat", "cat", "dog"]


def test_missing_values_become_nan(tmp_path):
    """In columns of numbers; in text they are empty."""
    source = read_source(write(tmp_path, "a,b,c\n1,NA,x\n,2,null\nnan,?,y\n"))
    assert np.isnan(source.X).tolist() == [[False, True], [True, False], [True, True]]
    assert source.text["c"].tolist() == ["x", "", "y"]


def test_only_wanted_columns_are_read(tmp_path):
    """What is wrong elsewhere does not matter; the order is the one asked for; labels are kept apart as they are."""
    path = write(tmp_path, "a,b,c,d\n1,2,3,007\n4,oops,6,x\n7,8,9,x\n")
    source = read_source(path, Request(columns=["c", "a"], apart=("d",)))
    assert source.names == ["c", "a"]
    assert source.X.tolist() == [[3, 1], [6, 4], [9, 7]]
    assert source.extra["d"].tolist() == ["007", "x", "x"]
    assert read_source(path, Request(columns=["2:"], drop=["d"])).names == ["c"]


def test_decimal_commas(tmp_path):
    """Read when asked for, or where they can be nothing else; refused with the way out otherwise."""
    path = write(tmp_path, "a;b\n1,5;x, y\n2;z\n")
    assert read_source(path, Request(decimal_comma=True)).X.ravel().tolist() == [1.5, 2]
    assert read_source(path, Request(decimal_comma=True)).text["b"].tolist() == ["x, y", "z"]
    assert read_source(path).X.ravel().tolist() == [1.5, 2]
    with pytest.raises(InputError, match=r"row 0 .line 2. holds '1,500'; add decimal_comma=True if"):
        read_source(write(tmp_path, "a;b\n1,500;2\n"))
    with pytest.raises(InputError, match=r"row 0 .line 2. holds '1,5'; add decimal_comma=True if"):
        read_source(write(tmp_path, "a;b\n1,5;2.25\n"))


def test_text_far_down_a_column_of_numbers_is_named(tmp_path):
    """Also beyond the rows from which kinds are learned, with the line of the file."""
    lines = ["a,b", *("1,2" for _ in range(4999)), "1,two"]
    with pytest.raises(InputError, match=r"column 'b', row 4999 \(line 5001\) holds 'two'"):
        read_source(write(tmp_path, "\n".join(lines)))


def test_a_broken_line_far_down_is_named(tmp_path):
    """By its number."""
    lines = ["a,b", *("1,2" for _ in range(4999)), "1,2,3"]
    with pytest.raises(InputError, match="line 5001 has 3 cells, but other lines have 2"):
        read_source(write(tmp_path, "\n".join(lines)))


def test_lines_are_not_named_where_rows_and_lines_differ(tmp_path):
    """Cells with line breaks and empty lines shift the count."""
    assert read_source(write(tmp_path, 'a,b\n2,z\n1,"x\ny"\n')).first_line is None
    assert read_source(write(tmp_path, "a,b\n1,2\n\n3,4\n")).first_line is None
    assert read_source(write(tmp_path, "a,b\n1,2\n3,4\n")).first_line == 2


@given(
    st.lists(
        st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**53), 2**53)),
        min_size=1,
        max_size=30,
    )
)
def test_numbers_come_back_exactly(tmp_path_factory, rows):
    """What repr writes is read as the same numbers."""
    path = tmp_path_factory.mktemp("text") / "data.csv"
    path.write_text("a,b\n" + "\n".join(f"{a!r},{b}" for a, b in rows))
    assert read_source(path).X.tolist() == [[a, float(b)] for a, b in rows]


@pytest.mark.parametrize(
    "text",
    ["x;y\n1,5;2,5\n3,5;4,5\n", "x;y\n1;2,5\n3;4,5\n", "1,5;2,5\n3,5;4,5\n5,5;6,5\n", "x\ty\n1,5\t2,5\n3,5\t4,5\n"],
)
def test_semicolons_and_decimal_commas(tmp_path, text):
    """Commas inside of numbers are not taken for separators, however regular they are."""
    X = read_source(write(tmp_path, text), Request(decimal_comma=True)).X
    assert X.shape[1] == 2
    assert X[0, 1] == 2.5
    source = read_source(write(tmp_path, text))
    assert (source.X == X).all()
    assert "Numbers are read with decimal commas" in source.notes


def test_commas_in_the_text_of_another_separator(tmp_path):
    """As in names of people."""
    source = read_source(write(tmp_path, "a;b;name\n1;2;Doe, J\n3;4;Roe, R\n"))
    assert source.names == ["a", "b"]
    assert source.text["name"].tolist() == ["Doe, J", "Roe, R"]


def test_long_lines_do_not_confuse_the_search_for_the_separator(tmp_path):
    """A line that ends beyond what is looked at first is not counted."""
    row = "\t".join(f"{k}.123456" for k in range(3000))
    assert read_source(write(tmp_path, f"{row}\n" * 5, "data.txt")).X.shape == (5, 3000)


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        ("0,1,2\n5,6,7\n8,9,10\n", ["0", "1", "2"], 2),
        (",0,1,2\n0,5,6,7\n1,8,9,10\n", ["", "0", "1", "2"], 2),
        ("NA,?\n1,2\n3,4\n", ["0", "1"], 3),
        ("NA,x\n1,y\n2,x\n", ["0", "1"], 3),
        ("5,6\n7,8\n", ["0", "1"], 2),
    ],
)
def test_headers_of_numbers_and_first_rows_with_gaps(tmp_path, text, names, rows):
    """What pandas writes above columns without names is a header; a row with gaps is none."""
    source = read_source(write(tmp_path, text))
    assert sorted([*source.names, *source.text]) == sorted(names)
    assert len(source.X) == rows
    assert bool(source.notes) == (names == ["0", "1"])


def test_header_as_told(tmp_path):
    """Years may be names, and names may be data."""
    path = write(tmp_path, "2001,2002\n1,2\n3,4\n")
    assert read_source(path, Request(header="yes")).names == ["2001", "2002"]
    assert read_source(path).X.shape == (3, 2)
    path = write(tmp_path, "a,b\nc,d\n")
    assert read_source(path, Request(header="no")).text["0"].tolist() == ["a", "c"]


@pytest.mark.parametrize("rows", [50, 5000])
def test_line_ends_of_all_times(tmp_path, rows):
    """Carriage returns alone, and mixtures, in short and in long files."""
    lines = [f"{i},{i + 1}" for i in range(rows)]
    for text in ("\r".join(["a,b", *lines]), "a,b\r" + "\n".join(lines), "\r\n".join(["a,b", *lines])):
        source = read_source(write(tmp_path, text))
        assert source.names == ["a", "b"]
        assert source.X[:, 0].tolist() == list(range(rows))


def test_empty_lines_in_one_column_are_missing_values(tmp_path):
    """But at the end they are nothing; in several columns they are always nothing."""
    assert read_source(write(tmp_path, "kind\nu\n\nv\nu\n\n\n")).text["kind"].tolist() == ["u", "", "v", "u"]
    assert np.isnan(read_source(write(tmp_path, "a\n1\n\n3\n")).X.ravel()).tolist() == [False, True, False]
    assert len(read_source(write(tmp_path, "a,b\n1,2\n\n3,4\n")).X) == 2


def test_marks_in_the_first_row_of_data_stay(tmp_path):
    """A # is dropped before a header only; words with spaces are not cut in .csv."""
    path = write(tmp_path, "#ff0000\n#00ff00\n#ff0000\n")
    assert read_source(path).text["0"].tolist() == ["#ff0000", "#00ff00", "#ff0000"]
    assert read_source(write(tmp_path, "T cell\nB cell\nT cell\n")).text["0"].tolist() == ["T cell", "B cell", "T cell"]


def test_a_ragged_line_with_gaps_far_down(tmp_path):
    """Is ragged, whatever its cells are."""
    lines = ["a,b", *("1,2" for _ in range(4999)), "x,,3"]
    with pytest.raises(InputError, match="line 5001 has 3 cells, but other lines have 2"):
        read_source(write(tmp_path, "\n".join(lines)))


def test_a_long_text_takes_no_more_room_than_it_is_long(tmp_path):
    """One cell of a megabyte among many short ones."""
    lines = ["a,t", *(f"{i},u" for i in range(30_000)), f"1,{'x' * 100_000}"]
    source = read_source(write(tmp_path, "\n".join(lines)))
    assert source.text["t"].dtype == object
    assert len(source.text["t"][-1]) == 100_000


def test_comments_above_the_table(tmp_path):
    """Are passed over; the last one is the header if it fits."""
    assert read_source(write(tmp_path, "# made by hand\n# on a Monday, at noon, in May\na,b\n1,2\n3,4\n")).names == [
        "a",
        "b",
    ]
    assert read_source(write(tmp_path, "# made by hand\n# a,b\n1,2\n3,4\n")).names == ["a", "b"]


def test_separators_at_the_end_of_lines_make_no_column(tmp_path):
    """As some programs write them."""
    source = read_source(write(tmp_path, "a,b,\n1,2,\n3,4,\n"))
    assert (source.names, list(source.text), source.X.shape) == (["a", "b"], [], (2, 2))


def test_spaces_and_quotes_as_r_writes_them(tmp_path):
    """write.table puts quotes around text and one space between cells."""
    text = '"sl" "sw" "Species"\n"1" 5.1 3.5 "Iris setosa"\n"2" 4.9  3 "other"\n'
    source = read_source(write(tmp_path, text, "data.txt"), Request(likely=lambda name: not name))
    assert source.X.tolist() == [[5.1, 3.5], [4.9, 3]]
    assert source.text["Species"].tolist() == ["Iris setosa", "other"]
