"""The names of classes on the map itself: each at the largest lump of its class, clear of all other names.

A name lies on its class where that hides little of it, else beside it; where the place beside it is taken, it moves away and a
line leads back. The largest classes choose first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from sce.core.raster import Frame, blocks
from sce.plot.coloring import Colored
from sce.plot.legend import add_remark, shorten_all
from sce.plot.looks import look_of

MOST_TAGS = 150  # of more classes, the largest are named
_NAME_CELL = 2.0  # the side of the squares in which points are counted, in points of 1/72 inch
_JOINED = 3  # cells between parts of a lump at most
_NAME_GAPS = np.array(
    [3.0, 8.0, 16.0, 28.0, 44.0, 64.0, 90.0, 120.0, 160.0, 210.0, 270.0]
)  # between a lump and a name beside it
_DIRECTIONS = 24
_LED_FROM = 10.0  # farther names have a line, in points of 1/72 inch
_MANY_NAMES = 40  # names, which are smaller
_AROUND_NAME = 1.5  # around a name, in points of 1/72 inch
_HIDES_OWN, _HIDES_OTHERS, _BESIDE_COST, _PER_POINT, _CROSSES = 2.0, 2.0, 0.3, 1 / 60, 0.6  # costs of a place


def add_names(ax: Any, flat: np.ndarray, frame: Frame, colored: Colored) -> None:
    """Write the names of classes on a finished picture; a remark says how many found no room.

    Parameters
    ----------
    ax : matplotlib Axes
    flat : array of shape (n, 2)
        Where the points appear.
    frame : Frame
        The picture.
    colored : Colored
        The classes and their names.
    """
    from matplotlib.patheffects import withStroke

    look = look_of(ax)
    codes, names = _largest_classes(colored)
    texts = {}
    for code, name in zip(codes, shorten_all([names[code] for code in codes]), strict=True):
        texts[code] = _text(ax, name, look.ink, _font_size(frame, len(codes)))
        texts[code].set_path_effects([withStroke(linewidth=2.2, foreground=look.paper)])
    sizes = np.zeros((len(names), 2))
    for code, text in texts.items():
        sizes[code] = np.asarray(text.get_window_extent().size) * 72 / ax.figure.dpi
    tags = place_tags(flat, colored.paint.codes, sizes, frame)
    for tag in tags:
        texts[tag.code].set_position(_on_axes(ax, frame, tag.middle))
        if tag.line is not None:
            _draw_line(ax, np.array([_on_axes(ax, frame, end) for end in tag.line]), look.muted)
    for code in set(texts) - {tag.code for tag in tags}:
        texts[code].remove()
    total = sum(map(bool, names))
    if len(tags) < total:
        add_remark(ax, f"{len(tags):,} of {total:,} classes are named")


def _largest_classes(colored: Colored) -> tuple[list[int], list[str]]:
    """The classes to be named, and the names of all."""
    counts = np.bincount(colored.paint.codes + 1, minlength=len(colored.names) + 1)[1:]
    wanted = [code for code, name in enumerate(colored.names) if name and counts[code]]
    return sorted(sorted(wanted, key=lambda code: -counts[code])[:MOST_TAGS]), colored.names


def _font_size(frame: Frame, k: int) -> float:
    """Smaller in small pictures and for many names."""
    return float(np.interp(np.sqrt(frame.points.prod()), [120.0, 350.0], [6.0, 9.0])) - (
        1.0 if k > _MANY_NAMES else 0.0
    )


def _text(ax: Any, name: str, color: Any, size: float) -> Any:
    """A text in the middle of the axes, to be moved."""
    options = {"fontsize": size, "color": color, "ha": "center", "va": "center", "parse_math": False, "zorder": 5}
    if ax.name == "3d":
        return ax.text2D(0.5, 0.5, name, transform=ax.transAxes, **options)
    return ax.text(0.5, 0.5, name, **options)


def _on_axes(ax: Any, frame: Frame, place: np.ndarray) -> np.ndarray:
    """A place in points of 1/72 inch, in the coordinates of the map; in depth, of the axes."""
    share = place / frame.points
    return np.asarray(share if ax.name == "3d" else frame.low + share * (frame.high - frame.low))


def _draw_line(ax: Any, ends: np.ndarray, color: Any) -> None:
    from matplotlib.lines import Line2D

    transform = ax.transAxes if ax.name == "3d" else ax.transData
    ax.add_artist(Line2D(*ends.T, color=color, linewidth=0.6, transform=transform, zorder=4))


class Tag(NamedTuple):
    """Where a name goes, in points of 1/72 inch from the lower left corner of the picture."""

    code: int
    middle: np.ndarray
    line: np.ndarray | None  # both ends of the line that leads to its class, (2, 2)


class _Lump(NamedTuple):
    """The largest connected part of a class."""

    code: int
    cells: np.ndarray  # middles of the cells with points, (m, 2), in points of 1/72 inch


def place_tags(Y: np.ndarray, codes: np.ndarray, sizes: np.ndarray, frame: Frame) -> list[Tag]:
    """Places for the names of classes.

    Parameters
    ----------
    Y : array of shape (n, 2)
        The points.
    codes : array of shape (n,)
        The class of each point; -1 for none.
    sizes : array of shape (k, 2)
        Width and height of the name of each class, in points of 1/72 inch; classes with a width of 0 get no name.
    frame : Frame
        The picture.

    Returns
    -------
    tags : list of Tag
        Without those for which there is no room.
    """
    shape = frame.shape(1 / _NAME_CELL)
    taken = _Taken(np.zeros((*shape,), bool), frame)
    lumps = list(_lumps(Y, codes, sizes[:, 0] > 0, frame, taken.occupied))
    taken.count()
    tags = [tag for lump in lumps if (tag := _place(lump, sizes[lump.code], taken)) is not None]
    return sorted(tags)


class _Taken:
    """What is on the picture already: points, and names with their boxes."""

    def __init__(self, occupied: np.ndarray, frame: Frame) -> None:
        self.occupied = occupied
        self.page = frame.points
        self.low, self.high = np.zeros((0, 2)), np.zeros((0, 2))
        self._sums = np.zeros((1, 1))

    def count(self) -> None:
        """Sums over rectangles from here on."""
        self._sums = np.pad(self.occupied.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))

    def share(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """The share of each box that is occupied by points."""
        limit = np.array(self.occupied.shape)[::-1]
        a, b = (np.clip(np.round(corner / _NAME_CELL), 0, limit).astype(int) for corner in (low, high))
        S = self._sums
        inside = S[b[:, 1], b[:, 0]] - S[a[:, 1], b[:, 0]] - S[b[:, 1], a[:, 0]] + S[a[:, 1], a[:, 0]]
        return np.asarray(inside / np.maximum(((high - low) / _NAME_CELL).prod(axis=1), 1.0))

    def free(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Which boxes are on the page and touch no name."""
        on_page = ((low >= 0) & (high <= self.page)).all(axis=1)
        meets = ((low[:, None] < self.high) & (high[:, None] > self.low)).all(axis=2)
        return np.asarray(on_page & ~np.any(meets, axis=1))

    def crossings(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """How many names the line from each start to its end crosses, about."""
        steps = np.linspace(0.0, 1.0, 12)[:, None, None]
        places = (start + steps * (end - start))[:, :, None]
        met = ((places > self.low) & (places < self.high)).all(axis=3)
        return np.asarray(np.any(met, axis=0).sum(axis=1))

    def add(self, low: np.ndarray, high: np.ndarray) -> None:
        """A name."""
        self.low, self.high = np.vstack([self.low, low]), np.vstack([self.high, high])


def _lumps(Y: np.ndarray, codes: np.ndarray, named: np.ndarray, frame: Frame, occupied: np.ndarray) -> Iterator[_Lump]:
    """The largest lump of each class that is to be named, the largest classes first; notes which cells are occupied."""
    from scipy import ndimage

    cells = [frame.cells(Y[part], 1 / _NAME_CELL) for part in blocks(len(Y))]
    keys = np.concatenate(
        [(codes[part] + 1).astype(np.int64) * occupied.size + c for part, c in zip(blocks(len(Y)), cells, strict=True)]
    )
    keys, counts = np.unique(keys, return_counts=True)
    owners, places = np.divmod(keys, occupied.size)
    occupied.ravel()[places] = True
    points = np.bincount(owners, counts, minlength=len(named) + 1)[1:]
    starts = np.searchsorted(owners, np.arange(1, len(named) + 2))
    near = np.hypot(*np.mgrid[-_JOINED : _JOINED + 1, -_JOINED : _JOINED + 1]) <= _JOINED
    for code in np.argsort(-points, kind="stable"):
        if not named[code] or not points[code]:
            continue
        own = slice(starts[code], starts[code + 1])
        mask = np.zeros(occupied.size, bool)
        mask[places[own]] = True
        parts, _ = ndimage.label(ndimage.binary_dilation(mask.reshape(occupied.shape), near))
        part = parts.ravel()[places[own]]
        largest = np.bincount(part, counts[own]).argmax()
        row, column = np.divmod(places[own][part == largest], occupied.shape[1])
        yield _Lump(int(code), (np.column_stack([column, row]) + 0.5) * _NAME_CELL)


def _place(lump: _Lump, size: np.ndarray, taken: _Taken) -> Tag | None:
    """The cheapest free place for a name; None if there is none."""
    heart = lump.cells.mean(axis=0)
    half = size / 2 + _AROUND_NAME
    middles, gaps = _candidates(lump, heart, half)
    free = taken.free(middles - half, middles + half)
    if not free.any():
        return None
    middles, gaps = middles[free], gaps[free]
    low, high = middles - half, middles + half
    own = ((lump.cells > low[:, None]) & (lump.cells < high[:, None])).all(axis=2).mean(axis=1)
    others = np.maximum(taken.share(low, high) - own * len(lump.cells) * _NAME_CELL**2 / size.prod(), 0.0)
    cost = _HIDES_OWN * own + _HIDES_OTHERS * others + (gaps > 0) * _BESIDE_COST + gaps * _PER_POINT
    cost += _CROSSES * taken.crossings(np.broadcast_to(heart, middles.shape), middles)
    best = int(cost.argmin())
    taken.add(low[best], high[best])
    return Tag(lump.code, middles[best], _line(lump, middles[best], half))


def _candidates(lump: _Lump, heart: np.ndarray, half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Middles of boxes on a lump and around it, and the gap between it and each of them; 0 on it."""
    angle = np.arange(_DIRECTIONS) * (2 * np.pi / _DIRECTIONS)
    ray = np.column_stack([np.cos(angle), np.sin(angle)])
    reach = np.stack([((lump.cells - heart) * u).sum(axis=1).max() for u in ray]) + _NAME_CELL / 2
    around = heart + ray * (reach[:, None] + _NAME_GAPS[:, None, None]) + ray * half
    middles = np.vstack([heart[None], around.reshape(-1, 2)])
    return middles, np.append(0.0, np.repeat(_NAME_GAPS, _DIRECTIONS))


def _line(lump: _Lump, middle: np.ndarray, half: np.ndarray) -> np.ndarray | None:
    """From the edge of a box to the nearest point of its lump, unless that is near."""
    nearest = np.clip(lump.cells, middle - half, middle + half)
    away = np.hypot(*(lump.cells - nearest).T)
    k = int(away.argmin())
    return np.stack([nearest[k], lump.cells[k]]) if away[k] > _LED_FROM else None
