"""The figure: a panel for each method with black points, and the classes in a small inset, as in the paper."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sce.compare.dataset import Data
from sce.compare.store import Row, Status, Store
from sce.plot.axes import new_figure

PANEL_SIDE = 2.15  # inches
PANEL_TITLE = 0.28  # inches above a panel
INSET_SHARE = 0.27  # side of an inset, relative to that of its panel
PANELS_PER_ROW = 4  # at most
MAX_PNG_BYTES = 300_000
# Dots per inch and number of colours, tried in this order until the PNG is small enough.
_PNG_SETTINGS = ((150, 128), (150, 64), (130, 64), (130, 32), (110, 32), (90, 32), (75, 16))


def write_figure(path: Path, data: Data, rows: Sequence[Row], store: Store) -> None:
    """Draw the maps of the rows and write them as a small PNG."""
    save_png(draw(data, rows, store), path)


def save_png(figure: Any, path: Path, *, tight: bool = False) -> None:
    """Write a figure as a small PNG, whole or not at all; `tight` cuts off empty margins."""
    from sce.core.write import atomic

    picture = _small_png(figure, tight=tight)
    with atomic(path) as file:
        file.write(picture)


def draw(data: Data, rows: Sequence[Row], store: Store) -> Any:
    """The figure."""
    columns, lines = layout(len(rows))
    figure = new_figure((columns * PANEL_SIDE, lines * (PANEL_SIDE + PANEL_TITLE)), facecolor="white")
    for place, row in enumerate(rows):
        line, column = divmod(place, columns)
        height = PANEL_SIDE / (PANEL_SIDE + PANEL_TITLE) / lines
        box = (column / columns, 1 - (line + 1) / lines, 1 / columns, height)
        _panel(figure.add_axes(_shrunk(box)), data, row, store)
    return figure


def layout(n: int) -> tuple[int, int]:
    """Columns and lines for n panels that leave the fewest places empty.

    Examples
    --------
    >>> layout(3), layout(8), layout(9), layout(13)
    ((3, 1), (4, 2), (3, 3), (4, 4))
    """
    if n <= PANELS_PER_ROW:
        return max(n, 1), 1
    columns = min((4, 3), key=lambda c: (-n % c, -c))
    columns = columns if n <= 9 else PANELS_PER_ROW
    return columns, math.ceil(n / columns)


def _shrunk(box: tuple[float, float, float, float], part: float = 0.02) -> tuple[float, float, float, float]:
    x, y, w, h = box
    return x + part * w, y + part * h, (1 - 2 * part) * w, (1 - 2 * part) * h


def _panel(ax: Any, data: Data, row: Row, store: Store) -> None:
    """A map, or the reason why there is none."""
    title = row.title
    if row.status == Status.DONE:
        title = f"{title}, {duration(row.facts['seconds'])}"
        _map(ax, data, row, store)
    else:
        text = textwrap.fill(f"{row.status}: {row.reason}"[:160], 30)
        ax.text(
            0.5, 0.5, text, ha="center", va="center", fontsize=7, color="0.35", transform=ax.transAxes, parse_math=False
        )
    ax.set_title(title, fontsize=8 * min(1.0, 36 / len(title)), pad=3, parse_math=False)
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set(linewidth=0.5, color="0.6")


def _map(ax: Any, data: Data, row: Row, store: Store) -> None:
    from sce.plot import scatter
    from sce.results.maps import load

    Y = load(store.map_path(row.method), whole=False).Y
    scatter(Y, ax=ax, size=panel_dot_size(len(Y)), frame="near")
    if data.labels is None:
        return
    x, y = emptiest_corner(Y)
    small = ax.inset_axes((x * (1 - INSET_SHARE), y * (1 - INSET_SHARE), INSET_SHARE, INSET_SHARE))
    scatter(Y, data.labels, ax=small, kind=data.kind, legend=False, size=0.5 * panel_dot_size(len(Y)), frame="near")
    for side in small.spines.values():
        side.set(linewidth=0.5, color="0.6")


def panel_dot_size(n: int) -> float:
    """The area of a dot in points squared: small, as in the paper, because panels are small."""
    return min(max(3000.0 / n, 0.5), 6.0)


def emptiest_corner(Y: np.ndarray) -> tuple[int, int]:
    """The corner of the panel, (0 or 1, 0 or 1), where an inset covers the fewest points; on a tie the lower right one.

    Examples
    --------
    >>> emptiest_corner(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]))
    (1, 1)
    """
    low, high = Y.min(axis=0), Y.max(axis=0)
    middle, half = (low + high) / 2, 0.53 * max(float((high - low).max()), 1e-12)
    place = (Y - (middle - half)) / (2 * half)
    corners = ((1, 0), (0, 0), (1, 1), (0, 1))
    near = [np.abs(place - corner).max(axis=1) < INSET_SHARE for corner in corners]
    return corners[int(np.argmin([inside.sum() for inside in near]))]


def duration(seconds: float) -> str:
    """A time in a readable unit.

    Examples
    --------
    >>> [duration(s) for s in (0.034, 6.12, 83.0, 754.0, 7300.0)]
    ['0.03 s', '6.1 s', '83 s', '12.6 min', '2.0 h']
    """
    if seconds < 1:
        return f"{seconds:.2f} s"
    if seconds < 600:
        return f"{seconds:.{1 if seconds < 10 else 0}f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _small_png(figure: Any, *, tight: bool) -> bytes:
    """The figure as a PNG with a palette, as sharp as the allowed size permits."""
    from PIL import Image

    rendered: dict[int, Any] = {}
    picture = b""
    for dpi, colors in _PNG_SETTINGS:
        if dpi not in rendered:
            raw = io.BytesIO()
            figure.savefig(raw, format="png", dpi=dpi, bbox_inches="tight" if tight else None)
            rendered = {dpi: Image.open(io.BytesIO(raw.getvalue())).convert("RGB")}
        out = io.BytesIO()
        # The palette covers all colours, even those of few pixels, as in the insets.
        fewer = rendered[dpi].quantize(colors, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        fewer.save(out, "PNG", optimize=True)
        picture = out.getvalue()
        if len(picture) <= MAX_PNG_BYTES:
            break
    return picture
