"""Arrays inside an .npz archive, mapped into memory instead of read.

An archive is a zip file. sce stores arrays in it uncompressed, with the bytes that they have in memory, so the system can page
them in as they are used. An array must begin at a multiple of its alignment in the file, because kernels need aligned arrays;
:func:`sce.core.write.write_npz` takes care of that. Other arrays, compressed or not aligned, are read.

A mapped array is not covered by the checksums of the archive, which are verified only when an array is read as a whole.
"""

from __future__ import annotations

import math
import zipfile
from typing import Any, BinaryIO, NamedTuple

import numpy as np

MAPPED_FROM_BYTES = 1 << 26  # smaller arrays are read: that takes milliseconds, and they can then be changed in place
_ENCRYPTED = 0x1  # flag of a member
_LOCAL_HEADER = 30  # bytes before the name of a member
_NAME_LENGTHS = 26  # where, in these, the lengths of the name and of the extra field are: two bytes each


class _Layout(NamedTuple):
    """What the header of an .npy says about the array after it."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]
    n_header: int  # bytes


def map_array(file: BinaryIO, archive: zipfile.ZipFile, name: str) -> np.ndarray | None:
    """A large array of an archive, mapped read-only from the open file; None if it has to be read.

    The map stays valid when another file takes the name of this one: it belongs to the open file, not to the name.
    """
    member = archive.getinfo(f"{name}.npy")
    encrypted = member.flag_bits & _ENCRYPTED
    if member.file_size < MAPPED_FROM_BYTES or member.compress_type != zipfile.ZIP_STORED or encrypted:
        return None
    start = _start_of(file, member)
    layout = _read_layout(file, start)
    if layout is None or layout.dtype.hasobject:
        return None
    n_bytes = math.prod(layout.shape) * layout.dtype.itemsize
    offset = start + layout.n_header
    if layout.n_header + n_bytes != member.file_size or offset % layout.dtype.alignment:
        return None
    order = "F" if layout.fortran_order else "C"
    return np.memmap(file, layout.dtype, "r", offset, layout.shape, order)  # type: ignore[call-overload, no-any-return]


def _start_of(file: BinaryIO, member: zipfile.ZipInfo) -> int:
    """Where the content of a member begins in the file; its own header may be longer than the directory of the archive says."""
    file.seek(member.header_offset + _NAME_LENGTHS)
    lengths = file.read(4)
    n_name, n_extra = int.from_bytes(lengths[:2], "little"), int.from_bytes(lengths[2:], "little")
    return member.header_offset + _LOCAL_HEADER + n_name + n_extra


def _read_layout(file: BinaryIO, start: int) -> _Layout | None:
    file.seek(start)
    version = np.lib.format.read_magic(file)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    return _Layout(*readers[version](file), file.tell() - start) if version in readers else None
