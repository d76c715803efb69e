"""Data files: :func:`read` turns any of them into a :class:`Source`; :mod:`sce.core.write` writes, whole or not at all."""

from __future__ import annotations

import importlib
from pathlib import Path

from sce.data.sniff import TEXT, check_file, reading
from sce.data.source import Request, Source

__all__ = ["Request", "Source", "read"]

_READERS = {
    ".npy": "sce.data.arrays:read_npy",
    ".npz": "sce.data.arrays:read_npz",
    **dict.fromkeys(TEXT, "sce.data.text:read_text"),
    ".parquet": "sce.data.parquet:read_parquet",
    ".mtx": "sce.data.matrix_market:read_mtx",
    ".h5ad": "sce.data.h5ad:read_h5ad",
}


def read(path: str | Path, request: Request | None = None) -> Source:
    """Read a data file.

    Parameters
    ----------
    path : str or Path
        A file of one of the kinds in :data:`sce.data.sniff.KINDS`. An .npy is mapped into memory, not read.
    request : Request, optional
        Which part of the file is wanted.

    Raises
    ------
    InputError
        For whatever is wrong with the file; nothing else is raised.
    """
    path = Path(path)
    kind = check_file(path)
    module, name = _READERS[kind].split(":")
    with reading(path, kind):
        source: Source = getattr(importlib.import_module(module), name)(path, request or Request())
        source.check()
    return source
