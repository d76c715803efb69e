"""What tests of pictures share."""

import io

import numpy as np


def normal(n, columns=2, seed=0):
    """A round map."""
    return np.random.default_rng(seed).normal(size=(n, columns))


def written(ax, kind="png", dpi=50):
    """The picture as a file."""
    file = io.BytesIO()
    ax.figure.savefig(file, format=kind, dpi=dpi, bbox_inches="tight")
    return file.getvalue()


def pixels(ax):
    """The picture as it comes out, RGB in [0, 1], within the axes."""
    ax.figure.canvas.draw()
    whole = np.asarray(ax.figure.canvas.buffer_rgba())[..., :3] / 255
    x0, y0, x1, y1 = (round(x) for x in ax.get_window_extent().extents)
    return whole[len(whole) - y1 + 4 : len(whole) - y0 - 4, x0 + 4 : x1 - 4]


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]
