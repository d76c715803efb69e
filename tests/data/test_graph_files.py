"""GraphML and GML: what networkx and igraph write is read as they read it; and what is wrong with a file is said."""

import gzip
import re

import numpy as np
import pytest

import sce
from sce import InputError
from sce.data.gml import read_gml
from sce.data.graphml import read_graphml
from sce.data.source import Request


def matrix_of(nx, G, names):
    """The symmetric matrix of a graph of networkx, its nodes by their names as text."""
    A = nx.to_numpy_array(G, nodelist=sorted(G, key=lambda node: names.index(str(node))))
    A = A + A.T if G.is_directed() else A
    np.fill_diagonal(A, 0)
    return A


@pytest.mark.parametrize("ending", ["graphml", "gml"])
@pytest.mark.parametrize("packed", [False, True])
def test_files_of_networkx(tmp_path, ending, packed):
    """Names, weights and attributes of nodes, also from a packed file."""
    nx = pytest.importorskip("networkx")
    for G in (nx.les_miserables_graph(), nx.karate_club_graph(), nx.gnp_random_graph(30, 0.2, directed=True, seed=0)):
        for node in G:
            G.nodes[node]["first"] = str(node)[0] + ' & "co"'
        path = tmp_path / f"g.{ending}"
        getattr(nx, f"write_{ending}")(G, path)
        if packed:
            path = tmp_path / f"g.{ending}.gz"
            path.write_bytes(gzip.compress((tmp_path / f"g.{ending}").read_bytes()))
        table = sce.read(path)
        names = [str(name) for name in table.ids.tolist()]
        assert sorted(names) == sorted(map(str, G))
        assert (table.X.toarray() == matrix_of(nx, G, names)).all()
        assert table.extra["first"].tolist() == [f'{name[0]} & "co"' for name in names]


@pytest.mark.parametrize("ending", ["graphml", "gml"])
def test_files_of_igraph(tmp_path, ending):
    """It numbers the nodes itself and keeps their names as an attribute."""
    ig = pytest.importorskip("igraph")
    G = ig.Graph.Famous("Zachary")
    G.vs["name"] = [f"member {k}" for k in range(34)]
    G.es["weight"] = [1.0 + k for k in range(78)]
    path = tmp_path / f"g.{ending}"
    G.write(str(path), format=ending)
    table = sce.read(path)
    assert table.ids.tolist() == G.vs["name"]
    A = np.array(G.get_adjacency(attribute="weight").data)
    assert (table.X.toarray() == A).all()


def test_labels_and_names_of_nodes(tmp_path):
    """Labels that are all different name the nodes; others may be classes. Newman's files have weights named "value"."""
    path = tmp_path / "g.gml"
    nodes = "".join(f'node [ id {k} label "n{k % 2}" value "{"lc"[k % 2]}" ]\n' for k in range(4))
    path.write_text(
        f'Creator "me"\ngraph [ # a comment\n directed 0\n{nodes} edge [ source 0 target 3 value 2.5 graphics [ w 1 ] ] ]'
    )
    table = sce.read(path)
    assert table.ids.tolist() == [0, 1, 2, 3]
    assert (table.label_name, table.labels.tolist()) == ("label", ["n0", "n1", "n0", "n1"])
    assert table.X.toarray()[3, 0] == 2.5
    assert sce.read(path, labels="value").labels.tolist() == ["l", "c", "l", "c"]


GRAPHML = '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">{}</graphml>'
BAD_GRAPHML = {
    "not closed": ("<?xml version='1.0'?><graphml><graph>", "is no valid XML"),
    "entities": ('<?xml version="1.0"?><!DOCTYPE graphml [<!ENTITY a "b">]><graphml/>', "declares XML entities"),
    "two graphs": (GRAPHML.format("<graph/><graph/>"), "several graphs"),
    "no nodes": (GRAPHML.format("<graph/>"), "has no nodes"),
    "an end that is not there": (
        GRAPHML.format('<graph><node id="a"/><edge source="a" target="b"/></graph>'),
        "no node 'b'",
    ),
    "a node twice": (GRAPHML.format('<graph><node id="a"/><node id="a"/></graph>'), "two nodes with the id 'a'"),
    "a hyperedge": (GRAPHML.format('<graph><node id="a"/><hyperedge/></graph>'), "hyperedges"),
    "a weight that is no number": (
        GRAPHML.format(
            '<key id="w" for="edge" attr.name="weight" attr.type="string"/><graph><node id="a"/><node id="b"/>'
            '<edge source="a" target="b"><data key="w">much</data></edge></graph>'
        ),
        "weight 'much'",
    ),
    "a web page": ("<!DOCTYPE html><html></html>", "is not what its name says"),
}
BAD_GML = {
    "not closed": ("graph [ node [ id 1 ]", "truncated"),
    "no graph": ("Creator 1", "holds no graph"),
    "no key": ("graph [ 1 2 ]", "has 1 in line 1"),
    "a strange sign": ("graph [\n ; ]", "';' in line 2"),
    "no id": ("graph [ node [ label 1 ] ]", "a node without 'id'"),
    "no target": ("graph [ node [ id 1 ] edge [ source 1 ] ]", "an edge without 'target'"),
    "a bracket too many": ("graph [ ] ]", "']' in line 1"),
    "a negative weight": ("graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 weight -1 ] ]", "weight -1"),
}


@pytest.mark.parametrize("case", [*BAD_GRAPHML, *(f"GML: {name}" for name in BAD_GML)])
def test_bad_files(tmp_path, case):
    """A sentence, and no other error."""
    kind, cases = ("gml", BAD_GML) if case.startswith("GML: ") else ("graphml", BAD_GRAPHML)
    text, sentence = cases[case.removeprefix("GML: ")]
    path = tmp_path / f"g.{kind}"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(sentence)):
        sce.read(path)


def test_default_values_of_graphml(tmp_path):
    """An edge without a weight has the default of the file, and a nested graph does not disturb."""
    path = tmp_path / "g.graphml"
    path.write_text(
        GRAPHML.format(
            '<key id="w" for="edge" attr.name="weight" attr.type="double"><default>3</default></key>'
            '<graph edgedefault="undirected"><node id="a"><graph><node id="b"/></graph></node>'
            '<edge source="a" target="b"/></graph>'
        )
    )
    source = read_graphml(path, Request())
    assert sorted(source.ids.tolist()) == ["a", "b"]
    assert source.X.toarray().tolist() == [[0, 3], [3, 0]]
    (tmp_path / "g.gml").write_bytes(b'graph [ node [ id 1 label "caf\xe9" ] node [ id 2 label "b" ] ]')
    assert read_gml(tmp_path / "g.gml", Request()).ids.tolist() == ["café", "b"]
