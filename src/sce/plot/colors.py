"""Colours of classes: matplotlib's own for few, golden-angle hues in OKLCH for many."""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.core.raster import Paint

MISSING = np.array([0.78, 0.78, 0.78])  # noise and points without a label
_HUGE, _TINY = 1e150, 1e-150  # beyond these, differences overflow or vanish
_MOST = 1 << 16  # colours; more classes than that share them
_GOLDEN_ANGLE = np.pi * (3.0 - np.sqrt(5.0))
_PLASTIC = 0.7548776662466927  # 1 / the plastic number: its multiples fall evenly, and out of step with the golden ones


def plain(n: int, background: Any) -> Paint:
    """One colour for all n points: black, or white on a dark background."""
    light = float(np.dot(background[:3], (0.2126, 0.7152, 0.0722))) * background[3] + 1 - background[3]
    color = np.full(3, 0.0 if light > 0.4 else 1.0)
    # No channel to sum: the colour of a pixel does not depend on what is in it.
    return Paint(
        np.zeros(n, dtype=np.int8),
        np.zeros((1, 0)),
        lambda means: np.broadcast_to(color, (*means.shape[:-1], 3)),
        MISSING,
    )


def by_class(codes: np.ndarray, k: int, *, beside_grey: bool) -> Paint:
    """A colour for each of k classes; they mix where dots overlap."""
    return Paint(codes, class_colors(max(k, 1), beside_grey=beside_grey), lambda means: means, MISSING)


def by_number(values: np.ndarray) -> tuple[Paint, tuple[Any, Any, str] | None]:
    """Colours from dark to light as the values grow, and (norm, colour map, which ends go on) of the colour bar.

    Without any finite value there is no colour bar.
    """
    from matplotlib import colormaps
    from matplotlib.colors import Normalize

    cmap, levels = colormaps["viridis"], 256
    low, high, extend = value_range(values)
    codes = np.full(len(values), -1, dtype=np.int16)
    there = ~np.isnan(values)
    codes[there] = np.round((np.clip(values[there], low, high) - low) / (high - low) * (levels - 1))
    table = np.array(cmap(np.arange(levels)))[:, :3]
    paint = Paint(
        codes,
        np.linspace(0.0, 1.0, levels)[:, None],
        lambda means: table[np.clip(np.round(means[..., 0] * (levels - 1)), 0, levels - 1).astype(np.int16)],
        MISSING,
    )
    return paint, (Normalize(low, high), cmap, extend) if np.isfinite(values).any() else None


def value_range(values: np.ndarray) -> tuple[float, float, str]:
    """Lowest and highest value with a colour of its own, and which ends of the colour bar go on: as matplotlib says it.

    A few far values would leave all others one colour, so then the range is that of all but one in a hundred at each end.

    Examples
    --------
    >>> value_range(np.array([1.0, 2.0, np.inf, np.nan]))
    (1.0, 2.0, 'max')
    """
    there = values[~np.isnan(values)]
    finite = np.clip(there[np.isfinite(there)], -_HUGE, _HUGE)
    if not len(finite):
        return 0.0, 1.0, "neither"
    low, high = float(finite.min()), float(finite.max())
    inner = np.quantile(finite, [0.01, 0.99])
    if high - low > 5 * (inner[1] - inner[0]) > 0:
        low, high = float(inner[0]), float(inner[1])
    if high - low <= 1e-12 * max(abs(low), abs(high), _TINY):
        low, high = low - max(0.01 * abs(low), 0.5), high + max(0.01 * abs(high), 0.5)
    below, above = bool((there < low).any()), bool((there > high).any())
    return (
        low,
        high,
        {(False, False): "neither", (True, False): "min", (False, True): "max"}.get((below, above), "both"),
    )


def class_colors(k: int, *, beside_grey: bool = False) -> np.ndarray:
    """Colours of k classes, no two alike, the same at every call: array of shape (k, 3), sRGB in [0, 1].

    Parameters
    ----------
    k : int
        Number of classes.
    beside_grey : bool, default=False
        Leave out the greys, because something else is grey.

    Examples
    --------
    >>> class_colors(3).shape
    (3, 3)
    """
    from matplotlib import colormaps

    for name in ("tab10", "tab20"):
        colors = np.array(colormaps[name](np.arange(colormaps[name].N)))[:, :3]
        if beside_grey:
            colors = colors[np.ptp(colors, axis=1) > 0.05]
        if k <= len(colors):
            return colors[:k]
    return many_colors(k)


def many_colors(k: int) -> np.ndarray:
    """Colours of many classes: of very many that lie evenly, always the one farthest from all before."""
    candidates = min(max(1024, k), _MOST)
    i = np.arange(candidates)
    hue = 0.5 + i * _GOLDEN_ANGLE
    lightness = 0.36 + 0.48 * np.mod(0.5 + i * _PLASTIC, 1.0)
    rgb, lab = _in_gamut(lightness, np.full(candidates, 0.2), hue)
    order = _farthest_first(lab, min(k, 256))
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
    """sRGB and OKLab of OKLCH colours, each with the most chroma, up to the given, that a screen can show."""
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
    """SRGB of linear light."""
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
