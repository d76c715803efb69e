"""The comparison: every method leaves a row, nothing is done twice, and nothing that is killed is lost."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp
from odd_methods import ABSENT, BROKEN, FAILING, QUICK, SLOW, method

from sce.compare import Data, compare
from sce.compare.store import Store
from sce.errors import InputError, OutputError, ParameterError
from sce.results.maps import load


@pytest.fixture(scope="module")
def X():  # noqa: N802
    rng = np.random.default_rng(0)
    return (rng.normal(size=(120, 5)) + 12 * (np.arange(120) % 3)[:, None]).astype(np.float32)


@pytest.fixture
def data(X):
    return Data("three", X=X, labels=np.arange(120) % 3)


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """The number of fits so far, the untimed ones of more points not counted."""
    path = tmp_path / "calls"
    monkeypatch.setenv("COUNT", str(path))
    return lambda: sum(line != str(QUICK.warm_up_points) for line in path.read_text().split()) if path.exists() else 0


def state(folder):
    """The bytes and times of all files of a data set."""
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}


def test_every_method_leaves_a_row(data, tmp_path):
    """Done, or why not, in one line; and files for all of it."""
    rows = {row.method: row for row in compare(data, tmp_path, [QUICK, FAILING, BROKEN, ABSENT])}
    assert {name: row.status for name, row in rows.items()} == {
        "quick": "done", "failing": "failed", "broken": "failed", "absent": "not installed",
    }  # fmt: skip
    assert rows["failing"].reason == "ValueError: the moon <is> full"
    assert "not finite" in rows["broken"].reason
    assert rows["absent"].reason.startswith("no-such-package is not installed: pip install")
    facts, figures = rows["quick"].facts, rows["quick"].figures
    assert 0 <= facts["seconds"] <= facts["process_seconds"]
    assert facts["peak_memory"] > 1e6
    assert figures["n_clusters"] == 3
    assert figures["accuracy"] == 1.0
    assert figures["share"] > figures["share_null"]
    for name in ("report.html", "table.csv", "table.json", "table.md", "three.png"):
        assert (tmp_path / name).stat().st_size > 100, name
    page = (tmp_path / "report.html").read_text()
    assert "the moon &lt;is&gt; full" in page
    assert not list((tmp_path / "three").glob("vectors*"))


def test_means_of_q_are_those_of_the_map(data, tmp_path):
    """E_P[q] and E_U[q], from their definitions."""
    facts = compare(data, tmp_path, [QUICK])[0].facts
    Y = load(tmp_path / "three" / "quick.npz").Y.astype(np.float64)
    P = sp.load_npz(tmp_path / "three" / "graph.npz").toarray()
    q = 1 / (1 + ((Y[:, None] - Y) ** 2).sum(axis=2))
    assert facts["mean_q_P"] == pytest.approx((P * q).sum(), rel=1e-5)
    assert facts["mean_q_U"] == pytest.approx((q.sum() - 120) / (120 * 119), rel=1e-5)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for the memory of a process")
def test_memory_is_that_of_the_method(data, tmp_path):
    """Not that of whoever started it."""
    ballast = np.ones(100_000_000)
    assert compare(data, tmp_path, [QUICK])[0].facts["peak_memory"] < ballast.nbytes


def test_nothing_is_done_twice(data, tmp_path, calls):
    """The same comparison again leaves all maps, rows and P as they are."""
    first = compare(data, tmp_path, [QUICK, FAILING])
    before, done = state(tmp_path / "three"), calls()
    assert done == 2
    assert compare(data, tmp_path, [QUICK, FAILING]) == first
    assert state(tmp_path / "three") == before
    assert calls() == done


@pytest.mark.parametrize("change", ["data", "graph", "seed", "parameter", "threads"])
def test_what_changed_is_done_again(X, tmp_path, calls, change):
    """Other data, P, seed, parameters, threads: another map."""
    compare(Data("three", X=X), tmp_path, [QUICK], n_jobs=1)
    assert calls() == 1
    from sce.graph.build import GraphOptions

    other = Data("three", X=X + (change == "data"), graph=GraphOptions(n_neighbors=7) if change == "graph" else None)
    chosen = method("quick", parameters={"shift": 1.0}) if change == "parameter" else QUICK
    compare(other, tmp_path, [chosen], random_state=int(change == "seed"), n_jobs=1 + (change == "threads"))
    assert calls() == 2


def test_other_labels_are_judged_anew(X, tmp_path, calls):
    """Without a new map."""
    first = compare(Data("three", X=X, labels=np.arange(120) % 3), tmp_path, [QUICK])[0]
    second = compare(Data("three", X=X, labels=np.arange(120) % 2), tmp_path, [QUICK])[0]
    assert calls() == 1
    assert first.figures["accuracy"] > second.figures["accuracy"]
    assert first.figures["share"] == second.figures["share"]
    third = compare(Data("three", X=X, labels=np.arange(120) % 3, are_classes=False), tmp_path, [QUICK])[0]
    assert "accuracy" not in third.figures


def test_a_damaged_map_is_made_again(data, tmp_path, calls):
    """As one that is not there; so is a damaged P."""
    compare(data, tmp_path, [QUICK])
    path, graph = tmp_path / "three" / "quick.npz", tmp_path / "three" / "graph.npz"
    whole, P = load(path).Y, graph.read_bytes()
    path.write_bytes(path.read_bytes()[:-500])
    graph.write_bytes(P[:-500])
    compare(data, tmp_path, [QUICK])
    assert calls() == 2
    assert graph.read_bytes() == P
    assert (whole == load(path).Y).all()


def test_what_failed_is_remembered_until_told(data, tmp_path, calls):
    """And the rest is left alone when it is tried again."""
    compare(data, tmp_path, [QUICK, FAILING])
    compare(data, tmp_path, [FAILING])
    assert calls() == 2
    compare(data, tmp_path, [QUICK, FAILING], retry=True)
    assert calls() == 3


def test_a_time_limit(data, tmp_path):
    """Leaves a row; the same limit is not tried again, a longer one is."""
    start = time.perf_counter()
    row = compare(data, tmp_path, [SLOW], time_limit=1.0)[0]
    assert (row.status, row.reason) == ("too slow", "more than 1 s")
    middle = time.perf_counter()
    assert middle - start < 300
    said = []
    compare(data, tmp_path, [SLOW], time_limit=1.0, say=said.append)
    assert any("before" in line for line in said if line.startswith("slow"))
    said.clear()
    assert compare(data, tmp_path, [SLOW], time_limit=1.5, say=said.append)[0].reason == "more than 1.5 s"
    assert "slow ..." in said


KILLED = """
import numpy as np, sys
from odd_methods import QUICK, SLOW
from sce.compare import Data, compare
X = np.load(sys.argv[1])
compare(Data("three", X=X, labels=np.arange(120) % 3), sys.argv[2], [QUICK, SLOW])
"""


def test_a_comparison_that_is_killed_goes_on(X, data, tmp_path, calls, monkeypatch):
    """After SIGKILL the finished map is used again, the worker is gone, and no half-written file is left."""
    np.save(tmp_path / "X.npy", X)
    pid_file = tmp_path / "pid"
    monkeypatch.setenv("PID", str(pid_file))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", KILLED, str(tmp_path / "X.npy"), str(tmp_path / "out")]
    process = subprocess.Popen(words, env=environment)
    try:
        _wait(lambda: pid_file.exists() and pid_file.read_text())
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    _wait(lambda: not _runs(int(pid_file.read_text())))
    folder = tmp_path / "out" / "three"
    (folder / ".graph.npz.0123.part").write_bytes(b"half")
    before = state(folder)
    assert calls() == 1
    rows = compare(data, tmp_path / "out", [QUICK, method("quick", parameters={"shift": 2.0}, key="other")])
    assert [row.status for row in rows] == ["done", "done"]
    assert calls() == 2
    after = state(folder)
    assert all(after[name] == before[name] for name in ("quick.npz", "quick.json", "graph.npz"))
    assert not list(folder.glob(".*.part"))


def _wait(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.1)


def _runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_two_comparisons_of_the_same_data_at_once(data, tmp_path):
    """The second is refused."""
    with Store(tmp_path, "three").lock(), pytest.raises(OutputError, match="Another comparison is at work"):
        compare(data, tmp_path, [QUICK])


def test_a_graph_without_vectors(graph, tmp_path):
    """Is enough for the methods on P; the others say what they need."""
    rows = compare(Data("ring", P=graph(100)), tmp_path, ["sce", "pacmap"])
    assert [row.status for row in rows] == ["done", "needs vectors"]
    assert "neighbors_kept" not in rows[0].figures
    assert rows[0].figures["edges_kept"] > 0
    assert rows[0].facts["r"] > 0


def test_the_report_has_all_data_sets_of_a_folder(X, tmp_path):
    """And of each only the rows that belong together."""
    compare(Data("one", X=X), tmp_path, [QUICK, FAILING])
    compare(Data("two", X=X[:90]), tmp_path, [QUICK])
    page = (tmp_path / "report.html").read_text()
    assert all(f'id="{name}"' in page for name in ("one", "two"))
    compare(Data("one", X=X[:100]), tmp_path, [QUICK])
    assert [row.method for row in Store(tmp_path, "one").rows()] == ["quick"]


def test_bad_values_are_refused(X, data, tmp_path):
    """Before anything is run."""
    for options in ({"time_limit": 0}, {"time_limit": "1"}, {"random_state": -1}, {"random_state": 0.5}, {"n_jobs": 0}):
        with pytest.raises(ParameterError):
            compare(data, tmp_path, [QUICK], **options)
    with pytest.raises(ParameterError, match="given twice"):
        compare(data, tmp_path, [QUICK, QUICK])
    for name in ("", "a/b", ".."):
        with pytest.raises(ParameterError):
            Data(name, X=X)
    with pytest.raises(InputError):
        Data("nothing")
    with pytest.raises(InputError):
        Data("three", X=X, labels=[1, 2])
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError):
        compare(data, tmp_path / "file", [QUICK])
