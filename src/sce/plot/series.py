"""A sweep in one picture: small multiples, and under them quality over r."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from sce.core.validate import check_count
from sce.data.labels import as_labels
from sce.errors import InputError
from sce.plot.scatter import add_colors, scatter
from sce.results.sweeps import Sweep

_CELL, _GAP, _TITLE = 2.3, 0.12, 0.26  # inches: a map, what is between maps, the line above each
_CURVES, _BELOW, _ABOVE = 2.0, 0.42, 0.55  # height of the curves, what is below and above them
_LEAST_WIDTH = 9.0
_MOST_COLUMNS = 6
_MARKS = {"SCE": "#c1121f", "t-SNE": "#1d4e9e"}
_OTHER_MARK = "0.3"
# Figures that are shares: name, what it is called, colour, style.
_SHARES = (
    ("accuracy", "label accuracy", "#2a7f3f", "-"),
    ("share", "P inside the clusters seen", "#7a3e9d", "-"),
    ("share_null", "the same by chance", "#7a3e9d", ":"),
    ("edges_kept", "neighbours in P kept", "#c77700", "-"),
)


class _Axis(NamedTuple):
    """What the sweep goes over: its name, the value of each map, and the place of each mark."""

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
) -> Any:
    """Draw a sweep: small multiples of its maps, and under them quality over log10 r, or over alpha.

    The maps nearest to the r that SCE and t-SNE choose are always among those shown, in a box and named; their own r are
    lines through the curves. Small triangles over the curves show which maps are drawn.

    Parameters
    ----------
    sweep : Sweep
    n_maps : int, default=12
        How many maps to show, evenly chosen over the sweep.
    kind : {"auto", "classes", "number"}, default="auto"
        What the labels are, as in :func:`sce.plot.scatter`.
    size, opacity : float, optional
        Of the dots, as in :func:`sce.plot.scatter`.
    title : str, optional
        A line above the picture.

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
        raise InputError(f"A series is drawn of a Sweep, made by sce.sweep or Sweep.load; got {type(sweep).__name__}.")
    chosen = choose_frames(sweep, check_count(n_maps, "n_maps"))
    rows = math.ceil(len(chosen) / _MOST_COLUMNS)
    columns = math.ceil(len(chosen) / rows)
    figure, maps, curves = _figure(rows, columns, sweep.frames.shape[2])
    axis = _axis(sweep)
    for ax, frame in zip(maps, chosen, strict=False):
        scatter(sweep.frames[frame], sweep.labels, ax=ax, kind=kind, size=size, opacity=opacity, legend=False)
        _name(ax, sweep, axis, frame)
    for ax in maps[len(chosen) :]:
        ax.remove()
    if sweep.labels is not None:
        what = as_labels(sweep.labels, sweep.frames.shape[1], kind)
        add_colors(_around(figure, maps), len(sweep.labels), what, legend=sweep.label_name or True, own=True)
    _draw_shares(curves[0], sweep, axis, chosen)
    _draw_counts(curves[1], sweep, axis, chosen)
    if title is not None:
        figure.suptitle(title, y=1.0, va="bottom", parse_math=False)
    return figure


def choose_frames(sweep: Sweep, n_maps: int) -> list[int]:
    """Some frames: those of the marks, the ends, and others between them, as evenly as that allows.

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


# -------------------------------------------------------------------------------------------------------------- places


def _figure(rows: int, columns: int, dimensions: int) -> tuple[Any, list[Any], list[Any]]:
    """A figure of its own with axes for maps, in rows, and two axes for curves below them."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    pitch = _CELL + _GAP
    width = max(columns * pitch - _GAP, _LEAST_WIDTH)
    left = (width - columns * pitch + _GAP) / 2
    bottom = _BELOW + _CURVES + _ABOVE
    height = bottom + rows * (_CELL + _TITLE)
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)

    def place(x: float, y: float, w: float, h: float, **options: Any) -> Any:
        return figure.add_axes((x / width, y / height, w / width, h / height), **options)

    options = {"projection": "3d"} if dimensions == 3 else {}
    maps = [
        place(left + column * pitch, bottom + (rows - 1 - row) * (_CELL + _TITLE), _CELL, _CELL, **options)
        for row in range(rows)
        for column in range(columns)
    ]
    wide = 0.56 * width
    rest = wide + 0.55
    return figure, maps, [place(0.4, _BELOW, wide - 0.4, _CURVES), place(rest, _BELOW, width - rest, _CURVES)]


def _around(figure: Any, maps: list[Any]) -> Any:
    """Axes that are not seen, around all maps: what explains the colours stands to their right."""
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
    """The title of a map, and a box around it where it is the one that somebody chooses."""
    text = f"{axis.name} = {axis.values[frame]:.3g}"
    if sweep.alphas is not None:
        text += f", r = {sweep.r[frame]:.3g}"
    names = [name for name, mark in sweep.marks.items() if mark.frame == frame]
    color = _MARKS.get(names[0], _OTHER_MARK) if names else "0.25"
    ax.set_title(f"{', '.join(names)}: {text}" if names else text, fontsize=9, color=color, pad=3)
    if names:
        ax.title.set_fontweight("bold")
    for spine in ax.spines.values():
        spine.set(color=color if names else "0.8", linewidth=2.0 if names else 0.6)


# -------------------------------------------------------------------------------------------------------------- curves


def _draw_shares(ax: Any, sweep: Sweep, axis: _Axis, chosen: list[int]) -> None:
    """Figures between 0 and 1, each named at its end."""
    _prepare(ax, axis, chosen)
    ax.set_ylim(0, 1.02)
    for key, name, color, style in _SHARES:
        if key in sweep.figures:
            ax.plot(axis.values, sweep.figures[key], style, color=color, linewidth=1.4, label=name)
    if any(key in sweep.figures for key, *_ in _SHARES):
        below = (0.5, -_BELOW / _CURVES)
        ax.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=below, ncols=4, borderpad=0)


def _draw_counts(ax: Any, sweep: Sweep, axis: _Axis, chosen: list[int]) -> None:
    """The number of clusters that are seen in the maps."""
    from matplotlib.ticker import MaxNLocator

    _prepare(ax, axis, chosen)
    counts = sweep.figures.get("n_clusters", np.full(len(sweep), np.nan))
    ax.plot(axis.values, counts, ".-", color="0.2", linewidth=1.2, markersize=5)
    ax.set_ylim(0, max(2.0, 1.15 * float(np.nan_to_num(counts).max())))
    ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.set_ylabel("clusters seen", fontsize=9)


def _prepare(ax: Any, axis: _Axis, chosen: list[int]) -> None:
    """Limits around all maps and marks, lines at the marks with their names above, triangles for the maps that are drawn."""
    places = [*axis.values, *axis.marks.values()]
    low, high = min(places), max(places)
    room = 0.02 * (high - low) or 0.5
    ax.set_xlim(low - room, high + room)
    ax.set_xlabel(axis.name, fontsize=9)
    ax.tick_params(labelsize=8)
    ax.grid(axis="y", color="0.92", linewidth=0.8)
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
        color = _MARKS.get(name, _OTHER_MARK)
        ax.axvline(value, color=color, linewidth=1.2, linestyle="--", label="_", zorder=1)
        ax.text(
            value, 1.05, name, color=color, fontsize=9, fontweight="bold", ha="center", va="bottom", transform=above
        )
