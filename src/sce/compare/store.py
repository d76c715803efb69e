"""The folder of a comparison: what is done, what failed, and what everything was made from.

    DIR/report.html, table.*    all data sets together
    DIR/<data>.png              the figure of a data set
    DIR/<data>/comparison.json  what is compared: the data, P, the machine
    DIR/<data>/graph.npz        P
    DIR/<data>/<method>.npz     the map of a method, with the fingerprint of everything it was made from
    DIR/<data>/<method>.json    its row of the table, or the reason why there is none

Every file is written whole or not at all, so a comparison that was killed continues where it stopped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sce.errors import OutputError

COMPARISON = "comparison.json"
GRAPH_FILE = "graph.npz"
VECTORS_FILE = "vectors"  # .npy or .npz; removed when the comparison ends


class Status:
    """What became of a method."""

    DONE = "done"
    FAILED = "failed"
    TOO_SLOW = "too slow"
    NOT_INSTALLED = "not installed"
    NO_VECTORS = "needs vectors"


@dataclass
class Row:
    """What is known about a method on some data.

    Attributes
    ----------
    method, title, takes, about : str
        As in :class:`sce.compare.Method`; `method` is its key.
    status : str
        "done", "failed", "too slow", "not installed" or "needs vectors".
    reason : str
        Why there is no map.
    facts : dict
        "seconds" of the fit, "process_seconds" from the start of the process to the map, "peak_memory" in bytes, "versions",
        "mean_q_P" and "mean_q_U", "r", and facts that the method itself reports.
    figures : dict
        Quality figures, from :func:`sce.quality.assess`.
    fingerprint : dict
        Everything the map was made from.
    assessed : str
        The fingerprint of everything the figures were made from.
    """

    method: str
    title: str
    takes: str
    about: str
    status: str = Status.DONE
    reason: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)
    fingerprint: dict[str, Any] = field(default_factory=dict)
    assessed: str = ""

    @property
    def values(self) -> dict[str, float]:
        """All numbers of the row, by name."""
        measured = {name: value for name, value in self.facts.items() if isinstance(value, int | float)}
        return {**measured, **self.figures}


class Store:
    """The part of the folder that belongs to one data set."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder / name
        self.name = name

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other comparisons out; one that was killed does not."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = (self.folder / ".lock").open("a")
        except OSError as error:
            raise OutputError(f"The folder {self.folder} cannot be created or written to: {error.strerror}.") from None
        with file:
            _lock_file(file, self.folder)
            for part in self.folder.glob(".*.part"):  # of a process that was killed
                part.unlink(missing_ok=True)
            try:
                yield
            finally:
                for path in self.folder.glob(f"{VECTORS_FILE}.np?"):
                    path.unlink(missing_ok=True)

    def map_path(self, key: str) -> Path:
        """The file of the map of a method."""
        return self.folder / f"{key}.npz"

    @property
    def graph_path(self) -> Path:
        """The file of P."""
        return self.folder / GRAPH_FILE

    def read_comparison(self) -> dict[str, Any]:
        """What was compared; empty if nothing was."""
        return read_json(self.folder / COMPARISON)

    def write_comparison(self, facts: dict[str, Any]) -> None:
        """Record what is compared."""
        if facts != self.read_comparison():
            write_json(self.folder / COMPARISON, facts)

    def read_row(self, key: str) -> Row | None:
        """The row of a method, or None if there is none that can be read."""
        content = read_json(self.folder / f"{key}.json")
        try:
            return Row(**content) if content else None
        except TypeError:
            return None

    def write_row(self, row: Row) -> None:
        """Write a row."""
        write_json(self.folder / f"{row.method}.json", asdict(row))

    def map_fingerprint(self, key: str) -> dict[str, Any] | None:
        """What the map of a method was made from; None if there is no map."""
        from sce.errors import SCEError
        from sce.results.maps import load

        try:
            found: dict[str, Any] | None = load(self.map_path(key), whole=False).facts.get("fingerprint")
        except SCEError:
            return None
        return found

    def rows(self) -> list[Row]:
        """All rows with the data, graph, seed and threads of the last comparison, in the order of the methods."""
        facts = self.read_comparison()
        wanted = {name: facts.get(name) for name in ("data", "seed", "n_jobs")}
        wanted["graph"] = facts.get("graph", {}).get("fingerprint")
        names = sorted(path.name.removesuffix(".json") for path in self.folder.glob("*.json"))
        found = [self.read_row(name) for name in names if f"{name}.json" != COMPARISON]
        mine = [row for row in found if row is not None and wanted.items() <= row.fingerprint.items()]
        return sorted(mine, key=_place)


def _place(row: Row) -> tuple[int, str]:
    """The sort key of a row: its method's place in the registry; other methods come last."""
    from sce.compare.methods import METHODS

    names = list(METHODS)
    name = re.split(r"-\w+=", row.method)[0]
    return (names.index(name) if name in names else len(names), row.method)


def read_json(path: Path) -> dict[str, Any]:
    """The content of a file; empty if it is missing or damaged."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file, whole or not at all."""
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False, default=str) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    from sce.core.write import atomic

    with atomic(path) as file:
        file.write(text.encode("utf-8"))


def _lock_file(file: Any, folder: Path) -> None:
    try:
        import fcntl
    except ImportError:  # not available on this system
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise OutputError(
            f"Another comparison is running in {folder}; wait for it to end, or choose another folder."
        ) from None
