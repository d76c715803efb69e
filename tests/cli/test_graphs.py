"""Graphs in the shell: lists of edges, .graphml and .gml as data or by --graph, with names and labels of their nodes."""

import numpy as np
import pytest
import scipy.sparse as sp

import sce as package
from sce import SCE

QUICK = ("--quiet", "--n-epochs", "5", "--optimizer", "gradient")


@pytest.fixture
def club(tmp_path):
    """edges.csv, two rings of twelve joined by one edge; people.csv, in another order; the matrix."""
    names = [f"p{k:02}" for k in range(24)]
    pairs = [(k, (k + step) % 12 + 12 * (k // 12)) for k in range(24) for step in (1, 2)] + [(0, 12)]
    A = np.zeros((24, 24))
    for i, j in pairs:
        A[i, j] += 1
        A[j, i] += 1
    pairs = sorted(pairs)
    (tmp_path / "edges.csv").write_text("from,to\n" + "".join(f"{names[i]},{names[j]}\n" for i, j in pairs))
    rows = [f"{names[k]},{'uv'[k // 12]},{k}.5" for k in reversed(range(24))]
    (tmp_path / "people.csv").write_text("id,club,height\n" + "\n".join(rows))
    return names, A


def test_edges_are_recognised(sce, club):
    """They make a map of the nodes, with their names; the log says so. The same by --graph, and by the estimator."""
    names, A = club
    said = sce("embed", "edges.csv", "--labels", "people.csv:club", "-o", "a.npz", *QUICK[1:])
    assert said.code == 0, said.err
    assert "An edge list (columns 'from', 'to'): 49 edges among 24 nodes; --edges no reads it as a table." in said.err
    made = package.load("a.npz")
    assert sorted(made.ids.tolist()) == names
    assert made.labels.tolist() == ["uv"[names.index(name) // 12] for name in made.ids]
    order = [names.index(name) for name in made.ids]
    model = SCE(affinity="precomputed", n_epochs=5, optimizer="gradient", random_state=0)
    assert (model.fit_transform(sp.csr_matrix(A[order][:, order])) == made.Y).all()
    assert sce("embed", "--graph", "edges.csv", "-o", "b.npz", *QUICK).code == 0
    assert (package.load("b.npz").Y == made.Y).all()
    assert made.parameters["affinity"] == "precomputed"


def test_the_option(sce, club, tmp_path):
    """--edges reads as a graph what is not recognised, and as a table what is; it is kept for sce quality."""
    (tmp_path / "plain.tsv").write_text((tmp_path / "edges.csv").read_text().replace(",", "\t").replace("p", "1")[8:])
    said = sce("embed", "plain.tsv", "-o", "a.npz", *QUICK)
    assert "Warning: plain.tsv may be a list of edges" in said.err
    assert "--edges 0,1 reads it as a graph" in said.err
    assert sce("embed", "plain.tsv", "--edges", "yes", "-o", "a.npz", *QUICK).code == 0
    assert len(package.load("a.npz").Y) == 24
    assert sce("quality", "a.npz", "--graph", "plain.tsv", "--quiet").code == 0
    assert sce("embed", "--graph", "plain.tsv", "-o", "b.npz", *QUICK).code == 0  # by --graph a graph is expected
    assert (package.load("a.npz").Y == package.load("b.npz").Y).all()
    said = sce("quality", "a.npz", "--data", "plain.tsv")
    assert (said.code, "give it with --graph" in said.err) == (2, True)
    said = sce("embed", "edges.csv", "--edges", "no")
    assert said.code == 3
    assert sce("embed", "edges.csv", "--edges", "maybe").code == 2


@pytest.mark.parametrize("option", ["--log1p", "--n-neighbors=3", "--keep-data", "--metric=cosine"])
def test_options_without_effect(sce, club, option):
    """Are refused on a graph, with the way to read it as a table."""
    said = sce("embed", "edges.csv", *option.split("="))
    assert said.code == 2
    assert (
        f"{option.split('=')[0]} has no effect on edges.csv, which is a graph (--edges no reads it as a table)"
        in said.err
    )


def test_a_graph_of_the_rows(sce, club):
    """Data with a list of edges: the nodes are found by the names of the rows."""
    names, A = club
    assert sce("embed", "people.csv", "--graph", "edges.csv", "-o", "a.npz", "--keep-graph", *QUICK).code == 0
    made = package.load("a.npz")
    assert made.ids.tolist() == names[::-1]
    P = made.P.toarray()
    assert np.allclose(P, A[::-1, ::-1] / A.sum(), atol=1e-7)


def test_a_graph_of_rows_without_numbers(sce, club, tmp_path):
    """The message says that the graph needs no numbers, and its command works."""
    (tmp_path / "clubs.csv").write_text("id,club\n" + "\n".join(f"p{k:02d},{'uv'[k % 2]}" for k in range(24)))
    said = sce("embed", "clubs.csv", "--graph", "edges.csv", "-o", "a.npz").err
    assert said.endswith("the graph needs none: sce embed --graph edges.csv --labels clubs.csv:COLUMN\n")


@pytest.mark.parametrize("ending", ["graphml", "gml"])
def test_graph_files(sce, tmp_path, ending):
    """As data or by --graph, coloured by an attribute of the nodes."""
    nx = pytest.importorskip("networkx")
    getattr(nx, f"write_{ending}")(nx.karate_club_graph(), tmp_path / f"g.{ending}")
    assert sce("embed", f"g.{ending}", "--labels", "club", "-o", "a.npz", *QUICK).code == 0
    assert sce("embed", "--graph", f"g.{ending}", "--labels", "club", "-o", "b.npz", *QUICK).code == 0
    a, b = package.load("a.npz"), package.load("b.npz")
    assert (a.Y == b.Y).all()
    assert a.labels.tolist() == b.labels.tolist()
    assert set(a.labels.tolist()) == {"Mr. Hi", "Officer"}


@pytest.mark.parametrize("name", ["g.npz", "g.mtx", "g.npy"])
def test_names_for_matrices(sce, tmp_path, name):
    """--ids names the nodes of a graph in any format, as --graph or as data that are a graph."""
    from scipy.io import mmwrite

    A = np.ones((12, 12)) - np.eye(12)
    {"g.npz": sp.save_npz, "g.mtx": mmwrite, "g.npy": lambda path, P: np.save(path, P.toarray())}[name](
        tmp_path / name, sp.csr_matrix(A)
    )
    names = [f"n{k}" for k in range(12)]
    (tmp_path / "names.csv").write_text("what,size\n" + "\n".join(f"{word},1" for word in names))
    for words in (("--graph", name), (name, "--affinity", "precomputed")):
        assert sce("embed", *words, "--ids", "names.csv:what", "-o", "a.npz", *QUICK).code == 0
        assert package.load("a.npz").ids.tolist() == names
    assert sce("embed", name, "--metric", "precomputed", "--ids", "names.csv:what", "-o", "a.npz", *QUICK).code in (
        0,
        3,
    )


def test_sweeps_and_comparisons_of_edges(sce, club):
    """Every command that reads data reads graphs."""
    assert sce("sweep", "edges.csv", "--log10-r", "0,1", "-o", "s.npz", "--quiet").code == 0
    assert package.load("s.npz").frames.shape[1] == 24
    assert sce("compare", "edges.csv", "--methods", "sce", "-o", "out", "--quiet").code == 0
