"""Data frames and series wherever arrays are taken: fits, clusters, pictures, quality, maps, sweeps."""

import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sce
from sce import SCE, InputError, Map

mpl.use("Agg")
RNG = np.random.default_rng(0)
GROUPS = np.repeat([0, 1, 2], 40)
X = RNG.normal(size=(120, 5)) + 9 * GROUPS[:, None]
KINDS = np.array(["u", "v", "w"])[GROUPS]
MODEL = SCE(random_state=0, n_epochs=20).fit(X)
Y = MODEL.embedding_

FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": lambda columns: pa.table({name: list(values) for name, values in columns.items()}),
}
SERIES = {
    "list": list,
    "pandas": pd.Series,
    "categories": lambda values: pd.Series(pd.Categorical(values)),
    "an index of its own": lambda values: pd.Series(values, index=np.arange(len(values))[::-1]),
    "string": lambda values: pd.Series(values, dtype="string"),
    "polars": pl.Series,
    "polars categories": lambda values: pl.Series(values, dtype=pl.Categorical),
    "pyarrow": lambda values: pa.chunked_array([pa.array(list(values)).dictionary_encode()]),
}


@pytest.fixture(params=FRAMES)
def make(request):
    return FRAMES[request.param]


def columns(values, names="abcde"):
    return {name: values[:, k] for k, name in zip(range(values.shape[1]), names, strict=False)}


def test_fits_give_the_same_bytes(make):
    """As arrays, whatever the library; vectors in a column of lists as well."""
    np.testing.assert_array_equal(SCE(random_state=0, n_epochs=20).fit(make(columns(X))).embedding_, Y)
    lists = make({"e": X.tolist()})
    np.testing.assert_array_equal(SCE(random_state=0, n_epochs=20).fit(lists).embedding_, Y)


def test_distances_and_similarities_in_frames(make):
    """As a matrix with names."""
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    names = [f"c{k}" for k in range(120)]
    options = {"metric": "precomputed", "random_state": 0, "n_epochs": 2}
    expected = SCE(**options).fit(D).embedding_
    np.testing.assert_array_equal(SCE(**options).fit(make(columns(D, names))).embedding_, expected)
    named = pd.DataFrame(D, index=names, columns=names)
    assert SCE(**options).fit(named).ids_.tolist() == names


def test_clusters_of_frames(make):
    """Of coordinates with and without company."""
    expected = sce.find_clusters(Y)
    np.testing.assert_array_equal(sce.find_clusters(make(columns(Y, "ab"))), expected)
    np.testing.assert_array_equal(sce.find_clusters(make({**columns(Y, "xy"), "kind": KINDS.tolist()})), expected)
    np.testing.assert_array_equal(sce.find_clusters(Map.from_model(MODEL, labels=KINDS).to_frame("polars")), expected)
    framed = SCE(random_state=0, n_epochs=20).set_output(transform="pandas").fit_transform(X)
    np.testing.assert_array_equal(sce.find_clusters(framed), expected)


@pytest.mark.parametrize("series", SERIES)
def test_pictures_with_series(series):
    """A legend with the three kinds, in the order of the rows."""
    ax = sce.plot.scatter(pd.DataFrame(columns(Y, "xy")), labels=SERIES[series](KINDS))
    texts = {text.get_text() for legend in ax.figure.findobj(mpl.legend.Legend) for text in legend.get_texts()}
    assert {"u", "v", "w"} <= {text.split(" ")[0] for text in texts}


def test_gaps_in_labels():
    """NA of pandas and null of polars are no label; numbers with gaps are numbers."""
    gaps = [None if k % 5 == 0 else k for k in range(120)]
    for numbers in (pd.Series(gaps, dtype="Int64"), pl.Series(gaps), pa.chunked_array([gaps])):
        assert np.isnan(Map.from_model(MODEL, labels=numbers).labels).sum() == 24
        sce.plot.scatter(Y, labels=numbers)
    words = [None if k % 5 == 0 else word for k, word in enumerate(KINDS.tolist())]
    for text in (pd.Series(words, dtype="string"), pl.Series(words), pd.Series(words, dtype="category")):
        made = Map.from_model(MODEL, labels=text)
        sce.plot.scatter(made.Y, labels=text)
        assert made.to_frame("pandas")["label"].isna().sum() == 24


def test_quality_of_frames(make):
    """Data, coordinates, classes and clusters: the same figures as of arrays."""
    expected = sce.quality.assess(Y, X=X, P=MODEL.affinity_, classes=KINDS, labels=GROUPS).figures()
    found = sce.quality.assess(
        make(columns(Y, "xy")),
        X=make(columns(X)),
        P=MODEL.affinity_,
        classes=pd.Series(KINDS, dtype="category"),
        labels=pd.Series(GROUPS, dtype="Int64"),
    ).figures()
    assert found == expected
    with pytest.raises(InputError, match=r"X has text in column 'kind'"):
        sce.quality.assess(Y, X=make({"kind": KINDS.tolist()}))


def test_a_sweep_of_a_frame(make):
    """With labels and ids of series."""
    found = sce.sweep(
        make(columns(X)), log10_r=[0, 1], labels=pl.Series(KINDS), ids=pd.Series(range(120)), random_state=0
    )
    assert found.labels.tolist() == KINDS.tolist()
    assert found.ids.tolist() == list(range(120))


@pytest.mark.parametrize("open_frame", [pa.Table.from_pandas, pa.RecordBatch.from_pandas, pl.read_parquet])
def test_the_index_of_pandas_in_other_frames(open_frame, tmp_path):
    """It is no data, and becomes the ids as in pandas."""
    indices = [
        [f"c{k}" for k in range(120)],
        [3 * k for k in range(120)],
        list(zip(range(120), range(120), strict=True)),
    ]
    for index in indices:
        frame = pd.DataFrame(columns(X), index=pd.MultiIndex.from_tuples(index) if index is indices[2] else index)
        if open_frame is pl.read_parquet:
            frame.to_parquet(frame_or_path := tmp_path / "a.parquet")
        else:
            frame_or_path = frame
        model = SCE(random_state=0, n_epochs=20).fit(open_frame(frame_or_path))
        np.testing.assert_array_equal(model.embedding_, MODEL.embedding_)
        assert model.ids_.tolist() == index
    frame = pd.DataFrame({"cell": range(5, 125), **columns(X)}).set_index("cell")
    if open_frame is not pl.read_parquet:
        assert SCE(random_state=0, n_epochs=20).fit(open_frame(frame)).ids_.tolist() == list(range(5, 125))


def test_a_column_that_numbers_the_rows(make):
    """Is used as data, as every column of a frame, which a warning says; unless its name is one of a measurement."""
    numbered = {"PassengerId": np.arange(1.0, 121), **columns(X)}
    with pytest.warns(sce.DataWarning, match="Column 'PassengerId' of X numbers the rows, and is used as data"):
        assert SCE(random_state=0, n_epochs=2).fit(make(numbered)).n_features_in_ == X.shape[1] + 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", sce.DataWarning)
        SCE(random_state=0, n_epochs=2).fit(make({"time": np.arange(120.0), **columns(X)}))
