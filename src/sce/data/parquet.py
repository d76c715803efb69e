"""Parquet tables, through pyarrow: a file, or a folder of parts. Read by record batches, so that nothing is held twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from sce.data.arrow import Part, read_columns, require_pyarrow
from sce.data.parts import PartFile, find_parts
from sce.data.sniff import reading
from sce.data.source import Request, Source

_BATCH_ROWS = 8192
_BUFFER = 1 << 20  # bytes read at a time: by default the columns of a whole row group are held


def read_parquet(path: Path, request: Request) -> Source:
    """A Parquet file or a folder of them; text and categories are kept apart from the numbers, and nulls become NaN."""
    require_pyarrow(path)
    with ExitStack() as opened:
        return read_columns(path, [_open(file, opened) for file in find_parts(path)], request)


def _open(file: PartFile, opened: ExitStack) -> Part:
    from pyarrow import parquet

    with reading(file.path, ".parquet"):
        source = opened.enter_context(parquet.ParquetFile(file.path, buffer_size=_BUFFER, pre_buffer=False))

    def batches(names: list[str]) -> Iterator[Any]:
        with reading(file.path, ".parquet"):
            yield from source.iter_batches(_BATCH_ROWS, columns=names)

    return Part(file.path, source.schema_arrow, source.metadata.num_rows, batches, file.partition)
