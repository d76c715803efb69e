"""Files that sce 0.1.0 wrote (format 1, see samples/README.md) open with the same content in every later version."""

import hashlib
import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import sce

SAMPLES = Path(__file__).parent / "samples"
# The digest of each attribute that is not empty, as the version that wrote the file read it.
CONTENT = {
    "map.npz": {
        "Y": "3e737345e5d2",
        "ids": "bf815be44d42",
        "labels": "56b979c722c0",
        "label_name": "464241679edc",
        "parameters": "8c2f20bd5a86",
        "r": "2c189ddaaa87",
        "history": "b4516cb4accb",
        "facts": "15ce78e10411",
        "P": "0ecdb3537ecd",
        "X": "eda4832b4aef",
    },
    "map_sparse.npz": {
        "Y": "c91d68deac2e",
        "ids": "fafd6e35e3d9",
        "parameters": "6b2b71c7bec4",
        "r": "d783dce9634c",
        "history": "9553e514a338",
        "facts": "325ce306d839",
        "X": "923c52b91af6",
    },
    "sweep.npz": {
        "frames": "66b8647f4667",
        "log10_r": "d08c9d39997a",
        "ids": "bf815be44d42",
        "marks": "afc723849166",
        "labels": "56b979c722c0",
        "label_name": "464241679edc",
        "figures": "53cda4806fca",
        "parameters": "042c4c1e0732",
        "facts": "5b1a080a9549",
        "P": "0ecdb3537ecd",
    },
    "sweep_alpha.npz": {
        "frames": "c857432823fc",
        "log10_r": "9fe9b7ff99ae",
        "ids": "bf815be44d42",
        "alphas": "8456dae22d62",
        "marks": "43749428d86c",
        "labels": "56b979c722c0",
        "figures": "9c5122f1cd60",
        "parameters": "59432c0e4b76",
        "facts": "8b1d37f586ce",
    },
}


def digest(value):
    """A short name for the content of an attribute: values, types and shapes."""
    if sp.issparse(value):
        parts = [value.format, value.shape, *(digest(getattr(value, name)) for name in ("data", "indices", "indptr"))]
    elif isinstance(value, np.ndarray):
        parts = [value.dtype.str, value.shape, hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()]
    elif isinstance(value, dict):
        parts = [[name, digest(value[name])] for name in sorted(value)]
    else:
        parts = value
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def content(result):
    """The digests of all attributes that hold something."""
    values = {field.name: getattr(result, field.name) for field in fields(result)}
    return {
        name: digest(value)
        for name, value in values.items()
        if value is not None and not (isinstance(value, dict) and not value)
    }


@pytest.mark.parametrize("name", CONTENT)
def test_a_sample_opens_with_its_content(name):
    """Every attribute has the values, types and shapes that it was saved with."""
    assert content(sce.load(SAMPLES / name)).items() >= CONTENT[name].items()


def test_some_content_in_plain_sight():
    """Labels as text with a missing one, text ids, marks, alphas, and the format they were written in."""
    made, family = sce.load(SAMPLES / "map.npz"), sce.load(SAMPLES / "sweep.npz")
    assert (made.Y.shape, made.label_name, made.facts["source"], made.facts["n_epochs"]) == (
        (60, 2),
        "side",
        "made up",
        68,
    )
    for result in (made, family):
        assert result.labels[5:9].tolist() == ["östlich", "north", "", "östlich"]
        assert result.ids[[0, 59]].tolist() == ["row 0", "row 59"]
        assert result.P.nnz == 636
    assert made.r == 6.901110942376576
    assert (family.log10_r.tolist(), family.alphas) == ([0.0, 1.0, 2.0, 3.0], None)
    assert family.marks == {"SCE": (6.916497980249677, 1), "t-SNE": (105.32136161825592, 2)}
    assert sce.load(SAMPLES / "sweep_alpha.npz").alphas.tolist() == [0.0, 0.5, 1.0]
    with np.load(SAMPLES / "map.npz", allow_pickle=False) as file:
        header = json.loads(str(file["sce_map"]))
    assert (header["format"], header["sce"]) == (1, "0.1.0")


def test_every_sample_is_checked():
    """And is small enough to be kept for good."""
    assert {path.name for path in SAMPLES.glob("*.npz")} == set(CONTENT)
    assert all(path.stat().st_size < 60_000 for path in SAMPLES.glob("*.npz"))
