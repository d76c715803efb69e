"""Rows that were left out or merged: nothing is lost, and labels of all rows still find their points."""

import numpy as np
import pytest
import scipy.sparse as sp

import sce
from sce import InputError, merge_copies
from sce.data.label_files import read_label_file
from sce.data.merging import values_of_points
from sce.data.preparation import Preparation

RNG = np.random.default_rng(0)
X = RNG.integers(0, 3, size=(60, 3)).astype(float)


@pytest.mark.parametrize(
    "kind", [np.asarray, sp.csr_matrix, lambda X: X.astype(np.int8), lambda X: np.asfortranarray(X)]
)
def test_copies_are_merged_as_numpy_does(kind):
    """In the order in which they first occur; -0.0 is 0.0, and every row has its point."""
    given = X.copy()
    given[given == 0] = -0.0
    rows, counts, point_of_row = merge_copies(kind(given))
    dense = rows.toarray() if sp.issparse(rows) else rows
    expected, first, sizes = np.unique(X, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    assert (dense == expected[order]).all()
    assert (counts == sizes[order]).all()
    assert (dense[point_of_row] == X).all()


def test_data_frames_have_copies_too():
    """Their columns of numbers."""
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    assert merge_copies(pandas.DataFrame({"a": [1, 2, 1], "b": [True, False, True]})).counts.tolist() == [2, 1]
    with pytest.raises(InputError, match="2-D"):
        merge_copies(np.zeros(3))


def test_merged_rows_are_weighted_points(tmp_path):
    """Ids are those of the first rows, labels the most frequent, weights the sums."""
    labels = [f"u{k % 2}" for k in range(60)]
    lines = [",".join(map(str, [*row, label, k % 4 + 1])) for k, (row, label) in enumerate(zip(X, labels, strict=True))]
    (tmp_path / "a.csv").write_text("\n".join(["a,b,c,kind,n", *lines]))
    table = sce.read(tmp_path / "a.csv", weights="n")
    merged, _ = Preparation(merge_copies=True).fit_transform(table)
    rows, _, point_of_row = merge_copies(X)
    assert (rows == merged.X).all()
    assert (merged.point_of_row == point_of_row).all()
    assert merged.weights.tolist() == np.bincount(point_of_row, np.arange(60) % 4 + 1).tolist()
    assert merged.labels.tolist() == values_of_points(np.array(labels), point_of_row).tolist()
    assert f"Merged exact copies: 60 rows are {len(rows)} points, weighted by their counts" in merged.notes
    assert table.X.shape == (60, 3)
    model = sce.SCE(random_state=0).fit(merged.X, sample_weight=merged.weights)
    assert model.embedding_[merged.point_of_row].shape == (60, 2)


def test_rows_left_out_and_merged():
    """One after the other: each row has its point, or none."""
    Y = X.copy()
    Y[[3, 17], 1] = np.nan
    table = sce.data.table.Table("data", Y, labels=np.arange(60) % 3)
    made, _ = Preparation(missing="drop", merge_copies=True).fit_transform(table)
    assert np.flatnonzero(made.point_of_row < 0).tolist() == [3, 17]
    there = np.delete(np.arange(60), [3, 17])
    assert (made.X[made.point_of_row[there]] == Y[there]).all()
    assert made.ids[0] == 0


def test_labels_of_all_rows_find_their_points(tmp_path):
    """Labels of the points themselves do, too; any other number of labels is refused."""
    point_of_row = np.array([0, -1, 1, 1, 2])
    for name, words in (("all", "uvwwx"), ("points", "uwx"), ("other", "uvwxyz")):
        (tmp_path / f"{name}.csv").write_text("\n".join(["kind", *words]))
    for name in ("all", "points"):
        found, _ = read_label_file(str(tmp_path / f"{name}.csv"), 3, "map.npz", point_of_row=point_of_row)
        assert found.tolist() == ["u", "w", "x"]
    with pytest.raises(InputError, match=r"has 6 labels, but map.npz has 3 points, of 5 rows"):
        read_label_file(str(tmp_path / "other.csv"), 3, "map.npz", point_of_row=point_of_row)


def test_the_most_frequent_value_of_several():
    """Missing ones do not count."""
    values = np.array(["", "b", "c", "c", ""], object)
    assert values_of_points(values, np.array([0, 0, 0, 0, 1])).tolist() == ["c", ""]
    assert values_of_points(np.array([np.nan, 2.5, 1.0]), np.array([0, 0, 1])).tolist() == [2.5, 1.0]


def test_maps_and_sweeps_keep_the_points_of_rows(tmp_path):
    """And a damaged file is refused."""
    made = sce.Map(np.zeros((2, 2), np.float32), np.arange(2), point_of_row=np.array([0, -1, 1, 1]))
    made.save(tmp_path / "map.npz")
    assert sce.load(tmp_path / "map.npz").point_of_row.tolist() == [0, -1, 1, 1]
    sweep = sce.Sweep(np.zeros((1, 2, 2), np.float32), np.zeros(1), np.arange(2), point_of_row=np.array([0, -1, 1]))
    sweep.save(tmp_path / "sweep.npz")
    assert sce.load(tmp_path / "sweep.npz").map(0).point_of_row.tolist() == [0, -1, 1]
    sce.Map(np.zeros((2, 2), np.float32), np.arange(2), point_of_row=np.array([0, 5])).save(tmp_path / "map.npz")
    with pytest.raises(InputError, match="rows of points that there are not"):
        sce.load(tmp_path / "map.npz")
