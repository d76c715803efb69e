"""The memory that a fit will need, estimated before it starts."""

from __future__ import annotations

from typing import NamedTuple

from sce.graph.forest import MIN_LIST_LENGTH
from sce.graph.kernels import pad_columns
from sce.graph.sketch import SKETCH_ABOVE_COLUMNS, SKETCH_MAX_COLUMNS

# The numbers below are bytes; docs/method.md compares the estimates with measurements.
_ENTRIES_PER_NEIGHBOR = 1.5  # of P, both halves, for each neighbour listed: many pairs list each other


class Need(NamedTuple):
    """Bytes that each stage of a fit takes at its peak; X itself is not counted."""

    search: float
    graph: float
    layout: float


def stages_memory(n: int, columns: int, k: int, *, copied: bool = True) -> Need:
    """What the stages of a fit of n vectors take, with k neighbours listed for each.

    `copied` is whether the search copies the vectors; it does not if they are wide, float32 and in memory.
    """
    sketched = columns > SKETCH_ABOVE_COLUMNS
    width = (pad_columns(columns) if copied else 0) + (SKETCH_MAX_COLUMNS if sketched else 0)
    listed = k + max(8, k // 2) if sketched else max(k, MIN_LIST_LENGTH)
    entries = _ENTRIES_PER_NEIGHBOR * k
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
    """The most bytes that a fit of a given P with this many entries takes; P is checked and copied first."""
    return max(48.0 * entries, _layout_memory(n, entries))


def _layout_memory(n: int, entries: float) -> float:
    """P, the arrays that the layout makes from it, and coordinates."""
    return 30.0 * entries + 60.0 * n
