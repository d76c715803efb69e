"""Light and dark pictures: what is behind the points decides the colour of everything else."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.hints import alternatives, did_you_mean
from sce.core.palette import MISSING_COLOR
from sce.errors import ParameterError

THEMES = "light", "dark"
_DARK_PAPER, _DARK_FRAME = "#16181d", "#5b6068"
_DARK_INK = (0.93, 0.93, 0.93)
_MISSING_ON_DARK = np.array([0.33, 0.34, 0.36])
_GREY_WITHIN = 0.05  # the range of red, green and blue of a grey
_DIM_BELOW, _LIGHTER_BY = (
    0.25,
    0.45,
)  # the luminance of a colour that is hard to see on a dark background; the share of white
_DARK_BELOW = 0.4  # the luminance of a dark background


class Look(NamedTuple):
    """The colours of what is neither a class nor a number."""

    paper: tuple[float, ...]  # behind the points
    ink: tuple[float, ...] | str  # of text
    muted: tuple[float, ...] | str  # of text that matters less
    missing: np.ndarray  # of points without a label
    dark: bool


def check_theme(theme: Any) -> None:
    """Refuse what is no theme."""
    if not (isinstance(theme, str) and theme in THEMES):
        hint = did_you_mean(theme, THEMES)
        raise ParameterError(f"theme must be {alternatives(map(repr, THEMES))}; got {theme!r}{hint}")


def look_of(ax: Any) -> Look:
    """The look that suits the background of axes, whoever chose it."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgb

    paper = background(ax)
    if 0.2126 * paper[0] + 0.7152 * paper[1] + 0.0722 * paper[2] < _DARK_BELOW:
        return Look(paper, _DARK_INK, (0.62, 0.62, 0.62), _MISSING_ON_DARK, dark=True)
    return Look(paper, to_rgb(rcParams["text.color"]), "0.4", MISSING_COLOR, dark=False)


def background(ax: Any) -> tuple[float, ...]:
    """The colour behind the points, red, green and blue; transparent axes and figures lie on white paper."""
    from matplotlib.colors import to_rgba

    framed = ax.name == "3d" or ax.get_frame_on()
    layers = [ax.figure.get_facecolor(), *([ax.get_facecolor()] if framed else [])]
    seen: tuple[float, ...] = (1.0, 1.0, 1.0)
    for layer in layers:
        *color, opacity = to_rgba(layer)
        seen = tuple(opacity * new + (1 - opacity) * old for new, old in zip(color, seen, strict=True))
    return seen


def suited(look: Look, color: Any) -> tuple[float, ...]:
    """A colour for a light background as the look needs it: on a dark one greys are inverted, dark colours lighter."""
    from matplotlib.colors import to_rgb

    rgb = np.array(to_rgb(color))
    if look.dark and np.ptp(rgb) < _GREY_WITHIN:
        rgb = 1.0 - 0.88 * rgb
    elif look.dark:
        luminance = float((rgb**2.2 * [0.2126, 0.7152, 0.0722]).sum())
        rgb += (1.0 - rgb) * float(np.interp(luminance, [0.0, _DIM_BELOW], [_LIGHTER_BY, 0.0]))
    return tuple(map(float, rgb))


def dress(ax: Any, theme: str) -> None:
    """Make axes and their figure dark; with "light" they stay as matplotlib's settings made them."""
    if theme == "light":
        return
    ax.figure.set_facecolor(_DARK_PAPER)
    ax.set_facecolor(_DARK_PAPER)
    for spine in ax.spines.values():
        spine.set_edgecolor(_DARK_FRAME)
    for axis in ("x", "y"):
        ax.tick_params(axis=axis, colors=_DARK_INK)
    for text in (ax.title, ax.xaxis.label, ax.yaxis.label):
        text.set_color(_DARK_INK)
    if ax.name == "3d":
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
            axis.set_pane_color((0.13, 0.14, 0.16, 1.0))
            axis.line.set_color(_DARK_FRAME)
