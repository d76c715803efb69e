"""Results as lines of JSON in a file, from which a later run goes on. Imports nothing of sce: older versions use it, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def kept_lines(path: Path | None, *names: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The lines that earlier runs left in a file, by the values under these names."""
    if path is None or not path.exists():
        return {}
    lines = map(json.loads, path.read_text().splitlines())
    return {tuple(line[name] for name in names): line for line in lines}


def keep_line(path: Path | None, line: dict[str, Any]) -> None:
    """Add a line to a file, if there is one."""
    if path is not None:
        with path.open("a") as file:
            file.write(json.dumps(line) + "\n")
