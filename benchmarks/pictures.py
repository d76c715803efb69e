"""The pictures of the documentation: MNIST, SHUTTLE and IJCNN with the paper's similarities, mocap_1m with SCE's defaults.

Usage: SCE_DATA=folder python benchmarks/pictures.py [mnist shuttle ijcnn mocap_1m] [-o docs/images]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from common import PAPER, require_data
from sce import SCE, datasets
from sce.graph.build import GraphOptions
from sce.plot import scatter

GRAPHS = {**PAPER, "mocap_1m": GraphOptions()}


def emptiest_corner(ax: Any, Y: np.ndarray) -> tuple[float, float]:
    """The lower left corner, in axes coordinates, of the corner square, a quarter wide, that has the fewest points."""
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    Z = (Y - low) / (high - low)

    def crowd(corner: tuple[float, float]) -> int:
        return int((np.abs(Z - corner - 0.125) < 0.125).all(axis=1).sum())

    return min([(x, y) for x in (0.0, 0.75) for y in (0.0, 0.75)], key=crowd)


def draw(name: str, folder: Path) -> None:
    X, y = datasets.load(name)
    graph = GRAPHS[name]
    start = time.perf_counter()
    model = SCE(
        affinity=graph.affinity, n_neighbors=graph.n_neighbors, perplexity=graph.perplexity, random_state=0
    ).fit(X)
    took = time.perf_counter() - start
    ax = scatter(model.embedding_, frame="near")
    inset = ax.inset_axes((*emptiest_corner(ax, model.embedding_), 0.25, 0.25))
    scatter(model.embedding_, labels=y, ax=inset, legend=False, frame="near")
    ax.figure.savefig(folder / f"{name}.png", dpi=100, bbox_inches="tight")
    print(
        f"{name}: {len(X)} x {X.shape[1]}, neighbours by {model.neighbor_method_} (recall {model.neighbor_recall_:.3f}), "
        f"{model.n_epochs_} epochs, r = {model.scale_:.3f}, {took:.1f} s from vectors to map",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(GRAPHS), metavar="data")
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/images"))
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    require_data()
    for name in arguments.names:
        draw(name, arguments.output)
