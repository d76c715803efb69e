"""The whole family in one picture: maps of MNIST and SHUTTLE from r = 10^-4 to 10^8, each started from its neighbour.

Usage: SCE_DATA=folder python benchmarks/multiples.py [-o docs/images] [--data mnist shuttle]
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from common import PAPER, load_graph, require_data
from sce import datasets
from sce.engines.threads import ThreadEngine
from sce.layout.initialize import starting_points
from sce.layout.records import Layout, LayoutOptions
from sce.layout.scale import FixedScale
from sce.layout.stochastic import sample
from sce.layout.sweep import sweep
from sce.parallel import Team
from sce.plot import scatter

DECADES = range(-4, 9)


def family(name: str) -> list[Layout]:
    """The maps of a data set over r, from the sampler's map at r = 1."""
    X, P = load_graph(name)
    with Team(os.cpu_count() or 1) as team:
        start = starting_points("pca", X, P, 2, 0, team)
        middle = sample(P, start, LayoutOptions(FixedScale(1.0)), ThreadEngine(team), team)
        return sweep(P, middle.Y, [10.0**t for t in DECADES], LayoutOptions(FixedScale(1.0)), team)


def draw(layouts: list[Layout], labels: np.ndarray, path: Path) -> None:
    """Small multiples, coloured by class; the standard deviation of each map beside its r."""
    figure, axes = plt.subplots(3, 5, figsize=(15, 9.6))
    for ax, t, layout in zip(axes.flat, DECADES, layouts, strict=False):
        scatter(layout.Y, labels=labels, ax=ax, legend=False, size=1.0)
        ax.set_title(f"log10 r = {t},  size {layout.Y.std():.2g}", fontsize=11)
    for ax in axes.flat[len(layouts) :]:
        ax.axis("off")
    figure.tight_layout()
    figure.savefig(path, dpi=72)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/images"))
    parser.add_argument("--data", nargs="+", choices=sorted(PAPER), default=["mnist", "shuttle"])
    options = parser.parse_args()
    require_data()
    for name in options.data:
        began = time.perf_counter()
        layouts = family(name)
        took = time.perf_counter() - began
        print(f"{name}: {took:.0f} s\n\n| log10 r | size | iterations | loss | ended because |\n|---|---|---|---|---|")
        for t, layout in zip(DECADES, layouts, strict=True):
            print(
                f"| {t} | {layout.Y.std():.3g} | {len(layout.history)} | {layout.history[-1].loss:.4f} "
                f"| {layout.stop_reason} |"
            )
        draw(layouts, datasets.load(name).y, options.output / f"family_{name}.png")


if __name__ == "__main__":
    main()
