"""The comparison: every method leaves a row, nothing is done twice, and nothing that is killed is lost."""

import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp
from odd_methods import ABSENT, BROKEN, FAILING, QUICK, SLOW, method, quick

from sce.compare import Data, Problem, compare, run
from sce.compare.process import Ended
from sce.compare.store import Store
from sce.compare.worker import _warm_up
from sce.errors import InputError, OutputError, ParameterError
from sce.graph.build import GraphOptions
from sce.results.maps import load

N = 60
METHODS = [QUICK, FAILING, BROKEN, ABSENT]
BALLAST = 60_000_000  # numbers in the process that starts the methods: more than theirs need


@pytest.fixture(scope="module")
def X():  # noqa: N802
    rng = np.random.default_rng(0)
    return (rng.normal(size=(N, 5)) + 12 * (np.arange(N) % 3)[:, None]).astype(np.float32)


@pytest.fixture
def data(X):
    return Data("three", X=X, labels=np.arange(N) % 3)


@pytest.fixture(scope="module")
def done(X, tmp_path_factory):
    """A comparison of some methods, and its rows; tests that change it take a copy."""
    folder = tmp_path_factory.mktemp("done")
    ballast = np.ones(BALLAST)
    rows = compare(Data("three", X=X, labels=np.arange(N) % 3), folder, METHODS, n_jobs=1)
    assert ballast[0] == 1
    return folder, {row.method: row for row in rows}


@pytest.fixture
def folder(done, tmp_path):
    """A copy of the comparison."""
    return shutil.copytree(done[0], tmp_path / "copy")


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """The number of fits so far."""
    path = tmp_path / "calls"
    monkeypatch.setenv("COUNT", str(path))
    return lambda: len(path.read_text().split()) if path.exists() else 0


@pytest.fixture
def runs(monkeypatch):
    """The methods that a process would have been started for; none is."""
    started = []
    monkeypatch.setattr(
        run,
        "run_worker",
        lambda job, _: started.append(job["method"]["name"] + job["method"]["variant"]) or Ended(False, False, "x"),
    )
    return started


def state(folder):
    """The bytes and times of all files of a data set."""
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}


def test_every_method_leaves_a_row(done):
    """Done, or why not, in one line; and files for all of it."""
    folder, rows = done
    assert {name: row.status for name, row in rows.items()} == {
        "quick": "done", "failing": "failed", "broken": "failed", "absent": "not installed",
    }  # fmt: skip
    assert rows["failing"].reason == "ValueError: the moon <is> full"
    assert "not finite" in rows["broken"].reason
    assert rows["absent"].reason.startswith("no-such-package is not installed: pip install")
    facts, figures = rows["quick"].facts, rows["quick"].figures
    assert 0 <= facts["seconds"] <= facts["process_seconds"]
    assert figures["n_clusters"] == 3
    assert figures["accuracy"] == 1.0
    assert figures["share"] > figures["share_null"]
    for name in ("report.html", "table.csv", "table.json", "table.md", "three.png"):
        assert (folder / name).stat().st_size > 100, name
    page = (folder / "report.html").read_text()
    assert "the moon &lt;is&gt; full" in page
    assert not list((folder / "three").glob("vectors*"))


def test_means_of_q_are_those_of_the_map(done):
    """E_P[q] and E_U[q], from their definitions."""
    folder, rows = done
    Y = load(folder / "three" / "quick.npz").Y.astype(np.float64)
    P = sp.load_npz(folder / "three" / "graph.npz").toarray()
    q = 1 / (1 + ((Y[:, None] - Y) ** 2).sum(axis=2))
    assert rows["quick"].facts["mean_q_P"] == pytest.approx((P * q).sum(), rel=1e-5)
    assert rows["quick"].facts["mean_q_U"] == pytest.approx((q.sum() - N) / (N * (N - 1)), rel=1e-5)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for the memory of a process")
def test_memory_is_that_of_the_method(done):
    """Not that of the process that started it."""
    assert 1e6 < done[1]["quick"].facts["peak_memory"] < 8 * BALLAST


def test_the_warm_up_is_a_small_fit_with_the_types_of_the_problem(X, graph):
    """So that the kernels of the timed fit are compiled before; with other parameters where they are given."""
    seen = []
    P = graph(N)
    for vectors in (X, None):
        problem = Problem(vectors, P, 3, 1)
        _warm_up(lambda *args, **parameters: seen.append((*args, parameters)), QUICK, problem, {"shift": 5.0})
    for (few, parameters), vectors in zip(seen, (X, None), strict=True):
        assert few.P.shape == (QUICK.warm_up_points,) * 2
        assert few.P.sum() == pytest.approx(1.0)
        assert (abs(few.P - few.P.T) > 1e-12).nnz == 0
        for part in ("data", "indices", "indptr"):
            assert getattr(few.P, part).dtype == getattr(P, part).dtype
        assert (few.X is None) == (vectors is None)
        assert (few.seed, few.n_jobs, parameters) == (3, 1, {"shift": 5.0})
    assert quick(seen[0][0]).Y.shape == (QUICK.warm_up_points, 2)


def test_nothing_is_done_twice(data, done, folder, runs):
    """The same comparison again leaves all maps, rows and P as they are."""
    before = state(folder / "three")
    rows = compare(data, folder, [QUICK, FAILING, BROKEN], n_jobs=1)
    assert rows == [done[1][row.method] for row in rows]
    assert state(folder / "three") == before
    assert not runs


@pytest.mark.parametrize("change", ["nothing", "data", "graph", "seed", "parameter", "threads", "code"])
def test_what_changed_is_done_again(X, folder, runs, monkeypatch, change):
    """Other data, P, seed, parameters, threads or code: another map."""
    if change == "code":
        monkeypatch.setattr(run, "code_of", lambda function: f"another {function}")
    other = Data("three", X=X + (change == "data"), graph=GraphOptions(n_neighbors=7) if change == "graph" else None)
    chosen = method("quick", parameters={"shift": 1.0}) if change == "parameter" else QUICK
    compare(other, folder, [chosen], random_state=int(change == "seed"), n_jobs=1 + (change == "threads"))
    assert runs == ([] if change == "nothing" else ["quick"])


def test_other_labels_are_judged_anew(X, done, folder, runs):
    """Without a new map."""
    first = done[1]["quick"]
    second = compare(Data("three", X=X, labels=np.arange(N) % 2), folder, [QUICK], n_jobs=1)[0]
    assert first.figures["accuracy"] > second.figures["accuracy"]
    assert first.figures["share"] == second.figures["share"]
    third = compare(Data("three", X=X, labels=np.arange(N) % 3, are_classes=False), folder, [QUICK], n_jobs=1)[0]
    assert "accuracy" not in third.figures
    assert not runs


def test_other_code_of_the_figures_judges_anew(data, done, folder, runs, monkeypatch):
    """Without a new map."""
    monkeypatch.setattr(run, "own_code", lambda modules: f"other {modules}")
    row = compare(data, folder, [QUICK], n_jobs=1)[0]
    assert row.assessed != done[1]["quick"].assessed
    assert row.figures == done[1]["quick"].figures
    assert not runs


def test_a_damaged_map_is_made_again(data, folder, calls):
    """As one that is not there; so is a damaged P."""
    path, graph = folder / "three" / "quick.npz", folder / "three" / "graph.npz"
    whole, P = load(path).Y, graph.read_bytes()
    path.write_bytes(path.read_bytes()[:-500])
    graph.write_bytes(P[:-500])
    compare(data, folder, [QUICK], n_jobs=1)
    assert calls() == 1
    assert graph.read_bytes() == P
    assert (whole == load(path).Y).all()


def test_what_failed_is_remembered_until_told(data, folder, runs):
    """And the rest is left alone when it is tried again."""
    compare(data, folder, [FAILING], n_jobs=1)
    assert not runs
    compare(data, folder, [QUICK, FAILING], n_jobs=1, retry=True)
    assert runs == ["failing"]


def test_a_time_limit(data, folder):
    """Leaves a row; the same limit is not tried again, a longer one is."""
    start = time.perf_counter()
    row = compare(data, folder, [SLOW], n_jobs=1, time_limit=0.5)[0]
    assert (row.status, row.reason) == ("too slow", "more than 0.5 s")
    assert time.perf_counter() - start < 300
    said = []
    compare(data, folder, [SLOW], n_jobs=1, time_limit=0.5, say=said.append)
    assert any("before" in line for line in said if line.startswith("slow"))
    said.clear()
    row = compare(data, folder, [SLOW], n_jobs=1, time_limit=0.6, say=said.append)[0]
    assert row.reason == "more than 0.6 s"
    assert "slow ..." in said


KILLED = """
import numpy as np, sys
from odd_methods import QUICK, SLOW
from sce.compare import Data, compare
X = np.load(sys.argv[1])
compare(Data("three", X=X, labels=np.arange(len(X)) % 3), sys.argv[2], [QUICK, SLOW])
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
    rows = compare(data, tmp_path / "out", [QUICK, method("quick", parameters={"shift": 2.0}, variant="-other")])
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
    with Store(tmp_path, "three").lock(), pytest.raises(OutputError, match="Another comparison is running in"):
        compare(data, tmp_path, [QUICK])


def test_a_graph_without_vectors(graph, tmp_path):
    """Is enough for the methods on P; the others say what they need."""
    rows = compare(Data("ring", P=graph(100)), tmp_path, ["sce", "pacmap"])
    assert [row.status for row in rows] == ["done", "needs vectors"]
    assert "neighbors_kept" not in rows[0].figures
    assert rows[0].figures["edges_kept"] > 0
    assert rows[0].facts["r"] > 0


def test_the_report_has_all_data_sets_of_a_folder(X, folder, runs):
    """And of each only the rows that belong together."""
    compare(Data("two", X=X[:50]), folder, [QUICK], n_jobs=1)
    page = (folder / "report.html").read_text()
    assert all(f'id="{name}"' in page for name in ("three", "two"))
    compare(Data("three", X=X[:40]), folder, [QUICK], n_jobs=1)
    assert [row.method for row in Store(folder, "three").rows()] == ["quick"]
    assert runs == ["quick", "quick"]


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
