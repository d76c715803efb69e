"""Rows prepared for a search, those indexed and new ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sce.core.parallel import Team
from sce.graph.copies import RowTable, distinct_rows, find_copies, list_copies
from sce.graph.rows import Rows, centred_rows, new_centred_rows, unit_rows


def test_centred_rows_keep_distances(mixture, team):
    """Prepared rows times the unit have the distances of the data, and padding adds nothing."""
    X = mixture(50, 5).astype(float) * 1e-3 + 1e6
    rows = centred_rows(X, 8, np.float64, team)
    assert (rows.values[:, 5:] == 0).all()
    a = np.linalg.norm(rows.values[0] - rows.values[1]) * rows.unit
    np.testing.assert_allclose(a, np.linalg.norm(X[0] - X[1]), rtol=1e-9)


def test_wide_rows_are_taken_as_they_are(team):
    """X itself where a search can read it; else its numbers, or a scaled copy where they are extreme or far off."""
    X = np.random.default_rng(0).random((50, 168)).astype(np.float32)
    itself = centred_rows(X, 168, np.float32, team, plainly=True)
    assert itself.values is X
    assert (itself.unit, itself.own) == (1.0, False)
    for other in (X.astype(float), np.asfortranarray(X), X[:, :165]):
        copy = centred_rows(other, 168, np.float32, team, plainly=True)
        assert (copy.values[:, : other.shape[1]] == other).all()
        assert (copy.unit, copy.own) == (1.0, True)
    for other in (X + 100, X * np.float32(1e-30), X * np.float32(1e30)):
        copy = centred_rows(other, 168, np.float32, team, plainly=True)
        assert copy.own
        assert 2.0**49 <= np.abs(copy.values).max() <= 2.0**50


def test_unit_rows(team):
    """Rows have length 1, and those without direction are marked in the extra column."""
    rows = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]), 8, np.float32, False, team)
    np.testing.assert_allclose(rows.values[:, :3], [[0.6, 0.8, 0], [0, 0, 1]], rtol=1e-6)


@pytest.mark.parametrize("plainly", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_new_rows_are_prepared_like_those_indexed(plainly, dtype, mixture, team):
    """The same numbers give the same bits, whatever their type and order in memory."""
    X = mixture(300, 20)
    rows = centred_rows(X, 24, dtype, team, plainly=plainly)
    for other in (X, X.astype(float), np.asfortranarray(X)):
        new = new_centred_rows(other[:50], rows.centring, 24, dtype, team)
        assert (new.values == rows.values[:50]).all()
        assert (new.factors == 1).all()
        assert (new.units == rows.unit).all()


@pytest.mark.parametrize("distance", [1e3, 1e10, 1e30, 1e200, 1.7e308])
@pytest.mark.parametrize("size", [1e-300, 1.0])
def test_far_rows_are_scaled_down(size, distance, mixture, team):
    """A row far beyond those indexed keeps its direction, and its squares do not overflow float32."""
    X = mixture(300, 5).astype(float) * size
    rows = centred_rows(X, 8, np.float32, team)
    far = X[:3].copy()
    far[1, 2] = distance
    new = new_centred_rows(far, rows.centring, 8, np.float32, team)
    assert new.factors[0] == new.factors[2] == 1
    assert new.factors[1] < 1
    assert np.isfinite(np.square(new.values).sum(axis=1)).all()
    np.testing.assert_allclose(float(new.values[1, 2]) * new.units[1], distance, rtol=1e-2)


# -------------------------------------------------------------------------------------------------------------- copies

small_rows = st.lists(
    st.tuples(st.sampled_from([0.0, -0.0, 1.0]), st.sampled_from([0.0, 2.0])), min_size=1, max_size=40
)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(small_rows)
def test_copies_equal_numpy_unique(values):
    """Groups are those of numpy.unique; -0.0 and 0.0 are the same."""
    X = np.array(values)
    copies = find_copies(X, Team(1))
    _, inverse, counts = np.unique(X, axis=0, return_inverse=True, return_counts=True)
    assert (copies.sizes() == counts[inverse.ravel()]).all()
    for i in range(len(X)):
        assert copies.order[copies.starts[copies.group[i]] + copies.rank[i]] == i


@settings(max_examples=50, deadline=None, derandomize=True)
@given(small_rows, st.booleans())
def test_distinct_rows_are_the_first_of_each_kind(values, own):
    """In ascending order, each for its group; rows that are not our own stay as they were."""
    X = np.array(values, np.float32)
    before = X.copy()
    distinct = distinct_rows(Rows(X, 1.0, own=own), Team(1))
    firsts = [i for i in range(len(X)) if not (before[:i] == before[i]).all(axis=1).any()]
    assert (distinct.rows.values == before[firsts]).all()
    assert (distinct.groups == distinct.copies.group[firsts]).all()
    assert own or (before == X).all()


@settings(max_examples=50, deadline=None, derandomize=True)
@given(small_rows, st.integers(1, 40))
def test_each_distinct_row_stands_for_its_copies(values, k):
    """Listing the copies of all distinct rows in any order of distance gives the k nearest of all rows, ties by number."""
    X = np.array(values)
    k = min(k, len(X))
    distinct = distinct_rows(Rows(X.copy(), 1.0, own=True), Team(1))
    gaps = np.abs(distinct.rows.values - 0.9).sum(axis=1)
    order = np.argsort(gaps, kind="stable")[:k].astype(np.int32)
    ids, distances = list_copies(distinct.copies, distinct.groups[order][None], gaps[order][None], k)
    expected = np.sort(np.abs(X - 0.9).sum(axis=1))[:k]
    assert (distances[0] == expected).all()
    assert (np.abs(X[ids[0]] - 0.9).sum(axis=1) == expected).all()
    assert len(set(ids[0])) == k
    assert all(a < b for a, b, tie in zip(ids[0], ids[0][1:], np.diff(distances[0]) == 0, strict=False) if tie)


def test_rows_are_found_by_content(mixture, team):
    """Each row by its own number, -0.0 as 0.0, and others not at all."""
    X = mixture(500, 16)
    X[3, 2] = 0.0
    table = RowTable(X, team)
    wanted = np.concatenate([X[::-1], X[:5] + 1])
    wanted[496, 2] = -0.0
    assert (table.find(wanted, team) == [*range(499, -1, -1), *[-1] * 5]).all()
