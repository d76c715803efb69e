"""Tables of text."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sce import InputError
from sce.files import Request, read


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
        ("data.csv.gz", gzip.compress(b"a,b\n1,2\n3,4\n")),
    ],
)
def test_separators_headers_and_encodings_are_recognised(tmp_path, name, text):
    """The same table, however it is written."""
    source = read(write(tmp_path, text, name))
    assert source.names == ["a", "b"]
    assert source.X.tolist() == [[1, 2], [3, 4]]


def test_a_table_without_a_header(tmp_path):
    """Its columns are called by their numbers."""
    source = read(write(tmp_path, "1,x\n2,y\n3,x\n"))
    assert (source.names, list(source.text)) == (["0"], ["1"])
    assert source.X.ravel().tolist() == [1, 2, 3]
    assert source.text["1"].tolist() == ["x", "y", "x"]


def test_names_of_rows_as_r_writes_them(tmp_path):
    """A header that is one name short."""
    source = read(write(tmp_path, '"a","b"\n"r1",1,2\n"r2",3,4\n'))
    assert source.names == ["a", "b"]
    assert source.text[""].tolist() == ["r1", "r2"]


def test_a_header_over_text_only(tmp_path):
    """A first row that never occurs again is a header; one that does is a row."""
    assert read(write(tmp_path, "kind\ncat\ndog\ncat\n")).text["kind"].tolist() == ["cat", "dog", "cat"]
    assert read(write(tmp_path, "cat\ncat\ndog\n")).text["0"].tolist() == ["cat", "cat", "dog"]


def test_missing_values_become_nan(tmp_path):
    """In columns of numbers; in text they are empty."""
    source = read(write(tmp_path, "a,b,c\n1,NA,x\n,2,null\nnan,?,y\n"))
    assert np.isnan(source.X).tolist() == [[False, True], [True, False], [True, True]]
    assert source.text["c"].tolist() == ["x", "", "y"]


def test_only_wanted_columns_are_read(tmp_path):
    """What is wrong elsewhere does not matter; the order is the one asked for; labels are kept apart as they are."""
    path = write(tmp_path, "a,b,c,d\n1,2,3,007\n4,oops,6,x\n7,8,9,x\n")
    source = read(path, Request(columns=["c", "a"], as_text=("d",)))
    assert source.names == ["c", "a"]
    assert source.X.tolist() == [[3, 1], [6, 4], [9, 7]]
    assert source.text["d"].tolist() == ["007", "x", "x"]
    assert read(path, Request(columns=["2:"], drop=["d"])).names == ["c"]


def test_decimal_commas(tmp_path):
    """Read when asked for, refused with the way out otherwise."""
    path = write(tmp_path, "a;b\n1,5;x, y\n2;z\n")
    assert read(path, Request(decimal_comma=True)).X.ravel().tolist() == [1.5, 2]
    assert read(path, Request(decimal_comma=True)).text["b"].tolist() == ["x, y", "z"]
    with pytest.raises(InputError, match=r"row 0 .line 2. holds '1,5'; if that is a number, add --decimal-comma"):
        read(path)


def test_text_far_down_a_column_of_numbers_is_named(tmp_path):
    """Also beyond the rows from which kinds are learned, with the line of the file."""
    lines = ["a,b", *("1,2" for _ in range(4999)), "1,two"]
    with pytest.raises(InputError, match=r"column 'b', row 4999 \(line 5001\) holds 'two'"):
        read(write(tmp_path, "\n".join(lines)))


def test_a_broken_line_far_down_is_named(tmp_path):
    """By its number."""
    lines = ["a,b", *("1,2" for _ in range(4999)), "1,2,3"]
    with pytest.raises(InputError, match="line 5001 has 3 cells where others have 2"):
        read(write(tmp_path, "\n".join(lines)))


def test_lines_are_not_named_where_rows_and_lines_differ(tmp_path):
    """Cells with line breaks and empty lines shift the count."""
    assert read(write(tmp_path, 'a,b\n2,z\n1,"x\ny"\n')).first_line is None
    assert read(write(tmp_path, "a,b\n1,2\n\n3,4\n")).first_line is None
    assert read(write(tmp_path, "a,b\n1,2\n3,4\n")).first_line == 2


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
    assert read(path).X.tolist() == [[a, float(b)] for a, b in rows]
