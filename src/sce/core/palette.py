"""Colours of points as plain numbers: one colour for all, a colour for each class, a scale for numbers.

Needs no drawing library, so that pictures and web pages show the same colours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.core.raster import Paint

MISSING_COLOR = np.array([0.78, 0.78, 0.78])  # the grey of noise and of points without a label
# Colour-blind people can tell these apart, too; in tab10 the second and the third are the same to those who don't see red. The
# colours of Petroff (2021) without his greys, because points without a class are grey, and with the two farthest from all
# others. His pale blue comes last, because it resembles that grey to those who don't see green.
_TEN = "3f90da ffa90e bd1f01 832db6 a96b59 e76300 b9ac70 004461 78000e 92dadd"
# The same, in which the dark ones are light.
_TEN_ON_DARK = "3f90da ffa90e c4240a 9a45cf a96b59 e76300 b9ac70 ffe680 d9fff2 92dadd"
# The tab20 colours of matplotlib.
_TAB20 = (
    "1f77b4 aec7e8 ff7f0e ffbb78 2ca02c 98df8a d62728 ff9896 9467bd c5b0d5 "
    "8c564b c49c94 e377c2 f7b6d2 7f7f7f c7c7c7 bcbd22 dbdb8d 17becf 9edae5"
)
_LARGEST_VALUE, _SMALLEST_VALUE = 1e150, 1e-150  # beyond these, differences overflow or underflow
_MAX_DISTINCT_COLORS = 1 << 16  # more classes than this share colours
_MAX_FARTHEST_FIRST = 256  # colours that are chosen one by one, which takes time in proportion
_GREY_BELOW = 0.05  # the range of red, green and blue below which a colour counts as grey
_GOLDEN_ANGLE = np.pi * (3.0 - np.sqrt(5.0))
_PLASTIC = (
    0.7548776662466927  # 1 / plastic number: its multiples are spread evenly, and independently of the golden angle
)


def plain(n: int, background: Any) -> Paint:
    """One colour for all n points: black, or white on a dark background."""
    red, green, blue, opacity = background
    light = float(0.2126 * red + 0.7152 * green + 0.0722 * blue) * opacity + 1 - opacity
    color = np.full(3, 0.0 if light > 0.4 else 1.0)
    # No channels to sum: the colour of a pixel does not depend on its points.
    return Paint(
        np.zeros(n, dtype=np.int8),
        np.zeros((1, 0)),
        lambda means: np.broadcast_to(color, (*means.shape[:-1], 3)),
        MISSING_COLOR,
    )


def by_class(codes: np.ndarray, colors: np.ndarray, missing: np.ndarray = MISSING_COLOR) -> Paint:
    """A colour for each class; colours mix where dots overlap."""
    return Paint(codes, colors if len(colors) else missing[None], lambda means: means, missing)


def by_number(
    values: np.ndarray, table: np.ndarray, missing: np.ndarray = MISSING_COLOR
) -> tuple[Paint, tuple[float, float, str]]:
    """Colours of numbers, and their range, from :func:`value_range`.

    Parameters
    ----------
    values : array of shape (n,)
        NaN is missing; infinities have the colours of the ends.
    table : array of shape (levels, 3)
        The colours from the lowest value to the highest, sRGB in [0, 1].
    """
    levels = len(table)
    low, high, extend = value_range(values)
    codes = np.full(len(values), -1, dtype=np.int16)
    present = ~np.isnan(values)
    codes[present] = np.round((np.clip(values[present], low, high) - low) / (high - low) * (levels - 1))
    paint = Paint(
        codes,
        np.linspace(0.0, 1.0, levels)[:, None],
        lambda means: table[np.clip(np.round(means[..., 0] * (levels - 1)), 0, levels - 1).astype(np.int16)],
        missing,
    )
    return paint, (low, high, extend)


def value_range(values: np.ndarray) -> tuple[float, float, str]:
    """The lowest and highest value with a colour of its own, and the ends at which values lie beyond.

    The ends are "neither", "min", "max" or "both", as in matplotlib's colour bars. A few outliers would leave all other values
    one colour; if there are outliers, the range leaves out a hundredth of the values at each end.

    Examples
    --------
    >>> value_range(np.array([1.0, 2.0, np.inf, np.nan]))
    (1.0, 2.0, 'max')
    """
    present = values[~np.isnan(values)]
    finite = np.clip(present[np.isfinite(present)], -_LARGEST_VALUE, _LARGEST_VALUE)
    if not len(finite):
        return 0.0, 1.0, "neither"
    low, high = float(finite.min()), float(finite.max())
    inner = np.quantile(finite, [0.01, 0.99])
    if high - low > 5 * (inner[1] - inner[0]) > 0:
        low, high = float(inner[0]), float(inner[1])
    if high - low <= 1e-12 * max(abs(low), abs(high), _SMALLEST_VALUE):
        low, high = low - max(0.01 * abs(low), 0.5), high + max(0.01 * abs(high), 0.5)
    return low, high, open_ends(below=bool((present < low).any()), above=bool((present > high).any()))


def open_ends(*, below: bool, above: bool) -> str:
    """The ends of a colour bar beyond which there are values, in matplotlib's words.

    Examples
    --------
    >>> open_ends(below=True, above=False)
    'min'
    """
    return {(False, False): "neither", (True, False): "min", (False, True): "max"}.get((below, above), "both")


def class_colors(k: int, *, beside_grey: bool = False, on_dark: bool = False) -> np.ndarray:
    """Distinct colours for k classes, the same at every call: array of shape (k, 3), sRGB in [0, 1].

    Up to 10 can be told apart by colour-blind people too. Up to 20 are those of matplotlib's tab20; for more, hues are spread
    by the golden angle in OKLCH.

    Parameters
    ----------
    k : int
        Number of classes.
    beside_grey : bool, default=False
        Leave out the greys, because something else is grey.
    on_dark : bool, default=False
        Up to 10 colours are all visible on a dark background.

    Examples
    --------
    >>> class_colors(3).shape
    (3, 3)
    """
    for colors in (_from_hex(_TEN_ON_DARK if on_dark else _TEN), _from_hex(_TAB20)):
        chosen = colors[np.ptp(colors, axis=1) > _GREY_BELOW] if beside_grey else colors
        if k <= len(chosen):
            return chosen[:k]
    return many_colors(k)


def _from_hex(colors: str) -> np.ndarray:
    return np.array([[int(color[i : i + 2], 16) for i in (0, 2, 4)] for color in colors.split()]) / 255


def many_colors(k: int) -> np.ndarray:
    """Colours for many classes: out of an even spread of candidates, each time the one farthest from those chosen."""
    candidates = min(max(1024, k), _MAX_DISTINCT_COLORS)
    i = np.arange(candidates)
    hue = 0.5 + i * _GOLDEN_ANGLE
    lightness = 0.36 + 0.48 * np.mod(0.5 + i * _PLASTIC, 1.0)
    rgb, lab = _in_gamut(lightness, np.full(candidates, 0.2), hue)
    order = _farthest_first(lab, min(k, _MAX_FARTHEST_FIRST))
    rest = np.setdiff1d(i, order)
    return rgb[np.append(order, rest)[np.arange(k) % candidates]]


def _farthest_first(places: np.ndarray, k: int) -> np.ndarray:
    """The first place, then k - 1 times the place farthest from those chosen."""
    chosen = [0]
    away = np.full(len(places), np.inf)
    for _ in range(k - 1):
        away = np.minimum(away, ((places - places[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(away.argmax()))
    return np.array(chosen)


def _in_gamut(lightness: np.ndarray, chroma: np.ndarray, hue: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """sRGB and OKLab of OKLCH colours, each with the largest chroma, up to the given one, that a screen can show."""
    low, high = np.zeros_like(chroma), chroma
    for _ in range(20):
        middle = (low + high) / 2
        linear = _oklch_to_linear(lightness, middle, hue)
        inside = ((linear >= 0) & (linear <= 1)).all(axis=-1)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    rgb = _gamma(np.clip(_oklch_to_linear(lightness, low, hue), 0, 1))
    return rgb, np.column_stack([lightness, low * np.cos(hue), low * np.sin(hue)])


def _oklch_to_linear(lightness: np.ndarray, chroma: np.ndarray, hue: np.ndarray) -> np.ndarray:
    """Linear sRGB of OKLCH (Ottosson, 2020), not clipped."""
    a, b = chroma * np.cos(hue), chroma * np.sin(hue)
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return np.stack(
        [
            4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
            -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
            -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
        ],
        axis=-1,
    )


def _gamma(linear: np.ndarray) -> np.ndarray:
    """sRGB of linear light."""
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
