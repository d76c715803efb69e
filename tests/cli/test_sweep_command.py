"""`sce sweep`, and what other commands do with its file."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

import sce as package
from sce.cli.options import span

QUICK = ("--log10-r", "0:2:1", "--n-neighbors", "5")


def test_a_table_becomes_a_sweep(sce, table, tmp_path):
    """With labels, ids, marks and figures; a picture; said in a line."""
    said = sce("sweep", "data.csv", *QUICK, "-o", "s.npz", "--plot", "s.png")
    assert said.code == 0, said.err
    assert said.out.startswith("s.npz: 3 maps of 80 points; SCE chooses r = ")
    assert "look at s.png" in said.out
    assert "Map 3 of 3: log10 r = 2" in said.err
    assert (tmp_path / "s.png").stat().st_size > 10_000
    found = package.Sweep.load("s.npz")
    assert found.frames.shape == (3, 80, 2)
    assert found.log10_r.tolist() == [0.0, 1.0, 2.0]
    assert (found.label_name, sorted(set(found.labels))) == ("kind", ["u", "v"])
    assert set(found.marks) == {"SCE", "t-SNE"}
    assert found.facts["source"] == "data.csv"
    assert found.parameters["n_neighbors"] == 5
    assert "accuracy" in found.figures
    assert found.P is None


def test_it_is_what_python_gives(sce, table):
    """The same frames, whatever is written beside."""
    sce("sweep", "data.csv", *QUICK, "--quiet", "--save-graph", "P.npz", "--keep-graph")
    found = package.Sweep.load("data.sweep.npz")
    same = package.sweep(table, [0, 1, 2], n_neighbors=5, random_state=0)
    assert (found.frames == same.frames).all()
    assert (sp.load_npz("P.npz") != found.P).nnz == 0
    for source in ("P.npz", "data.sweep.npz"):
        assert sce("sweep", "data.csv", "--log10-r", "0:2:1", "--graph", source, "-o", "again.npz").code == 0
        assert (package.Sweep.load("again.npz").frames == same.frames).all()


def test_over_alpha_and_as_json(sce, table):
    """One JSON object; several alpha are swept over, a single one is SCE's mark."""
    said = sce("sweep", "data.csv", "--alpha", "0.01,0.05,1", "--n-neighbors", "5", "--json", "--afresh")
    facts = json.loads(said.out)
    assert facts["alpha"] == [0.01, 0.05, 1.0]
    assert (facts["maps"], facts["points"], facts["sweep"]) == (3, 80, "data.sweep.npz")
    assert facts["marks"]["SCE"]["frame"] == 1
    assert package.Sweep.load("data.sweep.npz").facts["afresh"] is True
    said = sce("sweep", "data.csv", *QUICK, "--alpha", "0.9", "--json")
    lower = json.loads(said.out)["marks"]["SCE"]["r"]
    assert lower < facts["marks"]["SCE"]["r"]


def test_a_graph_without_data(sce, graph):
    """Is all that is needed."""
    sp.save_npz("P.npz", graph(60))
    assert sce("sweep", "--graph", "P.npz", "--log10-r", "0,1", "-o", "s.npz").code == 0
    assert package.Sweep.load("s.npz").frames.shape == (2, 60, 2)


def test_a_data_set_by_name(sce, tmp_path, monkeypatch):
    """With its labels; a name that is nearly one is told; options that choose columns mean nothing."""
    monkeypatch.setenv("SCE_DATA", str(tmp_path))
    rng = np.random.default_rng(0)
    np.savez("two_clouds.npz", X=rng.normal(size=(60, 3)) + 9 * (np.arange(60) % 2)[:, None], y=np.arange(60) % 2)
    said = sce("sweep", "two_clouds", "--log10-r", "1,2", "-o", "s.npz")
    assert said.code == 0, said.err
    found = package.Sweep.load("s.npz")
    assert found.labels.tolist() == [0, 1] * 30
    assert found.facts["source"] == "two_clouds"
    said = sce("sweep", "two_cluods")
    assert (said.code, said.err) == (
        3,
        "sce: There is neither a file nor a data set 'two_cluods'; did you mean two_clouds?\n",
    )
    said = sce("sweep", "two_clouds", "--columns", "0:2")
    assert (said.code, "--columns has no effect on two_clouds, a data set by name" in said.err) == (2, True)
    assert sce("embed", "two_clouds", "--n-epochs", "2", "--labels", "none", "-o", "m.npz").code == 0
    assert package.load("m.npz").labels is None
    (tmp_path / "two_clouds").mkdir()  # a comparison's, perhaps
    assert sce("embed", "two_clouds", "--n-epochs", "2", "-o", "m.npz").code == 0
    (tmp_path / "other").mkdir()
    assert (
        sce("embed", "other").err
        == "sce: other is a folder without .parquet, .arrow or .feather files; give a file, or a folder of such parts.\n"
    )


@pytest.fixture
def swept(sce, table):
    """s.npz."""
    assert sce("sweep", "data.csv", *QUICK, "-o", "s.npz", "--quiet").code == 0
    return package.Sweep.load("s.npz")


def test_other_commands_know_a_sweep(sce, swept, tmp_path):
    """Plot draws a series, info describes it; to all others it is neither a map nor data."""
    said = sce("plot", "s.npz", "-o", "again.png", "--labels", "clusters", "--n-maps", "2", "--title", "two")
    assert said.code == 0, said.err
    assert said.out == "again.png: 3 maps of 80 points, coloured by clusters\n"
    said = sce("info", "s.npz", "--json")
    facts = json.loads(said.out)
    assert (facts["maps"], facts["points"], facts["log10 r"]) == (3, 80, [0.0, 1.0, 2.0])
    said = sce("export", "s.npz")
    assert (said.code, "s.npz is a sweep, not a map" in said.err) == (3, True)
    said = sce("embed", "s.npz")
    assert (said.code, "s.npz is a sweep, not data; draw it with: sce plot s.npz" in said.err) == (3, True)
    said = sce("embed", "--graph", "s.npz")
    assert (said.code, "s.npz is a sweep without its graph; make it with: sce sweep ... --keep-graph" in said.err) == (
        3,
        True,
    )


def test_ctrl_c_leaves_nothing(sce, table, tmp_path, monkeypatch):
    """No file, or the old one."""

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("sce.sweeping._measure", stop)
    before = sorted(tmp_path.iterdir())
    said = sce("sweep", "data.csv", *QUICK, "--quiet")
    assert (said.code, said.err) == (130, "sce: Interrupted; no incomplete file was left behind.\n")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--log10-r", "0:8"], "--log10-r takes FIRST:LAST:STEP such as 0:8:0.25"),
        (["--log10-r", "8:0:1"], "--log10-r takes FIRST:LAST:STEP"),
        (["--log10-r", "0:8:0"], "--log10-r takes FIRST:LAST:STEP"),
        (["--log10-r", "0:8:1e-9"], "of up to 1,000 numbers"),
        (["--log10-r", "40"], "--log10-r must be one or more numbers from -30 to 30"),
        (["--alpha", "0:2:1"], "--alpha must be one or more numbers from 0 to 1"),
        (["--alpha", "2"], "--alpha must be a number from 0 to 1"),
        (
            ["--alpha", "0:1:0.5", "--log10-r", "0:1:1"],
            "is over --log10-r or over several --alpha; leave one of them out",
        ),
        (["-o", "s.png"], "The sweep must end in .npz; for a picture add --plot s.png"),
    ],
)
def test_mistakes_are_told_before_the_work(sce, table, words, message):
    """In a line, with the exit code of the command line or the output."""
    said = sce("sweep", "data.csv", *words)
    assert said.code in (2, 4)
    assert message in said.err
    assert said.err.count("\n") == 1


def test_negative_numbers_are_values(sce, table):
    """-1:1:1 is no option, and -x is none either, but wrong."""
    assert sce("sweep", "data.csv", "--log10-r", "-1:1:1", "-o", "s.npz", "--quiet").code == 0
    assert package.Sweep.load("s.npz").log10_r.tolist() == pytest.approx([-1, 0, 1])
    assert "There is no option '-1x'" in sce("sweep", "data.csv", "-1x").err


def test_spans():
    """Both ends are there, without the dust of floating point."""
    assert span("0:8:0.25") == [k / 4 for k in range(33)]
    assert span("0:1:0.1")[3] == 0.3
    assert span("2") == [2.0]
