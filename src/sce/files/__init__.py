"""Data files: :func:`read` turns any of them into a :class:`Source`; :mod:`sce.files.write` writes, whole or not at all."""

from __future__ import annotations

import importlib
from pathlib import Path

from sce.files.sniff import TEXT, check_file, reading
from sce.files.source import Request, Source

__all__ = ["Request", "Source", "read"]

_READERS = {
    ".npy": "sce.files.arrays:read_npy",
    ".npz": "sce.files.arrays:read_npz",
    **dict.fromkeys(TEXT, "sce.files.text:read_text"),
    ".parquet": "sce.files.parquet:read_parquet",
    ".mtx": "sce.files.matrix_market:read_mtx",
    ".h5ad": "sce.files.h5ad:read_h5ad",
}


def read(path: str | Path, request: Request | None = None) -> Source:
    """Read a data file.

    Parameters
    ----------
    path : str or Path
        A file of one of the kinds in :data:`sce.files.sniff.KINDS`. An .npy is mapped into memory, not read.
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
