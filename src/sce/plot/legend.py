"""What stands beside a picture: the legend of classes, the colour bar of numbers, and the room they need."""

from __future__ import annotations

from typing import Any

import numpy as np

MOST_NAMES = 40  # classes in a legend; more are only counted
_LONGEST, _LONGEST_AT_ALL = 26, 60  # characters of a name
_MARGIN = 0.08  # around a picture of our own, in inches


def shorten(name: str, longest: int = _LONGEST) -> str:
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
    """Names as short as they can be told apart.

    Examples
    --------
    >>> shorten_all([f"a very long class name number {k} of an annotation" for k in range(2)])[1]
    'a very long class n…1 of an annotation'
    """
    for longest in range(_LONGEST, _LONGEST_AT_ALL):
        short = [shorten(name, longest) for name in names]
        if len(set(short)) == len(set(names)):
            break
    return short


def explain_classes(
    ax: Any, names: list[str], colors: list[Any], *, n_classes: int, own: bool, title: str = ""
) -> None:
    """Name the classes to the right of the axes; or say below how many there are, if the names do not fit.

    Insets have no room for either.
    """
    if not own and ax not in ax.figure.axes:
        return
    named = n_classes <= MOST_NAMES and _add_legend(ax, names, colors, own=own, title=title)
    if n_classes and not named:
        ax.set_xlabel(f"{n_classes:,} class{'es' if n_classes > 1 else ''}", loc="right", fontsize=9, color="0.4")


def _add_legend(ax: Any, names: list[str], colors: list[Any], *, own: bool, title: str) -> bool:
    """A legend in as few columns as its height allows, which is that of the axes; False, and none, if it cannot be.

    Given axes will be as much narrower as the legend is wide, and keep at least half of their width.
    """
    settle(ax)
    width, height = ax.get_window_extent().size
    for columns in range(1, len(names) + 1):
        legend = _legend(ax, names, colors, columns, title)
        box = legend.get_window_extent()
        if box.height <= (height if own else min(height, width - box.width)):
            return True
        legend.remove()
        if not own and box.width > width / 2:
            break
    return False


def _legend(ax: Any, names: list[str], colors: list[Any], columns: int, title: str) -> Any:
    from matplotlib.lines import Line2D

    dots = [Line2D([], [], marker="o", markersize=6, linestyle="", markeredgewidth=0, color=color) for color in colors]
    legend = ax.legend(
        dots,
        [str(k) for k in range(len(names))],  # matplotlib leaves out names that begin with "_"
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
    for text, name in zip(legend.get_texts(), shorten_all(names), strict=True):
        text.set_text(name)
        text.set_parse_math(False)  # "$" is a dollar
    if title:
        legend.set_title(shorten(title), prop={"size": 9})
        legend.get_title().set_parse_math(False)
    return legend


def add_bar(ax: Any, norm: Any, cmap: Any, extend: str, *, title: str = "") -> None:
    """A colour bar to the right of the axes, as high as they are."""
    from matplotlib.cm import ScalarMappable

    place = ax.inset_axes((1.03, 0.0, 0.035, 1.0))
    bar = ax.figure.colorbar(ScalarMappable(norm, cmap), cax=place, extend=extend)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=9)
    if title:
        bar.ax.set_ylabel(shorten(title, _LONGEST_AT_ALL), fontsize=9, parse_math=False)


def fit_figure(ax: Any, inches: tuple[float, float]) -> None:
    """Make a figure of our own as large as its axes, of the given size, and all that stands beside them need."""
    figure = ax.figure
    figure.set_size_inches(*inches)
    ax.set_position((0.0, 0.0, 1.0, 1.0))
    all_of_it = ax.get_tightbbox()
    x0, y0, x1, y1 = np.asarray(all_of_it.extents) / figure.dpi
    left, below = max(-x0, 0.0) + _MARGIN, max(-y0, 0.0) + _MARGIN
    width = left + max(x1, inches[0]) + _MARGIN
    height = below + max(y1, inches[1]) + _MARGIN
    figure.set_size_inches(width, height)
    ax.set_position((left / width, below / height, inches[0] / width, inches[1] / height))


def settle(ax: Any) -> None:
    """Put axes where they will be when they are drawn, so that their size can be asked for."""
    locate = ax.get_axes_locator()
    ax.apply_aspect(None if locate is None else locate(ax, None))


def make_room(ax: Any) -> None:
    """Narrow given axes so that what stands to their right stays within their own place, away from their neighbours.

    A layout engine makes room by itself, and the place of insets is their owner's.
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
