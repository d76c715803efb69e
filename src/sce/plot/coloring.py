"""The colours that a user asked for: a palette for classes, a colour map for numbers, some classes highlighted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from sce.core.hints import did_you_mean
from sce.core.palette import by_class, class_colors, plain
from sce.core.raster import Paint
from sce.data.labels import Classes, Numbers
from sce.errors import ParameterError
from sce.plot import legend as beside
from sce.plot.legend import shorten
from sce.plot.looks import Look, check_theme, look_of, suited
from sce.plot.scales import number_scale

NOT_HIGHLIGHTED = "others"  # what classes that are not highlighted are called
_MOST_COLORS_OF_A_LIST = 100  # a colour map of more colours is a continuous one
_WELL_CHOSEN = 10  # classes for which there are colours for a dark background
_NAMED_AT_MOST = 20  # classes that a message lists


class Style(NamedTuple):
    """How a picture is to be coloured, as in :func:`sce.plot.scatter`."""

    palette: Any = None
    cmap: Any = None
    highlight: Any = None
    names: bool = False
    theme: str = "light"


def check_style(style: Style, what: Classes | Numbers | None) -> Style:
    """Refuse what cannot be drawn, and options that the labels have no use for."""
    check_theme(style.theme)
    if not isinstance(style.names, bool):
        raise ParameterError(f"names must be True or False; got {style.names!r}.")
    if isinstance(what, Classes):
        if style.cmap is not None:
            raise ParameterError("cmap must be left out: the labels are classes; use palette=, or kind='number'.")
        if style.palette is not None:
            given_colors(style.palette, what.names)
        highlighted(what, style.highlight)
        return style
    have, hint = ("there are no labels", "give labels") if what is None else ("the labels are numbers", "")
    hints = {"palette": "use cmap=", "highlight": "use kind='classes'", "names": "use kind='classes'"}
    for name, other in hints.items():
        if getattr(style, name) not in (None, False):
            raise ParameterError(f"{name} must be left out: it is for classes, but {have}; {hint or other}.")
    if what is None and style.cmap is not None:
        raise ParameterError("cmap must be left out: it is for numbers, but there are no labels; give labels.")
    find_cmap(style.cmap, dark=False)
    return style


class Colored(NamedTuple):
    """The colours of points, and the names of their classes: empty for those that are not to be named."""

    paint: Paint
    names: list[str]


def add_colors(
    ax: Any, n: int, what: Classes | Numbers | None, style: Style, *, legend: bool | str, own: bool
) -> Colored:
    """Choose the colours of the points; add the legend or the colour bar beside the axes."""
    look = look_of(ax)
    heading = legend if isinstance(legend, str) else ""
    if what is None:
        return Colored(plain(n, (*look.paper, 1.0)), [])
    if isinstance(what, Numbers):
        paint, scale = number_scale(what, find_cmap(style.cmap, dark=look.dark), look.missing)
        if legend and scale is not None:
            beside.add_bar(ax, scale, title=heading)
        return Colored(paint, [])
    colors = colors_of(style.palette, what.names, look, beside_grey=bool(what.missing))
    shown, chosen = highlighted(what, style.highlight)
    if legend and not style.names:
        counts = np.bincount(shown.codes + 1, minlength=len(what.names) + 1)
        entries = [beside.Entry(what.names[k], colors[k], int(counts[k + 1])) for k in chosen]
        grey = beside.Entry(shown.missing, look.missing, int(counts[0])) if shown.missing else None
        beside.explain_classes(ax, entries, grey, own=own, title=heading)
    named = [name if k in set(chosen) else "" for k, name in enumerate(what.names)]
    return Colored(by_class(shown.codes, colors, look.missing), named)


def colors_of(palette: Any, names: list[str], look: Look, *, beside_grey: bool) -> np.ndarray:
    """A colour for each class, array of shape (k, 3): those of the palette, or those that suit the look."""
    if palette is not None:
        return given_colors(palette, names)
    colors = class_colors(max(len(names), 1), beside_grey=beside_grey, on_dark=look.dark)
    return colors if len(names) <= _WELL_CHOSEN else np.array([suited(look, color) for color in colors])


def given_colors(palette: Any, names: list[str]) -> np.ndarray:
    """The colours of a palette, array of shape (k, 3).

    Parameters
    ----------
    palette : str, list of colours, or mapping of classes to colours
        Text names a palette or a colour map of matplotlib.
    names : list of str
        The classes.
    """
    k = len(names)
    if isinstance(palette, str):
        return _named_palette(palette, k)
    if isinstance(palette, Mapping):
        given = {class_name(key): color for key, color in palette.items()}
        lost = [name for name in names if name not in given]
        if lost:
            raise ParameterError(f"palette must have a colour for each class; it has none for {_listed(lost)}.")
        return _as_colors([given[name] for name in names])
    if not isinstance(palette, Iterable):
        raise ParameterError(
            f"palette must be the name of one, a list of colours, or a dictionary of them; got {shorten(repr(palette))}."
        )
    colors = list(palette)
    return _as_colors(_enough(colors, k, "the list"))


def _named_palette(name: str, k: int) -> np.ndarray:
    """The first k colours of a palette of matplotlib, or k colours evenly spread over a colour map."""
    from matplotlib import color_sequences, colormaps

    if name in color_sequences:
        return _as_colors(_enough(list(color_sequences[name]), k, repr(name)))
    if name not in colormaps:
        hint = did_you_mean(name, [*color_sequences, *colormaps])
        raise ParameterError(
            f"palette must be a palette or a colour map of matplotlib, such as 'Set2'; got {name!r}{hint}"
        )
    cmap = colormaps[name]
    if cmap.N <= _MOST_COLORS_OF_A_LIST:
        return _as_colors(_enough(list(cmap(np.arange(cmap.N))), k, repr(name)))
    return np.asarray(cmap(np.linspace(0.0, 1.0, max(k, 2))))[: max(k, 1), :3]


def _enough(colors: list[Any], k: int, owner: str) -> list[Any]:
    """The first k colours."""
    if len(colors) < k:
        raise ParameterError(
            f"palette must have a colour for each of the {k} classes; {owner} has {len(colors)}. Leave it out for as many as "
            "needed."
        )
    return colors[: max(k, 1)]


def _as_colors(colors: list[Any]) -> np.ndarray:
    """Colours as red, green and blue."""
    from matplotlib.colors import is_color_like, to_rgb

    for color in colors:
        if not is_color_like(color):
            raise ParameterError(
                f"palette must hold colours, such as 'red' or '#1b9e77'; {shorten(str(color))!r} is none."
            )
    return np.array([to_rgb(color) for color in colors], dtype=np.float64).reshape(-1, 3)


def find_cmap(cmap: Any, *, dark: bool) -> Any:
    """A colour map of matplotlib; by default viridis, without its darkest colours on a dark background."""
    from matplotlib import colormaps
    from matplotlib.colors import Colormap, ListedColormap

    if cmap is None:
        viridis = colormaps["viridis"]
        return ListedColormap(viridis(np.linspace(0.25, 1.0, 256)), name="viridis") if dark else viridis
    if isinstance(cmap, Colormap):
        return cmap
    if not isinstance(cmap, str) or cmap not in colormaps:
        hint = did_you_mean(cmap, colormaps)
        raise ParameterError(
            f"cmap must be a colour map of matplotlib, such as 'viridis'; got {shorten(str(cmap))!r}{hint}"
        )
    return colormaps[cmap]


def class_name(value: Any) -> str:
    """The name of a class in a picture, given as it is in the labels.

    Examples
    --------
    >>> class_name(3), class_name(3.0), class_name(np.int64(3)), class_name("T  cell"), class_name(True)
    ('3', '3', '3', 'T cell', 'True')
    """
    if isinstance(value, np.generic):
        value = value.item()
    return f"{value:.15g}" if isinstance(value, float) else " ".join(str(value).split())


def highlighted(classes: Classes, highlight: Any) -> tuple[Classes, np.ndarray]:
    """Classes of which all but some are without a colour, and the numbers of those that have one.

    The other classes and the points without a class together are called NOT_HIGHLIGHTED.
    """
    everything = np.arange(len(classes.names))
    if highlight is None:
        return classes, everything
    wanted = [highlight] if isinstance(highlight, str) or not isinstance(highlight, Iterable) else list(highlight)
    if not wanted:
        raise ParameterError("highlight must name a class at least; leave it out to colour all.")
    place = {name: k for k, name in enumerate(classes.names)}
    lost = [name for name in map(class_name, wanted) if name not in place]
    if lost:
        raise ParameterError(f"highlight must name classes; {shorten(lost[0])!r} is none of {_listed(classes.names)}.")
    chosen = np.unique([place[class_name(value)] for value in wanted])
    codes = np.where(np.isin(classes.codes, chosen), classes.codes, -1)
    return Classes(codes, classes.names, NOT_HIGHLIGHTED if (codes < 0).any() else ""), chosen


def _listed(names: list[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _NAMED_AT_MOST
    return ", ".join(shorten(name) for name in names[:_NAMED_AT_MOST]) + (f" and {more} others" if more > 0 else "")
