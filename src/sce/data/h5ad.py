"""AnnData's .h5ad files, through anndata."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from sce.core.missing import as_text
from sce.data.source import Request, Source, pick_columns
from sce.errors import InputError


def read_h5ad(path: Path, request: Request) -> Source:
    """X, or the layer or array of obsm that `request.array` names; the columns of obs are extras."""
    data = open_h5ad(path)
    X, names = _matrix(path, data, request.array)
    obs = {str(name): _plain(data.obs[name]) for name in data.obs.columns}
    if X is None:
        raise InputError(f"{path} has no X; name a layer or an array of obsm with array=.")
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        X.sum_duplicates()
    else:
        X = np.asarray(X)
    source = Source(path, X, names, extra=obs, ids=as_text(data.obs_names))
    source = pick_columns(source, Request(request.columns, request.drop))  # genes are never labels
    source.dropped, source.unread = frozenset(), ()  # nor are genes extras
    return source


def open_h5ad(path: Path) -> Any:
    """The file as AnnData; duplicate gene names are made unique as in scanpy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anndata's own deprecations
        try:
            import anndata
        except ImportError:
            raise InputError(f"Reading {path} needs anndata; install it with: pip install 'sce[scanpy]'") from None
        data = anndata.read_h5ad(path)
        data.var_names_make_unique()
    return data


def _matrix(path: Path, data: Any, wanted: str | None) -> tuple[Any, list[str]]:
    genes = [str(name) for name in data.var_names]
    if wanted in (None, "X"):
        return data.X, genes
    if wanted in data.layers:
        return data.layers[wanted], genes
    if wanted in data.obsm:
        return data.obsm[wanted], [str(place) for place in range(data.obsm[wanted].shape[1])]
    listed = ", ".join(["X", *data.layers, *data.obsm])
    raise InputError(f"{path} has no array {wanted!r}; it has: {listed}.")


def _plain(column: Any) -> np.ndarray:
    """A column of obs as numbers or as text."""
    values = np.asarray(column)
    return values if values.dtype.kind in "buif" else as_text(values)
