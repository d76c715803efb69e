"""What was read and how it was prepared, kept and done again."""

import json
from dataclasses import fields

import numpy as np
import pytest

from sce import InputError, datasets
from sce.data.preparation import Preparation
from sce.data.reader import ReadOptions
from sce.data.recipe import Recipe

OTHER_READING = {
    "columns": ["a", "2:5"], "drop": ["b"], "ids": "id", "weights": "w", "array": "Z", "transpose": True,
    "decimal_comma": True, "labels": "none", "header": "no", "keep": ["c"],
    "edges": "a,b",
}  # fmt: skip
OTHER_PREPARATION = {
    "missing": "drop",
    "log1p": True,
    "normalize": "none",
    "one_hot": True,
    "pca": 0,
    "auto": True,
    "merge_copies": True,
}


def test_every_option_is_remembered():
    """Also one whose value is false, such as pca=0; a default is not written down."""
    assert set(OTHER_READING) == {option.name for option in fields(ReadOptions)}
    assert set(OTHER_PREPARATION) == {option.name for option in fields(Preparation)}
    recipe = Recipe(ReadOptions(**OTHER_READING), Preparation(**OTHER_PREPARATION))
    assert recipe.facts() == OTHER_PREPARATION | OTHER_READING
    assert Recipe.from_facts(json.loads(json.dumps(recipe.facts()))) == recipe
    assert Recipe().facts() == {}
    assert Recipe.from_facts({}) == Recipe()


def test_facts_of_other_versions():
    """Unknown ones are passed over; wrong ones are refused."""
    assert Recipe.from_facts({"graph": "P.npz", "missing": "mean", "later": 3}).facts() == {"missing": "mean"}
    for wrong in ({"missing": "sometimes"}, {"columns": 5}, {"header": ["no"]}, {"pca": "many"}, [], None):
        with pytest.raises(InputError, match="preparation"):
            Recipe.from_facts(wrong)


def test_data_sets_by_name_and_files(tmp_path, monkeypatch):
    """A name has no ending; labels may come from elsewhere, or not at all."""
    monkeypatch.chdir(tmp_path)
    table = Recipe().read("digits")
    assert (table.X.shape, table.label_name) == ((1797, 64), "digits")
    assert Recipe(ReadOptions(labels="none")).read("digits").labels is None
    np.save("kinds.npy", np.arange(1797) % 3)
    table = Recipe(ReadOptions(labels="kinds.npy")).read("digits")
    assert (table.label_name, table.labels.max()) == ("kinds", 2)
    np.save("mine.npy", np.eye(3))
    assert Recipe().read("mine.npy").X.shape == (3, 3)
    with pytest.raises(InputError, match="neither a file nor a data set 'digts'; did you mean digits"):
        Recipe().read("digts")
    assert datasets.about("digits").n_labels == 10
