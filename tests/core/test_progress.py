"""What people see while they wait."""

import io
import itertools
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from sce.core.meter import NOBODY_LOOKS, Meter
from sce.core.parallel import Team
from sce.core.progress import Reporter, note, silence
from sce.graph.build import GraphOptions, build_affinity

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


def test_quiet_commands_say_no_notes():
    """With --quiet, and only then."""
    code = (
        "import sce.cli.commands.demo as demo\nfrom sce.cli.main import main\nfrom sce.core.progress import note\n"
        "demo.run = lambda args, console: note(f'quiet: {args.quiet}')\n"
        "main(['demo'])\nmain(['demo', '--quiet'])\nmain(['demo'])"
    )
    assert in_terminal(code) == "quiet: False\nquiet: False\n"


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


FIT = """
import hashlib, numpy as np, sys
from sce import SCE
from sce.core import screen
screen._TERMINAL_SECONDS = 0.0
X = np.random.default_rng(0).normal(size=(1500, 10))
for verbose in (True, False):
    print(hashlib.sha256(SCE(random_state=0, verbose=verbose).fit_transform(X).tobytes()).hexdigest())
"""


def drawn_over(text):
    """The lines of a terminal after all bars have been drawn over."""
    lines = []
    for line in text.split("\n"):
        shown = []
        for part in line.split("\r"):
            shown[: len(part)] = part
        lines.append("".join(shown).strip())
    return [line for line in lines if line]


@pytest.fixture(scope="module")
def fit():
    """What a verbose fit and a silent one show on a terminal."""
    return in_terminal(FIT)


def test_the_bar_covers_all_stages(fit):
    """Each stage has its own, which moves from its beginning to its end and never back."""
    for name in ("Graph", "Neighbours", "Start", "Coarse maps", "Layout", "Layout, to the minimum"):
        assert f"{name}: " in fit or f"{name} [" in fit, name
    for name in ("Neighbours", "Coarse maps", "Layout"):
        shares = [int(share) for share in re.findall(rf"{name}: +(\d+)%", fit)]
        assert len(set(shares)) > 3
        assert all(a <= b for a, b in itertools.pairwise(shares))
        assert shares[-1] == 85 if name == "Neighbours" else shares[-1] == 100
    assert re.search(r"Layout, to the minimum: \d+ iterations \[00:\d\d, loss \d+\.\d+, r \d+", fit)


def test_what_remains_is_a_line_for_each_stage(fit):
    """As where nobody watches; the last has loss and r. The bars are gone."""
    lines = [line for line in drawn_over(fit) if not line.startswith("Compiling")]  # as it does in a new environment
    for line, start in zip(
        lines, ("Graph: 1500 points, ", "Start (", "Coarse maps of ", "Layout: 30 epochs and "), strict=False
    ):
        assert line.startswith(start)
    assert re.search(r"loss \d+\.\d+, r \d+\.\d+ \(\d+\.\d s\)$", lines[3])
    assert len(lines) == 6


def test_the_bar_changes_no_result(fit):
    """The same bytes with and without."""
    with_bar, without = drawn_over(fit)[-2:]
    assert with_bar == without
    assert len(without) == 64


def test_a_line_is_printed_above_the_bar():
    """A note, or a line of a command, does not break it."""
    code = (
        "from sce.core.progress import Reporter, note\n"
        "with Reporter(True) as report:\n    report.share('Coarse maps')(0.5)\n    note('Compiling')\n    report.stage('Done')"
    )
    assert [line.split(" (")[0] for line in drawn_over(in_terminal(code))] == ["Compiling", "Done"]


def test_things_are_counted_in_whole_numbers():
    """From the first picture of the bar on."""
    code = "from sce.core.progress import Reporter\nwith Reporter(True) as report:\n    report.steps(6, 'figure')"
    assert " 0/6 [" in in_terminal(code)


@pytest.mark.parametrize(
    ("n", "columns", "method"), [(3000, 5, "brute force"), (60_000, 2, "k-d tree"), (18_000, 64, "forest")]
)
def test_the_search_for_neighbours_tells_how_far_it_has_come(n, columns, method):
    """From 0 to 1, never back, from the thread that waits for it, and with the same result."""
    X = np.random.default_rng(0).normal(size=(n, columns)) * (1 + np.arange(columns)) ** -1.0
    told, P = {1: [], 2: []}, {}
    for n_jobs, kept in told.items():
        with Team(n_jobs, Meter(lambda done, name, kept=kept: kept.append((done, name)))) as team:
            graph = build_affinity(X, GraphOptions(), team, 0)
        assert graph.neighbors_method == method
        P[n_jobs] = graph.P
        shares = [done for done, _ in kept]
        assert shares[0] == 0.0
        assert 0.85 < shares[-1] <= 1.0
        assert all(a <= b for a, b in itertools.pairwise(shares))
        assert {name for _, name in kept} == {"Neighbours", ""}
    assert np.max(np.diff([done for done, _ in told[1]])) < 0.3
    with Team(2) as team:
        P["unwatched"] = build_affinity(X, GraphOptions(), team, 0).P
    assert all((other != P[1]).nnz == 0 for other in P.values())


def test_parts_of_parts():
    """A part's share is that of the part around it; what fails is over, too."""
    told = []
    meter = Meter(lambda done, name: told.append((round(done, 4), name)))
    with meter.part(0.5, "one"):
        with meter.part(0.5):
            meter.part_of_sweep(1.0)(0.5)
        with pytest.raises(KeyError), meter.part(0.5, "fails"):
            {}["missing"]
    assert told == [(0.0, "one"), (0.125, "one"), (0.25, "one"), (0.25, "fails"), (0.5, "fails"), (0.5, "one")]
    with NOBODY_LOOKS.part(0.5):
        assert NOBODY_LOOKS.part_of_sweep(0.5) is None


def test_a_bar_ends_with_its_fit(monkeypatch):
    """Also where the fit fails; then no line about the layout is left."""
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)

    def fail():
        with Reporter(True) as report:
            report.epochs(10)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert drawn_over(terminal.getvalue()) == []
