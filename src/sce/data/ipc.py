"""Arrow's own files, through pyarrow: .arrow as file or stream, and .feather; or a folder of them, as datasets saves them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from sce.data.arrow import Part, read_columns, require_pyarrow
from sce.data.parts import PartFile, find_parts
from sce.data.sniff import reading
from sce.data.source import Request, Source

_FILE_MARK = b"ARROW1"  # a stream has none


def read_ipc(path: Path, request: Request) -> Source:
    """An .arrow or .feather file or a folder of them, mapped into memory."""
    require_pyarrow(path)
    with ExitStack() as opened:
        return read_columns(path, [_open(file, opened) for file in find_parts(path)], request)


def _open(file: PartFile, opened: ExitStack) -> Part:
    import pyarrow as pa

    with reading(file.path, ".arrow"):
        mapped = opened.enter_context(pa.memory_map(str(file.path)))
        is_stream = mapped.read(len(_FILE_MARK)) != _FILE_MARK
        schema = _reader(mapped, None, is_stream=is_stream).schema

    def batches(names: list[str]) -> Iterator[Any]:
        with reading(file.path, ".arrow"):
            reader = _reader(mapped, [schema.names.index(name) for name in names], is_stream=is_stream)
            found = reader if is_stream else map(reader.get_batch, range(reader.num_record_batches))
            yield from map(_checked, found)  # which holds no batch while the next one is read

    n_rows = sum(batch.num_rows for batch in batches(schema.names[:1]))
    return Part(file.path, schema, n_rows, batches, file.partition)


def _checked(batch: Any) -> Any:
    """The batch, once it is known to be sound: a damaged file may point anywhere in memory."""
    batch.validate(full=True)
    return batch


def _reader(mapped: Any, fields: list[int] | None, *, is_stream: bool) -> Any:
    """A reader of some columns; they come in the order of the file."""
    from pyarrow import ipc

    mapped.seek(0)
    options = ipc.IpcReadOptions(included_fields=fields)
    return ipc.open_stream(mapped, options=options) if is_stream else ipc.open_file(mapped, options=options)
