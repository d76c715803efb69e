"""In a notebook, as it is run by Jupyter, papermill and nbconvert, and as it is exported."""

import re
from pathlib import Path

import pytest

from notebooks import as_page, execute, read, run_cells, shown

FIRST_STEPS = Path(__file__).parent.parent / "docs" / "first_steps.ipynb"

START = """
import sys
import numpy as np
import sce
from sce import plot
Y = np.random.default_rng(0).normal(size=(300, 2))
y = np.arange(300) % 3
sweep = sce.Sweep(np.stack([Y, 2 * Y]), np.array([0.0, 1.0]), np.arange(300), labels=y)
P = sce.SCE(n_epochs=1, optimizer="sampler", random_state=0).fit(Y).affinity_
print("matplotlib" in sys.modules)
"""
# What is drawn, the number of pictures that it shows.
DRAWINGS = {
    "plot.scatter(Y, labels=y)": 1,
    "ax = plot.scatter(Y, labels=y)\nprint('not the last line')": 1,
    "plot.scatter(Y, labels=y).figure": 1,
    "display(plot.scatter(Y, labels=y).figure)": 1,
    "plot.scatter(np.c_[Y, Y[:, :1]]);": 1,
    "plot.scatter(Y)\nplot.scatter(Y)": 2,
    "plot.series(sweep)": 1,
    "figure = plot.series(sweep)\nprint('not the last line')": 1,
    "plot.block_matrix(P, y)": 1,
    "import matplotlib.pyplot as plt\n_, axes = plt.subplots(1, 2)\nfor ax in axes:\n    plot.scatter(Y, ax=ax)": 1,
    "plot.scatter(Y)\nplt.title('the same picture')": 1,
    "plot.scatter(Y)\nplt.show()": 1,
    "plot.scatter(Y, labels=[1, 2])": 0,
    "plot.scatter(Y, size=-1)": 0,
    "figure": 1,
    "assert plt.get_fignums() == []": 0,
}


@pytest.fixture(scope="module")
def drawn():
    """What each of the drawings shows."""
    cells, _ = run_cells(START, *DRAWINGS)
    assert cells[0].error is None
    assert cells[0].stdout == "False\n"
    return dict(zip(DRAWINGS, cells[1:], strict=True))


@pytest.mark.parametrize("source", DRAWINGS)
def test_a_picture_is_shown_once(drawn, source):
    """Wherever in a cell it is drawn, and whatever is done with it."""
    cell = drawn[source]
    assert len(cell.pictures) == DRAWINGS[source]
    assert (cell.error is None) == ("[1, 2]" not in source and "-1" not in source)


FITS = {
    "sce.SCE(random_state=0, verbose=True).fit_transform(Z).shape": r"Layout: \d+ epochs and \d+ iterations, loss \d.*, r \d",
    "family = sce.sweep(Z, [0, 1], random_state=0, verbose=True)": "t-SNE chooses r = ",
    "%%capture kept\nsce.SCE(random_state=0, verbose=True).fit(Z)": None,
    "assert 'Layout: ' in kept.stderr": None,
    "sce.core.progress.note('Compiling')": None,
}


@pytest.fixture(scope="module")
def fitted():
    """What verbose fits show, and the page that a notebook of them is exported to."""
    start = "import numpy as np\nimport sce, sce.core.progress\nZ = np.random.default_rng(0).normal(size=(1200, 5))"
    cells, notebook = run_cells(start, *FITS)
    assert cells[0].error is None
    return dict(zip(FITS, cells[1:], strict=True)), as_page(notebook)


def test_the_last_line_of_the_bar_stays(fitted):
    """The lines of all stages are one output of the cell, in text and HTML, and are in the exported page."""
    cells, page = fitted
    for source, said in FITS.items():
        if said:
            cell = cells[source]
            assert cell.error is None
            assert cell.stderr == ""
            assert re.search(said, cell.pages[-1])
            assert "<progress" not in "".join(cell.pages)
            assert re.search(said, page)
    assert len(next(iter(cells.values())).pages) == 1


def test_notes_and_captured_output(fitted):
    """A note is seen in a notebook; where the output is captured there are lines instead of a bar."""
    cells, _ = fitted
    assert cells["sce.core.progress.note('Compiling')"].stderr == "Compiling\n"
    assert cells["assert 'Layout: ' in kept.stderr"].error is None


@pytest.fixture(scope="module")
def first_steps():
    """The cells of the notebook in the documentation: their sources, what they showed and what they show now."""
    kept, run = read(FIRST_STEPS), execute(read(FIRST_STEPS))
    code = [cell for cell in kept.cells if cell.cell_type == "code"]
    again = [cell for cell in run.cells if cell.cell_type == "code"]
    return [(old.source, shown(old), shown(new)) for old, new in zip(code, again, strict=True)], as_page(run)


def test_the_notebook_of_the_documentation_runs(first_steps):
    """Without an error, and showing as much as it did: pictures of what is drawn, pages of what is looked at."""
    cells, _ = first_steps
    for source, before, now in cells:
        assert now.error is None, source
        drawn = "plot.scatter" in source or "plot.series" in source
        assert len(now.pictures) == len(before.pictures) == drawn, source
        assert len(now.pages) == len(before.pages), source
    assert sum(len(now.pages) for _, _, now in cells) == 5


def test_the_notebook_of_the_documentation_is_exported(first_steps):
    """With all its pictures and pages, and what the fit said at its end."""
    _, page = first_steps
    for part in ("SCE, fitted", "Quality of the map", "SCE chooses r = ", "digit, 10 classes"):
        assert part in page
    assert re.search(r"Layout: \d+ epochs and \d+ iterations, loss \d+\.\d+, r \d", page)
    assert page.count("data:image/png;base64,") >= 1 + 5 + 1 + 2


def test_outside_a_notebook_pyplot_is_left_alone():
    """A script that draws loads neither pyplot nor IPython."""
    from processes import run

    code = (
        "import sys, numpy as np\nfrom sce import plot\nplot.scatter(np.random.default_rng(0).normal(size=(50, 2)))\n"
        "print([name for name in ('matplotlib.pyplot', 'IPython', 'ipykernel') if name in sys.modules])"
    )
    assert run(code).strip() == "[]"
