"""The scatter plot: black points as in the paper, or coloured by classes or by a number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sce.core import raster
from sce.core.random import permutation, stream
from sce.core.validate import coordinates_of
from sce.data.labels import Classes, Numbers, as_labels, check_kind
from sce.errors import InputError
from sce.plot import dots
from sce.plot import legend as beside
from sce.plot.axes import check_axes, check_sizes, new_axes
from sce.plot.colors import by_class, by_number, plain

MOST_MARKERS = 100_000  # points beyond this are drawn as an image
_MOST_IN_VECTORS = 20_000  # markers beyond this are an image in SVG and PDF
_INCHES = {1: (7.0, 2.2), 2: (6.6, 6.6), 3: (6.6, 6.6)}  # of axes of our own, by the columns of Y
_LEAST_DPI, _MOST_PIXELS = 250.0, 3000.0  # of an image
_HUGE = 1e150  # beyond this, differences overflow


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
) -> Any:
    """Draw an embedding.

    Points are drawn in a random order that is the same each time, so that no class covers the others. Beyond 100,000
    points the picture is an image of the same look.

    Parameters
    ----------
    Y : array of shape (n_samples, n_components)
        The coordinates: two columns; three for a picture in depth; one for a strip, as thick as there are points.
    labels : array of shape (n_samples,), optional
        Classes or numbers to colour by; black points without them. Points without a label (None, NaN or empty text) and
        class -1, the noise of a clustering, are grey, beneath the others.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default. Given axes are narrowed to make room for a legend or a colour bar.
    kind : {"auto", "classes", "number"}, default="auto"
        What labels are. "auto" takes text, booleans and whole numbers with at most 50 distinct values for classes.
    size : float, optional
        Area of a dot in points squared, as of matplotlib; chosen from the number of points and the room they take by
        default.
    opacity : float, optional
        Opacity of a dot, above 0 and at most 1. By default a dot on its own is clearly visible and where many dots overlap
        each is the fainter, so that dense clusters do not become blots.
    title : str, optional
        A line above the picture.
    legend : bool or str, default=True
        Name the classes, or show the colour bar; a text stands above or beside them. More than 40 classes are only counted.
    width : float, optional
        The width of a new figure's map, in inches; 6.6 by default.

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
    what = None if labels is None else as_labels(labels, len(Y), kind)
    own = ax is None
    inches = _inches(Y.shape[1], width)
    ax = new_axes(Y.shape[1], inches) if own else check_axes(ax, Y.shape[1])
    low, high = _prepare(ax, Y, title)
    paint = add_colors(ax, len(Y), what, legend=legend, own=own)
    if own:
        beside.fit_figure(ax, inches)
    else:
        beside.make_room(ax)
    _draw(ax, Y, paint, low, high, size, opacity)
    return ax


def _check_map(Y: Any) -> np.ndarray:
    """Y as an array of finite numbers, a row for each point."""
    Y = np.asarray(Y)
    if Y.dtype.kind not in "buif":
        try:
            Y = Y.astype(np.float64, casting="unsafe" if Y.dtype.kind == "O" else "safe")
        except (TypeError, ValueError):
            raise InputError(f"Y must hold real numbers to be drawn; its type is {Y.dtype}.") from None
    if Y.ndim != 2 or Y.shape[1] not in _INCHES:
        hint = "; reshape it with Y.reshape(-1, 1) if it is one column" if Y.ndim == 1 else ""
        raise InputError(f"Y must have one, two or three columns to be drawn; its shape is {Y.shape}{hint}.")
    if not len(Y):
        raise InputError(f"Y must have at least one row, and finite numbers only, to be drawn; its shape is {Y.shape}.")
    good = np.concatenate([(np.abs(Y[part].astype(np.float64)) <= _HUGE).all(axis=1) for part in raster.blocks(len(Y))])
    if not good.all():
        rows = np.flatnonzero(~good)
        shown = ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")
        raise InputError(
            "Y must have at least one row, and finite numbers only, to be drawn; drop these rows with NaN, infinity or "
            f"numbers beyond {_HUGE:g}: {shown} ({len(rows)} of {len(Y)})."
        )
    return Y


def _inches(columns: int, width: float | None) -> tuple[float, float]:
    """Width and height of axes of our own."""
    usual = _INCHES[columns]
    return usual if width is None else (float(width), float(width) * usual[1] / usual[0])


def _prepare(ax: Any, Y: np.ndarray, title: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Limits of one length around all points, so that distances are those of the map; no ticks; the title."""
    least, most = Y.min(axis=0).astype(np.float64), Y.max(axis=0).astype(np.float64)
    middle = (least + most) / 2
    span, far = float((most - least).max()), float(np.abs(middle).max())
    half = 0.53 * span if span > max(1e-12 * far, 1e-150) else max(0.01 * far, 1e-6)
    low, high = middle - half, middle + half
    if Y.shape[1] == 1:
        low, high = np.append(low, -1.12), np.append(high, 1.12)
    for axis, limits in zip("xyz", zip(low, high, strict=True), strict=False):
        getattr(ax, f"set_{axis}lim")(*limits)
        getattr(ax, f"set_{axis}ticks")([])
    ax.set_aspect("auto" if Y.shape[1] == 1 else "equal")
    if title is not None:
        ax.set_title(title, parse_math=False)
    return low, high


def add_colors(ax: Any, n: int, what: Classes | Numbers | None, *, legend: bool | str, own: bool) -> raster.Paint:
    """The colours of the points, and what explains them beside the axes."""
    if what is None:
        return plain(n, ax.get_facecolor())
    heading = legend if isinstance(legend, str) else ""
    if isinstance(what, Numbers):
        paint, scale = by_number(what.values)
        if legend and scale is not None:
            beside.add_bar(ax, *scale, title=heading)
        return paint
    paint = by_class(what.codes, len(what.names), beside_grey=bool(what.missing))
    if legend:
        names, colors = list(what.names), list(paint.to_rgb(paint.channels)[: len(what.names)])
        if what.missing:
            names, colors = [*names, what.missing], [*colors, paint.missing]
        beside.explain_classes(ax, names, colors, n_classes=len(what.names), own=own, title=heading)
    return paint


def _draw(
    ax: Any,
    Y: np.ndarray,
    paint: raster.Paint,
    low: np.ndarray,
    high: np.ndarray,
    size: float | None,
    opacity: float | None,
) -> None:
    """Markers or an image, on axes whose place and limits are known."""
    beside.settle(ax)
    points = np.maximum(np.asarray(ax.get_window_extent().size) * 72 / ax.figure.dpi, 1.0)
    if Y.shape[1] == 3:
        flat, frame = _as_seen(ax, Y, points)
        _draw_markers(ax, Y, flat, paint, frame, size, opacity)
        return
    frame = raster.Frame(low, high, points)
    flat = strip(Y[:, 0], low[0], high[0]) if Y.shape[1] == 1 else Y
    if len(Y) > MOST_MARKERS:
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
    """A marker for each point of Y, which is seen at `flat`; those without a colour first, the others at random."""
    size = dots.dot_size(flat, frame) if size is None else float(size)
    rgba = np.empty((len(Y), 4))
    rgba[:, :3] = paint.colors()
    if opacity is None:
        D, crowd = dots.overlap_of_points(flat, frame, math.sqrt(size))
        rgba[:, 3] = dots.fit_tone(crowd, colored=paint.colored).of_one(D)
    else:
        rgba[:, 3] = opacity
    order = permutation(stream(0, "plot"), len(Y))
    order = order[np.argsort(paint.codes[order] >= 0, kind="stable")]
    options = {"depthshade": False} if Y.shape[1] == 3 else {}
    ax.scatter(*Y[order].T, s=size, c=rgba[order], linewidths=0, rasterized=len(Y) > _MOST_IN_VECTORS, **options)


def _draw_image(
    ax: Any, Y: np.ndarray, paint: raster.Paint, frame: raster.Frame, size: float | None, opacity: float | None
) -> None:
    """An image with finer pixels than those of the figure, so that it stays sharp when it is saved with more."""
    diameter = math.sqrt(dots.dot_size(Y, frame) if size is None else float(size))
    scale = min(max(2.0 * ax.figure.dpi, _LEAST_DPI) / 72, _MOST_PIXELS / float(frame.points.max()))
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
    """A map in depth as it is seen from where the axes look at it, in parts of the axes."""
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    x, y, _ = proj_transform(*Y.astype(np.float64).T, ax.get_proj())
    flat = ax.transAxes.inverted().transform(ax.transData.transform(np.column_stack([x, y])))
    return flat, raster.Frame(np.zeros(2), np.ones(2), points)


def strip(x: np.ndarray, low: float, high: float) -> np.ndarray:
    """Points of a line, spread upwards and downwards as far as the line is dense there: array of shape (n, 2).

    Neighbours on the line are spread by multiples of the golden ratio, so evenly, and the same each time.
    """
    from scipy.ndimage import gaussian_filter1d

    bins = 400
    place = np.clip((x - low) / (high - low), 0.0, 1.0) * (bins - 1)
    density = gaussian_filter1d(np.bincount(np.round(place).astype(int), minlength=bins).astype(float), 2.0)
    rank = np.empty(len(x))
    rank[np.argsort(x, kind="stable")] = np.arange(len(x))
    spread = 2.0 * np.mod(0.5 + rank * 0.6180339887498949, 1.0) - 1.0
    return np.column_stack([x, spread * np.interp(place, np.arange(bins), density / density.max())])
