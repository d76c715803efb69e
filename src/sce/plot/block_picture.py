"""The block picture, the paper's spy plot: P with rows and columns ordered by cluster, as an image of densities.

:func:`sce.quality.block_density.block_density` computes the densities; this module draws them.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from sce.core.palette import open_ends
from sce.errors import ParameterError
from sce.plot import legend as beside
from sce.plot.axes import check_axes, check_sizes, new_axes
from sce.plot.scales import Scale
from sce.quality.block_density import NO_CLUSTER, Blocks, block_density, density_limits, similarities_of

_BLOCK_PICTURE_INCHES = 6.6  # width of new axes, as of a scatter plot
_MIN_PIXELS = 100  # in each direction, even if P has few entries
_POINTS_PER_NAME = 11.0  # height of a name on the axis, in points of 1/72 inch
_POINTS_BETWEEN_LINES = 4.0  # at least, in points of 1/72 inch


def block_matrix(
    P: Any,
    labels: Any,
    *,
    ax: Any = None,
    pixels: int | None = None,
    limits: tuple[float, float] | None = None,
    title: str | None = None,
    legend: bool = True,
    width: float | None = None,
) -> Any:
    """Draw P with its rows and columns ordered by cluster, to see whether the clusters are in P.

    The largest cluster comes first, at the top left; points in no cluster come last. Within a cluster the order is random, but
    the same each time: rows of a file are often sorted, and the picture would show that instead. The darker a pixel, the
    denser P: the mean of P over the pairs of points of the pixel, as a multiple of the mean over all pairs, on a logarithmic
    scale; white where P is zero. Clusters that are in P are dark squares on the diagonal; after a random relabelling all pixels
    are about 1. No pixel contains points of two clusters, unless both are smaller than half a pixel.

    Parameters
    ----------
    P : sparse matrix of shape (n, n), fitted SCE, or saved map
        The similarities: the `affinity_` of a model, the `P` of a map.
    labels : array of shape (n,)
        The cluster of each point, as from :func:`sce.find_clusters`: negative numbers mean no cluster. Or classes, also as
        text.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default. Given axes are narrowed to make room for the colour bar; for several side by
        side, a figure with `layout="constrained"` makes room for the names as well.
    pixels : int, optional
        Approximate number of pixels in each direction, never more than the number of rows. By default one per 1/72 inch of the
        axes, but on average at least one entry of P per pixel, so that small graphs do not look sparser than large ones.
    limits : (float, float), optional
        The densities of the lightest and the darkest colour, in multiples of the mean; set them to compare pictures. By default
        the darkest is 100, or more if much of P is denser than that, and the lightest is the density of a pixel with a single
        pair, at most four decades below.
    title : str, optional
        A line above the picture.
    legend : bool, default=True
        Show the colour bar.
    width : float, optional
        The width of the picture in a new figure, in inches; 6.6 by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from scipy import sparse
    >>> from sce.plot import block_matrix
    >>> P = sparse.block_diag([np.ones((30, 30)), np.ones((20, 20))]).tocsr()
    >>> ax = block_matrix(P, [0] * 30 + [1] * 20)
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['0 (30)', '1 (20)']
    """
    check_sizes(width=width)
    limits = _check_limits(limits)
    own = ax is None
    side = _BLOCK_PICTURE_INCHES if width is None else float(width)
    ax = new_axes(2, (side, side)) if own else check_axes(ax, 2)
    P = similarities_of(P)
    blocks = block_density(P, labels, _pixels_for(P, _points(ax, side if own else None)) if pixels is None else pixels)
    shades = _shades(blocks, limits)
    _frame(ax, blocks, title)
    if legend and shades is not None:
        _add_bar(ax, *shades)
    _explain(ax, blocks, side if own else None)
    if own:
        beside.fit_figure(ax, (side, side))
    else:
        beside.make_room(ax)
    if shades is not None:
        _paint(ax, blocks, *shades[:2])
    _draw_borders(ax, blocks)
    return ax


def _check_limits(limits: Any) -> tuple[float, float] | None:
    """Two numbers above zero, the second larger, or None."""
    if limits is None:
        return None
    pair = tuple(limits) if isinstance(limits, tuple | list) else ()
    good = len(pair) == 2 and all(isinstance(x, numbers.Real) and not isinstance(x, bool) for x in pair)
    if not good or not 0 < pair[0] < pair[1] < np.inf:
        raise ParameterError(f"limits must be two numbers above 0, the second larger, or None; got {limits!r}.")
    return float(pair[0]), float(pair[1])


def _points(ax: Any, side: float | None) -> float:
    """The length of the axes in points of 1/72 inch: for new axes from their side in inches, for given axes as measured."""
    if side is not None:
        return 72 * side
    beside.settle(ax)
    return float(min(ax.get_window_extent().size)) * 72 / ax.figure.dpi


def _pixels_for(P: Any, points: float) -> int:
    """The default number of pixels for axes of a length in points."""
    return max(1, round(min(points, max(_MIN_PIXELS, np.sqrt(P.nnz)))))


def _shades(blocks: Blocks, limits: tuple[float, float] | None) -> tuple[Any, Any, str] | None:
    """(norm, colour map, open ends) of the colour bar; None if P is zero everywhere."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap, LogNorm

    there = blocks.density[blocks.density > 0]
    if not len(there):
        return None
    low, high = limits or density_limits(blocks)
    cmap = ListedColormap(colormaps["Blues"](np.linspace(0.16, 1.0, 256)))  # lighter ones are hard to tell from white
    extend = open_ends(below=bool(there.min() < 0.999 * low), above=bool(there.max() > 1.001 * high))
    return LogNorm(low, high), cmap, extend


def _add_bar(ax: Any, norm: Any, cmap: Any, extend: str) -> None:
    """The colour bar, with plain numbers."""
    beside.add_bar(ax, Scale(norm, cmap, extend), title="P, times the mean")
    bar = ax.child_axes[-1]
    bar.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    bar.yaxis.set_minor_formatter(lambda *_: "")


def _frame(ax: Any, blocks: Blocks, title: str | None) -> None:
    """Limits with the first row at the top, and the title."""
    n = int(blocks.edges[-1])
    ax.set_xlim(0, n)
    ax.set_ylim(n, 0)
    ax.set_aspect("equal")
    if title is not None:
        ax.set_title(title, parse_math=False)


def _explain(ax: Any, blocks: Blocks, side: float | None) -> None:
    """Name the clusters on the left, with their sizes, where there is room; below, say how many there are."""
    sizes = np.diff(blocks.starts)
    n = int(blocks.edges[-1])
    roomy = np.flatnonzero(sizes * _points(ax, side) / n >= _POINTS_PER_NAME)
    ax.set_xticks([])
    ax.set_yticks((blocks.starts[:-1] + sizes / 2)[roomy])
    names = beside.shorten_all([blocks.names[k] for k in roomy]) if len(roomy) else []
    texts = [f"{name} ({sizes[k]:,})" for name, k in zip(names, roomy, strict=True)]
    ax.set_yticklabels(texts, fontsize=9, parse_math=False)
    ax.tick_params(axis="y", length=0)
    loose = int(sizes[-1]) if blocks.names[-1] == NO_CLUSTER else 0
    k = len(sizes) - bool(loose)
    counts = f"{n:,} points in {k:,} cluster{'' if k == 1 else 's'}" + (f", {loose:,} in none" if loose and k else "")
    ax.set_xlabel(counts if k else f"{n:,} points in no cluster", fontsize=9, color="0.4")


def _paint(ax: Any, blocks: Blocks, norm: Any, cmap: Any) -> None:
    """The image; a pixel is as wide and high as it has points."""
    shown = np.ma.masked_less_equal(blocks.density, 0.0)
    limits = ax.get_xlim(), ax.get_ylim()
    edges = blocks.edges.astype(np.float64)
    ax.pcolormesh(edges, edges, shown, norm=norm, cmap=cmap, rasterized=True)
    ax.set_xlim(limits[0])
    ax.set_ylim(limits[1])


def _draw_borders(ax: Any, blocks: Blocks) -> None:
    """Thin lines between clusters, except where they would crowd."""
    n = float(blocks.edges[-1])
    least = _POINTS_BETWEEN_LINES * n / _points(ax, None)
    inner = blocks.starts[1:-1]
    apart = np.minimum(np.diff(blocks.starts)[:-1], np.diff(blocks.starts)[1:]) >= least
    for draw in (ax.vlines, ax.hlines):
        draw(inner[apart], 0, n, colors="0.35", linewidth=0.4)
