"""In a notebook, as it is run by Jupyter, papermill and nbconvert, and as it is exported."""

import pytest

from notebooks import run_cells

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


def test_outside_a_notebook_pyplot_is_left_alone():
    """A script that draws loads neither pyplot nor IPython."""
    from processes import run

    code = (
        "import sys, numpy as np\nfrom sce import plot\nplot.scatter(np.random.default_rng(0).normal(size=(50, 2)))\n"
        "print([name for name in ('matplotlib.pyplot', 'IPython', 'ipykernel') if name in sys.modules])"
    )
    assert run(code).strip() == "[]"
