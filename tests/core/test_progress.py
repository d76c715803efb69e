"""What people see while they wait."""

import io
import os
import subprocess
import sys

import pytest

from sce.core.progress import note, silence

pty = pytest.importorskip("pty")  # not on Windows


def in_terminal(code):
    """What a script prints on a terminal."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the end, on Linux
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert child.wait() == 0, shown.decode()
    return shown.decode().replace("\r\n", "\n")


def test_a_note_is_for_whoever_watches(capfd):
    """On a terminal a note is a line; in a file or a pipe it is nothing."""
    code = "from sce.core.progress import note; note('Compiling')"
    assert in_terminal(code) == "Compiling\n"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert capfd.readouterr() == ("", "")


def test_silence_holds_within_and_ends():
    """Silence ends where its block ends, and an inner block cannot end the silence of an outer one."""
    code = (
        "from sce.core.progress import note, silence\n"
        "with silence():\n    note('one')\n    with silence(False):\n        note('two')\n"
        "note('three')"
    )
    assert in_terminal(code) == "three\n"


@pytest.mark.parametrize("stream", [None, io.StringIO(), "closed"])
def test_a_note_needs_no_stream(monkeypatch, stream):
    """Without a standard error, or with one that is closed, there is no note and no error."""
    if stream == "closed":
        stream = io.StringIO()
        stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    note("nothing")
    with silence():
        note("nothing")
