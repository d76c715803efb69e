"""A server as a user runs it."""

import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from processes import run
from sce.errors import InputError, ParameterError
from sce.web import serving
from sce.web.security import Guard

SERVER = """
from pathlib import Path
from sce.web.security import Guard
from sce.web.serving import serve
from sce.web.static_files import StaticFiles
app = StaticFiles({"index.html": b"a page"})
serve(lambda token, port: Guard(app, token=token, port=port), open_browser=False, say=lambda line: print(line, flush=True))
print("ended")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal there")
def test_a_server_from_start_to_ctrl_c():
    """It prints an address that opens the page, one for people who come by ssh, and ends without a traceback."""
    environment = {**os.environ, "SSH_CONNECTION": "10.0.0.1 50000 10.0.0.2 2222"}
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        first, second, third = (process.stdout.readline() for _ in range(3))
        address = first.removeprefix("Open ").strip()
        port = address.split(":")[2].split("/")[0]
        assert f"ssh -N -L {port}:127.0.0.1:{port} -p 2222 " in second
        assert second.strip().endswith("@10.0.0.2")
        assert "Ctrl-C" in third
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(address, timeout=10) as answer:
            assert answer.read() == b"a page"
            assert answer.url == f"http://127.0.0.1:{port}/"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (0, "ended\n", "")


@pytest.fixture
def served(monkeypatch):
    """A function that serves without serving: what is said, and which address a browser is sent to."""

    def serve(**options):
        said, opened = [], []
        monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: [t.join(5) for t in threads])
        threads = []
        real = serving.threading.Thread

        def thread(*words, **names):
            threads.append(real(*words, **names))
            return threads[-1]

        monkeypatch.setattr(serving.threading, "Thread", thread)
        monkeypatch.setattr(serving.webbrowser, "open", opened.append)
        serving.serve(lambda token, port: Guard(None, token=token, port=port), say=said.append, **options)
        return said, opened

    return serve


def test_the_browser_gets_another_address_than_the_user(monkeypatch, served):
    """Its command line, which others can read, holds a key that works once; and not in a session by ssh."""
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    said, (opened,) = served()
    token = said[0].split("token=")[1]
    assert token not in opened
    assert opened.startswith(said[0].removeprefix("Opening ").split("token=")[0])
    monkeypatch.setenv("SSH_CONNECTION", "a 1 b 22")
    said, opened = served()
    assert opened == []
    assert served(open_browser=False)[1] == []


def test_a_port_that_is_taken():
    """One sentence, with what to do; and so for addresses that are not ours."""
    sentence = r"cannot listen at 127\.0\.0\.1, port \d+: .*; choose another port"
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ParameterError, match=sentence):
        serving.listen("127.0.0.1", taken.getsockname()[1])
    for host, port in (("203.0.113.7", 0), ("no.such.host.invalid", 0), ("::ffff", 0)):
        with pytest.raises(ParameterError, match="cannot listen at"):
            serving.listen(host, port)
    with pytest.raises(ParameterError, match="There is no port 70000; choose one up to 65535"):
        serving.listen("127.0.0.1", 70_000)


def test_without_the_extra(monkeypatch):
    """The sentence says what to install."""
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(InputError, match=r"pip install 'sce\[web\]'"):
        serving.serve(lambda token, port: None)


def test_only_serving_needs_uvicorn():
    """All other modules can be imported with the base install, and none is heavy."""
    code = """
import importlib, pkgutil, sys
sys.modules["starlette"] = sys.modules["uvicorn"] = sys.modules["h11"] = None
import sce.web
for module in pkgutil.iter_modules(sce.web.__path__):
    importlib.import_module(f"sce.web.{module.name}")
print([name for name in ("numba", "scipy", "sklearn", "matplotlib", "pandas") if name in sys.modules])
"""
    assert run(code) == "[]"
