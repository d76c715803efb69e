"""Colours of classes and numbers."""

import numpy as np
import pytest
from matplotlib import colormaps

from sce.core.palette import MISSING_COLOR, by_number, class_colors, many_colors, value_range


@pytest.mark.parametrize("k", [1, 2, 10, 11, 20, 21, 50, 101, 1000])
def test_no_two_classes_share_a_colour(k):
    """Not even as bytes, and the same at every call."""
    colors = class_colors(k)
    assert colors.shape == (k, 3)
    assert 0 <= colors.min() <= colors.max() <= 1
    assert len(np.unique(np.round(255 * colors), axis=0)) == k
    np.testing.assert_array_equal(colors, class_colors(k))


def test_up_to_twenty_classes_have_the_colours_of_matplotlib():
    """tab20, to the last bit."""
    np.testing.assert_array_equal(class_colors(20), colormaps["tab20"](np.arange(20))[:, :3])


@pytest.mark.parametrize("on_dark", [False, True])
@pytest.mark.parametrize("sight", ["usual", "no red", "no green", "no blue"])
def test_ten_classes_can_be_told_apart_by_colour_blind_people(sight, on_dark):
    """Simulated with the matrices of Machado et al. (2009); the first nine also from the grey of points without a class."""
    seen = {
        "usual": np.eye(3),
        "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    }[sight]
    grey = MISSING_COLOR * (0.42 if on_dark else 1.0)
    colors = np.vstack([class_colors(10, on_dark=on_dark), grey])
    linear = np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)
    places = oklab(gamma(np.clip(linear @ np.transpose(seen), 0, 1)))
    apart = np.sqrt(((places[:, None] - places) ** 2).sum(axis=-1)) + np.eye(11)
    assert apart[:10, :10].min() > 0.065
    assert apart[:9, 10].min() > 0.065
    assert not on_dark or places[:10, 0].min() > 0.4


def gamma(linear):
    """sRGB of linear light."""
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def test_no_class_is_grey_beside_points_without_a_class():
    """With as few as eight classes or as many as nineteen."""
    for k in (8, 9, 10, 18, 19, 40):
        assert np.ptp(class_colors(k, beside_grey=True), axis=1).min() > 0.05


def oklab(rgb):
    """OKLab of sRGB, by the published matrices: the way back from what the library does."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_lms = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    to_lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return np.cbrt(linear @ np.transpose(to_lms)) @ np.transpose(to_lab)


def test_many_colours_are_well_apart():
    """In a perceptual space, a hundred are as far apart as the twenty of matplotlib, and none is near the grey."""
    for k in (21, 40, 100):
        places = oklab(np.vstack([many_colors(k), MISSING_COLOR]))
        apart = np.sqrt(((places[:, None] - places) ** 2).sum(axis=-1)) + np.eye(k + 1)
        assert apart.min() > 0.05


def test_more_classes_than_colours_share_them():
    """A hundred thousand classes are drawn, too."""
    assert many_colors(100_000).shape == (100_000, 3)


def test_range_of_numbers():
    """All finite values; infinities go on beyond the ends, as a few far values do."""
    assert value_range(np.array([3.0, 1.0, 2.0])) == (1.0, 3.0, "neither")
    assert value_range(np.array([-np.inf, 1.0, 2.0, np.inf])) == (1.0, 2.0, "both")
    assert value_range(np.array([-np.inf, 1.0, 2.0])) == (1.0, 2.0, "min")
    low, high, extend = value_range(np.append(np.linspace(0, 1, 1000), 1e6))
    assert (low, extend) == (pytest.approx(0.01, abs=1e-3), "both")
    assert high == pytest.approx(0.99, abs=1e-2)


@pytest.mark.parametrize("values", [[5.0, 5.0], [0.0], [1e300, -1e300], [np.inf], [np.nan], [1e-300, 0.0]])
def test_ranges_are_never_empty(values):
    """Constant, huge, tiny or no values at all have a finite range of some length."""
    low, high, _ = value_range(np.array(values))
    assert np.isfinite([low, high]).all()
    assert low < high


def test_colours_of_numbers():
    """From the first to the last of a table; infinities have those of the ends, missing values grey."""
    table = np.linspace(0, 1, 9)[:, None] * [1, 0.5, 0.2]
    paint, (low, high, extend) = by_number(np.array([0.0, 1.0, np.inf, -np.inf, np.nan]), table)
    np.testing.assert_allclose(paint.colors(), [table[0], table[-1], table[-1], table[0], MISSING_COLOR])
    assert (low, high, extend) == (0.0, 1.0, "both")
