"""The quality of maps on two groups of data sets: those by which the defaults were chosen, and those that are only reported.

Usage: SCE_DATA=folder python benchmarks/groups.py [--group choosing reporting] [--methods sce umap ...] [--seeds 5]
           [--file out/groups.jsonl]

Each method runs with its defaults, with the same threads; the figures are those of peer_figures.py. Prints a table for each
group: 15-NN accuracy, AMI, share of the 15 nearest kept, means over seeds (their number in brackets) and, for sce, the worst
of each figure. The file keeps a line for each map, and a later run goes on from there. Needs the extra [peers]; a method that
is not installed is left out, with a remark.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from common import require_data
from lines import keep_line, kept_lines
from peer_figures import Data, figures
from peer_methods import METHODS

GROUPS = {
    "choosing": ("digits", "coil20", "usps", "flow_hipc", "shuttle", "ijcnn"),
    "reporting": ("mnist", "pendigits", "worm_neuron_pca50", "newsgroups_svd100"),
}
PEERS = ("umap", "pacmap", "localmap", "trimap", "opentsne")
FIGURES = ("accuracy", "ami", "kept")
Lines = dict[tuple[Any, ...], dict[str, Any]]


def measure(data: Data, method: str, seed: int) -> dict[str, Any]:
    """A map and its figures."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Y = METHODS[method].fit(data.X, seed, data.threads)
    seconds = time.perf_counter() - begin
    return {"data": data.name, "method": method, "seed": seed, "seconds": seconds, **figures(data, Y)}


def table(lines: Lines, names: tuple[str, ...], methods: list[str]) -> None:
    """A row for each data set: the figures of each method, and for sce those of its worst seed; then the mean AMI."""
    print("\n| | " + " | ".join(METHODS[method].title for method in methods) + " |\n|---" + "|---" * len(methods) + "|")
    scores: dict[str, list[float]] = {method: [] for method in methods}
    for name in names:
        cells = []
        for method in methods:
            found = [line for (data, by, _), line in lines.items() if (data, by) == (name, method)]
            figures = np.array([[line[figure] for figure in FIGURES] for line in found])
            cells.append(f"{brief(figures.mean(axis=0))} ({len(found)})" if found else "")
            if method == "sce" and found:
                cells[-1] += f", worst {brief(figures.min(axis=0))}"
            scores[method] += [figures[:, 1].mean()] if found else []
        print(f"| {name} | " + " | ".join(cells) + " |")
    means = [f"{np.mean(values):.3f}" if len(values) == len(names) else "" for values in scores.values()]
    print("| mean AMI | " + " | ".join(means) + " |")


def brief(values: np.ndarray) -> str:
    """Shares with three digits, without the zero before the point."""
    return " ".join(f"{value:.3f}".removeprefix("0") for value in values)


def main() -> None:
    """Fit, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", nargs="+", choices=list(GROUPS), default=list(GROUPS))
    parser.add_argument("--data", nargs="+", help="only these data sets")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=["sce", *PEERS])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--file", type=Path, default=Path("out/groups.jsonl"))
    arguments = parser.parse_args()
    require_data()
    arguments.file.parent.mkdir(parents=True, exist_ok=True)
    lines = kept_lines(arguments.file, "data", "method", "seed")
    methods = [method for method in arguments.methods if find_spec(METHODS[method].module) is not None]
    for method in set(arguments.methods) - set(methods):
        print(f"{METHODS[method].title} is not installed: pip install {METHODS[method].package}")
    for group in arguments.group:
        names = tuple(name for name in GROUPS[group] if not arguments.data or name in arguments.data)
        if not names:
            continue
        for name in names:
            wanted = [(method, seed) for method in methods for seed in range(arguments.seeds)]
            missing = [(method, seed) for method, seed in wanted if (name, method, seed) not in lines]
            data = Data(name, None, arguments.threads) if missing else None
            for method, seed in missing:
                line = measure(data, method, seed)  # type: ignore[arg-type]
                lines[name, method, seed] = line
                keep_line(arguments.file, line)
                shown = ", ".join(f"{figure} {line[figure]:.3f}" for figure in FIGURES)
                print(f"{name}, {method}, seed {seed}: {shown} ({line['seconds']:.1f} s)", flush=True)
        print(f"\n## {group}")
        table(lines, names, methods)


if __name__ == "__main__":
    main()
