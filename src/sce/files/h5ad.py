"""AnnData's .h5ad files, through anndata."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from sce.errors import InputError
from sce.files.source import Request, Source, choose_columns


def read_h5ad(path: Path, request: Request) -> Source:
    """X, or the layer or the array of obsm that `request.array` names; the columns of obs are extras."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anndata warns of its own future
        try:
            import anndata
        except ImportError:
            raise InputError(f"Reading {path} needs anndata; install it with: pip install 'sce[scanpy]'") from None
        data = anndata.read_h5ad(path)
        X, names = _matrix(path, data, request.array)
        obs = {str(name): _plain(data.obs[name]) for name in data.obs.columns}
    if X is None:
        raise InputError(f"{path} has no X; name a layer or an array of obsm with --array.")
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    if request.columns is not None or request.drop:
        chosen = choose_columns(path, names, X.shape[1], request)
        names = [names[c] for c in chosen] if names else None
        X = X[:, chosen]
    return Source(path, X, names, extra=obs, ids=np.asarray(data.obs_names, dtype=str))


def _matrix(path: Path, data: Any, wanted: str | None) -> tuple[Any, list[str] | None]:
    genes = [str(name) for name in data.var_names]
    if wanted in (None, "X"):
        return data.X, genes
    if wanted in data.layers:
        return data.layers[wanted], genes
    if wanted in data.obsm:
        return data.obsm[wanted], None
    listed = ", ".join(["X", *data.layers, *data.obsm])
    raise InputError(f"{path} has no array {wanted!r}; it has: {listed}.")


def _plain(column: Any) -> np.ndarray:
    """A column of obs as numbers or as text."""
    values = np.asarray(column)
    if values.dtype.kind in "buif":
        return values
    return np.array(["" if value is None or value != value else str(value) for value in values], dtype=str)  # noqa: PLR0124
