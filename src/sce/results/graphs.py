"""Similarity graphs in files of their own, or kept in maps and sweeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sce.core.write import atomic, check_writable, write_npz
from sce.data.arrays import MAP, SWEEP, is_sparse, load_sparse, npz_shapes
from sce.data.edge_lists import read_table_or_edges
from sce.data.formats import Request, Source, read_source
from sce.data.nodes import graph_table
from sce.data.sniff import check_file, reading
from sce.data.table import Table
from sce.errors import InputError, OutputError


def read_graph(path: str | Path, edges: str | list[str] = "auto") -> Any:
    """A square matrix of similarities, sparse or dense, as the file has it; the estimator checks its values.

    See :func:`read_graph_table`, which also has the names of the nodes.
    """
    return read_graph_table(path, edges=edges).X


def read_graph_table(
    path: str | Path, *, edges: str | list[str] = "auto", labels: str | None = "none", ids: str | None = None
) -> Table:
    """A graph with the names of its nodes and their labels.

    An .npz may hold a scipy sparse matrix, a dense array, or a map or a sweep that keeps its graph; an .h5ad has it in
    obsp["connectivities"]. A table is a square matrix, or a list of edges.

    Parameters
    ----------
    path : str or Path
    edges : str or list of str, default="auto"
        As for :func:`sce.read`, but a table that may be a list of edges is one.
    labels, ids : str, optional
        What colours and what names the nodes: an attribute of theirs, FILE or FILE:COLUMN.
    """
    return graph_table(_source(Path(path), edges), labels, ids)


def _source(path: Path, edges: str | list[str]) -> Source:
    kind = check_file(path)
    edges = "auto" if edges == "no" else edges
    if kind == ".npz":
        with reading(path, kind):
            shapes = npz_shapes(path)
            if MAP in shapes:
                return _of_map(path)
            if SWEEP in shapes:
                return _of_sweep(path)
            if is_sparse(shapes):
                return _square(Source(path, load_sparse(path)))
    if kind == ".h5ad":
        return read_source(path, Request(array="connectivities"))
    source = read_table_or_edges(path, Request(), edges, is_expected=True)
    if source.text:
        raise InputError(
            f"{path} has columns of text ({', '.join(source.text)}); a graph is a square matrix of numbers, or a list of "
            'edges, which edges="source,target,weight" reads.'
        )
    return source if source.is_graph else _square(source)


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


def _square(source: Source) -> Source:
    P, path = source.X, source.path
    if P.ndim != 2 or P.shape[0] != P.shape[1]:
        raise InputError(
            f"{path} has the shape {P.shape}; a graph is a square matrix, with a row and a column for each point, or a list of "
            'edges (edges="yes"). If these are data, give them as data, not as a graph.'
        )
    return Source(path, P, ids=source.ids, notes=source.notes, is_graph=True)


def _of_map(path: Path) -> Source:
    from sce.results.maps import load

    kept = load(path)
    if kept.P is None:
        raise InputError(f"{path} is a map without its graph; make it with: sce embed ... --keep-graph")
    return Source(path, kept.P, ids=kept.ids, is_graph=True)


def _of_sweep(path: Path) -> Source:
    from sce.results.sweeps import Sweep

    kept = Sweep.load(path)
    if kept.P is None:
        raise InputError(f"{path} is a sweep without its graph; make it with: sce sweep ... --keep-graph")
    return Source(path, kept.P, ids=kept.ids, is_graph=True)
