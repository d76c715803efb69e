"""What takes long for many points: computed in a worker process, with the same bytes; cancelled, killed, asked for again."""

import os
import signal
import sys
import time
from pathlib import Path

import httpx
import long_work
import pytest

from browsers import served
from explorers import Page, bitmap, many_points, small_map
from sce.core.memory import free_memory
from sce.explore import quality_routes, session

LOOKING = "Looking for clusters"
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


@pytest.fixture
def apart(monkeypatch):
    """A function that opens a map as if it had many points."""
    opened = []

    def open_apart(path):
        with monkeypatch.context() as change:
            change.setattr(session, "MOST_POINTS_IN_A_THREAD", 0)
            opened.append(Page.open(path))
        return opened[-1]

    yield open_apart
    for page in opened:
        page.session.heavy.close()


@pytest.fixture
def page(apart, monkeypatch, tmp_path):
    """A page of 60 points whose clusters are found when there is a file `go`."""
    monkeypatch.setenv("SCE_TEST_FOLDER", str(tmp_path))
    monkeypatch.setattr(quality_routes, "find_clusters", long_work.clusters_when_told)
    return apart(small_map(tmp_path / "m.npz"))


def finished(page, *asked, **options):
    """The answer to a question, asked again after each job; and what the jobs did."""
    jobs = []
    while (answer := page.ask(*asked, **options)).status_code == 202:
        jobs.append(answer.json())
        assert page.session.heavy.jobs.wait(jobs[-1]["job"], 60)["state"] == "done"
    return answer, [each["what"] for each in jobs]


def workers(folder):
    """The processes that wait in a folder, once there is one."""
    end = time.monotonic() + 20
    while not (found := [int(path.name.split("-")[1]) for path in folder.glob("process-*")]):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def gone(process):
    """Wait until a process is no more, or a mere remainder."""
    end = time.monotonic() + 20
    path = Path(f"/proc/{process}/stat")
    while path.exists() and path.read_text().rpartition(")")[2].split()[0] not in "ZX":
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_worker_gives_the_same_bytes_as_a_thread(apart, tmp_path):
    """Clusters, a graph made again, quality of points, blocks, a description; each is computed once."""
    path = many_points(tmp_path, 300)
    far, near = apart(path), Page.open(path)
    rows = {"json": {"rows": bitmap(range(100), 300)}}
    questions = [
        ("GET", "/api/quality?name=neighbors_kept"),
        ("GET", "/api/blocks?by=blob"),
        ("POST", "/api/describe"),
        ("GET", "/api/quality?name=edges_cut"),
        ("GET", "/api/found"),
    ]
    did = []
    for question in questions:
        options = rows if question[0] == "POST" else {}
        answer, jobs = finished(far, *question, **options)
        assert answer.status_code == 200
        assert answer.content == near.ask(*question, **options).content
        did += jobs
    compared = "Comparing the clusters with the graph"
    assert did == [
        *(LOOKING, "Making the graph again", "Measuring the quality at each point", "Ordering the graph by cluster"),
        *(compared, compared),
    ]


@linux
def test_a_killed_worker_is_told_and_the_question_can_be_asked_again(page, tmp_path):
    """In a sentence; the server answers other questions, and does the work when asked again."""
    first = page.get("/api/found")
    assert (first.status_code, first.json()["what"]) == (202, LOOKING)
    (worker,) = workers(tmp_path)
    assert page.get(f"/api/jobs/{first.json()['job']}").json() == {"state": "running", "message": "", "progress": 0.0}
    os.kill(worker, signal.SIGKILL)
    page.session.heavy.jobs.wait(first.json()["job"], 20)
    told = page.get(f"/api/jobs/{first.json()['job']}").json()
    assert told["state"] == "killed"
    assert told["message"] == "The computation was ended by SIGKILL, possibly out of memory."
    assert page.get("/api/points").status_code == 200
    (tmp_path / "go").touch()
    answer, jobs = finished(page, "GET", "/api/found")
    assert (answer.status_code, jobs) == (200, [LOOKING])


@linux
def test_cancelling_ends_the_worker(page, tmp_path):
    """Nothing was changed by the question that waited; asked again, it is done."""
    job = page.do("start_from_found").json()["job"]
    (worker,) = workers(tmp_path)
    told = page.post(f"/api/jobs/{job}/cancel", {}).json()
    assert (told["state"], told["message"]) == ("cancelled", "The computation was cancelled.")
    gone(worker)
    assert page.post(f"/api/jobs/{job}/cancel", {}).json() == told
    assert page.session.keeper.document.revision == 0
    (tmp_path / "go").touch()
    finished(page, "GET", "/api/found")
    assert page.do("start_from_found").status_code == 200
    assert len(page.session.keeper.document.clusters) == 2


def test_two_questions_at_once(page, tmp_path):
    """The same question is one job; another one waits for its turn; what needs no job is answered meanwhile."""
    first, second = (page.get("/api/found").json()["job"] for _ in range(2))
    assert first == second
    other = page.get("/api/export", what="figures", format="json").json()
    assert other["job"] != first
    assert page.get(f"/api/jobs/{other['job']}").json()["state"] == "waiting"
    for address in ("/api/points", "/api/naming", "/api/about"):
        assert page.get(address).status_code == 200
    assert page.do("create", rows=[1], name="a").status_code == 200
    (tmp_path / "go").touch()
    answer, jobs = finished(page, "GET", "/api/found")
    assert (answer.status_code, jobs) == (200, [LOOKING])
    page.do("undo")
    answer, jobs = finished(page, "GET", "/api/export?what=figures&format=json")
    assert len(jobs) <= 1
    assert answer.content == Page.open(page.session.path).get("/api/export", what="figures", format="json").content


def test_what_fails_is_said_and_unknown_jobs_are_refused(page, monkeypatch, tmp_path):
    """The sentence of the library; 404 also where no work is ever done by workers."""
    monkeypatch.setattr(quality_routes, "find_clusters", long_work.refuse)
    job = page.get("/api/found").json()["job"]
    told = page.session.heavy.jobs.wait(job, 20)
    assert (told["state"], told["message"]) == ("failed", "There is nothing to be found in 60 points.")
    assert page.get("/api/found").json()["job"] != job
    for each in (page, Page.open(tmp_path / "m.npz")):
        assert each.get("/api/jobs/unknown").status_code == each.post("/api/jobs/unknown/cancel", {}).status_code == 404


@linux
def test_a_worker_that_takes_too_much_memory_is_told(page, tmp_path):
    """Its limit is a part of what the machine has left."""
    jobs = page.session.heavy.jobs
    assert jobs.limit_bytes < free_memory() * 1.1
    jobs.limit_bytes = 1_000_000
    told = jobs.wait(page.get("/api/found").json()["job"], 20)
    sentence = "The computation was stopped, for it needed more than 0.001 GB of memory."
    assert (told["state"], told["message"]) == ("killed", sentence)
    jobs.limit_bytes = None
    (tmp_path / "go").touch()
    assert finished(page, "GET", "/api/found")[0].status_code == 200


@linux
def test_nothing_is_left_when_the_server_ends(monkeypatch, tmp_path):
    """Neither the worker of a map of many points, nor the files that it reads."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    with served(many_points(tmp_path)) as server, httpx.Client(follow_redirects=True) as client:
        client.get(server.address)
        answer = client.get(f"{server.origin}/api/quality?name=neighbors_kept")
        assert answer.status_code == 202
        tasks = Path(f"/proc/{server.process.pid}/task")
        end = time.monotonic() + 20
        while not (children := "".join(path.read_text() for path in tasks.glob("*/children")).split()):
            assert time.monotonic() < end
        assert list((tmp_path / "temporary").glob("sce-jobs-*"))
        server.stop()
    for child in children:
        gone(child)
    assert not list((tmp_path / "temporary").glob("sce-jobs-*"))
