"""The preparation of data, against scikit-learn and plain NumPy, and the same for new rows."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.preprocessing import RobustScaler, StandardScaler

from processes import run as run_python
from sce import InputError, ParameterError, read
from sce.data.preparation import Preparation
from sce.data.scaling import _sparse_moments
from sce.data.table import Extras, Table

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(300, 6)) * [1, 2, 3, 4, 5, 0.5]


def table(X, **more):
    names = [f"c{k}" for k in range(X.shape[1])]
    return Table(Path("data.csv"), X, names, **more)


def done(X, *, text=None, **options):
    return Preparation(**options).fit_transform(table(X, text=text or {}), n_jobs=1)[0]


def sparse(rows, columns, entries=100_000):
    """A large sparse matrix, made quickly."""
    at = (RNG.integers(rows, size=entries), RNG.integers(columns, size=entries))
    return sp.csr_matrix((RNG.gamma(1.0, size=entries), at), shape=(rows, columns))


def test_nothing_asked_for_changes_nothing():
    """The very same array."""
    assert done(X).X is X


def test_normalize_as_scikit_learn():
    """Standard and robust; constant columns stay constant, columns without quartiles get their standard deviation."""
    np.testing.assert_allclose(done(X, normalize="standard").X, StandardScaler().fit_transform(X), atol=1e-12)
    np.testing.assert_allclose(done(X, normalize="robust").X, RobustScaler().fit_transform(X), atol=1e-12)
    odd = np.column_stack([np.full(100, 7.0), np.r_[np.zeros(90), np.arange(10.0)]])
    assert np.isfinite(done(odd, normalize="robust").X).all()
    assert done(odd, normalize="robust").X[:, 1].std() == pytest.approx(1)
    assert (done(odd, normalize="standard").X[:, 0] == 0).all()


def test_sparse_columns_are_scaled_but_not_moved():
    """So that they stay sparse, and distances are those of the centred ones."""
    S = sparse(20_000, 5000)
    scaled = done(S, normalize="standard").X
    assert sp.issparse(scaled)
    dense = S[:, :50].toarray()
    np.testing.assert_allclose(scaled[:, :50].toarray() * dense.std(axis=0), dense, atol=1e-12)
    with pytest.raises(InputError, match='sparse, so that normalize="robust" finds no spread'):
        done(S, normalize="robust")


def test_log1p():
    """ln(1 + x), dense and sparse; negative values are refused."""
    np.testing.assert_allclose(done(X, log1p=True).X, np.log1p(X))
    S = sparse(20_000, 5000)
    np.testing.assert_allclose(done(S, log1p=True).X.data, np.log1p(S.data))
    with pytest.raises(
        InputError, match=r"data.csv has negative values \(down to -1\), for which log1p=True is not defined"
    ):
        done(X - X.min() - 1, log1p=True)


def test_pca_as_scikit_learn():
    """The same components up to their signs, dense and sparse."""
    Y = RNG.normal(size=(500, 30)) * np.r_[10, 8, 6, np.ones(27)]
    ours, theirs = done(Y, pca=3, normalize="none").X, PCA(3).fit_transform(Y)
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-3)
    assert done(Y, pca=3).names == ["PC1", "PC2", "PC3"]
    assert done(X, pca=10).X is X


def test_missing_values():
    """Filled in by mean or median, or their rows left out, with ids and labels."""
    Y = X.copy()
    Y[3, 1] = Y[7, 2] = np.nan
    filled = done(Y, missing="median").X
    assert filled[3, 1] == np.nanmedian(Y[:, 1])
    assert done(Y, missing="mean").X[7, 2] == pytest.approx(np.nanmean(Y[:, 2]))
    assert np.isnan(Y[3, 1])
    left, _ = Preparation(missing="drop").fit_transform(table(Y, labels=np.arange(300)))
    keep = np.delete(np.arange(300), [3, 7])
    assert (Y[keep] == left.X).all()
    assert (left.ids == keep).all()
    assert (left.labels == keep).all()


def test_one_hot():
    """A column of 0 and 1 for each value, not scaled with the others."""
    colors = np.array(["red", "green"])[np.arange(300) % 2]
    made = done(X, text={"colour": colors}, one_hot=True, normalize="standard")
    assert made.names[-2:] == ["colour=green", "colour=red"]
    assert (made.X[:, -1] == (colors == "red")).all()
    assert (made.X[:, -2:].sum(axis=1) == 1).all()


def test_hardly_sparse_data_become_dense():
    """And this is said; others stay as they are, however small."""
    made = done(sp.csr_matrix(X))
    assert (made.X == X).all()
    assert "Sparse data converted to a dense array" in made.notes[0]
    few = sp.random(300, 40, 0.1, "csr", random_state=0)
    made = done(few)
    assert (few != made.X).nnz == 0
    assert not made.notes


@pytest.mark.parametrize(
    ("scales", "advised"),
    [
        ([1, 1, 1, 1], False),
        ([1, 2, 3, 4], False),
        ([1, 1, 1, 1000], True),
        ([80, 160, 9, 12, 8, 50, 21, 13, 21], True),
    ],
)
def test_advice_where_columns_differ_widely(scales, advised):
    """Where a few columns decide all distances; never where it was said how columns are to be."""
    Y = RNG.normal(size=(500, len(scales))) * scales
    assert any("differ widely" in note for note in done(Y).notes) == advised
    assert not done(Y, normalize="none").notes


def test_pixels_are_left_alone():
    """Columns near the edge of pictures hardly vary, and that is as it should be."""
    from sklearn.datasets import load_digits

    assert not done(load_digits().data).notes


def test_infinite_values_are_refused():
    """With the place of the first."""
    Y = X.copy()
    Y[5, 2] = np.inf
    with pytest.raises(InputError, match="infinite values, first in column 'c2', row 5"):
        done(Y)
    with pytest.raises(InputError, match="infinite values, first in column 'c2', row 5"):
        done(sp.csr_matrix(Y))


def test_blocks_of_a_mapped_array(tmp_path):
    """A mapped array is scaled as one in memory."""
    np.save(tmp_path / "a.npy", X)
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    for how in ("standard", "robust"):
        assert (done(mapped, normalize=how).X == done(X, normalize=how).X).all()


def test_missing_text():
    """Rows are left out, or the most frequent value is filled in."""
    words = np.array(["x", "x", "", "y"] * 75, dtype=object)
    dropped = done(X, text={"t": words.copy()}, one_hot=True, missing="drop")
    assert len(dropped.X) == 225
    filled = done(X, text={"t": words}, one_hot=True, missing="median")
    assert filled.X[2, -2:].tolist() == [1, 0]


def test_sparse_columns_that_are_constant():
    """Are not blown up."""
    full = sp.csr_matrix(np.column_stack([np.full(300, 0.1), np.arange(300)]))
    assert _sparse_moments(full)[1][0] == 0


# ------------------------------------------------------------------------------------------------------------- new rows

WORDS = np.array(["red", "green", "blue"], dtype=object)


def wild(n, seed=1):
    """A table with gaps in numbers and text."""
    rng = np.random.default_rng(seed)
    values = rng.gamma(1.0, size=(n, 5)) * [1, 100, 3, 4, 0.5]
    values[rng.random((n, 5)) < 0.05] = np.nan
    words = WORDS[rng.integers(3, size=n)]
    words[rng.random(n) < 0.05] = ""
    return table(values, text={"colour": words}, labels=np.arange(n))


KINDS_OF_PREPARATION = {
    "median, robust": {"missing": "median", "normalize": "robust", "one_hot": True},
    "mean, standard": {"missing": "mean", "normalize": "standard", "one_hot": True},
    "drop, logarithm": {"missing": "drop", "log1p": True, "normalize": "none", "one_hot": True},
    "everything": {"missing": "median", "log1p": True, "normalize": "robust", "one_hot": True, "pca": 3},
}


def test_saved_preparations_repeat_themselves_in_another_process(tmp_path):
    """From plain arrays, to the same bytes of the training rows."""
    given = wild(300)
    made = {kind: Preparation(**options).fit_transform(given) for kind, options in KINDS_OF_PREPARATION.items()}
    for kind, (_, fitted) in made.items():
        np.savez(tmp_path / f"{kind}.fitted.npz", **fitted.to_arrays())
    np.savez(tmp_path / "given.npz", X=given.X, words=given.text["colour"].astype(str))
    code = """
import numpy as np
from pathlib import Path
from sce.data.preparation import FittedPreparation
from sce.data.table import Table
with np.load("given.npz", allow_pickle=False) as file:
    names = [f"c{k}" for k in range(5)]
    given = Table(Path("data.csv"), file["X"], names, {"colour": file["words"].astype(object)})
for path in Path().glob("*.fitted.npz"):
    with np.load(path, allow_pickle=False) as file:
        fitted = FittedPreparation.from_arrays(dict(file))
    np.save(path.name.removesuffix(".fitted.npz"), fitted.apply(given).X)
"""
    run_python(code, cwd=tmp_path, PYTHONPATH=os.pathsep.join(sys.path))
    for kind, (prepared, _) in made.items():
        again = np.load(tmp_path / f"{kind}.npy")
        assert (again.dtype, again.tobytes()) == (prepared.X.dtype, prepared.X.tobytes()), kind


def test_new_rows_by_hand():
    """Filled, scaled and turned into 0 and 1 with what the training rows taught; columns are found by name."""
    given = wild(400)
    _, fitted = Preparation(missing="median", normalize="standard", one_hot=True).fit_transform(given)
    new = np.array([[2.0, 50.0, np.nan, 1.0, 7.0], [1.0, 20.0, 3.0, np.nan, 0.0]])
    shuffled = Table(
        Path("new.csv"),
        np.column_stack([new[:, [4, 2, 0, 1, 3]], [9.0, 9.0]]),
        ["c4", "c2", "c0", "c1", "c3", "unknown"],
        text={"colour": np.array(["green", ""], object)},
    )
    made = fitted.apply(shuffled)
    medians = np.nanmedian(given.X, axis=0)
    filled = np.where(np.isnan(given.X), medians, given.X)
    scaled = (np.where(np.isnan(new), medians, new) - filled.mean(axis=0)) / filled.std(axis=0)
    np.testing.assert_allclose(made.X[:, :5], scaled, atol=1e-12)
    found, counts = np.unique(given.text["colour"][given.text["colour"] != ""], return_counts=True)
    frequent = found[counts.argmax()]
    assert made.names[5:] == ["colour=blue", "colour=green", "colour=red"]
    assert made.X[:, 5:].tolist() == [[0, 1, 0], [float(c == frequent) for c in ("blue", "green", "red")]]
    assert np.isnan(shuffled.X).any()


def test_new_rows_in_principal_components():
    """Are projected on the axes of the training rows."""
    Y = RNG.normal(size=(500, 30)) * np.r_[10, 8, 6, np.ones(27)]
    prepared, fitted = Preparation(pca=3).fit_transform(table(Y))
    new = RNG.normal(size=(7, 30))
    np.testing.assert_allclose(fitted.apply(table(new)).X, (new - Y.mean(axis=0)) @ fitted.axes, atol=1e-4)
    assert fitted.apply(table(new)).X.dtype == prepared.X.dtype


def test_new_rows_with_gaps_where_there_were_none():
    """Get the median of the training rows, too; without missing= they are refused."""
    new = np.array([[np.nan, 1, 1, 1, 1, 1.0]])
    assert Preparation(missing="median").fit(table(X)).apply(table(new)).X[0, 0] == np.median(X[:, 0])
    with pytest.raises(InputError, match="missing values in 1 of 1 rows"):
        Preparation().fit(table(X)).apply(table(new))
    with pytest.raises(InputError, match="only 0 rows without missing values"):
        Preparation(missing="drop").fit(table(X)).apply(table(new))


def test_new_rows_of_another_type_or_storage():
    """Sparse rows for a dense fit and the reverse, float64 for float32: the result is stored as in the fit."""
    fitted = Preparation(normalize="standard").fit(table(X.astype(np.float32)))
    made = fitted.apply(table(sp.csr_matrix(X[:5])))
    assert made.X.dtype == np.float32
    S = sparse(20_000, 5000)
    prepared, fitted = Preparation(normalize="standard").fit_transform(table(S))
    made = fitted.apply(table(S[:5].toarray()))
    assert sp.issparse(made.X)
    assert (prepared.X[:5] != made.X).nnz == 0


def test_columns_that_new_rows_present_in_another_role(tmp_path):
    """A column of data that looks like ids, or like labels, in the new rows."""
    train, new = tmp_path / "train.csv", tmp_path / "new.csv"
    train.write_text("index,a,group,colour\n" + "".join(f"{i % 3},{i},{i % 5},{'rgb'[i % 3]}\n" for i in range(30)))
    given = read(train, labels="none")
    assert (given.names, list(given.text)) == (["a", "index", "group"], ["colour"])
    fitted = Preparation(one_hot=True).fit(given)
    new.write_text("index,a,group,colour\n0,5,1,r\n1,6,1,g\n2,7,2,r\n")
    table = read(new)
    assert (table.id_name, table.label_name, table.names) == ("index", "group", ["a"])
    assert fitted.apply(table).X.tolist() == [[5, 0, 1, 0, 0, 1], [6, 1, 1, 0, 1, 0], [7, 2, 2, 0, 0, 1]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": ["c0", "c1", "x", "y", "z"]}, r"new.csv lacks 3 of the 6 columns .* \('c2', 'c3', 'c4'\)"),
        ({"text": {}}, "lacks 1 of the 6 columns to which the preparation was fitted"),
        ({"text": {"colour": np.array(["red", "pink"], object)}}, "holds 'pink' in row 1, which did not occur"),
        ({"X": np.array([[np.inf, 0, 0, 0, 0], [0] * 5])}, "infinite values, first in column 'c0', row 0"),
    ],
)
def test_new_rows_that_do_not_fit(change, message):
    """Each with a sentence that says what does not."""
    fitted = Preparation(missing="mean", one_hot=True).fit(wild(50))
    good = {"X": np.ones((2, 5)), "names": [f"c{k}" for k in range(5)], "text": {"colour": WORDS[:2]}}
    fitted.apply(Table(Path("new.csv"), **good))
    with pytest.raises(InputError, match=message):
        fitted.apply(Table(Path("new.csv"), **{**good, **change}))


def test_new_rows_with_text_among_the_numbers_or_another_number_of_columns():
    """Columns with names must be of the same kind; without names, as many."""
    fitted = Preparation().fit(table(X))
    words = np.array(["many"] * 2, object)
    with pytest.raises(InputError, match=r"Column 'c5' of new.csv holds text, but it held numbers"):
        fitted.apply(Table(Path("new.csv"), X[:2, :5], [f"c{k}" for k in range(5)], text={"c5": words}))
    fitted = Preparation().fit(Table(Path("mnist"), X))
    with pytest.raises(InputError, match=r"new.csv has 4 columns, but the preparation was fitted to 6"):
        fitted.apply(Table(Path("new.csv"), X[:, :4]))


def test_the_given_table_is_left_alone():
    """Unless copy=False hands it over."""
    given = wild(50)
    before = given.X.copy()
    Preparation(missing="median", one_hot=True, normalize="standard").fit(given)
    np.testing.assert_array_equal(given.X, before)
    assert (list(given.text), given.notes, given.ids) == (["colour"], [], None)
    prepared, _ = Preparation(missing="drop", one_hot=True).fit_transform(given, copy=False)
    assert prepared is given


def test_extras_follow_the_rows():
    """When rows are left out."""
    Y = X.copy()
    Y[3, 1] = np.nan
    extra = Extras({"age": np.arange(300)}, ["city"], lambda name: np.arange(300) * 2)
    made, _ = Preparation(missing="drop").fit_transform(table(Y, extra=extra))
    keep = np.delete(np.arange(300), 3)
    assert (made.extra["age"] == keep).all()
    assert (made.extra["city"] == 2 * keep).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"missing": "meen"}, r'missing must be "refuse", "drop", "mean" or "median"; got \'meen\'; did you mean'),
        ({"normalize": "no"}, 'normalize must be "standard", "robust" or "none"'),
        ({"pca": -1}, "pca must be a number of components"),
        ({"one_hot": "yes"}, "one_hot must be True or False"),
    ],
)
def test_wrong_options(wrong, message):
    """Are refused with their names."""
    with pytest.raises(ParameterError, match=message):
        Preparation(**wrong)
