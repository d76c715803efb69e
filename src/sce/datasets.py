"""Data sets by name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sce.errors import InputError


class Dataset(NamedTuple):
    """Vectors and, where known, integer labels."""

    X: np.ndarray
    y: np.ndarray | None


def load(name: str) -> Dataset:
    """Read `<name>.npz` from the folder named by the environment variable SCE_DATA.

    The file holds X, of shape (n_samples, n_features), and optionally y, of shape (n_samples,).

    Examples
    --------
    >>> from sce import datasets
    >>> X, y = datasets.load("mnist")  # doctest: +SKIP
    """
    folder = os.environ.get("SCE_DATA")
    if not folder:
        raise InputError("The environment variable SCE_DATA is not set; point it to a folder of .npz files.")
    path = Path(folder) / f"{name}.npz"
    if not path.is_file():
        known = sorted(p.stem for p in Path(folder).glob("*.npz"))
        raise InputError(f"There is no data set {name!r} in {folder}; it has: {', '.join(known) or 'none'}.")
    with np.load(path, allow_pickle=False) as file:
        if "X" not in file:
            raise InputError(f"{path} has no array X; it holds: {', '.join(file.files)}.")
        return Dataset(file["X"], file.get("y"))
