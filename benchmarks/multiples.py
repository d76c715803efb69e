"""The whole family in one picture: maps of MNIST and SHUTTLE from r = 10^-4 to 10^8, each started from its neighbour.

Usage: SCE_DATA=folder python benchmarks/multiples.py [-o docs/images] [--data mnist shuttle]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import sce
from common import PAPER, require_data
from sce import datasets
from sce.plot import series

LOG10_R = range(-4, 9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/images"))
    parser.add_argument("--data", nargs="+", choices=sorted(PAPER), default=["mnist", "shuttle"])
    options = parser.parse_args()
    require_data()
    for name in options.data:
        X, y = datasets.load(name)
        began = time.perf_counter()
        family = sce.sweep(X, LOG10_R, labels=y, random_state=0, **datasets.about(name).similarities)
        print(f"{name}: {time.perf_counter() - began:.0f} s, {family}\n")
        print("| log10 r | size | iterations | J | ended because |\n|---|---|---|---|---|")
        J = family.figures["attraction"] + family.r * family.figures["mean_q_U"]
        for k, t in enumerate(LOG10_R):
            ended = f"{family.facts['n_iterations'][k]} | {J[k]:.4f} | {family.facts['stop_reasons'][k]}"
            print(f"| {t} | {family.figures['size'][k]:.3g} | {ended} |")
        picture = series(family, n_maps=len(LOG10_R))
        picture.savefig(options.output / f"family_{name}.png", dpi=72, bbox_inches="tight")


if __name__ == "__main__":
    main()
