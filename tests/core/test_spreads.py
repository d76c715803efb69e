"""Advice on scaling: in Python as in the shell, where it helps and nowhere else."""

import numpy as np
import pytest
import scipy.sparse as sp

import sce
from sce.core.spreads import unequal_columns

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 6)) * [1, 3, 400, 2, 1, 1]


def test_a_fit_warns_of_columns_that_determine_the_map():
    """Once, with the columns, at the caller's line; the user may say that they are meant so."""
    with pytest.warns(sce.ScalingWarning, match=r"differ widely in spread \(.* 2: \d+, .*RobustScaler") as said:
        sce.SCE(n_epochs=1).fit(X)
    assert len(said) == 1
    assert said[0].filename == __file__
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    with pytest.warns(sce.ScalingWarning, match="'fare': "):
        sce.SCE(n_epochs=1).fit(pandas.DataFrame(X, columns=["age", "class", "fare", "sex", "kin", "deck"]))


@pytest.mark.parametrize(
    "model", [sce.SCE(metric="hamming"), sce.SCE(metric="precomputed"), sce.SCE(affinity=lambda X: np.ones((80, 80)))]
)
def test_where_the_size_of_numbers_means_nothing(model):
    """There is no such warning, which would be an error here."""
    given = np.abs(np.subtract.outer(X[:, 2], X[:, 2])) if model.metric == "precomputed" else X
    model.set_params(n_epochs=1).fit(given)


def test_data_of_one_kind():
    """Principal components, sparse counts, and columns of about the same spread need no scaling."""
    Y = RNG.normal(size=(500, 20))
    assert unequal_columns(Y) is None
    assert unequal_columns(sp.csr_matrix(X)) is None
    assert unequal_columns(Y * 50 / np.arange(1, 21) ** 2) is None
    assert unequal_columns(Y * RNG.permutation(50 / np.arange(1, 21) ** 2)) is not None
    assert unequal_columns(X)[0][0] == 2
