"""How maps and sweeps look in notebooks."""

import numpy as np
import pytest

import sce
from sce.results import maps

RNG = np.random.default_rng(0)
Y = RNG.normal(size=(60, 2)).astype(np.float32)


def rows(page):
    """The names and values of a table, without their tags."""
    import re

    cells = [re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<td.*?</td>", page)]
    return dict(zip(cells[::2], cells[1::2], strict=True))


def test_a_map_tells_what_it_is():
    """Points, columns, labels, r, how the run went; and a picture."""
    found = maps.Map(
        Y,
        np.arange(60),
        labels=np.repeat(["<a>", "b", ""], 20),
        label_name="kind<",
        parameters={"alpha": 0.5, "metric": "cosine", "affinity": "shared", "perplexity": None},
        r=2.5,
        facts={"n_epochs": 30, "stop_reason": "all epochs done", "columns": 1234, "source": "<x>.csv"},
        X=np.zeros((60, 3)),
    )
    page = found._repr_html_()
    assert page.count("data:image/png;base64,") == 1
    assert rows(page) == {
        "points": "60 in 2 dimensions",
        "columns": "1,234",
        "labels": "kind&lt;, 2 classes, 20 points without",
        "r": "2.5 (the weight of the repulsion)",
        "parameters": "metric=&#x27;cosine&#x27;, alpha=0.5",
        "epochs": "30 (all epochs done)",
        "source": "&lt;x&gt;.csv",
        "also holds": "X",
    }


@pytest.mark.parametrize(
    "labels", [None, np.arange(60) / 7, np.full(60, np.nan), np.arange(60) % 3, ["x"] * 60, [1, 2]]
)
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_every_map_has_a_page(labels, columns):
    """Also without labels, with numbers, and where they do not fit."""
    page = maps.Map(RNG.normal(size=(60, columns)), np.arange(60), labels=labels)._repr_html_()
    assert "data:image/png" in page
    assert not any("nan" in value for value in rows(page).values())


def test_dates_are_told_as_dates():
    """From the first to the last."""
    labels = np.datetime64("2020-01-30") + np.arange(60)
    page = maps.Map(Y, np.arange(60), labels=labels)._repr_html_()
    assert rows(page)["labels"] == "dates from 2020-01-30 to 2020-03-29"


def test_a_sweep_is_a_strip_of_maps(tmp_path):
    """Some of them, with those that rules choose; the same from a file."""
    sweep = sce.Sweep(np.stack([Y * k for k in range(1, 12)]), np.arange(11.0), np.arange(60), labels=np.arange(60) % 3)
    sweep.mark("SCE", 10.0**4)
    sweep.mark("t-SNE", 10.0**20)
    page = sweep._repr_html_()
    assert page.count("data:image/png;base64,") == 7
    assert "<b>SCE: r = 10000</b>" in page
    assert rows(page)["chosen"] == "SCE chooses r = 1e+04; t-SNE chooses r = 1e+20"
    sweep.save(tmp_path / "sweep.npz")
    assert sce.load(tmp_path / "sweep.npz")._repr_html_() == page
    alphas = sce.Sweep(sweep.frames[:2], np.array([1.0, 0.5]), np.arange(60), alphas=np.array([0.0, 1.0]))
    assert "alpha = 1<" in alphas._repr_html_()
