"""Small pictures of maps."""

import base64
import io

import numpy as np
import pytest

from sce.core.palette import by_class, class_colors
from sce.core.thumbnail import png, thumbnail

RNG = np.random.default_rng(0)


def pixels(address):
    """The RGBA of a picture, by another library."""
    from PIL import Image

    kind, data = address.split(",")
    assert kind == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))


def test_a_png_is_read_by_others():
    """With the same pixels."""
    image = RNG.integers(0, 256, (7, 5, 4), dtype=np.uint8)
    assert (pixels("data:image/png;base64," + base64.b64encode(png(image)).decode()) == image).all()


def test_points_are_where_they_are_on_the_map():
    """The second coordinate goes up; the background is transparent; classes have their colours."""
    Y = np.vstack([RNG.normal(size=(200, 2)), RNG.normal(size=(200, 2)) + 30.0])
    shown = pixels(thumbnail(Y, by_class(np.repeat([0, 1], 200), class_colors(2)), 100))
    assert shown.shape == (200, 200, 4)
    drawn = shown[..., 3] > 100
    assert drawn[100:, :100].any()
    assert drawn[:100, 100:].any()
    assert not drawn[:100, :100].any()
    assert not drawn[100:, 100:].any()
    left, right = (shown[..., :3][drawn & (np.arange(200) < 100) == side].mean(axis=0) for side in (True, False))
    assert np.abs(left - right).max() > 50


@pytest.mark.parametrize(
    "Y",
    [
        np.zeros((1, 2)),
        np.full((5, 2), 1e6),
        RNG.normal(size=(50, 1)),
        RNG.normal(size=(50, 3)),
        1e30 * RNG.normal(size=(50, 2)),
        RNG.normal(size=(300_000, 2)).astype(np.float32),
    ],
    ids=["one point", "one place", "a line", "in depth", "huge", "many points"],
)
def test_every_map_has_a_picture(Y):
    """Something is to be seen on it."""
    shown = pixels(thumbnail(Y))
    assert (shown[..., 3] > 0).any()
    assert (shown[..., 3] == 0).any()


def test_a_few_points_far_out_do_not_make_the_others_small():
    """They are drawn on the border."""
    Y = np.vstack([RNG.normal(size=(5000, 2)), [[1e4, 0.0]]])
    rows = np.flatnonzero((pixels(thumbnail(Y, width=100))[..., 3] > 0).any(axis=1))
    assert np.ptp(rows) > 80
