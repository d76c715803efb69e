"""The quick parser of numbers against Python's own."""

import csv
import io

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sce import InputError
from sce.data.formats import Request, read_source
from sce.data.parse import SKIP, parse_rows, parse_words

WRITTEN = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1e6, 1e6).map(lambda x: f"{x:.17g}"),
    st.floats(-1e6, 1e6).map(lambda x: f"{x:.3f}"),
    st.floats(-1e20, 1e20).map(lambda x: f"{x:+.18E}"),
    st.integers(-(10**19), 10**19).map(str),
    st.tuples(st.integers(0, 10**19), st.integers(-25, 25)).map(lambda pair: f"{pair[0]}e{pair[1]}"),
    st.from_regex(r"[-+]?0{0,3}[0-9]{0,19}\.[0-9]{1,19}(e[-+]?[0-9]{1,3})?", fullmatch=True),
)


def same(a, b):
    """Whether two floats are the same bits."""
    return np.float64(a).tobytes() == np.float64(b).tobytes()


@settings(max_examples=500)
@given(st.lists(WRITTEN, min_size=1, max_size=20))
@example(
    ["9007199254740993", "9007199254740992.5", "0.1e1", "-0", "-0.0", "1e22", "1e23", "4.35", "0.000001", ".5", "5."]
)
@example(["9007199254740993e3", "18446744073709551615", "9999999999999999999", "1.7976931348623157e308", "5e-324"])
def test_numbers_are_those_of_python(words):
    """To the last bit, halves and signs of zero included."""
    numbers = parse_words(" ".join(words).encode(), len(words))
    assert all(same(a, float(word)) for a, word in zip(numbers, words, strict=True))


def test_exact_halves_are_left_to_python():
    """Integers half-way between two floats, over powers of ten: the hardest to round."""
    rng = np.random.default_rng(0)
    odd = rng.integers(2**53, 2**63, size=20_000)
    words = [f"{m}e{-k}" for m, k in zip(odd.tolist(), rng.integers(0, 23, size=len(odd)).tolist(), strict=True)]
    words += [str((m >> 11 << 11) + 1024) for m in odd.tolist()]
    numbers = parse_words(" ".join(words).encode(), len(words))
    assert numbers.tolist() == [float(word) for word in words]


def test_the_wrong_number_of_words():
    """More or fewer than promised."""
    assert parse_words(b"1 2 3", 2) is None
    assert parse_words(b"1 2 3", 4) is None
    assert parse_words(b"", 0).size == 0


CELLS = st.sampled_from(
    ["1", "-2.5", " 3 ", "1e5", "", "NA", "x", "é", "0.1234567890123456789", "+7", "1_0", "nan", "1.2.3"]
)


@given(
    st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=8),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_rows_are_cut_as_by_the_csv_module(rows, end, last):
    """Numbers that can be read are read, all others and all texts are pointed at; blank lines are passed over."""
    text = end.join(",".join(row) for row in rows) + (end if last else "")
    data = text.encode()
    found, wrong = parse_rows(data, ",", np.array([0, SKIP - 1, 1]))
    expected = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    assert wrong is None
    assert len(found.numbers) == len(expected)
    odd = {(row, place): data[a:b].decode() for row, place, a, b in found.odd.tolist()}
    for i, row in enumerate(expected):
        begin, stop = found.spans[i, 0]
        assert data[begin:stop].decode() == row[1]
        for place, cell in ((0, row[0]), (1, row[2])):
            if (i, place) in odd:
                assert odd[i, place] == cell
            else:
                assert same(found.numbers[i, place], float(cell))


def test_a_line_of_another_width():
    """The first such line is named, with its number of cells; blank lines count as lines."""
    assert parse_rows(b"1,2\n\n3,4\n5\n6,7,8\n", ",", np.array([0, 1])).wrong == (3, 1)
    assert parse_rows(b"1,2\n6,7,8\n", ",", np.array([0, 1])).wrong == (1, 3)


@pytest.fixture
def long_table(tmp_path):
    """5,000 rows, plain and with one quoted cell, which sends the reader the slow way."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 4)) * 10.0 ** rng.integers(-8, 8, size=(5000, 4))
    rows = [f"{a!r},{b:.3g},{'uvé'[i % 3]},{c!r},{d!r}" for i, (a, b, c, d) in enumerate(X.tolist())]
    rows[7] = "1,NA,u,,5"
    (tmp_path / "plain.csv").write_text("\n".join(["a,b,t,c,d", *rows, ""]), encoding="utf-8")
    rows[4000] = '"1",2,u,3,4'
    (tmp_path / "quoted.csv").write_text("\n".join(["a,b,t,c,d", *rows]), encoding="utf-8")
    rows[4000] = "1,2,u,3,4"
    (tmp_path / "ends.csv").write_bytes("\r\n".join(["a,b,t,c,d", *rows]).encode())
    return tmp_path


@pytest.mark.parametrize("request_", [Request(), Request(columns=["d", "a"], apart=("t",)), Request(columns=["a"])])
def test_the_quick_way_and_the_slow_way(long_table, request_):
    """Give the same table."""
    plain, quoted, ends = (read_source(long_table / name, request_) for name in ("plain.csv", "quoted.csv", "ends.csv"))
    assert plain.names == quoted.names
    assert np.delete(plain.X, 4000, 0).tobytes() == np.delete(quoted.X, 4000, 0).tobytes()
    assert ends.X.tobytes() == quoted.X.tobytes()
    assert {k: v.tolist() for k, v in ends.text.items()} == {k: v.tolist() for k, v in quoted.text.items()}
    assert plain.first_line == quoted.first_line == 2


@pytest.mark.parametrize("cell", ["oops", "1_000", "0x1A", "1,5", "--3", "1e", "e5"])
def test_what_is_no_number_is_refused_either_way(long_table, cell):
    """With the same words; 1_000 is Python's way of writing, nobody else's."""
    said = set()
    for name in ("plain.csv", "quoted.csv"):
        text = (long_table / name).read_text(encoding="utf-8").replace(",", ";").splitlines()
        text[3000] = text[3000].split(";", 1)[0] + f";{cell};u;1;2"
        (long_table / name).write_text("\n".join(text), encoding="utf-8")
        with pytest.raises(InputError) as caught:
            read_source(long_table / name)
        said.add(str(caught.value).replace(name, "it"))
    assert len(said) == 1
    assert f"column 'b', row 2999 (line 3001) holds {cell!r}" in said.pop()
