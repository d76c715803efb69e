"""The memory that a fit is going to take, estimated before it begins."""

from __future__ import annotations

from typing import NamedTuple

from sce.graph.forest import FEWEST, SKETCH_ABOVE, SKETCH_MOST
from sce.graph.kernels import pad_columns

# Bytes of what the stages hold; docs/method.md has them against what was measured.
_ENTRIES = 1.5  # of P, both halves, for each neighbour listed: a list and its reverse have some in common


class Need(NamedTuple):
    """Bytes that the stages of a fit take at their peaks, one stage after the other; X itself is not counted."""

    search: float
    graph: float
    layout: float


def stages_memory(n: int, columns: int, k: int, *, copied: bool = True) -> Need:
    """What the stages of a fit of n vectors take, with k neighbours listed for each.

    `copied` is whether the search makes a copy of the vectors: all but wide ones, in float32 and in memory.
    """
    sketched = columns > SKETCH_ABOVE
    width = (pad_columns(columns) if copied else 0) + (SKETCH_MOST if sketched else 0)
    listed = k + max(8, k // 2) if sketched else max(k, FEWEST)
    entries = _ENTRIES * k
    return Need(
        search=n * (4.0 * width + 12.0 * listed + 50.0),
        graph=n * (28.0 * k + 8.0 * entries),
        layout=_layout_memory(n, n * entries),
    )


def fit_memory(n: int, columns: int, k: int, *, copied: bool = True) -> float:
    """The most bytes that a fit of n vectors takes, with k neighbours listed for each.

    Examples
    --------
    >>> round(fit_memory(1_000_000, 60, 15) / 2**30, 1)
    0.7
    """
    return max(stages_memory(n, columns, k, copied=copied))


def given_memory(n: int, entries: int) -> float:
    """The most bytes that a fit of a given P with so many entries takes, which is checked and copied first."""
    return max(48.0 * entries, _layout_memory(n, entries))


def _layout_memory(n: int, entries: float) -> float:
    """P, what is made of it, and coordinates."""
    return 30.0 * entries + 60.0 * n
