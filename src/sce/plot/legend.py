"""What goes beside a picture: the legend of classes, the colour bar of numbers, and room for them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.plot.looks import look_of
from sce.plot.scales import Scale

MAX_LEGEND_NAMES = 40  # of more classes, a legend names the largest
_FEWER_NAMES = (40, 20, 10)  # that are tried then
_NAME_LENGTH, _LEGEND_NAME_LENGTH = (
    26,
    60,
)  # characters of a name: usual, and if names could not be told apart otherwise
_FIGURE_MARGIN = 0.08  # around the picture in a new figure, in inches


def shorten(name: str, longest: int = _NAME_LENGTH) -> str:
    """A name that fits a legend: the beginning and the end of a long one, because names often differ at the end.

    Examples
    --------
    >>> shorten("a name that is longer than a legend is wide, 17")
    'a name that i… is wide, 17'
    """
    if len(name) <= longest:
        return name
    tail = longest // 2 - 1
    return name[: longest - tail - 1] + "…" + name[-tail:]


def shorten_all(names: list[str]) -> list[str]:
    """Names, shortened as far as they can still be told apart.

    Examples
    --------
    >>> shorten_all([f"a very long class name number {k} of an annotation" for k in range(2)])[1]
    'a very long class n…1 of an annotation'
    """
    for longest in range(_NAME_LENGTH, _LEGEND_NAME_LENGTH):
        short = [shorten(name, longest) for name in names]
        if len(set(short)) == len(set(names)):
            break
    return short


class Entry(NamedTuple):
    """A line of a legend."""

    name: str
    color: Any
    points: int  # how many


def explain_classes(ax: Any, entries: list[Entry], grey: Entry | None, *, own: bool, title: str = "") -> None:
    """Name the classes to the right of the axes, the grey points last; of many classes, the largest.

    If the names do not fit, say below how many classes there are. Insets have room for neither.
    """
    if not own and ax not in ax.figure.axes:
        return
    last = [] if grey is None else [grey]
    n_classes = len(entries)
    if n_classes <= MAX_LEGEND_NAMES:
        named = _add_legend(ax, [*entries, *last], own=own, title=title)
    else:
        named = any(_add_legend(ax, [*_largest(entries, k), *last], own=own, title=title) for k in _FEWER_NAMES)
    if n_classes and not named:
        add_remark(ax, f"{n_classes:,} class{'es' if n_classes > 1 else ''}")


def add_remark(ax: Any, text: str) -> None:
    """Say something below the picture, after what is said there already."""
    before = ax.get_xlabel()
    ax.set_xlabel(
        f"{before}; {text}" if before else text, loc="right", fontsize=9, color=look_of(ax).muted, parse_math=False
    )


def _largest(entries: list[Entry], k: int) -> list[Entry]:
    """The k classes with the most points, in the order of all; a line without a dot says how many others there are."""
    chosen = np.sort(np.argsort([-entry.points for entry in entries], kind="stable")[:k])
    return [*(entries[place] for place in chosen), Entry(f"and {len(entries) - k:,} others", None, 0)]


def _add_legend(ax: Any, entries: list[Entry], *, own: bool, title: str) -> bool:
    """Add a legend no higher than the axes, in as few columns as that takes; return False, and add none, if it does not fit.

    Given axes become narrower by the width of the legend; they keep at least half of their own.
    """
    settle(ax)
    width, height = ax.get_window_extent().size
    for columns in range(1, len(entries) + 1):
        legend = _legend(ax, entries, columns, title)
        box = legend.get_window_extent()
        if box.height <= (height if own else min(height, width - box.width)):
            return True
        legend.remove()
        if not own and box.width > width / 2:
            break
    return False


def _legend(ax: Any, entries: list[Entry], columns: int, title: str) -> Any:
    from matplotlib.lines import Line2D

    ink = look_of(ax).ink
    usual: dict[str, Any] = {"markersize": 6, "linestyle": "", "markeredgewidth": 0}
    dots = [
        Line2D(
            [],
            [],
            marker="" if entry.color is None else "o",
            color=ink if entry.color is None else entry.color,
            **usual,
        )
        for entry in entries
    ]
    legend = ax.legend(
        dots,
        [str(k) for k in range(len(entries))],  # matplotlib leaves out names that begin with "_"
        ncols=columns,
        frameon=False,
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        borderaxespad=0.3,
        borderpad=0.2,
        handletextpad=0.2,
        columnspacing=1.0,
        fontsize=9,
    )
    for text, name in zip(legend.get_texts(), shorten_all([entry.name for entry in entries]), strict=True):
        text.set_text(name)
        text.set_color(ink)
        text.set_parse_math(False)  # "$" is a dollar
    if title:
        legend.set_title(shorten(title), prop={"size": 9})
        legend.get_title().set_parse_math(False)
        legend.get_title().set_color(ink)
    return legend


def add_bar(ax: Any, scale: Scale, *, title: str = "") -> None:
    """A colour bar to the right of the axes, of the same height."""
    from matplotlib.cm import ScalarMappable

    place = ax.inset_axes((1.03, 0.0, 0.035, 1.0))
    ticks, shape = scale.ticks or (None, None)
    bar = ax.figure.colorbar(
        ScalarMappable(scale.norm, scale.cmap), cax=place, extend=scale.extend, ticks=ticks, format=shape
    )
    bar.outline.set_visible(False)
    ink = look_of(ax).ink
    bar.ax.tick_params(labelsize=9, colors=ink)
    if title:
        bar.ax.set_ylabel(shorten(title, _LEGEND_NAME_LENGTH), fontsize=9, color=ink, parse_math=False)


def fit_figure(ax: Any, inches: tuple[float, float]) -> None:
    """Make a new figure as large as its axes, of the given size, need together with everything beside them."""
    figure = ax.figure
    figure.set_size_inches(*inches)
    ax.set_position((0.0, 0.0, 1.0, 1.0))
    everything = ax.get_tightbbox()
    x0, y0, x1, y1 = np.asarray(everything.extents) / figure.dpi
    left, below = max(-x0, 0.0) + _FIGURE_MARGIN, max(-y0, 0.0) + _FIGURE_MARGIN
    width = left + max(x1, inches[0]) + _FIGURE_MARGIN
    height = below + max(y1, inches[1]) + _FIGURE_MARGIN
    figure.set_size_inches(width, height)
    ax.set_position((left / width, below / height, inches[0] / width, inches[1] / height))


def settle(ax: Any) -> None:
    """Move axes to where they will be drawn, so that they can be measured."""
    locate = ax.get_axes_locator()
    ax.apply_aspect(None if locate is None else locate(ax, None))


def ratio_of(ax: Any) -> float:
    """Width over height of the place that axes have."""
    settle(ax)
    width, height = ax.get_window_extent().size
    return float(min(max(width / max(height, 1.0), 1e-3), 1e3))


def make_room(ax: Any) -> None:
    """Narrow given axes so that what is to their right stays within their own place and clear of other axes.

    Axes with a layout engine are left to it, and insets to whoever placed them.
    """
    figure, spec = ax.figure, ax.get_subplotspec()
    if ax.get_axes_locator() is not None or figure.get_layout_engine() is not None:
        return
    place = ax.get_position(original=True)
    settle(ax)
    beside = (ax.get_tightbbox().x1 - ax.get_window_extent().x1) / figure.bbox.width
    if not 0.0 < beside < 0.8 * place.width:
        return
    if spec is None:
        ax.set_position((place.x0, place.y0, place.width - beside, place.height))
    else:
        ax.set_subplotspec(spec.subgridspec(1, 2, wspace=0.0, width_ratios=[place.width - beside, beside])[0])
