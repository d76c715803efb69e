"""Labels and names of nodes: from attributes or files, joined by the names of the nodes and never by chance."""

import numpy as np
import pytest
import scipy.sparse as sp

import sce
from sce import InputError
from sce.data.nodes import in_order_of_rows
from sce.data.source import Source
from sce.data.table import Table


@pytest.fixture
def edges(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text("source,target\nann,bob\nbob,cy\ncy,ann\ndee,ann\n")
    (tmp_path / "numbers.csv").write_text("source,target\n0,1\n1,2\n2,3\n3,0\n")
    (tmp_path / "people.csv").write_text("town,person,age\nOslo,cy,3\nRome,ann,1\nBern,bob,2\nBonn,eve,5\nKyiv,dee,4\n")
    return tmp_path


def test_rows_are_found_by_the_names_of_nodes(edges):
    """Whatever their order; rows of other nodes are ignored."""
    table = sce.read("edges.csv", labels="people.csv:town", ids="people.csv:age")
    assert table.labels.tolist() == ["Rome", "Bern", "Oslo", "Kyiv"]
    assert table.label_name == "town"
    assert table.ids.tolist() == [1, 2, 3, 4]
    names = sce.read("edges.csv", labels="people.csv:town", ids="people.csv:person").ids
    assert names.tolist() == ["ann", "bob", "cy", "dee"]


def test_names_without_rows(edges):
    """Have no label, which is said; as names they are refused."""
    (edges / "few.csv").write_text("person,town\nbob,Bern\nann,Rome\n")
    table = sce.read("edges.csv", labels="few.csv")
    assert table.labels.tolist() == ["Rome", "Bern", "", ""]
    assert any(note.startswith("2 nodes have no row in few.csv, such as 'cy'") for note in table.notes)
    with pytest.raises(InputError, match="no row for 2 nodes"):
        sce.read("edges.csv", ids="few.csv")


def test_rows_that_cannot_be_matched(edges):
    """Are refused: which row belongs to which node is not to be guessed."""
    (edges / "towns.csv").write_text("town\nOslo\nRome\nBern\nKyiv\n")
    with pytest.raises(InputError, match=r"No column of towns.csv has the names of the nodes"):
        sce.read("edges.csv", labels="towns.csv")
    with pytest.raises(InputError, match="no attribute 'town'"):
        sce.read("edges.csv", labels="town")
    (edges / "twice.csv").write_text("person,town\nann,Rome\nbob,Bern\nann,Oslo\ncy,Bonn\n")
    with pytest.raises(InputError, match="'ann' twice"):
        sce.read("edges.csv", labels="twice.csv:town")
    with pytest.raises(InputError, match=r"labels='people.csv:age'"):
        sce.read("edges.csv", labels="people.csv")
    with pytest.raises(InputError, match="has no column 'twon'"):
        sce.read("edges.csv", labels="people.csv:twon")


def test_numbered_nodes(edges):
    """Have their row numbers as names, unless a column named id has other ones."""
    (edges / "towns.csv").write_text("town\nOslo\nRome\nBern\nKyiv\n")
    assert sce.read("numbers.csv", labels="towns.csv").labels.tolist() == ["Oslo", "Rome", "Bern", "Kyiv"]
    (edges / "towns.csv").write_text("town,id\nOslo,3\nRome,2\nBern,1\nKyiv,0\n")
    assert sce.read("numbers.csv", labels="towns.csv:town").labels.tolist() == ["Kyiv", "Bern", "Rome", "Oslo"]
    (edges / "towns.csv").write_text("town,rank\nOslo,3\nRome,2\nBern,1\nKyiv,0\n")
    assert sce.read("numbers.csv", labels="towns.csv:town").labels.tolist() == ["Oslo", "Rome", "Bern", "Kyiv"]


def graph_of(names, edges):
    """A graph table with these names."""
    A = np.zeros((len(names), len(names)))
    for a, b in edges:
        A[names.index(a), names.index(b)] = A[names.index(b), names.index(a)] = 1
    source = Source("g.graphml", sp.csr_matrix(A), ids=np.array(names), is_graph=True)
    return Table("g.graphml", source.X, ids=source.ids, is_graph=True)


def test_a_graph_of_the_rows_of_a_table():
    """Its nodes are put in the order of the rows, by the names of both; a row that is no node has no edge."""
    nodes = graph_of(["c", "a", "b"], [("c", "a")])
    table = Table("data.csv", np.zeros((4, 1)), ids=np.array(["a", "b", "c", "d"]))
    P = in_order_of_rows(nodes, table).toarray()
    assert (P == [[0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]).all()
    with pytest.raises(InputError, match=r"such as 'c', are no rows of data\.csv"):
        in_order_of_rows(nodes, Table("data.csv", np.zeros((4, 1))))
    with pytest.raises(InputError, match="not all different"):
        in_order_of_rows(nodes, Table("data.csv", np.zeros((2, 1)), ids=np.array(["a", "a"])))
