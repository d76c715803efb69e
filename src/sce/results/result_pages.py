"""How maps and sweeps look in notebooks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sce.core.html_page import Picture, beside, facts, page, strip
from sce.core.mmap import is_mapped, release
from sce.core.palette import by_class, by_number, class_colors
from sce.core.raster import Paint
from sce.core.thumbnail import thumbnail
from sce.data.labels import Classes, Numbers, as_labels
from sce.errors import SCEError

_MAP_WIDTH, _FRAME_WIDTH = 200, 104  # pixels of the page
_FRAMES_SHOWN = 7
_TOLD = (
    "affinity",
    "n_neighbors",
    "perplexity",
    "metric",
    "scale",
    "alpha",
    "n_components",
    "optimizer",
    "random_state",
)
# Nine colours of matplotlib's viridis, between which the others lie.
_VIRIDIS = "440154 472d7b 3b528b 2c728e 21918c 28ae80 5ec962 addc30 fde725"
_USUAL: dict[str, Any] = {
    "affinity": "shared",
    "metric": "euclidean",
    "scale": "sce",
    "n_components": 2,
    "optimizer": "auto",
}


def map_page(result: Any) -> str:
    """A :class:`sce.Map`: its picture, and what is known about it."""
    n, d = result.Y.shape
    told = result.facts
    rows = {
        "points": f"{n:,} in {_dimensions(d)}",
        "columns": _columns(result),
        "labels": _describe_labels(result.labels, result.label_name),
        "r": f"{result.r:.4g} (the weight of the repulsion)" if np.isfinite(result.r) else None,
        "parameters": _parameters(result.parameters),
        "epochs": _epochs(told),
        "source": told.get("source"),
        "also holds": ", ".join(name for name in ("P", "X") if getattr(result, name) is not None) or None,
    }
    picture = Picture(thumbnail(result.Y, _paint(result.labels, n), _MAP_WIDTH), _MAP_WIDTH, f"{n} points")
    return page("Map", beside(picture, facts(rows)))


def sweep_page(sweep: Any) -> str:
    """A :class:`sce.Sweep`: some of its maps in a row, those that a rule chooses among them."""
    maps, n, d = sweep.frames.shape
    paint = _paint(sweep.labels, n)
    marks = {mark.frame: name for name, mark in sorted(sweep.marks.items(), reverse=True)}
    pictures = []
    for frame in _choose(maps, [frame for frame in marks if frame is not None]):
        value = f"r = {_short(sweep.r[frame])}" if sweep.alphas is None else f"alpha = {sweep.alphas[frame]:.3g}"
        name = marks.get(frame)
        caption = value if name is None else f"{name}: {value}"
        address = thumbnail(sweep.frames[frame], paint, _FRAME_WIDTH)
        pictures.append(Picture(address, _FRAME_WIDTH, f"the map at {value}", caption, marked=name is not None))
    if is_mapped(sweep.frames):
        release(sweep.frames)
    low, high = sweep.r.min(), sweep.r.max()
    rows = {
        "maps": f"{maps:,}, of r from {_short(low)} to {_short(high)}",
        "points": f"{n:,} in {_dimensions(d)}",
        "labels": _describe_labels(sweep.labels, sweep.label_name),
        "chosen": "; ".join(f"{name} chooses r = {mark.r:.4g}" for name, mark in sweep.marks.items()) or None,
        "figures": ", ".join(name for name in sweep.figures if not name.endswith("_null")) or None,
        "parameters": _parameters(sweep.parameters),
        "source": sweep.facts.get("source"),
    }
    return page("Sweep", strip(pictures), facts(rows))


def _choose(maps: int, marked: list[int]) -> list[int]:
    """The marked maps and others, evenly spread.

    Examples
    --------
    >>> _choose(33, [9]), _choose(3, [])
    ([0, 5, 9, 16, 21, 27, 32], [0, 1, 2])
    """
    chosen = {int(frame) for frame in np.round(np.linspace(0, maps - 1, min(maps, _FRAMES_SHOWN)))}
    for frame in marked:
        if frame not in chosen:
            chosen -= {min(chosen - set(marked) or chosen, key=lambda other: abs(other - frame))}
            chosen.add(frame)
    return sorted(chosen)


def _short(r: float) -> str:
    """Three digits, without an exponent where that is short.

    Examples
    --------
    >>> _short(3162.2), _short(1.0), _short(1e8)
    ('3160', '1', '1e+08')
    """
    return f"{float(f'{r:.3g}'):g}"


def _dimensions(d: int) -> str:
    return "one dimension" if d == 1 else f"{d} dimensions"


def _columns(result: Any) -> str | None:
    count = result.facts.get("columns") or (None if result.X is None else result.X.shape[1])
    return None if count is None else f"{count:,}" if isinstance(count, int) else str(count)


def _parameters(given: dict[str, Any]) -> str | None:
    """The parameters that differ from what is usual, and those that most decide how a map looks."""
    told = {name: given[name] for name in _TOLD if given.get(name) is not None and given[name] != _USUAL.get(name)}
    return ", ".join(f"{name}={value!r}" for name, value in told.items()) or None


def _epochs(told: dict[str, Any]) -> str | None:
    count, reason = told.get("n_epochs"), told.get("stop_reason")
    if count is None:
        return None
    return f"{count:,}" + (f" ({reason})" if reason else "")


# --------------------------------------------------------------------------------------------------------------- labels


def _read(labels: Any, n: int) -> Classes | Numbers | None:
    try:
        return None if labels is None else as_labels(labels, n, "auto")
    except SCEError:  # a page is shown also of a map that could not be saved
        return None


def _describe_labels(labels: Any, name: str | None) -> str | None:
    """What the labels are.

    Examples
    --------
    >>> _describe_labels(np.array(["a", "b", ""]), "kind"), _describe_labels(np.array([0.5, 2.0]), None)
    ('kind, 2 classes, 1 point without', 'numbers from 0.5 to 2')
    """
    read = None if labels is None else _read(labels, len(labels))
    if read is None:
        return None
    if isinstance(read, Classes):
        count, lacking = len(read.names), int((read.codes < 0).sum())
        text = f"{count:,} class{'' if count == 1 else 'es'}"
    else:
        finite, lacking = read.values[np.isfinite(read.values)], int(np.isnan(read.values).sum())
        text = "dates" if read.dates else "numbers"
        if len(finite):
            text += " from {} to {}".format(*(_number(end, dates=read.dates) for end in (finite.min(), finite.max())))
    parts = [name, text, f"{lacking:,} point{'' if lacking == 1 else 's'} without" if lacking else None]
    return ", ".join(part for part in parts if part)


def _number(value: float, *, dates: bool) -> str:
    return str(np.datetime64(math.floor(value), "D")) if dates else f"{value:.4g}"


def _paint(labels: Any, n: int) -> Paint | None:
    """The colours of the points, as in a scatter plot."""
    read = _read(labels, n)
    if isinstance(read, Classes):
        return by_class(read.codes, class_colors(max(len(read.names), 1), beside_grey=bool(read.missing)))
    if isinstance(read, Numbers):
        anchors = np.array([[int(color[i : i + 2], 16) for i in (0, 2, 4)] for color in _VIRIDIS.split()]) / 255
        places = np.linspace(0, len(anchors) - 1, 256)
        table = np.column_stack([np.interp(places, np.arange(len(anchors)), channel) for channel in anchors.T])
        return by_number(read.values, table)[0]
    return None
