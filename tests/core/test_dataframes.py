"""Data frames of pandas, polars and pyarrow as matrices; what is refused, and in which words."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from processes import run
from sce.core.dataframes import as_column, as_matrix, coordinates_in, index_of, library_of
from sce.errors import DataWarning, InputError

VECTORS = np.arange(12, dtype=np.float32).reshape(3, 4)
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "pyarrow": pa.table,
}


def test_arrays_are_none_of_its_business():
    """Arrays, lists, sparse matrices and a series of numbers are left to others."""
    for other in (np.ones((2, 2)), [[1, 2]], sp.eye(3).tocsr(), pd.Series([1.0, 2.0]), None, 3):
        assert as_matrix(other) is None


@pytest.mark.parametrize("library", FRAMES)
def test_numbers_of_all_libraries(library):
    """Numbers and booleans, in the type that holds all of them; a gap is NaN."""
    frame = FRAMES[library]({"a": [1, 2, None], "b": [True, None, False], "c": [0.5, 1.5, 2.5]})
    found = as_matrix(frame)
    np.testing.assert_array_equal(found.X, [[1, 1, 0.5], [2, np.nan, 1.5], [np.nan, 0, 2.5]])
    assert found.names == ["a", "b", "c"]
    assert found.ids is None
    assert library_of(frame) == library


def test_nullable_types_of_pandas():
    """Int64, Float64, boolean and Arrow's types, with and without gaps; decimals; Python objects that are numbers."""
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None, 3], "Int64"),
            "f": pd.array([1.5, None, 2.5], "Float64"),
            "b": pd.array([True, None, False], "boolean"),
            "arrow": pd.array([1, None, 3], "int64[pyarrow]"),
            "object": pd.Series([1, True, None], dtype=object),
            "decimal": pd.Series([Decimal("1.5"), None, 3], dtype=object),
        }
    )
    nan = np.nan
    expected = [[1, 1.5, 1, 1, 1, 1.5], [nan, nan, nan, nan, 1, nan], [3, 2.5, 0, 3, nan, 3]]
    np.testing.assert_array_equal(as_matrix(frame).X, expected)
    assert as_matrix(frame[["i"]].dropna()).X.dtype == np.int64


def test_small_types_stay_small():
    """32-bit numbers are not doubled; a frame that is one block of numbers is not copied."""
    X = np.ones((5, 3), np.float32)
    assert np.shares_memory(as_matrix(pd.DataFrame(X)).X, X)
    assert as_matrix(pl.DataFrame({"a": [1, 2], "b": [2.5, 3]}, schema={"a": pl.Int8, "b": pl.Float32})).X.dtype == "f4"
    assert as_matrix(pa.table({"a": pa.array([1, 2], pa.uint8())})).X.dtype == np.uint8


def test_sparse_columns_stay_sparse():
    """A frame whose columns are all sparse becomes CSR; a fill value other than 0 needs a dense matrix."""
    found = as_matrix(pd.DataFrame.sparse.from_spmatrix(sp.eye(4).tocsr()))
    assert sp.issparse(found.X)
    np.testing.assert_array_equal(found.X.toarray(), np.eye(4))
    filled = pd.DataFrame({"a": pd.arrays.SparseArray([1.0, 2.0, 1.0], fill_value=1.0)})
    np.testing.assert_array_equal(as_matrix(filled).X, [[1], [2], [1]])


def test_names_of_columns_may_be_anything():
    """Numbers, tuples, and the same name twice."""
    assert as_matrix(pd.DataFrame(VECTORS)).names == [0, 1, 2, 3]
    twice = pd.DataFrame({"a": [1, 2], "b": [1.5, 2.5]}).set_axis(["a", "a"], axis=1)
    np.testing.assert_array_equal(as_matrix(twice).X, [[1, 1.5], [2, 2.5]])
    both = pd.DataFrame([[1, 2.5]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    assert as_matrix(both).names == [("a", "x"), ("a", "y")]


def test_the_index():
    """0, 1, 2, ... is no index; everything else is, also of a selection."""
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    assert index_of(frame) is None
    assert index_of(frame[frame.a > 1]).tolist() == [1, 2]
    assert index_of(frame.set_index(pd.Index(["x", "y", "z"]))).tolist() == ["x", "y", "z"]
    assert index_of(frame.set_index(pd.MultiIndex.from_product([["u"], [1, 2, 3]]))).tolist()[0] == ("u", 1)
    assert index_of([1, 2]) is None


def vectors_of(library):
    """A frame of one column of vectors, in each of the ways a library has."""
    lists = VECTORS.tolist()
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(VECTORS.ravel()), 4)
    return {
        "pandas": [
            pd.DataFrame({"e": list(VECTORS)}),
            pd.DataFrame({"e": pd.Series(lists, dtype=pd.ArrowDtype(pa.list_(pa.float32())))}),
            pd.Series(list(VECTORS), name="e"),
        ],
        "polars": [
            pl.DataFrame({"e": lists}, schema={"e": pl.List(pl.Float32)}),
            pl.DataFrame({"e": lists}, schema={"e": pl.Array(pl.Float32, 4)}),
            pl.Series("e", lists, dtype=pl.List(pl.Float32)),
        ],
        "pyarrow": [
            pa.table({"e": pa.array(lists, pa.list_(pa.float32()))}),
            pa.table({"e": fixed}),
            pa.chunked_array([fixed[:1], fixed[1:]]),
        ],
    }[library]


@pytest.mark.parametrize("library", FRAMES)
def test_a_column_of_vectors(library):
    """Lists, arrays and fixed-size lists, as a frame or as a series: the vectors are the data, 32-bit as they were."""
    for frame in vectors_of(library):
        found = as_matrix(frame)
        np.testing.assert_array_equal(found.X, VECTORS)
        assert found.X.dtype == np.float32
        assert found.names is None


@pytest.mark.parametrize("library", FRAMES)
def test_vectors_beside_other_columns(library):
    """The vectors are used, and the warning says so; beside as many other numbers, somebody has to choose."""
    frame = FRAMES[library]({"id": ["a", "b", "c"], "label": [1, 2, 3], "e": VECTORS.tolist()})
    with pytest.warns(
        DataWarning, match=r"column 'e' of X \(4 numbers each\) are used .* columns 'id', 'label' are left"
    ):
        np.testing.assert_array_equal(as_matrix(frame).X, VECTORS)
    many = FRAMES[library]({"e": VECTORS.tolist(), **{name: [1, 2, 3] for name in "abcd"}})
    with pytest.raises(
        InputError, match=r"vectors in column 'e'; to embed the vectors of one column, give X\[\['e'\]\]"
    ):
        as_matrix(many)


@pytest.mark.parametrize("library", FRAMES)
def test_odd_vectors(library):
    """A missing vector is a row of NaN; vectors of unequal length are refused, and the first such row is named."""
    found = as_matrix(FRAMES[library]({"e": [[1.0, 2.0], None, [3.0, 4.0]]}))
    np.testing.assert_array_equal(found.X, [[1, 2], [np.nan, np.nan], [3, 4]])
    with pytest.raises(InputError, match=r"Column 'e' of X .* unequal length: 2 numbers in the first row, 1 in row 2;"):
        as_matrix(FRAMES[library]({"e": [[1.0, 2.0], None, [3.0]]}))
    with pytest.raises(InputError, match="vectors without numbers"):
        as_matrix(pd.DataFrame({"e": [np.array([]), np.array([])]}))


def test_text_in_a_vector():
    """The row is named."""
    with pytest.raises(InputError, match=r"Column 'e' of X holds something other than numbers in row 1: \['a', 'b'\]"):
        as_matrix(pd.DataFrame({"e": [[1.0, 2.0], ["a", "b"]]}))


def test_all_columns_that_are_not_numbers_are_named_at_once():
    """By kind; with the call that leaves them out, in the library's own words."""
    columns = {
        "name": ["x", "y"],
        "city": ["u", "v"],
        "ok": [1, 2],
        "when": pd.to_datetime(["2020-01-01", "2020-01-02"]),
    }
    frame = pd.DataFrame({**columns, "sex": pd.Categorical(["f", "m"])})
    with pytest.raises(InputError) as error:
        as_matrix(frame)
    assert str(error.value) == (
        "X has text in columns 'name', 'city'; dates or durations in column 'when'; categories in column 'sex', where numbers "
        "are needed: leave them out, X.drop(columns=['name', 'city', 'when', 'sex']), or turn them into numbers."
    )
    with pytest.raises(
        InputError, match=r"X\.drop_columns\(\['name'\]\), or .* with sklearn.preprocessing.OneHotEncoder"
    ):
        as_matrix(pa.table({"name": ["x", "y"]}))
    with pytest.raises(InputError, match=r"text in columns 'c0', .*, 'c7' and 12 more, .* X\.drop\(\.\.\.\)"):
        as_matrix(pl.DataFrame({f"c{k}": ["x"] for k in range(20)}))


def test_frames_without_values_yet():
    """A lazy frame is not computed behind the user's back."""
    with pytest.raises(InputError, match=r"X is a lazy frame \(polars.LazyFrame\), .* give X.collect\(\) instead"):
        as_matrix(pl.LazyFrame({"a": [1]}))


class Stream:
    """A table of an unknown library that exports Arrow's C stream."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class Dataset:
    """A table of an unknown library that can be turned into a frame of pandas."""

    def to_pandas(self):
        raise NotImplementedError


def test_unknown_libraries():
    """What exports Arrow's C stream is read; what has to_pandas is not, and the message says so."""
    np.testing.assert_array_equal(as_matrix(Stream(pa.table({"a": [1, 2]}))).X, [[1], [2]])
    np.testing.assert_array_equal(as_matrix(pa.record_batch({"a": [1, 2]})).X, [[1], [2]])
    with pytest.raises(InputError, match=r"Dataset, which sce cannot read as a table; give X.to_pandas\(\) instead"):
        as_matrix(Dataset())


@pytest.mark.parametrize("library", FRAMES)
def test_empty_frames(library):
    """No rows, no columns."""
    with pytest.raises(InputError, match=r"X has no rows \(its shape is \(0, 1\)\)"):
        as_matrix(FRAMES[library]({"a": []}))


def test_narwhals_is_loaded_for_frames_only():
    """Neither by `import sce` nor by a fit to an array; and a fit to a frame does not load scikit-learn."""
    fit = "import sys, numpy as np, sce; X = np.random.rand(20, 3); m = sce.SCE(n_epochs=1); m.fit(X);"
    assert run(f"{fit} print('narwhals' in sys.modules)") == "False"
    frame = (
        f"{fit} import polars as pl; m.fit(pl.DataFrame(X)); print('narwhals' in sys.modules, 'sklearn' in sys.modules)"
    )
    assert run(frame) == "True False"


@pytest.mark.parametrize("library", FRAMES)
def test_a_series_as_an_array(library):
    """Numbers with gaps are floats, categories are words, and a gap among words is None."""
    frame = FRAMES[library]({"i": [1, None, 3], "s": ["a", None, "b"], "b": [True, False, True]})
    np.testing.assert_array_equal(as_column(frame["i"]), [1, np.nan, 3])
    assert as_column(frame["s"]).tolist() == ["a", None, "b"]
    assert as_column(frame["b"]).tolist() == [True, False, True]
    assert as_column([1, 2]) == [1, 2]


def test_nullable_and_categorical_series():
    """As numbers or words; NA, with which nothing compares, is None."""
    assert as_column(pd.Series([1, None], dtype="Int64")).tolist()[0] == 1.0
    assert as_column(pd.Series([True, None], dtype="boolean")).tolist() == [True, None]
    assert as_column(pd.Series(["a", None], dtype="category")).tolist() == ["a", None]
    assert as_column(pd.Series(["a", None], dtype="string")).tolist() == ["a", None]
    assert as_column(pl.Series(["a", None], dtype=pl.Categorical)).tolist() == ["a", None]
    assert as_column(pa.chunked_array([pa.array(["a", None]).dictionary_encode()])).tolist() == ["a", None]
    assert as_column(pd.Series(pd.to_datetime(["2020-01-01"]))).dtype.kind == "M"


@pytest.mark.parametrize("library", FRAMES)
def test_coordinates_in_a_frame(library):
    """Those called x, y, z or sce0, sce1, sce2; or all columns."""
    for names in (("x", "y"), ("x", "y", "z"), ("sce0", "sce1"), ("a", "b")):
        columns = {name: [float(k), k + 0.5] for k, name in enumerate(names)}
        expected = np.array(list(columns.values())).T
        np.testing.assert_array_equal(coordinates_in(FRAMES[library](columns)), expected)
        if names[0] != "a":
            np.testing.assert_array_equal(coordinates_in(FRAMES[library]({"kind": ["u", "v"], **columns})), expected)
    assert coordinates_in(np.ones((2, 2))) is None
