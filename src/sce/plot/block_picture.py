"""The block picture, the paper's spy plot: P with rows and columns ordered by cluster, as an image of densities.

A real cluster is a dark square on the diagonal with light stripes beside it. :func:`block_density` computes,
:func:`block_matrix` draws.
"""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.random import permutation, stream
from sce.core.validate import check_count
from sce.data.labels import Classes, as_labels
from sce.errors import InputError, ParameterError
from sce.graph.csr import check_similarities
from sce.plot import legend as beside
from sce.plot.axes import check_axes, check_sizes, new_axes

_INCHES = 6.6  # width of axes of our own, as of a scatter plot
_DARKEST = 100.0  # times the mean that are drawn darkest, unless there is more
_DECADES = 4  # from the lightest to the darkest, at most
_FEWEST = 100  # pixels, however few entries P has
_ROOM = 11.0  # points that a name on the axis needs
_APART = 4.0  # points between lines
NONE = "none"  # what points in no cluster are called


class Blocks(NamedTuple):
    """P by pixels, the clusters in the order of size, and where each begins.

    `density`: (m, m), the mean of P over the pairs of points of a pixel, as a multiple of that over all pairs. `edges`:
    (m + 1,), the places between which each row (and column) of pixels lies. `starts`: (k + 1,), the places between which each
    cluster lies; the points in no cluster, if any, come last and are one of the k. `names`: (k,). `order`: (n,), the point at
    each place.
    """

    density: np.ndarray
    edges: np.ndarray
    starts: np.ndarray
    names: list[str]
    order: np.ndarray


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

    The largest cluster comes first, at the top left, points in no cluster last. Within a cluster they come in a random
    order that is the same each time: the rows of a file are often sorted, and would show that instead. A pixel is as dark as P
    is dense there: the mean of P over the pairs of points it covers, as a multiple of the mean over all pairs, on a logarithmic
    scale; white where P is zero. Clusters that are in P are dark squares on the diagonal; after a random relabelling all pixels
    are about 1. No pixel has points of two clusters, unless both are smaller than half a pixel.

    Parameters
    ----------
    P : sparse matrix of shape (n, n), fitted SCE, or saved map
        The similarities; of a model its `affinity_` is taken, of a map its `P`.
    labels : array of shape (n,)
        The cluster of each point, as of :func:`sce.find_clusters`: negative numbers are no cluster. Or classes, also as text.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default. Given axes are narrowed to make room for the colour bar; for several side by
        side a figure with `layout="constrained"` makes room for the names as well.
    pixels : int, optional
        About how many pixels in each direction, and never more than rows. By default one for each 1/72 inch of the axes, but
        no more than leave an entry of P to a pixel on average, so that small graphs look no thinner than large ones.
    limits : (float, float), optional
        The densities of the lightest and the darkest colour, in times the mean: the same for pictures to be compared. By
        default the darkest is 100, or more if much of P is denser than that, and the lightest that of a pixel with a single
        pair, four decades below at most.
    title : str, optional
        A line above the picture.
    legend : bool, default=True
        Show the colour bar.
    width : float, optional
        The width of a new figure's picture, in inches; 6.6 by default.

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
    side = _INCHES if width is None else float(width)
    ax = new_axes(2, (side, side)) if own else check_axes(ax, 2)
    P = _check_graph(P)
    blocks = block_density(P, labels, _fitting(P, _points(ax, side if own else None)) if pixels is None else pixels)
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
    _rule(ax, blocks)
    return ax


def block_density(P: Any, labels: Any, pixels: int = 500) -> Blocks:
    """The densities that :func:`block_matrix` draws.

    Parameters
    ----------
    P, labels, pixels
        As of :func:`block_matrix`.

    Returns
    -------
    Blocks

    Examples
    --------
    >>> from scipy import sparse
    >>> P = sparse.csr_matrix([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    >>> blocks = block_density(P, [-1, 0, 0])
    >>> blocks.density
    array([[0., 0., 3.],
           [0., 0., 0.],
           [3., 0., 0.]])
    >>> blocks.names, blocks.starts
    (['0', 'none'], array([0, 2, 3]))
    """
    pixels = check_count(pixels, "pixels")
    P = _check_graph(P)
    n = P.shape[0]
    codes, names = _clusters(labels, n)
    codes = codes.astype(np.min_scalar_type(len(names)))  # short ones are sorted in no time
    sizes = np.bincount(codes, minlength=len(names))
    starts = np.append(0, np.cumsum(sizes))
    edges = _pixel_edges(sizes, pixels)
    pixel = np.empty(n, np.int16 if len(edges) < 1 << 15 else np.int32)
    of_place = np.repeat(np.arange(len(edges) - 1, dtype=pixel.dtype), np.diff(edges))
    order = permutation(stream(0, "blocks"), n)
    order = order[np.argsort(codes[order], kind="stable")]
    pixel[order] = of_place
    total = np.zeros((len(edges) - 1, len(edges) - 1))
    _sum_by_pixel(P.indptr, P.indices, P.data, pixel, total)
    whole = total.sum()
    width = np.diff(edges).astype(np.float64)
    pairs = np.outer(width, width) - np.diag(width)
    density = np.zeros_like(total)
    np.divide(total, pairs, out=density, where=pairs > 0)
    return Blocks(density * (n * (n - 1.0) / whole) if whole > 0 else density, edges, starts, names, order)


@kernel
def _sum_by_pixel(starts: Any, ids: Any, values: Any, pixel: Any, total: Any) -> None:
    """Add P to the pixels that its rows and columns are in, without the diagonal."""
    for i in range(starts.size - 1):
        row = total[pixel[i]]
        for e in range(starts[i], starts[i + 1]):
            if ids[e] != i:
                row[pixel[ids[e]]] += values[e]


def _check_graph(P: Any) -> Any:
    """P as a CSR matrix of finite numbers, none negative."""
    from scipy import sparse

    if hasattr(P, "fit") and not hasattr(P, "affinity_"):
        raise InputError(f"The {type(P).__name__} is not fitted; call fit first.")
    is_matrix = sparse.issparse(P) or hasattr(P, "__array__")
    P = P if is_matrix else getattr(P, "affinity_", getattr(P, "P", P))
    if P is None:
        raise InputError("The map has no P; save it with the map: sce embed --keep-graph.")
    P = check_similarities(P)
    if not P.shape[0]:
        raise InputError("A similarity graph must have at least one point; this has none.")
    return P.astype(np.uint8) if P.dtype.kind == "b" else P


def _clusters(labels: Any, n: int) -> tuple[np.ndarray, list[str]]:
    """The place of each point's cluster in the order of size, and the clusters' names; points in none are the last."""
    found = np.asarray(labels) if isinstance(labels, np.ndarray | list | tuple) else labels
    if isinstance(found, np.ndarray) and found.dtype.kind in "iu" and found.shape == (n,):
        classes = _number_classes(found)
    else:
        classes = as_labels(labels, n, "classes")  # type: ignore[assignment]
    sizes = np.bincount(classes.codes[classes.codes >= 0], minlength=len(classes.names))
    order = np.lexsort((np.arange(len(sizes)), -sizes))
    place = np.empty(len(sizes) + 1, np.int64)
    place[order] = np.arange(len(sizes))
    place[-1] = len(sizes)
    names = [classes.names[k] for k in order]
    return place[classes.codes], [*names, NONE] if (classes.codes < 0).any() else names


def _number_classes(labels: np.ndarray) -> Classes:
    """Whole numbers as clusters, negative ones as none."""
    top = int(labels.max())
    if top < 2 * len(labels):  # without sorting
        labels = labels.astype(np.int64, copy=False)
        count = np.bincount(labels[labels >= 0], minlength=1)
        present = np.flatnonzero(count)
        place = np.append(np.cumsum(count > 0) - 1, -1)
        codes = place[np.maximum(labels, -1)]
    else:
        present, codes = np.unique(labels, return_inverse=True)
        below = int(np.searchsorted(present, 0))
        present, codes = present[below:], np.maximum(codes - below, -1)
    return Classes(codes, [str(x) for x in present.tolist()], NONE)


def _pixel_edges(sizes: np.ndarray, pixels: int) -> np.ndarray:
    """Where pixels begin and end, about as many as asked for: at every border between clusters that fill a pixel.

    Clusters smaller than half a pixel, which follow one another, share pixels.
    """
    n = int(sizes.sum())
    if n <= pixels:
        return np.arange(n + 1)
    size = n / pixels
    pieces: list[int] = []
    small = 0
    for length in sizes.tolist():
        if length < size / 2:
            small += length
            continue
        pieces += [small, length]
        small = 0
    pieces.append(small)
    edges = [0]
    for length in pieces:
        parts = max(1, round(length / size))
        edges += [edges[-1] + length * (p + 1) // parts for p in range(parts)] if length else []
    return np.array(edges)


def _check_limits(limits: Any) -> tuple[float, float] | None:
    """Two numbers, the second larger, both above zero; or None."""
    if limits is None:
        return None
    pair = tuple(limits) if isinstance(limits, tuple | list) else ()
    good = len(pair) == 2 and all(isinstance(x, numbers.Real) and not isinstance(x, bool) for x in pair)
    if not good or not 0 < pair[0] < pair[1] < np.inf:
        raise ParameterError(f"limits must be two numbers above 0, the second larger, or None; got {limits!r}.")
    return float(pair[0]), float(pair[1])


def _points(ax: Any, side: float | None) -> float:
    """The length of the axes in points, 1/72 inch: of our own as told, of given ones as they are."""
    if side is not None:
        return 72 * side
    beside.settle(ax)
    return float(min(ax.get_window_extent().size)) * 72 / ax.figure.dpi


def _fitting(P: Any, points: float) -> int:
    """Pixels for axes of so many points."""
    return max(1, round(min(points, max(_FEWEST, np.sqrt(P.nnz)))))


def _shades(blocks: Blocks, limits: tuple[float, float] | None) -> tuple[Any, Any, str] | None:
    """(norm, colour map, which ends of the colour bar go on); None where P is zero everywhere."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap, LogNorm

    there = blocks.density[blocks.density > 0]
    if not len(there):
        return None
    low, high = limits or _usual_limits(blocks)
    cmap = ListedColormap(colormaps["Blues"](np.linspace(0.16, 1.0, 256)))  # lighter ones are hard to tell from white
    ends = {(False, False): "neither", (True, False): "min", (False, True): "max"}
    extend = ends.get((bool(there.min() < 0.999 * low), bool(there.max() > 1.001 * high)), "both")
    return LogNorm(low, high), cmap, extend


def _usual_limits(blocks: Blocks) -> tuple[float, float]:
    """From the density of a single pair in a pixel to 100, or to that which a tenth of P exceeds."""
    width = np.diff(blocks.edges)
    share = (blocks.density * np.outer(width, width)).ravel()
    values = blocks.density.ravel()
    order = np.argsort(values)
    mass = np.cumsum(share[order])
    high = max(_DARKEST, float(values[order][np.searchsorted(mass, 0.9 * mass[-1])]))
    return max(min(float(values[values > 0].min()), 1.0), high / 10.0**_DECADES), high


def _add_bar(ax: Any, norm: Any, cmap: Any, extend: str) -> None:
    """The colour bar, with plain numbers."""
    beside.add_bar(ax, norm, cmap, extend, title="P, times the mean")
    bar = ax.child_axes[-1]
    bar.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    bar.yaxis.set_minor_formatter(lambda *_: "")


def _frame(ax: Any, blocks: Blocks, title: str | None) -> None:
    """Limits, the first row at the top; the title."""
    n = int(blocks.edges[-1])
    ax.set_xlim(0, n)
    ax.set_ylim(n, 0)
    ax.set_aspect("equal")
    if title is not None:
        ax.set_title(title, parse_math=False)


def _explain(ax: Any, blocks: Blocks, side: float | None) -> None:
    """Name the clusters on the left, with their sizes, where there is room; say below how many there are."""
    sizes = np.diff(blocks.starts)
    n = int(blocks.edges[-1])
    roomy = np.flatnonzero(sizes * _points(ax, side) / n >= _ROOM)
    ax.set_xticks([])
    ax.set_yticks((blocks.starts[:-1] + sizes / 2)[roomy])
    names = beside.shorten_all([blocks.names[k] for k in roomy]) if len(roomy) else []
    texts = [f"{name} ({sizes[k]:,})" for name, k in zip(names, roomy, strict=True)]
    ax.set_yticklabels(texts, fontsize=9, parse_math=False)
    ax.tick_params(axis="y", length=0)
    loose = int(sizes[-1]) if blocks.names[-1] == NONE else 0
    k = len(sizes) - bool(loose)
    said = f"{n:,} points in {k:,} cluster{'' if k == 1 else 's'}" + (f", {loose:,} in none" if loose and k else "")
    ax.set_xlabel(said if k else f"{n:,} points in no cluster", fontsize=9, color="0.4")


def _paint(ax: Any, blocks: Blocks, norm: Any, cmap: Any) -> None:
    """The image, its pixels as wide and high as the points in them."""
    shown = np.ma.masked_less_equal(blocks.density, 0.0)
    limits = ax.get_xlim(), ax.get_ylim()
    edges = blocks.edges.astype(np.float64)
    ax.pcolormesh(edges, edges, shown, norm=norm, cmap=cmap, rasterized=True)
    ax.set_xlim(limits[0])
    ax.set_ylim(limits[1])


def _rule(ax: Any, blocks: Blocks) -> None:
    """Thin lines between clusters, where they do not crowd."""
    n = float(blocks.edges[-1])
    least = _APART * n / _points(ax, None)
    inner = blocks.starts[1:-1]
    apart = np.minimum(np.diff(blocks.starts)[:-1], np.diff(blocks.starts)[1:]) >= least
    for draw in (ax.vlines, ax.hlines):
        draw(inner[apart], 0, n, colors="0.35", linewidth=0.4)
