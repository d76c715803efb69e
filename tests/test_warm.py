"""Compiling ahead, beside the search for neighbours."""

import gc
import subprocess
import sys
import time

import numpy as np
import pytest

from processes import run
from sce import SCE, warm
from sce.warm import Ahead, Part

COUNT = """
import numpy as np
from numba.core import event
compiled = []
class Listener(event.Listener):
    def on_start(self, begun):
        compiled.append(begun.data["dispatcher"].py_func.__module__)
    def on_end(self, ended):
        pass
event.register("numba:compile", Listener())
"""
FIT = "from sce import SCE; SCE(random_state=0).fit(np.random.default_rng(0).normal(size=({rows}, 9)));"
COUNTS = "print(sum(name.startswith('sce.layout') for name in compiled), len(compiled))"


@pytest.mark.slow
@pytest.mark.skipif(warm.available_cores() < 2, reason="needs two cores")
def test_the_first_fit_compiles_for_all_others(tmp_path):
    """Of few points, and with one process beside it; later processes compile nothing, whether they have few points or many."""
    code = COUNT + FIT.format(rows=300) + COUNTS
    _, everything = map(int, run(code, NUMBA_CACHE_DIR=str(tmp_path)).split())
    assert everything > 0
    for rows in (300, 4000):
        assert run(COUNT + FIT.format(rows=rows) + COUNTS, NUMBA_CACHE_DIR=str(tmp_path)) == "0 0"


@pytest.mark.slow
def test_after_compiling_ahead_nothing_is_left(tmp_path):
    """Neither for few points nor for many."""
    code = "from sce import warm; print(warm.compile_ahead(), warm.is_compiled(), warm.compile_ahead())"
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)) == "True True False"
    for rows in (300, 4000):
        assert run(COUNT + FIT.format(rows=rows) + COUNTS, NUMBA_CACHE_DIR=str(tmp_path)) == "0 0"


@pytest.fixture
def nothing_compiled(tmp_path, monkeypatch):
    """An empty folder of kernels, as far as the marks are concerned, and two cores."""
    monkeypatch.setattr(warm, "cache_folder", lambda: str(tmp_path))
    monkeypatch.setattr(warm, "available_cores", lambda: 2)
    return tmp_path


@pytest.fixture
def started(monkeypatch):
    """The parts that processes would have been started for."""
    lists = []
    monkeypatch.setattr(warm, "_start", lambda parts, folder: lists.append(parts))
    return lists


def test_what_is_compiled_is_not_compiled_again(nothing_compiled, started):
    """What is missing is compiled for the right number of columns of the map and type of the data."""
    X = np.zeros((3, 2), np.float32)
    with warm.compile_for(3000, 3, X, 2):
        pass
    parts = [Part(name, 3) for name in ("grid", "sampler", "pairs")] + [Part("start", 3, "float32"), Part("levels", 3)]
    assert started == [parts]
    for part in parts[1:4]:
        part.remember()
    with warm.compile_for(300, 3, X, 2):  # needs nothing of the rest
        pass
    assert len(started) == 1
    with warm.compile_for(3000, 3, X, 2):
        pass
    assert started[1:] == [[parts[0], parts[4]]]


def test_one_thread_compiles_just_what_it_needs(nothing_compiled, started):
    """There is no core for another process."""
    with warm.compile_for(3000, 2, np.zeros((3, 2)), 1) as ahead:
        ahead.finish()
    assert started == []


def test_a_part_is_done_by_one_of_several(nothing_compiled, monkeypatch, tmp_path):
    """Whoever comes first; a part is remembered when it has been done."""
    done = []
    monkeypatch.setattr(warm, "_REHEARSALS", {name: lambda part, *_: done.append(part.name) for name in "abc"})
    for _ in range(2):
        warm.work([("a", 2, "float64"), ("b", 2, "float64")], str(tmp_path))
        warm.work([("c", 2, "float64"), ("b", 2, "float64")], str(tmp_path))
    assert done == ["a", "b", "c"]
    assert sorted(path.name for path in nothing_compiled.glob("*.compiled")) == [
        f"{x}-2-float64.compiled" for x in "abc"
    ]


def test_a_process_is_helped(nothing_compiled, monkeypatch):
    """From the end of its list."""
    done = []
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    monkeypatch.setattr(warm, "_start", lambda parts, folder: child)
    monkeypatch.setattr(warm, "_REHEARSALS", {name: lambda part, *_: done.append(part.name) for name in "ab"})
    with Ahead([Part("a"), Part("b")], 1) as ahead:
        ahead.finish()
    assert done == ["b", "a"]


def test_what_fails_ahead_is_left_to_the_fit(nothing_compiled, monkeypatch):
    """And is not remembered; garbage is collected again."""

    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(warm, "_start", lambda parts, folder: subprocess.Popen([sys.executable, "-c", "pass"]))
    monkeypatch.setattr(warm, "_REHEARSALS", {"a": fail})
    with Ahead([Part("a")], 1) as ahead:
        assert not gc.isenabled()
        ahead.finish()
    assert gc.isenabled()
    assert not Part("a").is_done()


@pytest.mark.parametrize("waits", [False, True])
def test_no_process_stays_behind(monkeypatch, waits):
    """Even if it is not waited for, or takes too long."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    monkeypatch.setattr(warm, "_start", lambda parts, folder: child)
    monkeypatch.setattr(warm, "_work", lambda parts, folder: None)
    monkeypatch.setattr(warm, "_LONGEST_WAIT", 0.1)
    begun = time.monotonic()
    with Ahead([Part("sampler")], 1) as ahead:
        assert child.poll() is None
        if waits:
            ahead.finish()
    assert child.poll() is not None
    assert time.monotonic() - begun < 30


def test_a_fit_does_without(nothing_compiled, monkeypatch):
    """Where Python cannot be started again; the result is the same."""
    X = np.random.default_rng(0).normal(size=(60, 4))
    before = SCE(random_state=0, n_jobs=1).fit_transform(X)
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    assert (SCE(random_state=0, n_jobs=2).fit_transform(X) == before).all()
