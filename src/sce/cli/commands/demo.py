"""`sce demo`: a first look."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from sce.cli.catalog import COMMANDS
from sce.cli.console import Talk
from sce.cli.options import make_parser
from sce.core.write import atomic, check_writable
from sce.errors import OutputError


def run(args: Any, talk: Talk) -> None:
    """Write the digits as a file that people know, and embed that file as they would."""
    from sce.cli.commands.embed import run as embed

    folder = Path(args.folder)
    data = check_writable(folder / "digits.csv", [".csv"])
    text = _digits()
    if data.exists() and data.read_bytes() != text:
        raise OutputError(
            f"{data} is there already and is not the demo's; go to another folder, or give one with --folder."
        )
    with atomic(data) as file:
        file.write(text)
    talk.stage("digits")
    line = ["embed", str(data), "-o", str(folder / "digits.map.npz"), "--plot", str(folder / "digits.png")]
    talk.say(f"Wrote {data}, 1,797 handwritten digits of 8 x 8 pixels. Now: sce {' '.join(line)}")
    embed(make_parser(COMMANDS, "").parse_args(line), talk)


def _digits() -> bytes:
    """The digits as a table of text, the last column being their labels."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*digits.feature_names, "label"])
    writer.writerows([*map(int, row), int(label)] for row, label in zip(digits.data, digits.target, strict=True))
    return text.getvalue().encode()
