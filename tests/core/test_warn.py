"""Warnings point at the user's own line."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sce import SCE, sweep
from sce.errors import SCEWarning

X = np.random.default_rng(0).normal(size=(12, 3))
LOPSIDED = sp.csr_matrix(np.triu(np.ones((12, 12)), 1))


@pytest.mark.parametrize(
    "call",
    [
        lambda: SCE(n_epochs=1, n_neighbors=15).fit(X),
        lambda: SCE(n_epochs=1, n_neighbors=15).fit_transform(X),
        lambda: make_pipeline(StandardScaler(), SCE(n_epochs=1, n_neighbors=15)).fit_transform(X),
        lambda: SCE(n_epochs=1, affinity="precomputed").fit(LOPSIDED),
        lambda: SCE(n_epochs=1, metric="precomputed", n_neighbors=3).fit(
            sp.csr_matrix(np.eye(12, k=1) + np.eye(12, k=-1))
        ),
        lambda: sweep(X, [0.0], n_neighbors=15, random_state=0),
    ],
    ids=["fit", "fit_transform", "pipeline", "graph", "distances", "sweep"],
)
def test_a_warning_points_at_the_caller(call):
    """However deep in sce or scikit-learn it arises: at this file, not at one of the library."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    ours = [warning for warning in caught if issubclass(warning.category, SCEWarning)]
    assert ours
    assert {Path(warning.filename).name for warning in ours} == {Path(__file__).name}
