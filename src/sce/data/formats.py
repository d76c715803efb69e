"""One function for all file formats, :func:`read_source`; :data:`sce.data.kinds.FILE_KINDS` lists them."""

from __future__ import annotations

import importlib
from pathlib import Path

from sce.data.kinds import FILE_KINDS
from sce.data.sniff import check_file, reading
from sce.data.source import Request, Source

__all__ = ["Request", "Source", "read_source"]


def read_source(path: str | Path, request: Request | None = None) -> Source:
    """Read a data file, without deciding which columns are labels or ids; :func:`sce.read` does that.

    Parameters
    ----------
    path : str or Path
        A file of one of the kinds in :data:`sce.data.kinds.FILE_KINDS`. An .npy is memory-mapped, not read.
    request : Request, optional
        Which part of the file to read.

    Raises
    ------
    InputError
        For whatever is wrong with the file; nothing else is raised.
    """
    path = Path(path)
    kind = check_file(path)
    module, name = FILE_KINDS[kind].reader.split(":")
    with reading(path, kind):
        source: Source = getattr(importlib.import_module(module), name)(path, request or Request())
        source.check()
    return source
