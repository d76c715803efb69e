"""Lists of edges: which tables are, which may be, and which are not; and what becomes of them."""

import re
import warnings

import numpy as np
import pytest

import sce
from sce import DataWarning, InputError, ParameterError

PEOPLE = ["ann", "bob", "cy", "dee", "eve"]
PAIRS = [("ann", "bob"), ("bob", "cy"), ("cy", "ann"), ("dee", "eve")]


@pytest.fixture
def write(tmp_path):
    """Write a file of some lines."""

    def make(name, lines):
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        return path

    return make


def by_hand(pairs, names, weights=None):
    """The matrix of a graph, an edge at a time."""
    A = np.zeros((len(names), len(names)))
    for (a, b), weight in zip(pairs, weights or [1] * len(pairs), strict=True):
        i, j = names.index(a), names.index(b)
        if i != j:
            A[i, j] += weight
            A[j, i] += weight
    return A


HEADERS = [
    *("source,target", "Source,Target", "from,to", "src,dst", "node1,node2", "Node A,Node B", "# FromNodeId,ToNodeId"),
    *("protein1,protein2", "id_1,id_2", "u,v", "sender,receiver", "one,two"),
]


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_recognised(write, header, weighted):
    """By the names of its columns, or by what is in them; names of nodes become ids, in the order of the file."""
    rows = [f"{a},{b}{f',{k + 1}' if weighted else ''}" for k, (a, b) in enumerate(PAIRS)]
    table = sce.read(write("edges.csv", [header + (",weight" if weighted else ""), *rows]))
    assert table.is_graph
    assert table.ids.tolist() == PEOPLE
    assert (table.X.toarray() == by_hand(PAIRS, PEOPLE, [1, 2, 3, 4] if weighted else None)).all()
    assert "4 edges among 5 nodes" in table.notes[0]
    assert 'edges="no" reads it as a table' in table.notes[0]
    assert repr(table) == "Table(graph of 5 nodes, with ids)"


def test_names_of_numbers(write):
    """Whole numbers are names, in ascending order; 007 stays 007, and one name that is no number makes all of them text."""
    path = write("edges.csv", ["source,target", "7,3", "3,10", "10,7"])
    assert sce.read(path).ids.tolist() == [3, 7, 10]
    path = write("edges.csv", ["source,target", "007,3", "3,10"])
    assert sce.read(path).ids.tolist() == ["007", "3", "10"]
    many = [f"{k},{k + 1}" for k in range(2000)]
    path = write("edges.csv", ["source,target", *many, "2000,2000a"])
    assert sce.read(path).ids.tolist()[-1] == "2000a"


def test_gephis_export(write):
    """Its further columns describe edges; those that are not used are named."""
    rows = [f"{a},{b},Undirected,{k},,{k + 1}" for k, (a, b) in enumerate(PAIRS)]
    table = sce.read(write("edges.csv", ["Source,Target,Type,Id,Label,Weight", *rows]))
    assert (table.X.toarray() == by_hand(PAIRS, PEOPLE, [1, 2, 3, 4])).all()
    assert "Columns that are not used: 'Type', 'Id', 'Label'" in table.notes


NOT_EDGES = {
    "labels": ["size,target", "1.5,a", "2.5,b", "3.5,a"],
    "features": ["source,target,a,b", "web,1,0.5,2", "mail,0,0.1,3", "web,1,0.3,4"],
    "answers": [
        "smoker,drinker,age",
        *(f"{a},{b},{k}" for k in range(10) for a in ("yes", "no") for b in ("yes", "no")),
    ],
    "measured": ["from,to", "0.5,1.5", "1.5,2.25"],
    "spans": ["from,to", "1,2", "5,6", "11,12"],
    "counts": ["word1,word2,word3", *(f"{k * 7 % 20},{k * 3 % 20},{k * 11 % 20}" for k in range(20))],
    "points": ["x,y", "1,2", "3,4", "5,6"],
}


@pytest.mark.parametrize("case", NOT_EDGES)
def test_tables_stay_tables(write, case):
    """Without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not sce.read(write("data.csv", NOT_EDGES[case])).is_graph


MAY_BE = {
    "numbers without names": (["a,b", *(f"{k},{(k * 7 + 3) % 40}" for k in range(40))], "edges='a,b'"),
    "further columns": (["from,to,price", "ann,bob,3.5", "bob,cy,4.5", "cy,ann,1"], "edges='from,to'"),
    "features": (["source,target,weight,height", "1,2,3,4", "2,3,4,5", "3,1,2,9"], "edges='source,target,weight'"),
}


@pytest.mark.parametrize("case", MAY_BE)
def test_what_may_be_edges(write, case):
    """Is a table as before, and a warning says what would make it a graph; which it does."""
    lines, option = MAY_BE[case]
    path = write("data.csv", lines)
    with pytest.warns(DataWarning, match=re.escape(option)):
        assert not sce.read(path).is_graph
    assert sce.read(path, edges=option[7:-1]).is_graph
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not sce.read(path, edges="no").is_graph
        assert not sce.read(path, drop=["0"] if case != "features" else ["weight"]).is_graph


def test_the_option_names_columns(write):
    """By name or, without a header, by number; "yes" takes the first two columns, and a third of numbers as the weight."""
    path = write("e.tsv", ["ann\tbob\t2", "bob\tcy\t3"])
    for edges in ("yes", "0,1,2", ["0", "1", "2"]):
        assert sce.read(path, edges=edges).X.toarray()[0, 1] == 2
    assert sce.read(path, edges="0,1").X.toarray()[0, 1] == 1
    with pytest.raises(InputError, match="has no column 'ann'"):
        sce.read(path, edges="ann,bob")
    for edges in ("maybe", "a,b,c,d", ["a"], 3):
        with pytest.raises(ParameterError, match="edges must be"):
            sce.read(path, edges=edges)


@pytest.mark.parametrize("name", ["net.edges", "net.edgelist"])
def test_files_named_as_edges(write, name):
    """Are lists of edges, with spaces, commas or tabs, and comments above them."""
    for mark, sign in (("% sym weighted", " "), ("# two words", ","), ("#", "\t"), ("", " ")):
        path = write(name, [*([mark] if mark else []), *(sign.join([a, b, "2"]) for a, b in PAIRS)])
        table = sce.read(path)
        assert (table.X.toarray() == 2 * by_hand(PAIRS, PEOPLE)).all()
        assert table.ids.tolist() == PEOPLE


def test_what_adds_up_and_what_is_left_out(write):
    """Edges given twice or in both directions add up, those from a node to itself do not count; all of it is said."""
    rows = ["a,b,1", "b,a,2", "a,b,4", "c,c,9", "b,c,0"]
    table = sce.read(write("edges.csv", ["source,target,weight", *rows]))
    assert (table.X.toarray() == [[0, 7, 0], [7, 0, 0], [0, 0, 0]]).all()
    assert "2 edges given again, or in the other direction, add to the weight" in table.notes
    assert "1 edge from a node to itself left out" in table.notes


BAD = {
    "negative": (["source,target,weight", "a,b,1", "b,c,-2"], "'-2' in column 'weight', line 3"),
    "no number": (["source,target,weight", "a,b,1", "b,c,far"], "'far' in column 'weight', line 3"),
    "no weight": (["source,target,weight", "a,b,1", "b,c,"], "line 3"),
    "no name": (["source,target,weight", "a,b,1", ",c,1"], "no name in column 'source' in line 3"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_cells(write, case):
    """Are named with their line."""
    lines, sentence = BAD[case]
    with pytest.raises(InputError, match=re.escape(sentence)):
        sce.read(write("edges.csv", lines))


def test_options_without_effect(write):
    """Are refused on a graph."""
    path = write("edges.csv", ["source,target", "a,b", "b,c"])
    with pytest.raises(InputError, match="weights= has no effect"):
        sce.read(path, weights="source")


def test_other_kinds_of_tables(tmp_path):
    """Parquet, and arrays if asked."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    first, second = zip(*PAIRS, strict=True)
    parquet.write_table(pa.table({"source": first, "target": second}), tmp_path / "e.parquet")
    assert (sce.read(tmp_path / "e.parquet").X.toarray() == by_hand(PAIRS, PEOPLE)).all()
    np.save(tmp_path / "e.npy", np.array([[0, 1], [1, 2]]))
    assert sce.read(tmp_path / "e.npy", edges="yes").X.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_a_weight_that_is_missing(tmp_path):
    """Is called so, with its line."""
    (path := tmp_path / "a.csv").write_text("source,target,weight\na,b,1\nb,c,\nc,a,1\n")
    with pytest.raises(InputError, match=r"has no weight in column 'weight', line 3; weights are numbers"):
        sce.read(path)
