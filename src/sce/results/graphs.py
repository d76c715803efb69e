"""Similarity graphs in files of their own, or kept in maps and sweeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sce.core.write import atomic, check_writable, write_npz
from sce.data.arrays import MAP, SWEEP, is_sparse, load_sparse, npz_shapes
from sce.data.formats import read_source
from sce.data.sniff import check_file, reading
from sce.errors import InputError, OutputError


def read_graph(path: str | Path) -> Any:
    """A square matrix of similarities, sparse or dense, as the file has it; the estimator checks its values.

    An .npz may hold a scipy sparse matrix, a dense array, or a map or a sweep that keeps its graph; an .h5ad has it in
    obsp["connectivities"].
    """
    path = Path(path)
    kind = check_file(path)
    if kind == ".npz":
        with reading(path, kind):
            shapes = npz_shapes(path)
            if MAP in shapes:
                return _of_map(path)
            if SWEEP in shapes:
                return _of_sweep(path)
            if is_sparse(shapes):
                return _square(path, load_sparse(path))
    if kind == ".h5ad":
        with reading(path, kind):
            return _of_anndata(path)
    source = read_source(path)
    if source.text:
        raise InputError(
            f"{path} has columns of text ({', '.join(source.text)}); a graph is a square matrix of numbers."
        )
    return _square(path, source.X)


def write_graph(P: Any, path: Path) -> None:
    """Save a graph in the format of scipy.sparse.save_npz; an existing file is replaced only if it is a sparse matrix too."""
    import numpy as np

    path = check_writable(path, [".npz"])
    refuse_to_replace_graph(path)
    P = P.tocsr()
    kind = {"format": np.array(b"csr"), "shape": np.array(P.shape)}
    with atomic(path) as file:
        write_npz(file, {**{name: getattr(P, name) for name in ("data", "indices", "indptr")}, **kind})


def refuse_to_replace_graph(path: Path) -> None:
    """Refuse to overwrite a file that is not a graph."""
    if path.exists() and path.stat().st_size and not _is_sparse(path):
        raise OutputError(f"{path} exists and is not a graph; choose another name, or remove it first.")


def _is_sparse(path: Path) -> bool:
    try:
        return is_sparse(npz_shapes(path))
    except Exception:  # noqa: BLE001
        return False


def _square(path: Path, P: Any) -> Any:
    if P.ndim != 2 or P.shape[0] != P.shape[1]:
        raise InputError(
            f"{path} has the shape {P.shape}; a graph is a square matrix, with a row and a column for each point. If "
            "these are data, give them as data, not as a graph."
        )
    return P


def _of_map(path: Path) -> Any:
    from sce.results.maps import load

    P = load(path).P
    if P is None:
        raise InputError(f"{path} is a map without its graph; make it with: sce embed ... --keep-graph")
    return P


def _of_sweep(path: Path) -> Any:
    from sce.results.sweeps import Sweep

    P = Sweep.load(path).P
    if P is None:
        raise InputError(f"{path} is a sweep without its graph; make it with: sce sweep ... --keep-graph")
    return P


def _of_anndata(path: Path) -> Any:
    from sce.data.h5ad import open_h5ad

    data = open_h5ad(path)
    if "connectivities" not in data.obsp:
        listed = ", ".join(data.obsp) or "nothing"
        raise InputError(f"{path} has no obsp['connectivities'] (it has {listed}); run scanpy.pp.neighbors first.")
    return data.obsp["connectivities"].tocsr()
