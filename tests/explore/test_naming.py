"""Operations on named clusters: what each does, what is refused, and that undo and redo are exact."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sce.explore.document import Document
from sce.explore.naming import apply
from sce.explore.operations import NamingError, checked_made, checked_name

N = 12


def made(*ops, n=N):
    document = Document.empty(n)
    for op in ops:
        document = apply(document, {**op, **({"rows": np.array(op["rows"])} if "rows" in op else {})})
    return document


def create(name, rows, **more):
    return {"kind": "create", "name": name, "rows": rows, "made": None, **more}


def state(document):
    return document.codes.tolist(), document.clusters


rows_of = st.lists(st.integers(0, N - 1), min_size=1, max_size=N).map(np.array)
names = st.sampled_from(["a", "b", "c", "d"])
ids = st.integers(0, 6)
operations = st.one_of(
    st.builds(lambda name, rows: create(name, rows), names, rows_of),
    st.builds(lambda c, name: {"kind": "rename", "id": c, "name": name}, ids, names),
    st.builds(lambda c, color: {"kind": "recolor", "id": c, "color": color}, ids, st.sampled_from([None, "#00ff00"])),
    st.builds(lambda c: {"kind": "delete", "id": c}, ids),
    st.builds(lambda c, name: {"kind": "merge", "ids": c, "name": name}, st.lists(ids, min_size=1, max_size=3), names),
    st.builds(lambda c, r, a, b: {"kind": "split", "id": c, "rows": r, "names": [a, b]}, ids, rows_of, names, names),
    st.builds(lambda c, r: {"kind": "set_rows", "id": c, "rows": r}, ids, rows_of),
    st.builds(
        lambda k: {
            "kind": "start_from_found",
            "frame": 0,
            "clusters": [{"name": f"cluster {j}", "rows": np.flatnonzero(np.arange(N) % k == j)} for j in range(k)],
        },
        st.integers(1, 4),
    ),
    st.sampled_from([{"kind": "undo"}, {"kind": "redo"}]),
)


def run(ops):
    """The documents after each operation that is possible."""
    documents = [Document.empty(N)]
    for op in ops:
        with contextlib.suppress(NamingError):
            documents.append(apply(documents[-1], op))
    return documents


@settings(max_examples=200)
@given(st.lists(operations, max_size=25))
def test_undoing_all_and_redoing_all_gives_the_same(ops):
    """Whatever was done: back to where undo ends is empty, and forward again is the same document."""
    last = run(ops)[-1]
    back = last
    while back.past is not None:
        back = apply(back, {"kind": "undo"})
    assert (back.codes == -1).all()
    assert back.clusters == ()
    forward = back
    while forward.future is not None:
        forward = apply(forward, {"kind": "redo"})
    while last.future is not None:
        last = apply(last, {"kind": "redo"})
    assert state(forward) == state(last)


@settings(max_examples=200)
@given(st.lists(operations, max_size=25))
def test_every_document_is_whole(ops):
    """Codes are those of clusters in the list, each cluster has points, names and ids are different; documents never change."""
    documents = run(ops)
    seen = [(document.codes.copy(), document.clusters) for document in documents]
    for document, (codes, clusters) in zip(documents, seen, strict=True):
        assert np.array_equal(document.codes, codes)
        known = [cluster.id for cluster in clusters]
        assert set(codes.tolist()) - {-1} == set(known)
        assert len(set(known)) == len({cluster.name for cluster in clusters}) == len(clusters)
        assert all(each < document.next_id for each in known)
        assert document.sizes().sum() == (codes >= 0).sum()
    assert [document.revision for document in documents] == list(range(len(documents)))


@settings(max_examples=100)
@given(st.lists(operations, max_size=15), operations)
def test_undo_takes_back_one_operation(ops, op):
    """After an operation, undo gives what was there before it."""
    before = run(ops)[-1]
    if op["kind"] in ("undo", "redo"):
        return
    try:
        after = apply(before, op)
    except NamingError:
        return
    assert state(apply(after, {"kind": "undo"})) == state(before)


def test_a_point_is_in_one_cluster_and_the_taking_is_told():
    """A new cluster takes its rows from older ones, and says how many; one that has none left is gone."""
    document = made(create("a", [0, 1, 2]), create("b", [3]), create("c", [2, 3, 4]))
    assert document.codes[:5].tolist() == [0, 0, 2, 2, 2]
    assert [cluster.name for cluster in document.clusters] == ["a", "c"]
    assert document.note == "Took 1 point from 'a'; 1 point from 'b', which has none left and is gone."


def test_merge_and_split_say_where_they_come_from():
    """The parts of a split and a merged cluster name their parents."""
    document = made(create("a", [0, 1]), create("b", [2, 3]), {"kind": "merge", "ids": [0, 1], "name": "ab"})
    (merged,) = document.clusters
    assert merged.made["tool"] == "merge"
    assert [parent["name"] for parent in merged.made["parents"]] == ["a", "b"]
    document = apply(document, {"kind": "split", "id": merged.id, "rows": np.array([0, 9]), "names": ["one", "rest"]})
    assert [(each.name, each.made["parent"]) for each in document.clusters] == [("one", merged.id), ("rest", merged.id)]
    assert document.sizes().tolist() == [1, 3]


def test_new_rows_of_a_cluster_keep_how_it_was_made_before():
    """set_rows replaces the rows, keeps place and id, and remembers what the cluster was made by."""
    op = {"kind": "set_rows", "id": 0, "rows": [4, 5], "made": {"tool": "lasso", "how": "add"}}
    document = made(create("a", [0], made={"tool": "box"}), create("b", [1]), op)
    first = document.clusters[0]
    assert (first.id, first.name) == (0, "a")
    assert (first.made["tool"], first.made["how"], first.made["before"]["tool"]) == ("lasso", "add", "box")
    assert document.codes[:6].tolist() == [-1, 1, -1, -1, 0, 0]


def test_places_are_labels_without_gaps():
    """The labels for figures of quality count the clusters that there are."""
    document = made(create("a", [0]), create("b", [1]), create("c", [2]), {"kind": "delete", "id": 1})
    assert document.places()[:4].tolist() == [0, -1, 1, -1]


@pytest.mark.parametrize(
    "op",
    [
        {"kind": "explode"},
        {"kind": ["create"]},
        {},
        create("a", []),
        create("a", [N]),
        create("a", [-1]),
        create("", [1]),
        create(" \n", [1]),
        create("x" * 201, [1]),
        create("a\0", [1]),
        create("\ud800", [1]),
        create("right\u202eleft", [1]),
        create(5, [1]),
        create("first", [1]),
        create("a", [1], color="red"),
        create("a", [1], color="#12345"),
        create("a", [1], made={"tool": "teeth"}),
        create("a", [1], made={"tool": "box", "note": 1}),
        create("a", [1], made={"shape": [[0, float("inf")]]}),
        create("a", [1], made={"shape": [[0, True]]}),
        create("a", [1], made={"shape": [[0, 1]] * 10_001}),
        create("a", [1], made={"frame": -1}),
        create("a", [1], made={"frame": 2.0}),
        {"kind": "rename", "id": 7, "name": "a"},
        {"kind": "rename", "id": True, "name": "a"},
        {"kind": "merge", "ids": [0], "name": "a"},
        {"kind": "merge", "ids": [0, 0], "name": "a"},
        {"kind": "merge", "ids": "01", "name": "a"},
        {"kind": "split", "id": 0, "rows": [1, 2], "names": ["a", "b"]},
        {"kind": "split", "id": 0, "rows": [5], "names": ["a", "b"]},
        {"kind": "split", "id": 0, "rows": [1], "names": ["a", "a"]},
        {"kind": "split", "id": 0, "rows": [1], "names": ["a"]},
        {"kind": "start_from_found", "clusters": []},
        {"kind": "start_from_found"},
        {"kind": "redo"},
    ],
    ids=lambda op: str(op)[:50],
)
def test_what_makes_no_sense_is_refused(op):
    """A sentence says why."""
    document = made(create("first", [1, 2]))
    op = {**op, **({"rows": np.array(op["rows"], np.int64)} if "rows" in op else {})}
    with pytest.raises(NamingError, match=r"^[A-Za-z].*\.$"):
        apply(document, op)


def test_names_are_one_line_of_text():
    """Spaces are joined, markup stays what it is: text."""
    assert checked_name(" <script>\n alert(1) </script> ") == "<script> alert(1) </script>"


def test_what_a_selection_was_made_by_is_bounded_and_plain():
    """Only what is known is kept."""
    kept = checked_made({"tool": "search", "query": "\ud800x"}, "rows")
    assert kept["query"] == "?x"
    with pytest.raises(NamingError):
        checked_made({"query": "x" * 1001}, "rows")
