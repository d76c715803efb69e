"""JSON lines: columns, gaps, vectors, and what is wrong with a line."""

import gzip
import json

import numpy as np
import pytest

from sce import InputError, read
from sce.data import json_lines
from sce.data.formats import read_source

RNG = np.random.default_rng(0)
E = RNG.normal(size=(30, 5))


def save(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(params=[10_000, 7], ids=["one block", "blocks"])
def blocks(request, monkeypatch):
    monkeypatch.setattr(json_lines, "_LINES_AT_ONCE", request.param)


def test_columns(tmp_path, blocks):
    """Keys may come late or be missing; booleans are numbers; text stays text, and words for nothing are gaps among numbers."""
    rows = [{"a": i, "ok": i % 2 == 0, "kind": "uv"[i % 2], "c": i / 2 if i % 5 else "NA"} for i in range(30)]
    rows[20]["late"] = 7
    source = read_source(save(tmp_path / "a.jsonl", rows))
    assert source.names == ["a", "ok", "c", "late"]
    np.testing.assert_array_equal(source.X[:, 0], np.arange(30))
    np.testing.assert_array_equal(source.X[:, 1], np.arange(30) % 2 == 0)
    np.testing.assert_array_equal(np.isnan(source.X[:, 2]), np.arange(30) % 5 == 0)
    assert np.flatnonzero(np.isfinite(source.X[:, 3])).tolist() == [20]
    assert source.text["kind"].tolist() == ["u", "v"] * 15
    assert source.first_line == 1


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.jsonl.gz"])
def test_embeddings(tmp_path, blocks, name):
    """A list of numbers in each line is the data; a missing one is a row of gaps."""
    rows = [{"id": f"r{i}", "label": i % 3, "text": "x", "meta": {"a": 1}, "e": E[i].tolist()} for i in range(30)]
    rows[9]["e"] = None
    path = save(tmp_path / "plain.jsonl", rows)
    text = path.read_bytes()
    path = tmp_path / name
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    table = read(path)
    expected = E.copy()
    expected[9] = np.nan
    np.testing.assert_array_equal(table.X, expected)
    assert (table.label_name, table.id_name) == ("label", "id")
    assert list(table.extra) == ["text"]
    assert table.extra["text"][0] == "x"


def test_lines_that_are_lists(tmp_path, blocks):
    """Each is a row."""
    np.testing.assert_array_equal(read(save(tmp_path / "a.jsonl", E.tolist())).X, E)


def test_whole_numbers_stay_whole(tmp_path):
    """Also those that floats cannot hold; beyond 64 bits they are floats."""
    big = 2**62 + 1
    assert read_source(save(tmp_path / "a.jsonl", [{"a": big}, {"a": 1}])).X.tolist() == [[big], [1]]
    assert read_source(save(tmp_path / "a.jsonl", [{"a": 2**70}, {"a": 1}])).X.dtype == np.float64
    ids = read(save(tmp_path / "a.jsonl", [{"id": big + i, "a": i * i} for i in range(20)])).ids
    assert ids.tolist() == [big + i for i in range(20)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}\n{"a": 2\n', r"Line 2 of .*a.jsonl is not JSON \(Expecting ',' delimiter, at character 9\)"),
        ('{"a": 1}\n5\n', r"Line 2 of .* holds '5'; each line must be an object"),
        ('[{"a": 1}]\n', r"Line 1 of .* holds an array of rows; .* jq -c"),
        ("\n \n", "has only empty lines"),
        ('{"a": 1}\n{"a": "x"}\n', r"'a' \(numbers, and 'x' in row 1\); .* drop=\['a'\]"),
        ('{"a": 1, "b": {"c": 1}}\n', r"'b' \(objects\); .* drop=\['b'\]"),
        ('{"a": [1, 2]}\n{"a": [1]}\n', r"Column 'a' of .* 2 numbers in the first row, 1 in row 1"),
        ('{"a": ["x"]}\n{"a": ["y"]}\n', r"'a' \(lists of other things than numbers\)"),
        ('{"a": [1]}\n{"a": 3}\n', r"'a' \(lists and numbers\)"),
    ],
)
def test_what_is_wrong(tmp_path, blocks, text, message):
    """In a sentence, with the line or the row."""
    (tmp_path / "a.jsonl").write_text(text)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "a.jsonl")


def test_text_after_blocks_of_numbers(tmp_path, monkeypatch):
    """The row is named although it is in another block; a column of labels may be mixed."""
    monkeypatch.setattr(json_lines, "_LINES_AT_ONCE", 5)
    path = save(tmp_path / "a.jsonl", [{"a": "x" if i == 12 else None if i > 9 else i, "b": i % 4} for i in range(15)])
    with pytest.raises(InputError, match=r"'a' \(text, such as 'x' in row 12, and other values\)"):
        read(path)
    assert read(path, drop="a").names == ["b"]
    assert read(path, labels="a").labels[12] == "x"


def test_bytes_that_are_not_utf8(tmp_path):
    """The message says so."""
    (tmp_path / "a.jsonl").write_bytes(b'{"a": "\xe9"}\n')
    with pytest.raises(InputError, match="not UTF-8 text"):
        read(tmp_path / "a.jsonl")
