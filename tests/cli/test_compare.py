"""`sce compare`: a file or a name in, a report out."""

import json
from argparse import Namespace

import numpy as np
import pytest
import scipy.sparse as sp

import sce as package
from sce.cli.commands.compare import _graph_options
from sce.graph.build import GraphOptions


def test_compare_leaves_a_report(sce, table, tmp_path):
    """With labels recognised, the map of sce embed, up to float32 data; a second run reads what is there."""
    graph = ["--affinity", "entropic", "--n-neighbors", "7", "--seed", "2"]
    said = sce("compare", "data.csv", "-o", "out", "--methods", "sce,gsne:r=3", *graph, "--json")
    assert said.code == 0, said.err
    facts = json.loads(said.out)
    assert facts["report"] == "out/report.html"
    assert [(row["method"], row["status"]) for row in facts["rows"]] == [("sce", "done"), ("gsne-r=3", "done")]
    assert facts["rows"][1]["r"] == 3.0
    assert facts["rows"][0]["accuracy"] == 1.0
    for name in ("report.html", "data.png", "table.csv", "data/sce.npz", "data/graph.npz"):
        assert (tmp_path / "out" / name).is_file(), name
    assert sce("embed", "data.csv", "-o", "map.npz", *graph, "--alpha", "0.5", "--quiet").code == 0
    np.testing.assert_allclose(package.load("map.npz").Y, package.load("out/data/sce.npz").Y, atol=0.1)
    again = sce("compare", "data.csv", "-o", "out", "--methods", "sce,gsne:r=3", *graph)
    assert again.err.count("done before") == 2
    assert "out/report.html: 2 methods on data" in again.out


def test_blocks_and_a_graph_alone(sce, graph, tmp_path):
    """--blocks draws P by clusters; a graph is enough."""
    sp.save_npz(tmp_path / "P.npz", graph(90))
    said = sce("compare", "--graph", "P.npz", "--methods", "sce,sce-vectors", "--blocks", "--quiet")
    assert said.code == 0, said.err
    assert (tmp_path / "comparison" / "P-blocks.png").stat().st_size > 1000
    assert "needs vectors" in (tmp_path / "comparison" / "report.html").read_text()


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (["data.csv", "--methods", "sce,tsen"], 2, "did you mean 'tsne'?"),
        (["data.csv", "--methods", "gsne:r=x"], 2, "a number above 0"),
        (["data.csv", "--time-limit", "0"], 2, "--time-limit"),
        (["data.csv", "--weights", "a"], 2, "--weights"),
        (["data.csv", "--n-neighbors", "0"], 2, "--n-neighbors must be"),
        (["absent.csv"], 3, "absent.csv"),
        ([], 2, "sce compare --help"),
        (["data.csv", "-o", "data.csv", "--methods", "sce"], 4, "data.csv"),
    ],
)
def test_mistakes_are_said_in_a_line(sce, table, words, code, hint):
    """Before any method is run."""
    said = sce("compare", *words)
    assert said.code == code, said.err
    assert hint in said.err.splitlines()[-1]


def test_distances_are_refused(sce, table, tmp_path):
    """The other methods take vectors or a graph."""
    np.save(tmp_path / "d.npy", np.ones((20, 20)) - np.eye(20))
    said = sce("compare", "d.npy", "--metric", "precomputed", "--methods", "sce")
    assert said.code == 3
    assert "not distances" in said.err


def test_named_data_have_the_paper_s_graph():
    """Unless something else was asked for."""
    nothing = {"affinity": None, "n_neighbors": None, "perplexity": None, "metric": None, "graph": None}
    assert _graph_options(Namespace(data="mnist", **nothing)) == GraphOptions("knn", n_neighbors=10)
    assert _graph_options(Namespace(data="shuttle", **nothing)) == GraphOptions("entropic", perplexity=30.0)
    assert _graph_options(Namespace(data="mnist", **{**nothing, "n_neighbors": 20})) == GraphOptions(n_neighbors=20)
    assert _graph_options(Namespace(data="mine.csv", **nothing)) == GraphOptions()
