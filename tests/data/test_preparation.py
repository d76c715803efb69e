"""The preparation of data, against scikit-learn and plain NumPy."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.preprocessing import RobustScaler, StandardScaler

from sce import InputError
from sce.core.parallel import Team
from sce.data.preparation import Preparation, prepare
from sce.data.table import Table

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(300, 6)) * [1, 2, 3, 4, 5, 0.5]


def table(X, **more):
    names = [f"c{k}" for k in range(X.shape[1])]
    return Table(Path("data.csv"), X, names, **more)


def done(X, *, text=None, **options):
    with Team(1) as team:
        return prepare(table(X, text=text or {}), Preparation(**options), team, 0)


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
    with pytest.raises(InputError, match="sparse, for which --normalize robust"):
        done(S, normalize="robust")


def test_log1p():
    """ln(1 + x), dense and sparse; negative values are refused."""
    np.testing.assert_allclose(done(X, log1p=True).X, np.log1p(X))
    S = sparse(20_000, 5000)
    np.testing.assert_allclose(done(S, log1p=True).X.data, np.log1p(S.data))
    with pytest.raises(InputError, match=r"data.csv has negative values \(down to -1\), so --log1p means nothing"):
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
    with Team(1) as team:
        left = prepare(table(Y, labels=np.arange(300)), Preparation("drop"), team, 0)
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


def test_small_sparse_data_become_dense():
    """And this is said; large ones stay as they are."""
    made = done(sp.csr_matrix(X))
    assert (made.X == X).all()
    assert "Sparse data taken as a dense array" in made.notes[0]
    assert sp.issparse(done(sparse(100_000, 10_000)).X)


@pytest.mark.parametrize(
    ("scales", "advised"),
    [
        ([1, 1, 1, 1], False),
        ([1, 2, 3, 4], False),
        ([1, 1, 1, 1000], True),
        ([80, 160, 9, 12, 8, 50, 21, 13, 21], True),
    ],
)
def test_advice_where_columns_differ_wildly(scales, advised):
    """Where a few columns decide all distances; never where it was said how columns are to be."""
    Y = RNG.normal(size=(500, len(scales))) * scales
    assert any("differ wildly" in note for note in done(Y).notes) == advised
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
    from sce.data.preparation import _sparse_spread

    assert _sparse_spread(full)[1][0] == 0
