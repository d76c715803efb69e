"""What the machine says of memory, and what is made of it."""

import sys

import numpy as np
import pytest

from processes import run
from sce.core import memory
from sce.core.memory import free_memory, peak_memory

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says")


@linux
def test_the_peak_is_of_this_process_and_stays():
    """It grows with what is used, and what the parent has does not count."""
    own = np.ones(30_000_000)
    code = "import numpy; from sce.core.memory import peak_memory as p; a = p(); x = numpy.ones(20_000_000); del x;"
    code += "print(a, p())"
    before, after = map(int, run(code).split())
    assert before < own.nbytes
    assert after >= 160_000_000


@linux
def test_free_memory_is_some_of_the_machine():
    """More than nothing, less than all there is."""
    assert 0 < free_memory() < 1024 * memory._entry(memory.Path("/proc/meminfo"), "MemTotal")


@pytest.fixture
def container(monkeypatch, tmp_path):
    """A function that makes this process one in a container."""

    def limited(most, now, resting):
        (tmp_path / "memory.max").write_text(f"{most}\n")
        (tmp_path / "memory.current").write_text(f"{now}\n")
        (tmp_path / "memory.stat").write_text(f"anon 5\nfile 77\ninactive_file {resting}\n")
        monkeypatch.setattr(memory, "_CGROUPS", [(str(tmp_path), "memory.max", "memory.current", "inactive_file")])

    return limited


@linux
@pytest.mark.parametrize(("most", "free"), [(1000, 350), (200, 0)])
def test_a_container_has_what_its_limit_leaves(container, most, free):
    """Pages of files at rest are free; less than nothing is nothing."""
    container(most, 700, 50)
    assert free_memory() == free


@linux
def test_a_container_without_a_limit_has_the_machine(container):
    """As it is where there is no container."""
    container("max", 700, 50)
    assert free_memory() > 2**20


def test_a_system_that_does_not_say(monkeypatch):
    """Has no figure, and nothing fails."""
    monkeypatch.setattr(memory, "_entry", lambda path, name: None)
    assert free_memory() is None
    assert peak_memory() is None or peak_memory() > 0
