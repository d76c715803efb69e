"""The picture of docs/guide.md: the digits at several values of perplexity and alpha, and with two metrics.

Usage: python benchmarks/knobs.py [-o docs/images]

For the metric each image is multiplied by a random brightness from 0.2 to 1: the same rows, measured with different exposure.
Needs no data.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from sce import SCE, datasets
from sce.plot import scatter

PERPLEXITY = [{"perplexity": value} for value in (2.0, 5.0, 15.0, 50.0)]
ALPHA = [{"alpha": value} for value in (0.0, 0.05, 0.5, 1.0)]
METRIC = [{"metric": value} for value in ("euclidean", "manhattan", "cosine", "correlation")]
INCHES = 3.0  # the side of a map


def title(setting: dict[str, Any]) -> str:
    """For example perplexity = 5 (default)."""
    ((name, value),) = setting.items()
    text = f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"
    return f"{text} (default)" if getattr(SCE(), name) == value else text


def main(folder: Path) -> None:
    from matplotlib.figure import Figure

    X, y = datasets.load("digits")
    brightness = np.random.default_rng(0).uniform(0.2, 1.0, (len(X), 1))
    rows = [(PERPLEXITY, X), (ALPHA, X), (METRIC, X * brightness)]
    columns = max(len(settings) for settings, _ in rows)
    figure = Figure(figsize=(INCHES * columns, 1.08 * INCHES * len(rows)), layout="constrained")
    grid = figure.subplots(len(rows), columns)
    for places, (settings, data) in zip(grid, rows, strict=True):
        for ax, setting in zip(places, settings, strict=True):
            model = SCE(random_state=0, **setting).fit(data)
            scatter(model, labels=y, ax=ax, legend=False, frame="near")
            ax.set_title(title(setting), fontsize="medium")
            print(f"{title(setting)}: r = {model.scale_:.3g}, perplexity {model.perplexity_:.3g}", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "knobs.png", dpi=100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/images"))
    main(parser.parse_args().output)
