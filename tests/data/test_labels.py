"""What labels are taken for."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sce import InputError, ParameterError
from sce.data.labels import Classes, Numbers, as_labels

NAN = float("nan")


def names_of(labels, kind="auto"):
    """Names of classes, and that of the class of each label."""
    found = as_labels(labels, len(labels), kind)
    assert isinstance(found, Classes)
    return found.names, [found.names[k] if k >= 0 else found.missing for k in found.codes]


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b", "a"],
        np.array(["a", "b", "a"]),
        np.array([b"a", b"b", b"a"]),
        np.array(["a", "b", "a"], dtype=object),
        pd.Series(["a", "b", "a"]),
        pd.Series(["a", "b", "a"], dtype="category"),
        pl.Series(["a", "b", "a"]),
        pd.DataFrame({"y": ["a", "b", "a"]}),
    ],
)
def test_text_of_any_container(labels):
    """Lists, arrays, and columns of data frames."""
    assert names_of(labels) == (["a", "b"], ["a", "b", "a"])


def test_booleans_and_few_whole_numbers_are_classes():
    """In the order of numbers; whole floats as well, because a gap turns whole numbers into floats."""
    assert names_of([True, False])[0] == ["False", "True"]
    assert names_of([10, 9, 9])[0] == ["9", "10"]
    assert names_of([2.0, 10.0, NAN]) == (["2", "10"], ["2", "10", "no label"])
    assert names_of(pd.Series([3, None, 1], dtype="Int64")) == (["1", "3"], ["3", "no label", "1"])
    assert names_of(list(range(50)))[0] == [str(k) for k in range(50)]


def test_many_whole_numbers_and_fractions_are_numbers():
    """Unless they are said to be classes."""
    for labels in (list(range(51)), [0.5, 1.0], [1.0, np.inf], [NAN, NAN]):
        assert isinstance(as_labels(labels, len(labels), "auto"), Numbers)
    assert len(names_of(list(range(51)), "classes")[0]) == 51
    assert names_of([0.5, 1.25], "classes")[0] == ["0.5", "1.25"]
    assert names_of([2**60, 2**60 + 1], "classes")[0] == [str(2**60), str(2**60 + 1)]


def test_numbers_on_demand():
    """Few whole numbers, booleans, text that reads as numbers; what is empty is missing."""
    for labels in ([1, 2, 3], ["1", "2", "3.0"], pd.Series([1, 2, 3], dtype="Int64")):
        np.testing.assert_array_equal(as_labels(labels, 3, "number").values, [1, 2, 3])
    np.testing.assert_array_equal(as_labels(["1e3", "", None], 3, "number").values, [1000, NAN, NAN])
    np.testing.assert_array_equal(as_labels([True, False], 2, "number").values, [1, 0])


def test_missing_labels():
    """None, NaN, empty text, masked values and pandas' own have no class."""
    assert names_of(["a", None, NAN, "", "  ", pd.NA, pd.NaT])[1] == ["a"] + ["no label"] * 6
    assert names_of(np.ma.array([1, 2], mask=[False, True]))[1] == ["1", "no label"]
    assert names_of([None, None]) == ([], ["no label"] * 2)


def test_noise_of_a_clustering_has_no_class():
    """Class -1, as a number or as text; but it is a class beside 1 alone, beside -2, and beside words."""
    assert names_of([-1, 0, 1]) == (["0", "1"], ["noise (-1)", "0", "1"])
    assert names_of(["-1", "0", "10", "2"])[0] == ["0", "2", "10"]
    assert names_of([-1.0, 0.0, NAN])[1] == ["noise (-1), no label", "0", "noise (-1), no label"]
    assert names_of([-1, 1])[0] == ["-1", "1"]
    assert names_of([-2, -1, 0])[0] == ["-2", "-1", "0"]
    assert names_of(["-1", "left"])[0] == ["-1", "left"]


def test_classes_are_in_natural_order():
    """Numbers in names count as numbers."""
    assert names_of(["b2", "b10", "a", "b1", "10", "9.5"])[0] == ["9.5", "10", "a", "b1", "b2", "b10"]


def test_wrong_labels_are_refused():
    """Each with a sentence that says what to do."""
    with pytest.raises(InputError, match="one value for each of the 5 points; got 4"):
        as_labels([1, 2, 3, 4], 5, "auto")
    with pytest.raises(InputError, match="one value for each of the 5 points; got a single value"):
        as_labels(np.array(3), 5, "auto")
    with pytest.raises(InputError, match=r"one column; got shape \(3, 2\): choose a column"):
        as_labels(np.zeros((3, 2)), 3, "auto")
    with pytest.raises(InputError, match="complex"):
        as_labels(np.zeros(3, dtype=complex), 3, "auto")
    with pytest.raises(InputError, match="row 1 holds 'two': use kind='classes'"):
        as_labels(["1", "two"], 2, "number")


@pytest.mark.parametrize(("kind", "near"), [("clases", "classes"), ("Numbers", "number"), ("class", "classes")])
def test_an_unknown_kind_is_refused_with_the_nearest(kind, near):
    """A slip of the finger costs no search in the manual."""
    with pytest.raises(ParameterError, match=f"got '{kind}'; did you mean '{near}'"):
        as_labels([1], 1, kind)


def test_a_kind_like_none_other_is_refused():
    """Without a guess."""
    with pytest.raises(ParameterError, match=r"kind must be 'auto', 'classes' or 'number'; got 7\.$"):
        as_labels([1], 1, 7)


def test_dates_are_numbers_of_days():
    """Of any unit, as objects of Python or pandas, in time zones; missing ones are NaN."""
    noon = [0.5, np.nan, 1.0]
    arrays = [
        np.array(["1970-01-01T12", "NaT", "1970-01-02"], f"datetime64[{unit}]") for unit in ("h", "s", "us", "ns")
    ]
    lists = [
        [dt.datetime.fromisoformat("1970-01-01T12:00"), None, dt.datetime.fromisoformat("1970-01-02")],
        [dt.datetime.fromisoformat("1970-01-01T14:00+02:00"), None, dt.date(1970, 1, 2)],
        [np.datetime64("1970-01-01T12"), np.datetime64("NaT"), dt.date(1970, 1, 2)],
    ]
    for labels in (*arrays, *lists):
        found = as_labels(labels, 3, "auto")
        assert found.dates
        np.testing.assert_array_equal(found.values, noon)
    mixed = as_labels([dt.date(1970, 1, 1), "later"], 2, "auto")
    assert mixed.names == ["1970-01-01", "later"]


def test_dates_as_classes_on_request():
    """In the order of time, without a time of day that is always midnight."""
    days = np.array(["2024-02-01", "NaT", "2023-12-31"], "datetime64[ns]")
    found = as_labels(days, 3, "classes")
    assert found.names == ["2023-12-31", "2024-02-01"]
    assert found.codes.tolist() == [1, -1, 0]
    assert as_labels(days + np.timedelta64(90, "s"), 3, "classes").names[0] == "2023-12-31T00:01:30"
