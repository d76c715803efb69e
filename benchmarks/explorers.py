"""`sce explore` and `sce plot -o map.html` against Embedding Atlas and jupyter-scatter, in the same headless Chromium.

Usage: python benchmarks/explorers.py [--atlas COMMAND ...] [--scatter PYTHON] [--only NAME ...] [--rounds N]
           [--mnist MAP TABLE] [--million MAP TABLE]

Measured are the seconds from navigation to the first drawing of points and to the complete page, the median and the worst time
of a frame while the map is dragged, the different pictures a second that reach the screen meanwhile, and the bytes sent.
Where a frame takes long, browsers make up with frames in which nothing is drawn, so the median flatters; half of the time
of dragging is spent in frames that take no longer than "half of the time" says. Each page is opened in a new browser, so with
an empty cache; pages alternate, and the median of the rounds counts. jupyter-scatter runs in a plain page, without Jupyter.

The maps are those of MNIST and of the motion capture (`mnist.npz` and `mocap_1m.npz` in SCE_DATA), unless they are given, and
for sce alone one of 5,000,000 random points. A TABLE is a Parquet file with columns x, y and, last, a label. Results go to
`benchmarks/results/explorers.json`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from explorer_pages import Page, atlas, scatter, sce_explore, sce_file
from explorer_watch import FLAGS, watch
from measured import HERE, machine, markdown
from sce import Map

RESULTS = HERE / "results" / "explorers.json"
LARGE, BLOBS = 5_000_000, 40
MAPS = ["mnist", "million", "large"]
FIGURES = ["first", "complete", "median", "half", "worst", "rate", "bytes"]
TIMES = ["first drawing, s", "complete, s", "frame, ms", "half of the time, ms", "worst, ms"]
HEAD = ["map", "page", *TIMES, "pictures/s", "sent, MB"]


def made_maps(name: str, given: list[Path] | None, folder: Path) -> tuple[Path, Path]:
    """A map and its table: as they are given, or made from the data now."""
    if given:
        return given[0], given[1]
    if not os.environ.get("SCE_DATA"):
        raise SystemExit(f"Set SCE_DATA to a folder with {name}.npz, or give the map and its table.")
    path, table = folder / f"{name}.map.npz", folder / f"{name}.parquet"
    data = str(Path(os.environ["SCE_DATA"]) / f"{name}.npz")
    for output in (path, table):
        subprocess.run([sys.executable, "-m", "sce", "embed", data, "-o", str(output)], check=True)
    return path, table


def large_map(folder: Path) -> Path:
    """A map of random points in clouds of different sizes."""
    rng = np.random.default_rng(0)
    blob = np.sort(rng.integers(BLOBS, size=LARGE))
    middles, widths = 10 * rng.normal(size=(BLOBS, 2)), rng.uniform(0.3, 2, size=(BLOBS, 1))
    Y = middles[blob] + widths[blob] * rng.normal(size=(LARGE, 2))
    path = folder / "large.map.npz"
    Map(Y.astype(np.float32), np.arange(LARGE), labels=blob, label_name="cloud").save(path)
    return path


def openers(name: str, arguments: argparse.Namespace, folder: Path) -> list[Any]:
    """What opens each page of a map."""
    if name == "large":
        source = large_map(folder)
        return [sce_explore(source), sce_file(source, folder)]
    source, table = made_maps(*{
        "mnist": ("mnist", arguments.mnist, folder), "million": ("mocap_1m", arguments.million, folder)
    }[name])  # fmt: skip
    peers = [atlas(command, table) for command in arguments.atlas]
    peers += [scatter(arguments.scatter, table, folder)] if arguments.scatter else []
    return [sce_explore(source), sce_file(source, folder), *peers]


def measured(name: str, pages: list[Page], rounds: int, browsers: Any) -> list[dict[str, Any]]:
    """The medians of all rounds for each page of a map."""
    found: dict[str, list[dict[str, Any]]] = {page.name: [] for page in pages}
    for _ in range(rounds):
        for page in pages:
            load = os.getloadavg()[0]
            browser = browsers.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
            with contextlib.closing(browser):
                found[page.name].append({**watch(browser, page), "load": load})
            print(name, page.name, found[page.name][-1], file=sys.stderr, flush=True)
    return [{"map": name, "page": each, **medians(rows)} for each, rows in found.items()]


def medians(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The median of each figure, the figures of each round, and what a page says that draws nothing."""
    numbers = {key: [row[key] for row in rows if key in row] for key in [*FIGURES, "load"]}
    said = next((row["said"] for row in rows if "said" in row), None)
    middle = {key: statistics.median(values) for key, values in numbers.items() if values}
    return {**middle, "said": said, "rounds": rows}


def line(row: dict[str, Any]) -> list[str]:
    """A row of the table."""
    name = row["page"] if row["said"] is None else f"{row['page']}: draws nothing, “{row['said']}”"
    scales = {"median": (1, 0), "half": (1, 0), "worst": (1, 0), "rate": (1, 1), "bytes": (1e-6, 2)}
    cells = []
    for key in FIGURES:
        scale, digits = scales.get(key, (1, 2))
        known = key in row and (key != "complete" or row["said"] is None)
        cells.append(f"{row[key] * scale:.{digits}f}" if known else "-")
    return [row["map"], name, *cells]


def main() -> None:
    """Measure, print, save."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--atlas", type=Path, nargs="*", default=[], help="embedding-atlas of one or more environments")
    parser.add_argument("--scatter", type=Path, help="the Python of an environment with jupyter-scatter")
    parser.add_argument("--only", nargs="*", choices=MAPS, default=MAPS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mnist", type=Path, nargs=2, metavar=("MAP", "TABLE"))
    parser.add_argument("--million", type=Path, nargs=2, metavar=("MAP", "TABLE"))
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as word, sync_playwright() as browsers:
        for name in arguments.only:
            with contextlib.ExitStack() as stack:
                pages = [stack.enter_context(opener) for opener in openers(name, arguments, Path(word))]
                rows += measured(name, pages, arguments.rounds, browsers)
    print(machine())
    print(f"Load during the measurements: {min(r['load'] for r in rows):.1f} to {max(r['load'] for r in rows):.1f}\n")
    print(markdown(HEAD, map(line, rows)))
    arguments.output.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
