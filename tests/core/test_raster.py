"""Points to pixels, against loops over all points and pixels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sce.core import raster
from sce.core.dots import Tone
from sce.core.palette import MISSING_COLOR, by_class, by_number, class_colors, plain
from sce.core.raster import Frame, Paint


def frame_of(width, height):
    """A picture of so many points of 1/72 inch, of the unit square."""
    return Frame(np.zeros(2), np.ones(2), np.array([width, height], dtype=float))


def slow_overlap(Y, height, width, radius):
    """Each pixel looks at each point: 1 if the centres are near, falling to 0 over the pixel at the rim."""
    D = np.zeros((height, width))
    for x, y in Y:
        i, j = min(int(y * height), height - 1), min(int(x * width), width - 1)
        for a in range(height):
            for b in range(width):
                D[a, b] += min(max(radius + 0.5 - ((a - i) ** 2 + (b - j) ** 2) ** 0.5, 0.0), 1.0)
    return D


def random_map(n, seed=0):
    return np.random.default_rng(seed).uniform(size=(n, 2))


@given(st.integers(1, 20), st.integers(1, 15), st.integers(1, 15), st.floats(0.1, 6.0))
def test_overlap_is_the_number_of_discs_over_a_pixel(n, height, width, radius):
    """As counted one by one, for small discs and for large ones, which are spread by Fourier transforms."""
    Y = random_map(n, seed=n)
    D = raster.overlap(Y, frame_of(width, height), 1.0, radius)
    np.testing.assert_allclose(D, slow_overlap(Y, height, width, radius), atol=1e-5)


def test_points_at_the_border_are_in_the_picture():
    """The right and upper border belong to the last pixel."""
    D = raster.overlap(np.array([[0.0, 0.0], [1.0, 1.0]]), frame_of(4, 3), 1.0, 0.5)
    assert D[0, 0] == D[2, 3] == 1
    assert D.sum() == 2


def test_blocks_do_not_matter(monkeypatch):
    """The same image whether points are taken all at once or seven at a time."""
    Y, paint = random_map(100), by_class(np.arange(100) % 5 - 1, class_colors(4))
    whole = raster.image(Y, paint, frame_of(20, 20), 1.0, 1.5, lambda D: Tone(0.5))
    monkeypatch.setattr(raster, "POINTS_AT_ONCE", 7)
    np.testing.assert_array_equal(raster.image(Y, paint, frame_of(20, 20), 1.0, 1.5, lambda D: Tone(0.5)), whole)


def test_classes_mix_by_their_counts():
    """The colour of a pixel is the mean of the colours of the discs over it, its opacity that of so many dots."""
    Y, codes = random_map(30), np.arange(30) % 3
    paint = by_class(codes, class_colors(3))
    picture = raster.image(Y, paint, frame_of(12, 9), 1.0, 1.7, lambda D: Tone(0.4))
    parts = np.stack([slow_overlap(Y[codes == k], 9, 12, 1.7) for k in range(3)], axis=-1)
    D = parts.sum(axis=-1)
    np.testing.assert_allclose(picture[..., 3] / 255, 1 - 0.6**D, atol=0.003)
    seen = D > 0.01
    np.testing.assert_allclose(picture[seen, :3] / 255, (parts @ paint.channels)[seen] / D[seen, None], atol=0.003)


def test_numbers_are_coloured_by_their_mean():
    """Two discs of values 0 and 1 over a pixel have the colour of one half."""
    shades = np.linspace(0, 1, 256)[:, None] * [1, 0.5, 0.1]
    paint, _ = by_number(np.array([0.0, 1.0]), shades)
    picture = raster.image(np.full((2, 2), 0.5), paint, frame_of(1, 1), 1.0, 0.5, lambda D: Tone(1.0))
    np.testing.assert_allclose(picture[0, 0, :3] / 255, shades[128], atol=0.01)


def test_points_without_a_class_lie_beneath():
    """A pixel under an opaque dot of a class shows nothing of the grey dots, however many; elsewhere they are grey."""
    Y = np.array([[0.25, 0.5]] + [[0.25, 0.5]] * 50 + [[0.75, 0.5]])
    paint = by_class(np.array([0] + [-1] * 51), class_colors(1))
    picture = raster.image(Y, paint, frame_of(2, 1), 1.0, 0.5, lambda D: Tone(1.0))
    np.testing.assert_allclose(picture[0, 0], np.append(255 * paint.channels[0], 255), atol=1)
    np.testing.assert_allclose(picture[0, 1], np.append(255 * MISSING_COLOR, 255), atol=1)


def test_over_is_compositing():
    """Half red over opaque blue is half of each; nothing over nothing is nothing."""
    red, blue, nothing = np.array([1, 0, 0, 0.5]), np.array([0, 0, 1, 1.0]), np.zeros(4)
    np.testing.assert_allclose(raster.over(red, blue), [0.5, 0, 0.5, 1])
    np.testing.assert_allclose(raster.over(red, nothing), red)
    np.testing.assert_allclose(raster.over(nothing, nothing), nothing)


def test_a_paint_gives_each_point_the_colour_of_its_row():
    """And the colour of missing ones to those without a row."""
    paint = Paint(np.array([1, -1, 0]), np.eye(3)[:2], lambda means: means, MISSING_COLOR)
    np.testing.assert_array_equal(paint.colors(), [[0, 1, 0], MISSING_COLOR, [1, 0, 0]])


def test_one_colour_is_black_on_light_and_white_on_dark():
    """As of dark notebooks; a transparent background counts as light."""
    for background, color in (((1, 1, 1, 1), 0), ((0, 0, 0, 1), 1), ((0, 0, 0, 0), 0)):
        assert (plain(2, background).colors() == color).all()


def test_a_disc_has_its_area():
    """Within a few percent, from two pixels across on."""
    for radius in (1.0, 1.5, 3.0, 10.0):
        assert raster.disc(radius).sum() == pytest.approx(np.pi * radius**2, rel=0.1)
