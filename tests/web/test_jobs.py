"""Work in worker processes: one at a time of a kind, cancelled, killed, bounded, and always accounted for."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import heavy_work
import numpy as np
import pytest

from sce.errors import ParameterError
from sce.web import jobs as jobs_module
from sce.web.jobs import Jobs

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the memory of another process")


@pytest.fixture
def jobs():
    """Jobs without a limit; none is left at the end."""
    with Jobs() as running:
        yield running


def alive(process_id):
    """Whether a process is there, and no mere remainder."""
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def wait_until(condition, seconds=10.0):
    """Wait for something to come true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.02)


def test_a_result_comes_back(jobs):
    """Arrays too, and whatever the function prints."""
    job = jobs.start("sums", heavy_work.add, np.arange(3), 1)
    assert jobs.wait(job) == {"state": "done", "message": "", "progress": 1.0}
    assert jobs.result(job).tolist() == [1, 2, 3]
    assert jobs.cancel(job) is False
    assert jobs.state(job)["state"] == "done"


def test_one_at_a_time_of_each_kind(jobs, tmp_path):
    """In their order; another kind does not wait."""
    path = tmp_path / "notes"
    own = [jobs.start("slow", heavy_work.note, path, name, 0.1) for name in "abc"]
    assert jobs.state(own[2])["state"] == "waiting"
    assert jobs.wait(jobs.start("quick", heavy_work.add, 1, 1))["state"] == "done"
    assert [jobs.wait(job)["state"] for job in own] == ["done"] * 3
    assert path.read_text().split("\n") == [f"{name} {what}" for name in "abc" for what in ("begins", "ends")] + [""]


@linux
def test_cancelling(jobs, tmp_path):
    """A job that runs ends at once, with what it started; one that waits never begins; the next one runs."""
    path = tmp_path / "process"
    first = jobs.start("kind", heavy_work.sleep, 60, path)
    second = jobs.start("kind", heavy_work.note, tmp_path / "never", "x")
    third = jobs.start("kind", heavy_work.add, 1, 2)
    wait_until(lambda: path.exists() and len(path.read_text().split()) == 2)
    assert jobs.state(first) == {"state": "running", "message": "half asleep", "progress": 0.25}
    assert jobs.cancel(second)
    assert jobs.cancel(first)
    assert jobs.state(first)["state"] == "cancelled"
    assert "cancelled" in jobs.state(first)["message"]
    assert jobs.wait(third)["state"] == "done"
    assert jobs.state(second)["state"] == "cancelled"
    assert not (tmp_path / "never").exists()
    wait_until(lambda: not any(alive(process) for process in path.read_text().split()))
    with pytest.raises(ParameterError, match="The job has no result; it is cancelled"):
        jobs.result(first)


@pytest.mark.parametrize(
    ("how", "state", "message"),
    [
        ("signal", "killed", "The computation was ended by SIGKILL, possibly out of memory."),
        ("exit", "failed", "The computation ended early: last words"),
        ("input", "failed", "The table has no rows; choose another file."),
        ("memory", "failed", "There is not enough memory for this computation."),
        ("fault", "failed", "Internal error: ZeroDivisionError: a fault of the test"),
        ("unpicklable", "failed", "Internal error: "),
    ],
)
def test_a_worker_that_fails_is_reported(jobs, how, state, message):
    """In a sentence; the next job runs."""
    failing, honest = jobs.start("kind", heavy_work.die, how), jobs.start("kind", heavy_work.add, 1, 2)
    found = jobs.wait(failing)
    assert found["state"] == state
    assert found["message"].startswith(message)
    assert jobs.wait(honest)["state"] == "done"


@linux
def test_a_worker_that_takes_too_much_memory():
    """Is stopped, and it is said why; pages of mapped files do not count; the next job runs."""
    with Jobs(limit_bytes=200_000_000) as jobs:
        greedy = jobs.start("kind", heavy_work.fill, 2_000_000_000)
        assert jobs.wait(greedy, 15) == {
            "state": "killed",
            "message": "The computation was stopped, for it needed more than 0.2 GB of memory.",
            "progress": 0.0,
        }
        assert jobs.wait(jobs.start("kind", heavy_work.add, 1, 2))["state"] == "done"


@linux
def test_mapped_files_are_no_memory(tmp_path):
    """The system takes their pages back when it needs them."""
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.write(b"\1" * 300_000_000)
    with Jobs(limit_bytes=200_000_000) as jobs:
        job = jobs.start("kind", heavy_work.read_mapped, str(path))
        assert jobs.wait(job, 15)["state"] == "done"
        assert jobs.result(job) == -(-300_000_000 // 4096)


@linux
def test_workers_end_with_the_server(tmp_path):
    """However it ends: even a server that is killed leaves no worker behind."""
    path = tmp_path / "process"
    code = (
        "import sys, time, heavy_work; from sce.web.jobs import Jobs;"
        f"Jobs().start('kind', heavy_work.sleep, 60, {str(path)!r}); time.sleep(60)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", code], env=environment) as server:
        wait_until(lambda: path.exists() and len(path.read_text().split()) == 2)
        worker, child = path.read_text().split()
        assert alive(worker)
        server.send_signal(signal.SIGKILL)
    try:
        wait_until(lambda: not alive(worker))
    finally:
        for process in (worker, child):
            if alive(process):
                os.kill(int(process), signal.SIGKILL)


def test_closing_leaves_nothing(tmp_path):
    """No process, no file, and no further jobs."""
    jobs = Jobs()
    folder = Path(jobs._folder.name)
    assert folder.stat().st_mode & 0o077 == 0
    running, waiting = (jobs.start("kind", heavy_work.sleep, 60) for _ in range(2))
    wait_until(lambda: jobs.state(running)["progress"] > 0)
    jobs.close()
    assert [jobs.state(job)["state"] for job in (running, waiting)] == ["cancelled"] * 2
    assert not folder.exists()
    with pytest.raises(ParameterError, match="The server is ending"):
        jobs.start("kind", heavy_work.add, 1, 2)


def test_what_cannot_be_a_job(jobs):
    """A function that a worker could not import, arguments that cannot be pickled."""
    with pytest.raises(ParameterError, match=r"A worker cannot import .*lambda"):
        jobs.start("kind", lambda: 0)
    job = jobs.start("kind", heavy_work.add, 1, lambda: 0)
    assert jobs.wait(job)["state"] == "failed"
    assert "could not be started" in jobs.state(job)["message"]
    for ask in (jobs.state, jobs.result, jobs.cancel):
        with pytest.raises(KeyError):
            ask("no such job")


def test_jobs_are_bounded(jobs, monkeypatch):
    """Those that wait, and those that are remembered."""
    monkeypatch.setattr(jobs_module, "MOST_WAITING", 2)
    monkeypatch.setattr(jobs_module, "_REMEMBERED", 1)
    first = jobs.start("kind", heavy_work.sleep, 60)
    wait_until(lambda: jobs.state(first)["progress"] > 0)
    others = [jobs.start("kind", heavy_work.add, 1, 2) for _ in range(2)]
    with pytest.raises(ParameterError, match="Too many jobs are waiting"):
        jobs.start("kind", heavy_work.add, 1, 2)
    jobs.cancel(first)
    assert [jobs.wait(job)["state"] for job in others] == ["done"] * 2
    last = jobs.start("kind", heavy_work.add, 1, 2)
    assert jobs.wait(last)["state"] == "done"
    with pytest.raises(KeyError):
        jobs.state(first)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 always looks into the current folder")
def test_a_worker_imports_nothing_from_the_current_folder(jobs, monkeypatch, tmp_path):
    """Where data from anywhere may lie."""
    (tmp_path / "pickle.py").write_text("raise SystemExit('hostile')")
    monkeypatch.chdir(tmp_path)
    job = jobs.start("kind", heavy_work.safe_path)
    assert jobs.wait(job)["state"] == "done"
    assert jobs.result(job) != str(tmp_path)
