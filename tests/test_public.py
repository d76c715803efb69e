"""The public names, and what importing them costs."""

import importlib

import pytest

import sce
from processes import run


def test_public_names():
    """These names and no others are promised."""
    assert set(sce.__all__) == {
        "SCE", "FixedScale", "SCEScale", "SNEScale", "neighbors_graph", "Map", "load", "read", "Sweep", "sweep",
        "find_clusters", "merge_copies", "compare", "datasets", "plot", "quality", "tl",
        "SCEError", "InputError", "ParameterError", "OutputError", "SCEWarning", "DataWarning", "GraphWarning",
        "ScalingWarning",
    }  # fmt: skip
    for name in sce.__all__:
        assert getattr(sce, name) is not None
        assert name in dir(sce)


def test_unknown_names_are_attribute_errors():
    """As of any module."""
    with pytest.raises(AttributeError, match="no attribute 'UMAP'"):
        sce.UMAP  # noqa: B018


def test_import_is_light():
    """`import sce` loads neither NumPy's friends nor anything compiled."""
    heavy = ("numpy", "numba", "sklearn", "scipy", "matplotlib", "tqdm")
    loaded = run(f"import sce, sys; print([m for m in {heavy} if m in sys.modules])")
    assert loaded == "[]"


def test_fit_loads_only_what_it_uses():
    """A fit loads what it needs: no pictures, no progress bar, and not scikit-learn, which takes longer than all the rest."""
    loaded = run(
        "import numpy as np, sys; from sce import SCE; SCE(n_epochs=1).fit(np.random.rand(50, 3));"
        "print([m for m in ('matplotlib', 'tqdm', 'sklearn', 'pandas') if m in sys.modules])"
    )
    assert loaded == "[]"


def test_errors_are_value_errors_and_warnings_user_warnings():
    """So that code that knows nothing of sce can catch them."""
    errors = importlib.import_module("sce.errors")
    assert issubclass(errors.SCEError, ValueError)
    assert issubclass(errors.SCEWarning, UserWarning)
