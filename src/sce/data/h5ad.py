"""AnnData's .h5ad files, through anndata."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from sce.core.missing import as_text
from sce.data.source import Request, Source, pick_columns
from sce.errors import InputError

X_PCA, CONNECTIVITIES = "X_pca", "connectivities"  # what scanpy calls them


def read_h5ad(path: Path, request: Request) -> Source:
    """X, or the layer, array of obsm or graph of obsp that `request.array` names; the columns of obs are extras."""
    data = open_h5ad(path)
    if request.array in data.obsp or request.array == CONNECTIVITIES:
        return _graph(path, data, str(request.array))
    X, names = _matrix(path, data, request.array)
    obs = _obs(data)
    if X is None:
        others = ", ".join([*data.layers, *data.obsm, *data.obsp])
        raise InputError(f"{path} has no X; name another array with array={f'; it has: {others}' if others else ''}.")
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        X.sum_duplicates()
    else:
        X = np.asarray(X)
    source = Source(path, X, names, extra=obs, ids=as_text(data.obs_names))
    source = pick_columns(source, Request(request.columns, request.drop))  # genes are never labels
    source.dropped, source.unread = frozenset(), ()  # nor are genes extras
    source.notes += _also_there(path, data, request.array)
    return source


def _graph(path: Path, data: Any, name: str) -> Source:
    """A graph in obsp, such as the connectivities of scanpy."""
    if name not in data.obsp:
        listed = ", ".join(data.obsp) or "nothing"
        raise InputError(f"{path} has no obsp[{name!r}] (it has {listed}); run scanpy.pp.neighbors first.")
    if name.endswith("distances"):
        raise InputError(
            f"{path} has distances in obsp[{name!r}], not similarities; array={CONNECTIVITIES!r} is the graph."
        )
    graph = data.obsp[name].tocsr() if hasattr(data.obsp[name], "tocsr") else np.asarray(data.obsp[name])
    notes = [f"The graph obsp[{name!r}] is used"]
    return Source(path, graph, extra=_obs(data), ids=as_text(data.obs_names), notes=notes, is_graph=True)


def _also_there(path: Path, data: Any, wanted: str | None) -> list[str]:
    """What else might be embedded: principal components, and the graph of scanpy."""
    if wanted is not None:
        return []
    found = [name for name in (X_PCA, CONNECTIVITIES) if name in (data.obsm if name == X_PCA else data.obsp)]
    if not found:
        return []
    what = {X_PCA: "principal components (obsm)", CONNECTIVITIES: "scanpy's neighbour graph (obsp)"}
    listed = " and ".join(f"{what[name]}" for name in found)
    return [f"{path} also has {listed}; {' or '.join(f'array={name!r}' for name in found)} embeds them instead of X"]


def _obs(data: Any) -> dict[str, np.ndarray]:
    return {str(name): _plain(data.obs[name]) for name in data.obs.columns}


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
    listed = ", ".join(["X", *data.layers, *data.obsm, *data.obsp])
    raise InputError(f"{path} has no array {wanted!r}; it has: {listed}.")


def _plain(column: Any) -> np.ndarray:
    """A column of obs as numbers or as text."""
    values = np.asarray(column)
    return values if values.dtype.kind in "buif" else as_text(values)
