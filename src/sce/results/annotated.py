"""A map beside the data it was made from: in a copy of an .h5ad file, where scanpy looks for it."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sce.core.write import atomic, check_writable
from sce.errors import InputError, OutputError
from sce.results.archive import plain

MAP_KEY, ABOUT_KEY = "X_sce", "sce"  # of obsm, and of uns


def described(parameters: Mapping[str, Any], r: float, n_epochs: int) -> dict[str, Any]:
    """What ``uns["sce"]`` says about a map.

    Examples
    --------
    >>> described({"alpha": 0.1, "perplexity": None}, 12.5, 30)
    {'params': {'alpha': 0.1}, 'r': 12.5, 'n_epochs': 30}
    """
    known = {name: value for name, value in plain(dict(parameters)).items() if value is not None}  # files hold no None
    return {"params": known, "r": float(r), "n_epochs": int(n_epochs)}


def check_h5ad_output(path: str, source: str) -> Path:
    """The file to write, once it is known that it can be, and that it replaces at most a file with a map."""
    target = check_writable(path, [".h5ad"], [source])
    if target.exists() and target.stat().st_size and not _has_map(target):
        raise OutputError(
            f"{path} exists and has no map in obsm[{MAP_KEY!r}]; choose another name, or remove it first."
        )
    return target


def _has_map(path: Path) -> bool:
    import h5py

    try:
        with h5py.File(path) as file:
            return MAP_KEY in file.get("obsm", {})
    except OSError:
        return False


def write_h5ad(source: str | Path, target: Path, Y: np.ndarray, about: dict[str, Any]) -> None:
    """Copy an .h5ad file as it is, and add a map as ``obsm["X_sce"]`` and ``uns["sce"]``; whole or not at all."""
    import h5py

    write_elem = _writer(target)
    with Path(source).open("rb") as content, atomic(target) as file:
        shutil.copyfileobj(content, file)
        with h5py.File(file, "r+") as h5:
            n = _count_rows(h5)
            if n != len(Y):
                raise InputError(
                    f"{source} has {n} cells, but the map has {len(Y)} points; they cannot be put side by side."
                )
            write_elem(h5.require_group("obsm"), MAP_KEY, np.asarray(Y))
            write_elem(h5.require_group("uns"), ABOUT_KEY, about)


def _writer(target: Path) -> Callable[..., None]:
    """The function of anndata that writes an element as all its readers expect it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anndata's own deprecations
        try:
            from anndata.io import write_elem
        except ImportError:
            try:
                from anndata.experimental import write_elem  # before anndata 0.11
            except ImportError:
                raise InputError(
                    f"Writing {target} needs anndata; install it with: pip install 'sce[scanpy]'"
                ) from None
    found: Callable[..., None] = write_elem
    return found


def _count_rows(h5: Any) -> int:
    """The number of cells: the length of the index of obs."""
    obs = h5["obs"]
    return len(obs[obs.attrs["_index"]]) if hasattr(obs, "keys") else len(obs)
