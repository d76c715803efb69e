"""The file of named clusters beside a map: one line for every operation, on disk before it is acknowledged.

    {"format":1,"map":"mnist.map.npz","n":70000,"rows":"numbers","ids_sha256":"..."}
    {"revision":1,"op":{"kind":"create","name":"sevens","made":{"tool":"lasso",...},"rows":"3-5,9"}}

A line is appended with one write and a sync to the disk. A process that is killed leaves at most one incomplete line, the last,
which nobody was told was saved: it is cut off when the file is opened again. Only one process at a time may append; another
reads. Reading the operations and making them again gives the clusters, also for a colleague who has the same map.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sce.errors import InputError
from sce.explore.append_only import AppendOnly

_JOURNAL_FORMAT = 1


def journal_path(of: Path) -> Path:
    """The file of named clusters beside a map.

    >>> journal_path(Path("out/mnist.map.npz")).name
    'mnist.map.clusters.jsonl'
    """
    return of.with_name(f"{of.name.removesuffix('.npz')}.clusters.jsonl")


class Journal:
    """The operations in a file.

    Parameters
    ----------
    path : Path
        The file; it is created by the first operation.
    header : dict
        What the file is about: "map", "n", "rows", "ids_sha256". All but the name must agree with those in the file.

    Attributes
    ----------
    operations : list of dict
        Those in the file, as they are written, in their order.
    note : str
        What was mended.
    """

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        self.path, self.note = path, ""
        self._header = {"format": _JOURNAL_FORMAT, **header}
        self.operations: list[dict[str, Any]] = []
        self._file = AppendOnly(path)
        try:
            self._read()
        except BaseException:
            self.close()
            raise

    @property
    def why_not(self) -> str:
        """Why operations cannot be appended; empty if they can."""
        return self._file.why_not

    @property
    def writable(self) -> bool:
        """Whether operations can be appended."""
        return not self.why_not

    def append(self, revision: int, op: dict[str, Any]) -> None:
        """Write an operation, and return once it is on the disk; an OutputError leaves the file as it was."""
        line = _line({"revision": revision, "op": op})
        if not self._file.length:
            self._file.append(_line(self._header))
        self._file.append(line)

    def close(self) -> None:
        """Let another process append."""
        self._file.close()

    def _read(self) -> None:
        """Read all lines; an incomplete last one is cut off, or completed if only its end is missing."""
        content = self._file.read()
        *lines, last = content.split(b"\n")
        for number, line in enumerate(lines, 1):
            self._take(number, line)
        if last:
            self._mend(len(lines) + 1, last, len(content) - len(last))

    def _mend(self, number: int, last: bytes, start: int) -> None:
        """The last line was not written to its end."""
        if _parsed(last) is not None:
            self._take(number, last)
            if self.writable:
                self._file.append(b"\n")
            return
        if number == 1 and not last.startswith(b'{"format":'[: len(last)]):
            raise InputError(f"{self.path} is not a file of named clusters; move it away.")
        self.note = "The last operation was not written to its end before the explorer stopped; it was not saved."
        if self.writable:
            self._file.cut(start)

    def _take(self, number: int, line: bytes) -> None:
        """Check a line, and keep its operation."""
        found = _parsed(line)
        if number == 1:
            self._check_header(found or {})
        elif found is None:
            raise InputError(
                f"{self.path} is damaged in line {number}, which is not JSON; restore it, or move it away."
            )
        elif found.get("revision") != number - 1 or not isinstance(found.get("op"), dict):
            raise InputError(
                f"{self.path} is damaged in line {number}, which is not operation {number - 1}; restore it, or move it away."
            )
        else:
            self.operations.append(found["op"])

    def _check_header(self, found: dict[str, Any]) -> None:
        if not isinstance(found.get("format"), int) or "ids_sha256" not in found:
            raise InputError(f"{self.path} is not a file of named clusters; move it away.")
        if found["format"] > _JOURNAL_FORMAT:
            raise InputError(f"{self.path} was written by a later version of sce; update sce.")
        if any(found.get(key) != value for key, value in self._header.items() if key not in ("map", "format")):
            raise InputError(
                f"{self.path} names clusters of other rows: of {str(found.get('n'))[:20]} points of "
                f"{str(found.get('map'))[:100]}; move it away, or open that map."
            )


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _parsed(line: bytes) -> dict[str, Any] | None:
    """The object in a line; None if it holds none."""
    try:
        found = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)
