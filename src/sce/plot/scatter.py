"""The scatter plot: black points as in the paper, or coloured by classes or by a number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sce.core import dots, raster
from sce.core.random import permutation, stream
from sce.core.validate import coordinates_of
from sce.data.labels import as_labels, check_kind
from sce.errors import InputError
from sce.plot import legend as beside
from sce.plot.axes import check_axes, check_sizes, new_axes
from sce.plot.coloring import Style, add_colors, check_style
from sce.plot.frames import View, check_frame, remark, view
from sce.plot.looks import dress, look_of
from sce.plot.name_tags import add_names

MAX_MARKERS = 100_000  # more points are drawn as an image
_MAX_VECTOR_MARKERS = 20_000  # more markers become an image in SVG and PDF
_SCATTER_INCHES = {1: (7.0, 2.2), 2: (6.6, 6.6), 3: (6.6, 6.6)}  # width and height of new axes, by the columns of Y
_MIN_IMAGE_DPI, _MAX_IMAGE_PIXELS = 250.0, 3000.0
_LARGEST_COORDINATE = 1e150  # beyond this, differences overflow


def scatter(
    Y: Any,
    labels: Any = None,
    *,
    ax: Any = None,
    kind: str = "auto",
    size: float | None = None,
    opacity: float | None = None,
    title: str | None = None,
    legend: bool | str = True,
    width: float | None = None,
    frame: str = "auto",
    palette: Any = None,
    cmap: Any = None,
    highlight: Any = None,
    names: bool = False,
    theme: str = "light",
) -> Any:
    """Draw an embedding.

    Points are drawn in a random order, which is the same each time, so that no class covers the others. More than 100,000
    points are drawn as an image that looks the same.

    Parameters
    ----------
    Y : array of shape (n_samples, n_components)
        The coordinates: two columns; or three, drawn in depth; or one, drawn as a strip that is thicker where there are more
        points.
    labels : array of shape (n_samples,), optional
        Classes, numbers or dates to colour by; without them points are black. Points without a label (None, NaN, NaT or empty
        text) and class -1, the noise of a clustering, are grey and lie beneath the others.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default. Given axes are narrowed to make room for a legend or a colour bar.
    kind : {"auto", "classes", "number"}, default="auto"
        What the labels are. "auto" treats text, booleans and whole numbers with at most 50 distinct values as classes.
        Dates have a colour bar unless they are "classes".
    size : float, optional
        Area of a dot in points squared, as in matplotlib. By default it depends on the number of points, the area they cover
        and the size of the picture.
    opacity : float, optional
        Opacity of a dot, above 0 and at most 1. By default a few large dots are opaque, with a thin outline. Many small ones
        are fainter where they overlap, so that dense clusters do not become blots, but a single one is clearly visible.
    title : str, optional
        A line above the picture.
    legend : bool or str, default=True
        Name the classes, or show the colour bar; a text is their title. Of more than 40 classes, it names the largest.
    width : float, optional
        The longer side of the map in a new figure, in inches; 6.6 by default. The figure has the shape of the map, up to twice
        as wide as high or the other way round.
    frame : {"auto", "near", "all"}, default="auto"
        What to do with a map in the plane that leaves most of the page empty. "all": nothing, all points are drawn where they
        are. "near": up to 1 in 200 points that lie far out are drawn on the border. "auto": moreover, groups are drawn closer
        together than they lie, each unchanged. Only where all can then be at least four times as large, with a remark.
    palette : str, list of colours, or dict, optional
        The colours of classes: the name of a palette or colour map of matplotlib, such as "Set2"; a list with a colour for each
        class, in the order of the legend; or a colour for each class by its name. By default up to 10 classes have colours that
        colour-blind people can tell apart.
    cmap : str or Colormap, optional
        The colour map of numbers and dates; "viridis" by default.
    highlight : class or list of classes, optional
        Colour these classes only; all other points are grey and lie beneath.
    names : bool, default=False
        Write the names of classes on the map instead of beside it, clear of one another; a line leads to a class whose name had
        to move away.
    theme : {"light", "dark"}, default="light"
        "dark" makes the picture dark; "light" leaves it to the settings of matplotlib.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from sce.plot import scatter
    >>> Y = np.random.default_rng(0).normal(size=(100, 2))
    >>> ax = scatter(Y, labels=["left" if x < 0 else "right" for x in Y[:, 0]])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['left', 'right']
    """
    Y = _check_map(coordinates_of(Y))
    check_kind(kind)
    check_sizes(size=size, opacity=opacity, width=width)
    check_frame(frame)
    what = None if labels is None else as_labels(labels, len(Y), kind)
    style = check_style(Style(palette, cmap, highlight, names, theme), what)
    own = ax is None
    shown = view(Y, frame)
    inches = _inches(shown, width)
    ax = new_axes(Y.shape[1], inches) if own else check_axes(ax, Y.shape[1])
    dress(ax, theme)
    _prepare(ax, shown, title)
    colored = add_colors(ax, len(Y), what, style, legend=legend, own=own)
    if own:
        beside.fit_figure(ax, inches)
    else:
        beside.make_room(ax)
        shown = view(Y, frame, beside.ratio_of(ax))
    flat, page = _place(ax, shown)
    _draw(ax, shown.Y, flat, colored.paint, page, size, opacity)
    if names:
        add_names(ax, flat, page, colored)
        if own:
            beside.fit_figure(ax, inches)
    return ax


def _check_map(Y: Any) -> np.ndarray:
    """Y as an array of finite numbers, a row for each point."""
    Y = np.asarray(Y)
    if Y.dtype.kind not in "buif":
        try:
            Y = Y.astype(np.float64, casting="unsafe" if Y.dtype.kind == "O" else "safe")
        except (TypeError, ValueError):
            raise InputError(f"Y must hold real numbers to be drawn; its type is {Y.dtype}.") from None
    if Y.ndim != 2 or Y.shape[1] not in _SCATTER_INCHES:
        hint = "; reshape it with Y.reshape(-1, 1) if it is one column" if Y.ndim == 1 else ""
        raise InputError(f"Y must have one, two or three columns to be drawn; its shape is {Y.shape}{hint}.")
    if not len(Y):
        raise InputError(f"Y must have at least one row, and finite numbers only, to be drawn; its shape is {Y.shape}.")
    good = np.concatenate([_in_range(Y[part]) for part in raster.blocks(len(Y))])
    if not good.all():
        rows = np.flatnonzero(~good)
        shown = ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")
        raise InputError(
            "Y must have at least one row, and finite numbers only, to be drawn; drop these rows with NaN, infinity or "
            f"numbers beyond {_LARGEST_COORDINATE:g}: {shown} ({len(rows)} of {len(Y)})."
        )
    return Y


def _in_range(Y: np.ndarray) -> np.ndarray:
    """Which rows have only numbers that can be drawn; not NaN, for example."""
    return np.asarray((np.abs(Y.astype(np.float64)) <= _LARGEST_COORDINATE).all(axis=1))


def _inches(shown: View, width: float | None) -> tuple[float, float]:
    """Width and height of new axes: in the plane in the shape of the map, whose longer side is the width."""
    usual = _SCATTER_INCHES[shown.Y.shape[1]]
    longer = usual[0] if width is None else float(width)
    if shown.Y.shape[1] != 2:
        return longer, longer * usual[1] / usual[0]
    sides = (shown.high - shown.low) / float((shown.high - shown.low).max())
    return longer * float(sides[0]), longer * float(sides[1])


def _prepare(ax: Any, shown: View, title: str | None) -> None:
    """No ticks; the title, and a remark where one is due."""
    for axis in "xyz"[: max(shown.Y.shape[1], 2)]:
        getattr(ax, f"set_{axis}ticks")([])
    if title is not None:
        ax.set_title(title, parse_math=False)
    if said := remark(shown):
        beside.add_remark(ax, said)


def _set_limits(ax: Any, shown: View) -> tuple[np.ndarray, np.ndarray]:
    """The same scale on all axes, so that distances in a group are those of the map."""
    low, high, Y = shown.low, shown.high, shown.Y
    if Y.shape[1] == 1:
        low, high = np.append(low, -1.12), np.append(high, 1.12)
    for axis, limits in zip("xyz", zip(low, high, strict=True), strict=False):
        getattr(ax, f"set_{axis}lim")(*limits)
    ax.set_aspect("auto" if Y.shape[1] == 1 else "equal")
    return low, high


def _place(ax: Any, shown: View) -> tuple[np.ndarray, raster.Frame]:
    """Set the limits; where the points appear in the plane of the picture, and its rectangle."""
    low, high = _set_limits(ax, shown)
    beside.settle(ax)
    points = np.maximum(np.asarray(ax.get_window_extent().size) * 72 / ax.figure.dpi, 1.0)
    if shown.Y.shape[1] == 3:
        return _as_seen(ax, shown.Y, points)
    flat = strip(shown.Y[:, 0], low[0], high[0]) if shown.Y.shape[1] == 1 else shown.Y
    return flat, raster.Frame(low, high, points)


def _draw(
    ax: Any,
    Y: np.ndarray,
    flat: np.ndarray,
    paint: raster.Paint,
    frame: raster.Frame,
    size: float | None,
    opacity: float | None,
) -> None:
    """Draw markers, or an image where there are many points in the plane."""
    if Y.shape[1] == 3:
        _draw_markers(ax, Y, flat, paint, frame, size, opacity)
    elif len(Y) > MAX_MARKERS:
        _draw_image(ax, flat, paint, frame, size, opacity)
    else:
        _draw_markers(ax, flat, flat, paint, frame, size, opacity)


def _draw_markers(
    ax: Any,
    Y: np.ndarray,
    flat: np.ndarray,
    paint: raster.Paint,
    frame: raster.Frame,
    size: float | None,
    opacity: float | None,
) -> None:
    """A marker for each point of Y, which appears at `flat`; those without a colour first, the others in random order.

    Large dots are opaque with a thin outline, so that each can be seen; small ones are translucent.
    """
    size = dots.dot_size(flat, frame) if size is None else float(size)
    rgba = np.empty((len(Y), 4))
    rgba[:, :3] = paint.colors()
    outline = dots.outline(size, len(Y)) if opacity is None else 0.0
    if opacity is not None or outline:
        rgba[:, 3] = opacity or 1.0
    else:
        D, crowd = dots.overlap_of_points(flat, frame, math.sqrt(size))
        rgba[:, 3] = dots.fit_tone(crowd, colored=paint.colored).of_one(D)
    order = permutation(stream(0, "plot"), len(Y))
    order = order[np.argsort(paint.codes[order] >= 0, kind="stable")]
    options: dict[str, Any] = {"depthshade": False} if Y.shape[1] == 3 else {}
    if outline:
        options["edgecolors"] = look_of(ax).paper
    ax.scatter(
        *Y[order].T, s=size, c=rgba[order], linewidths=outline, rasterized=len(Y) > _MAX_VECTOR_MARKERS, **options
    )


def _draw_image(
    ax: Any, Y: np.ndarray, paint: raster.Paint, frame: raster.Frame, size: float | None, opacity: float | None
) -> None:
    """An image with finer pixels than the figure, so that it stays sharp when it is saved at a higher resolution."""
    diameter = math.sqrt(dots.dot_size(Y, frame) if size is None else float(size))
    scale = min(max(2.0 * ax.figure.dpi, _MIN_IMAGE_DPI) / 72, _MAX_IMAGE_PIXELS / float(frame.points.max()))
    picture = raster.image(
        Y,
        paint,
        frame,
        scale,
        scale * diameter / 2,
        lambda D: dots.fit_tone(dots.crowd(D), colored=paint.colored) if opacity is None else dots.Tone(float(opacity)),
    )
    extent = (frame.low[0], frame.high[0], frame.low[1], frame.high[1])
    ax.imshow(picture, extent=extent, origin="lower", interpolation="antialiased", aspect=ax.get_aspect())


def _as_seen(ax: Any, Y: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, raster.Frame]:
    """A map in depth as the axes show it, in axes coordinates."""
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    x, y, _ = proj_transform(*Y.astype(np.float64).T, ax.get_proj())
    flat = ax.transAxes.inverted().transform(ax.transData.transform(np.column_stack([x, y])))
    return flat, raster.Frame(np.zeros(2), np.ones(2), points)


def strip(x: np.ndarray, low: float, high: float) -> np.ndarray:
    """Points on a line, spread up and down in proportion to the density of the line: array of shape (n, 2).

    Multiples of the golden ratio spread neighbours evenly, and the same way each time.
    """
    from scipy.ndimage import gaussian_filter1d

    bins = 400
    place = np.clip((x - low) / (high - low), 0.0, 1.0) * (bins - 1)
    density = gaussian_filter1d(np.bincount(np.round(place).astype(int), minlength=bins).astype(float), 2.0)
    rank = np.empty(len(x))
    rank[np.argsort(x, kind="stable")] = np.arange(len(x))
    spread = 2.0 * np.mod(0.5 + rank * 0.6180339887498949, 1.0) - 1.0
    return np.column_stack([x, spread * np.interp(place, np.arange(bins), density / density.max())])
