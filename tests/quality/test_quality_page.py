"""How the quality of a map looks in a notebook."""

import re

import numpy as np

import sce
from sce.quality import assess
from sce.quality.report import MEANINGS

X = np.random.default_rng(0).normal(size=(150, 4)) + np.repeat([0, 20, 40], 50)[:, None]


def test_each_figure_is_a_line_with_its_meaning():
    """And what could not be measured is said."""
    model = sce.SCE(random_state=0, n_epochs=20).fit(X)
    for found in (assess(model, X=X, classes=np.repeat([0, 1, 2], 50)), assess(model.embedding_)):
        page = found._repr_html_()
        shown = [re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<td[^>]*nowrap.*?</td>", page)]
        assert shown == [name for name in found.figures() if not name.endswith("_null")]
        for name in shown:
            assert MEANINGS[name].split(";")[0].replace("'", "&#x27;") in page
        for sentence in found.missing:
            assert sentence in page
