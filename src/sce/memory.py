"""Memory: what this process has used, what the machine has left for it, and what a fit is going to take."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_NO_LIMIT = 1 << 60
_GROUPS = (  # where a container's limit is, its use, and what of that are files' pages at rest: present kernels, old ones
    ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def peak_memory() -> int | None:
    """The most bytes that this process has had in memory, mapped files included; None where the system does not say.

    On Linux the kernel's own account is read: that of getrusage begins with the memory of the process that started this one.
    """
    found = _entry(Path("/proc/self/status"), "VmHWM")
    if found is not None:
        return 1024 * found
    try:
        import resource
        import sys
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def free_memory() -> int | None:
    """Bytes that this process could still have without swapping; None where the system does not say.

    That is what the machine has available, and no more than the container's limit leaves.
    """
    available = _entry(Path("/proc/meminfo"), "MemAvailable")
    if available is None:
        return None
    return max(0, min([1024 * available, *(_left(*group) for group in _GROUPS)]))


def _left(folder: str, limit: str, use: str, resting: str) -> int:
    """What a container's limit leaves; pages of files that nobody uses at the moment are as good as free."""
    most, now = _number(Path(folder, limit)), _number(Path(folder, use))
    if most is None or now is None:
        return _NO_LIMIT
    return most - now + (_entry(Path(folder, "memory.stat"), resting) or 0)


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):  # "max"
        return None


def _entry(path: Path, name: str) -> int | None:
    """The number in the line of this name."""
    try:
        lines = (line.split() for line in path.read_text(encoding="ascii").splitlines())
        return next(int(words[1]) for words in lines if words and words[0].rstrip(":") == name)
    except (OSError, ValueError, IndexError, StopIteration):
        return None


# ----------------------------------------------------------------------------------------------------------- a forecast


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
    from sce.graph.forest import FEWEST, SKETCH_ABOVE, SKETCH_MOST
    from sce.graph.kernels import pad_columns

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
