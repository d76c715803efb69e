"""Names of classes on the map."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plot.drawing import normal, written
from sce.core.raster import Frame
from sce.plot import scatter
from sce.plot.name_tags import MOST_TAGS, place_tags

PAGE = Frame(np.zeros(2), np.ones(2), np.array([400.0, 300.0]))


def boxes(ax):
    """The box of each name, as drawn."""
    ax.figure.canvas.draw()
    return {text.get_text(): text.get_window_extent() for text in ax.texts}


def clusters(k, n=40, seed=0, spread=0.02):
    """k round clusters anywhere, and their names."""
    rng = np.random.default_rng(seed)
    Y = np.repeat(rng.uniform(size=(k, 2)), n, axis=0) + spread * rng.normal(size=(k * n, 2))
    return Y, np.repeat([f"cluster {c}" for c in range(k)], n)


@pytest.mark.parametrize("k", [1, 3, 12, 60])
def test_every_name_is_on_the_map_and_none_overlaps_another(k):
    """Within the frame, instead of a legend."""
    ax = scatter(*clusters(k), names=True)
    found = boxes(ax)
    assert len(found) == k
    assert ax.get_legend() is None
    inside = ax.get_window_extent()
    for name, box in found.items():
        assert inside.x0 <= box.x0 <= box.x1 <= inside.x1
        assert inside.y0 <= box.y0 <= box.y1 <= inside.y1
        assert not any(box.overlaps(other) for another, other in found.items() if another != name)


def test_a_name_lies_on_a_large_class_and_beside_a_small_one():
    """Nearest to its own class either way."""
    Y = np.vstack([normal(2000) * 0.1 + [0.3, 0.5], normal(50, seed=1) * 0.002 + [0.8, 0.5]])
    codes = np.repeat([0, 1], [2000, 50])
    large, small = place_tags(Y, codes, np.array([[40.0, 10.0], [40.0, 10.0]]), PAGE)
    assert np.abs(large.middle - [120, 150]).max() < 25
    assert 15 < np.abs(small.middle - [320, 150]).max() < 45
    assert small.line is None


def test_a_class_in_two_places_is_named_at_the_larger():
    """Not between them."""
    Y = np.vstack([normal(300) * 0.01 + [0.2, 0.5], normal(100) * 0.01 + [0.9, 0.5]])
    (tag,) = place_tags(Y, np.zeros(400, int), np.array([[30.0, 10.0]]), PAGE)
    assert np.hypot(*(tag.middle - [80, 150])) < 45


def test_a_name_that_moved_away_has_a_line_to_its_class():
    """Twenty classes on one place: the ends of the lines are there, and no two names touch."""
    Y = normal(400) * 0.01 + 0.5
    sizes = np.tile([60.0, 10.0], (20, 1))
    tags = place_tags(Y, np.arange(400) % 20, sizes, PAGE)
    assert len(tags) == 20
    far = [tag for tag in tags if np.abs(tag.middle - [200, 150]).max() > 60]
    assert far
    assert all(tag.line is not None and np.abs(tag.line[1] - [200, 150]).max() < 25 for tag in far)
    ax = scatter(Y, [f"class number {k % 20}" for k in range(400)], names=True)
    assert any(line.get_linewidth() < 1 for line in ax.lines)


@given(st.integers(1, 40), st.integers(0, 5), st.floats(5.0, 300.0))
def test_names_never_overlap(k, seed, width):
    """Whatever their width; those without room are left out."""
    Y, names = clusters(k, 10, seed, 0.05)
    codes = np.unique(names, return_inverse=True)[1]
    sizes = np.tile([width, 9.0], (k, 1))
    tags = place_tags(Y, codes, sizes, PAGE)
    middles = np.array([tag.middle for tag in tags]).reshape(-1, 2)
    apart = np.abs(middles[:, None] - middles)
    assert ((apart[..., 0] >= width) | (apart[..., 1] >= 9.0) | np.eye(len(tags), dtype=bool)).all()
    assert (middles >= [width / 2, 4.5]).all()
    assert (middles <= PAGE.points - [width / 2, 4.5]).all()


def test_names_without_room_are_counted():
    """Below the picture; of very many classes only the largest are tried."""
    n = MOST_TAGS + 100
    ax = scatter(normal(n), [f"point {k}" for k in range(n)], names=True, width=3.0)
    shown = len(boxes(ax))
    assert 10 < shown <= MOST_TAGS
    assert ax.get_xlabel() == f"{shown} of {n} classes are named"
    assert ax.xaxis.label.get_window_extent().y0 >= 0


def test_highlighted_classes_alone_are_named():
    """Noise and points without a class have no name either."""
    Y, names = clusters(5)
    names = np.where(np.arange(len(names)) % 40 == 0, "", names)
    assert set(boxes(scatter(Y, names, names=True, highlight=["cluster 1", "cluster 3"]))) == {"cluster 1", "cluster 3"}
    assert len(boxes(scatter(Y, np.arange(len(Y)) % 3 - 1, names=True))) == 2


def test_strange_names_and_all_kinds_of_maps():
    """Dollars and long names; one and three columns, images, pictures in pictures; bit for bit the same each time."""
    for Y in (normal(90, 1), normal(90, 3), normal(90), normal(100_200)):
        names = np.array(["$a$", "_b", "c" * 80])[np.arange(len(Y)) % 3]
        ax = scatter(Y, names, names=True, width=4.0)
        assert {"$a$", "_b"} <= {text.get_text() for text in ax.texts}
        assert len(written(ax, "svg")) > 1000
    inset = scatter(normal(90)).inset_axes((0, 0, 0.3, 0.3))
    assert len(boxes(scatter(*clusters(3), ax=inset, names=True))) == 3
    pictures = [written(scatter(*clusters(12), names=True)) for _ in range(2)]
    assert pictures[0] == pictures[1]
