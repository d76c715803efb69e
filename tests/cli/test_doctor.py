"""`sce doctor`."""

import json

import pytest

from sce import warm
from sce.cli.commands import doctor


def test_doctor_says_what_there_is(sce):
    """Versions, cores, kernels, and what each optional package is for."""
    said = sce("doctor")
    assert said.code == 0
    for word in ("versions:", "Python", "numba", "cores", "kernels:", "browser:", "Parquet files"):
        assert word in said.out


def test_what_is_missing_says_how_to_get_it(sce, monkeypatch):
    """The command to install it."""
    feature = doctor.Feature("wonders", "no_such_module", "no-such-package", "pip install wonders")
    monkeypatch.setattr(doctor, "FEATURES", (feature,))
    assert "wonders  missing: pip install wonders" in sce("doctor").out


def test_json(sce):
    """The same in plain values."""
    facts = json.loads(sce("doctor", "--json").out)
    assert facts["cores"] >= 1
    assert set(facts["kernels"]) == {"folder", "count", "MB", "complete"}


@pytest.mark.parametrize(
    ("environment", "words"),
    [({"NUMBA_DISABLE_JIT": "1"}, "unset it"), ({}, None)],
)
def test_advice(sce, monkeypatch, environment, words):
    """Where something is wrong, what to do about it; where nothing is, that too."""
    monkeypatch.setattr(warm, "is_compiled", lambda: True)
    monkeypatch.setattr(doctor, "free_memory", lambda: 8 * 2**30)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    out = sce("doctor").out
    assert words in out if words else "All is well." in out


def test_little_memory_and_no_place_for_kernels(sce, monkeypatch):
    """Both are said."""
    monkeypatch.setattr("sce.core.compiled.cache_folder", lambda: None)
    monkeypatch.setattr(doctor, "free_memory", lambda: 2**20)
    out = sce("doctor").out
    assert "NUMBA_CACHE_DIR" in out
    assert "close other programs" in out


def test_kernels_of_other_fits_may_be_missing(sce, monkeypatch):
    """After the first fit of few points, for example: so it does not say that the first fit is still to come."""
    monkeypatch.setattr(warm, "is_compiled", lambda: False)
    out = sce("doctor").out
    assert "Some kernels are not compiled yet" in out
    assert "The first fit" not in out


@pytest.mark.parametrize(("anything", "words"), [(True, "Compiled the kernels"), (False, "compiled already")])
def test_compile(sce, monkeypatch, anything, words):
    """It says whether there was anything to compile."""
    monkeypatch.setattr(warm, "compile_ahead", lambda: anything)
    assert words in sce("doctor", "--compile").err
