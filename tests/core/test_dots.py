"""Size and opacity of dots."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sce.core import dots
from sce.core.dots import MAX_OPACITY, Tone, dot_size, fit_tone, overlap_of_points
from sce.core.raster import Frame

PICTURE = Frame(np.full(2, -3.0), np.full(2, 3.0), np.full(2, 475.0))
CROWDS = st.floats(1.0, 1e7)


@given(CROWDS, st.booleans())
def test_more_overlap_is_more_opaque(crowd, colored):
    """From nothing without dots to nearly full in the most crowded places, and never beyond 1."""
    D = np.concatenate([np.linspace(0, 1, 11), np.geomspace(1, crowd, 50)])
    opacity = fit_tone(crowd, colored=colored)(D)
    assert opacity[0] == 0
    assert opacity[-1] == pytest.approx(MAX_OPACITY)
    assert (np.diff(opacity) >= -1e-9).all()
    assert fit_tone(crowd)(np.float64(100 * crowd)) <= 1


@given(CROWDS)
def test_a_dot_on_its_own_is_visible(crowd):
    """However crowded it is elsewhere; the more so in colour."""
    alone = [float(fit_tone(crowd, colored=colored)(np.float64(1.0))) for colored in (False, True)]
    assert alone[0] >= 0.35 - 1e-9
    assert alone[1] >= max(alone[0], 0.5) - 1e-9


@given(CROWDS, st.floats(1.0, 1e7))
def test_dots_together_have_the_opacity_of_the_tone(crowd, D):
    """D markers, each with its own opacity, look as the image does where the overlap is D."""
    tone = fit_tone(crowd)
    together = 1 - (1 - tone.of_one(np.float64(D))) ** D
    assert together == pytest.approx(float(tone(np.float64(D))), abs=1e-3)


def test_a_given_opacity_is_composited():
    """Two dots of one half give three quarters."""
    np.testing.assert_allclose(Tone(0.5)(np.array([0.0, 1.0, 2.0])), [0, 0.5, 0.75])


def test_more_points_get_smaller_dots():
    """And never too small to be seen, nor larger than a few points."""
    sizes = [
        dot_size(np.random.default_rng(0).normal(size=(n, 2)), PICTURE) for n in (1, 100, 1000, 10_000, 100_000, 10**6)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] <= 36.0
    assert sizes[-1] >= 0.7


@pytest.mark.parametrize(
    ("n", "least", "most"), [(50, 5, 6), (300, 4, 5), (1000, 3, 3.8), (5000, 2.2, 2.8), (50_000, 1, 2)]
)
def test_dots_are_neither_blobs_nor_dust(n, least, most):
    """The diameter, in points of 1/72 inch, of evenly spread points."""
    Y = np.random.default_rng(0).uniform(-3, 3, size=(n, 2))
    assert least <= dot_size(Y, PICTURE) ** 0.5 <= most


def test_dots_that_would_hide_one_another_are_smaller():
    """In lines, which then show their shape, but not by more than half."""
    angle = np.linspace(0, 2 * np.pi, 5000)
    rings = np.column_stack([np.cos(angle), np.sin(angle)]) * np.repeat([0.2, 0.3], 2500)[:, None]
    spread = np.random.default_rng(0).uniform(-3, 3, size=(5000, 2))
    assert 0.5 < (dot_size(rings, PICTURE) / dot_size(spread, PICTURE)) ** 0.5 < 0.95


def test_large_dots_have_a_thin_outline():
    """And small ones none; nor have so many that they can't be told apart."""
    assert 0 < dots.outline(9.0, 1000) < 0.5
    assert dots.outline(1.0, 1000) == 0
    assert dots.outline(9.0, 50_000) == 0


def test_points_on_one_place_show_a_dot_that_can_be_seen():
    """A hundred thousand equal points are not a speck."""
    assert dot_size(np.zeros((100_000, 2)), PICTURE) > 2.0


def test_smaller_pictures_get_smaller_dots():
    """As insets need."""
    Y = np.random.default_rng(0).normal(size=(1000, 2))
    assert dot_size(Y, PICTURE._replace(points=np.full(2, 100.0))) < dot_size(Y, PICTURE)


def test_overlap_of_points_counts_near_points():
    """Seven points on one place overlap seven times, a lone one once."""
    Y = np.array([[0.0, 0.0]] * 7 + [[2.0, 2.0]])
    D, _ = overlap_of_points(Y, PICTURE, 5.0)
    np.testing.assert_allclose(D, [7] * 7 + [1])


def test_crowd_of_an_empty_picture():
    """Is that of a single dot."""
    assert dots.crowd(np.zeros((3, 3))) == 1.0
