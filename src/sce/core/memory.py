"""Memory: what this process has used, and what the machine has left for it."""

from __future__ import annotations

from pathlib import Path

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
