"""Any number of rows from one data set: a sample, or, if it has too few, rows drawn repeatedly with noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sce.core.parallel import Team
from sce.quality.check import sampled
from sce.quality.ranks import between, nearest

PIECE = 100_000
SAMPLE = 500


def spacing(X: np.ndarray) -> float:
    """The standard deviation per column of noise that is about as long as the distance from a row to its nearest neighbour."""
    queries = sampled(len(X), SAMPLE, 0)
    with Team(1) as team:
        near = nearest(X, "euclidean", queries, 1, team)[:, 0]
    squares = [between(X, "euclidean", np.array([a]), np.array([b]))[0, 0] for a, b in zip(queries, near, strict=True)]
    return float(np.sqrt(np.median(squares) / X.shape[1]))


def write_rows(X: np.ndarray, n: int, path: Path) -> bool:
    """Write n rows as a float32 .npy, a piece at a time; returns whether they are synthetic, as more rows than X has must be.

    Noise as long as the distance to the nearest neighbour fills the space between the rows without moving any of them far.
    """
    rng = np.random.default_rng(0)
    synthetic = n > len(X)
    noise = spacing(np.asarray(X, np.float32)) if synthetic else 0.0
    rows = rng.integers(len(X), size=n) if synthetic else rng.permutation(len(X))[:n]
    out = np.lib.format.open_memmap(path, "w+", np.float32, (n, X.shape[1]))
    for start in range(0, n, PIECE):
        part = np.asarray(X[rows[start : start + PIECE]], np.float32)
        if synthetic:
            part = part + noise * rng.standard_normal(part.shape, np.float32)
        out[start : start + len(part)] = part
    out.flush()
    return synthetic
