"""Memory: what processes use, and what the machine has left."""

from __future__ import annotations

from pathlib import Path

_NO_LIMIT = 1 << 60
_CGROUPS = (  # a container's limit, its use, and the inactive file pages in that: cgroup v2, then v1
    ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def peak_memory() -> int | None:
    """The peak memory of this process in bytes, mapped files included; None where the system does not tell.

    On Linux it is read from /proc: getrusage also counts the memory of the process that started this one.
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


def process_memory(process_id: int) -> int | None:
    """The bytes that a process holds now, without the pages of mapped files; None where the system does not tell."""
    status = Path(f"/proc/{process_id}/status")
    own, shared = _entry(status, "RssAnon"), _entry(status, "RssShmem")
    return None if own is None else 1024 * (own + (shared or 0))


def free_memory() -> int | None:
    """The bytes that this process can still use without swapping; None where the system does not tell.

    That is the memory available on the machine, bounded by what the container's limit leaves.
    """
    available = _entry(Path("/proc/meminfo"), "MemAvailable")
    if available is None:
        return None
    return max(0, min([1024 * available, *(_left(*group) for group in _CGROUPS)]))


def _left(folder: str, limit: str, use: str, resting: str) -> int:
    """What a container's limit leaves; inactive file pages count as free."""
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
