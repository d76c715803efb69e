"""A sweep in one picture: small multiples of its maps above curves of quality over r."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from sce.core.validate import check_count
from sce.data.labels import as_labels
from sce.errors import InputError
from sce.plot.axes import shown_figure
from sce.plot.coloring import Style, add_colors, check_style
from sce.plot.looks import dress, look_of, suited
from sce.plot.scatter import scatter
from sce.results.sweeps import Sweep

# Inches: the side of a map, the gap between maps, the line above each.
_MAP_SIDE, _MAP_GAP, _MAP_TITLE = 2.3, 0.12, 0.26
# Inches: the height of the curves, and the room below and above them.
_CURVES_HEIGHT, _BELOW_CURVES, _ABOVE_CURVES = 2.0, 0.42, 0.55
_MIN_SERIES_WIDTH = 9.0  # inches
_MAPS_PER_ROW = 6  # at most
_MARK_COLORS = {"SCE": "#c1121f", "t-SNE": "#1d4e9e"}
_OTHER_MARK_COLOR = "0.3"
# Figures between 0 and 1: name, label, colour, line style.
_SHARE_CURVES = (
    ("accuracy", "label accuracy", "#2a7f3f", "-"),
    ("share", "P inside the clusters seen", "#7a3e9d", "-"),
    ("share_null", "the same by chance", "#7a3e9d", ":"),
    ("edges_kept", "neighbours in P kept", "#c77700", "-"),
)


class _Axis(NamedTuple):
    """The horizontal axis of the curves: its name, the value of each map, and the value of each mark."""

    name: str
    values: np.ndarray
    marks: dict[str, float]


def series(
    sweep: Sweep,
    *,
    n_maps: int = 12,
    kind: str = "auto",
    size: float | None = None,
    opacity: float | None = None,
    title: str | None = None,
    palette: Any = None,
    cmap: Any = None,
    highlight: Any = None,
    names: bool = False,
    theme: str = "light",
) -> Any:
    """Draw a sweep: small multiples of its maps, and below them quality over log10 r, or over alpha.

    The maps nearest to the r that SCE and t-SNE choose are always shown, boxed and named; vertical lines through the curves
    mark those r. Small triangles above the curves show which maps are drawn.

    Parameters
    ----------
    sweep : Sweep
    n_maps : int, default=12
        How many maps to show, spread evenly over the sweep.
    kind : {"auto", "classes", "number"}, default="auto"
        What the labels are, as in :func:`sce.plot.scatter`.
    size, opacity : float, optional
        Of the dots, as in :func:`sce.plot.scatter`.
    title : str, optional
        A line above the picture.
    palette, cmap, highlight, names, theme
        Colours, and the names of classes on the maps, as in :func:`sce.plot.scatter`.

    Returns
    -------
    figure : matplotlib Figure

    Examples
    --------
    >>> import sce
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> figure = series(sce.sweep(X, [0, 1, 2], random_state=0))
    >>> figure.axes[-1].get_ylabel()
    'clusters seen'
    """
    if not isinstance(sweep, Sweep):
        raise InputError(f"A series shows a Sweep, from sce.sweep or sce.load; got {type(sweep).__name__}.")
    chosen = choose_frames(sweep, check_count(n_maps, "n_maps"))
    what = None if sweep.labels is None else as_labels(sweep.labels, sweep.frames.shape[1], kind)
    style = check_style(Style(palette, cmap, highlight, names, theme), what)
    rows = math.ceil(len(chosen) / _MAPS_PER_ROW)
    columns = math.ceil(len(chosen) / rows)
    figure, maps, curves = _figure(rows, columns, sweep.frames.shape[2])
    axis = _axis(sweep)
    for ax, frame in zip(maps, chosen, strict=False):
        dots: dict[str, Any] = {"kind": kind, "size": size, "opacity": opacity}
        scatter(sweep.map(frame).Y, sweep.labels, ax=ax, legend=False, frame="near", **dots, **style._asdict())
        _name(ax, sweep, axis, frame)
    for ax in maps[len(chosen) :]:
        ax.remove()
    if what is not None:
        around = _around(figure, maps)
        add_colors(around, sweep.frames.shape[1], what, style, legend=sweep.label_name or True, own=True)
    for ax in curves:
        dress(ax, theme)
    _draw_shares(curves[0], sweep, axis, chosen)
    _draw_counts(curves[1], sweep, axis, chosen)
    if title is not None:
        ink = look_of(curves[0]).ink
        figure.suptitle(title, y=1.0, va="bottom", color=ink, parse_math=False)
    return figure


def choose_frames(sweep: Sweep, n_maps: int) -> list[int]:
    """Some frames: those of the marks, the first and the last, and others between them, as evenly as possible.

    Examples
    --------
    >>> many = Sweep(np.zeros((9, 1, 2)), np.arange(9.0), np.arange(1))
    >>> many.mark("SCE", 1e5)
    >>> choose_frames(many, 3), choose_frames(many, 5)
    ([0, 5, 8], [0, 2, 5, 6, 8])
    """
    last = len(sweep) - 1
    marked = dict.fromkeys(mark.frame for mark in sweep.marks.values() if mark.frame is not None)
    fixed = sorted(list(dict.fromkeys([*marked, 0, last]))[:n_maps])
    steps = [1] * (len(fixed) - 1)  # from each to the next
    gaps = np.diff(fixed)
    for _ in range(min(n_maps, len(sweep)) - len(fixed)):
        steps[int(np.argmax(gaps / steps))] += 1
    between = [
        np.linspace(a, b, count + 1)[:-1] for (a, b), count in zip(itertools.pairwise(fixed), steps, strict=True)
    ]
    return [int(frame) for frame in np.round(np.concatenate([*between, fixed[-1:]]))]


# -------------------------------------------------------------------------------------------------------------- layout


def _figure(rows: int, columns: int, dimensions: int) -> tuple[Any, list[Any], list[Any]]:
    """A new figure with rows of axes for maps, and two axes for curves below them."""
    pitch = _MAP_SIDE + _MAP_GAP
    width = max(columns * pitch - _MAP_GAP, _MIN_SERIES_WIDTH)
    left = (width - columns * pitch + _MAP_GAP) / 2
    bottom = _BELOW_CURVES + _CURVES_HEIGHT + _ABOVE_CURVES
    height = bottom + rows * (_MAP_SIDE + _MAP_TITLE)
    figure = shown_figure((width, height))

    def place(x: float, y: float, w: float, h: float, **options: Any) -> Any:
        return figure.add_axes((x / width, y / height, w / width, h / height), **options)

    options = {"projection": "3d"} if dimensions == 3 else {}
    maps = [
        place(
            left + column * pitch, bottom + (rows - 1 - row) * (_MAP_SIDE + _MAP_TITLE), _MAP_SIDE, _MAP_SIDE, **options
        )
        for row in range(rows)
        for column in range(columns)
    ]
    wide = 0.56 * width
    rest = wide + 0.55
    boxes = ((0.4, wide - 0.4), (rest, width - rest))  # left edge and width
    return figure, maps, [place(x, _BELOW_CURVES, w, _CURVES_HEIGHT) for x, w in boxes]


def _around(figure: Any, maps: list[Any]) -> Any:
    """Invisible axes around all maps, to the right of which the legend or the colour bar goes."""
    from matplotlib.transforms import Bbox

    box = Bbox.union([ax.get_position(original=True) for ax in maps if ax.figure is not None])
    return figure.add_axes(box.bounds, frameon=False, xticks=[], yticks=[], zorder=-1)


# ---------------------------------------------------------------------------------------------------------------- maps


def _axis(sweep: Sweep) -> _Axis:
    if sweep.alphas is None:
        return _Axis("log10 r", sweep.log10_r, {name: math.log10(mark.r) for name, mark in sweep.marks.items()})
    places = {"SCE": float(sweep.parameters.get("alpha", 0.5)), "t-SNE": 0.0}
    return _Axis("alpha", sweep.alphas, {name: places[name] for name in sweep.marks if name in places})


def _name(ax: Any, sweep: Sweep, axis: _Axis, frame: int) -> None:
    """The title of a map, and a box around it if it is the one that SCE or t-SNE chooses."""
    text = f"{axis.name} = {axis.values[frame]:.3g}"
    if sweep.alphas is not None:
        text += f", r = {sweep.r[frame]:.3g}"
    names = [name for name, mark in sweep.marks.items() if mark.frame == frame]
    look = look_of(ax)
    color = suited(look, _MARK_COLORS.get(names[0], _OTHER_MARK_COLOR) if names else "0.25")
    ax.set_title(f"{', '.join(names)}: {text}" if names else text, fontsize=9, color=color, pad=3)
    if names:
        ax.title.set_fontweight("bold")
    for spine in ax.spines.values():
        spine.set(color=color if names else suited(look, "0.8"), linewidth=2.0 if names else 0.6)


# -------------------------------------------------------------------------------------------------------------- curves


def _draw_shares(ax: Any, sweep: Sweep, axis: _Axis, chosen: list[int]) -> None:
    """The figures between 0 and 1, with a legend."""
    _prepare(ax, axis, chosen)
    ax.set_ylim(0, 1.02)
    look = look_of(ax)
    for key, name, color, style in _SHARE_CURVES:
        if key in sweep.figures:
            ax.plot(axis.values, sweep.figures[key], style, color=suited(look, color), linewidth=1.4, label=name)
    if any(key in sweep.figures for key, *_ in _SHARE_CURVES):
        below = (0.5, -_BELOW_CURVES / _CURVES_HEIGHT)
        words: dict[str, Any] = {"fontsize": 8, "labelcolor": look.ink}
        ax.legend(frameon=False, loc="upper center", bbox_to_anchor=below, ncols=4, borderpad=0, **words)


def _draw_counts(ax: Any, sweep: Sweep, axis: _Axis, chosen: list[int]) -> None:
    """The number of clusters seen in each map."""
    from matplotlib.ticker import MaxNLocator

    _prepare(ax, axis, chosen)
    counts = sweep.figures.get("n_clusters", np.full(len(sweep), np.nan))
    ax.plot(axis.values, counts, ".-", color=suited(look_of(ax), "0.2"), linewidth=1.2, markersize=5)
    ax.set_ylim(0, max(2.0, 1.15 * float(np.nan_to_num(counts).max())))
    ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.set_ylabel("clusters seen", fontsize=9)


def _prepare(ax: Any, axis: _Axis, chosen: list[int]) -> None:
    """Limits around all maps and marks, a named line at each mark, and a triangle for each map drawn."""
    places = [*axis.values, *axis.marks.values()]
    low, high = min(places), max(places)
    room = 0.02 * (high - low) or 0.5
    ax.set_xlim(low - room, high + room)
    ax.set_xlabel(axis.name, fontsize=9)
    ax.tick_params(labelsize=8)
    look = look_of(ax)
    ax.grid(axis="y", color=suited(look, "0.92"), linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    above = ax.get_xaxis_transform()
    ax.plot(
        axis.values[chosen],
        np.full(len(chosen), 1.02),
        "v",
        color="0.6",
        markersize=4,
        transform=above,
        clip_on=False,
        label="_",
    )
    for name, value in axis.marks.items():
        color = suited(look, _MARK_COLORS.get(name, _OTHER_MARK_COLOR))
        ax.axvline(value, color=color, linewidth=1.2, linestyle="--", label="_", zorder=1)
        ax.text(
            value, 1.05, name, color=color, fontsize=9, fontweight="bold", ha="center", va="bottom", transform=above
        )
