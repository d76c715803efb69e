"""kill -9 of a real server while clusters are being named: nothing that it called saved is lost."""

import json
import subprocess
import sys
import textwrap
import threading
import time

import httpx
import numpy as np
import pytest

from explorers import bitmap, small_map
from sce.explore.document import Document
from sce.explore.keeper import Keeper
from sce.explore.naming import apply

N = 3000
SERVER = """
    import socket, sys, uvicorn
    from sce.explore.app import make_api
    from sce.explore.opening import open_session
    app = make_api(open_session(sys.argv[1]))
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listening])
"""


class Worker(threading.Thread):
    """Names clusters as fast as it can, and remembers what was called saved, and what was not answered."""

    def __init__(self, address, revision, rng):
        super().__init__()
        self.address, self.revision, self.rng = address, revision, rng
        self.saved, self.unanswered, self.refused = [], None, None

    def run(self):
        with httpx.Client() as client:
            for _ in range(100_000):
                rows = np.flatnonzero(self.rng.random(N) < self.rng.choice([0.001, 0.1, 0.5])).tolist() or [0]
                op = {"kind": "create", "name": f"c{self.revision}", "made": {"tool": "brush"}}
                sent = {**op, "rows": bitmap(rows, N)}
                self.unanswered = {**op, "rows": np.array(rows)}
                try:
                    answer = client.post(self.address, json={"base": self.revision, "op": sent})
                except httpx.TransportError:
                    return
                if answer.status_code != 200:
                    self.refused = answer.text
                    return
                self.saved.append(self.unanswered)
                self.revision = answer.json()["revision"]


def kill_while_naming(path, seconds, rng, expected):
    """Start a server, name clusters, kill it after some seconds of that; the clusters that must be there afterwards."""
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SERVER), str(path)], stdout=subprocess.PIPE, text=True
    )
    with child:
        port = int(child.stdout.readline())
        worker = Worker(f"http://127.0.0.1:{port}/api/naming", expected.revision, rng)
        worker.start()
        while not worker.saved and worker.is_alive():
            time.sleep(0.005)
        time.sleep(seconds)
        child.kill()
        worker.join(60)
    assert worker.refused is None
    for op in worker.saved:
        expected = apply(expected, op)
    return expected, worker.unanswered, len(worker.saved)


def check_kills(path, count):
    rng = np.random.default_rng(0)
    small_map(path, N)
    expected, saved = Document.empty(N), 0
    for seconds in rng.uniform(0, 0.4, count).tolist():
        expected, unanswered, more = kill_while_naming(path, seconds, rng, expected)
        saved += more
        keeper = Keeper(path, np.arange(N))
        found = keeper.document
        if found.revision == expected.revision + 1:  # on the disk, but killed before it was said
            expected = apply(expected, unanswered)
        assert found.revision == expected.revision
        assert np.array_equal(found.codes, expected.codes)
        assert [(c.id, c.name) for c in found.clusters] == [(c.id, c.name) for c in expected.clusters]
        keeper.close()
    assert saved >= 3 * count
    lines = path.with_name("m.clusters.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["revision"] for line in lines[1:]] == list(range(1, expected.revision + 1))


def test_a_killed_server_loses_nothing_that_was_saved(tmp_path):
    """At ten random moments, one after another on the same file."""
    check_kills(tmp_path / "m.npz", 10)


@pytest.mark.slow
def test_a_killed_server_loses_nothing_over_many_kills(tmp_path):
    """At thirty random moments."""
    check_kills(tmp_path / "m.npz", 30)
