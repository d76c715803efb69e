"""`sce demo`: a first look."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from sce.cli.catalog import COMMANDS
from sce.cli.console import Console
from sce.cli.options import make_parser
from sce.core.write import atomic, check_writable
from sce.data.datasets.find import digits
from sce.errors import OutputError


def run(args: Any, console: Console) -> None:
    """Write the digits as a .csv file, and embed that file as a user would."""
    from sce.cli.commands.embed import run as embed

    folder = Path(args.folder)
    data = check_writable(folder / "digits.csv", [".csv"])
    text = _digits()
    if data.exists() and data.read_bytes() != text:
        raise OutputError(
            f"{data} exists and was not written by the demo; change to another folder, or name one with --folder."
        )
    with atomic(data) as file:
        file.write(text)
    console.stage("digits")
    line = ["embed", str(data), "-o", str(folder / "digits.map.npz"), "--plot", str(folder / "digits.png")]
    console.say(f"Wrote {data}, 1,797 handwritten digits of 8 x 8 pixels. Now: sce {' '.join(line)}")
    embed(make_parser(COMMANDS, "").parse_args(line), console)


def _digits() -> bytes:
    """The digits as a text table, with labels in the last column."""
    X, y = digits()
    assert y is not None
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(f"pixel_{row}_{column}" for row in range(8) for column in range(8)), "label"])
    writer.writerows([*map(int, row), int(label)] for row, label in zip(X, y, strict=True))
    return text.getvalue().encode()
