"""Atomic files: written whole or not at all, and checked to be writable before the work begins."""

from __future__ import annotations

import errno
import os
import secrets
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from sce.errors import OutputError

if TYPE_CHECKING:
    import numpy as np

ALIGNMENT = 64  # bytes: a cache line, and what NumPy pads the header of an array to
_MEMBER_HEADER = 30 + 20  # bytes of a zip member's header besides its name and padding: fixed part, 64-bit sizes
_PADDING = struct.Struct("<HHH")  # identifier, length of what follows, alignment


def check_writable(path: str | Path, kinds: Iterable[str], inputs: Iterable[str | Path] = ()) -> Path:
    """The path, after checking that a file can be created there.

    Parameters
    ----------
    path : str or Path
    kinds : iterable of str
        The endings that the name may have.
    inputs : iterable of paths
        Files that are being read, which must not be overwritten.

    Raises
    ------
    OutputError
        If the name, the folder or the disk does not allow it.
    """
    path = Path(path)
    kinds = tuple(kinds)
    if path.suffix.lower() not in kinds:
        raise OutputError(f"The name {path} must end in {' or '.join(kinds)}.")
    try:
        _refuse_place(path, inputs)
        trial = _beside(path)
        try:
            trial.open("xb").close()
        finally:
            trial.unlink(missing_ok=True)
    except OutputError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise _explain(path, error) from None
    return path


def _refuse_place(path: Path, inputs: Iterable[str | Path]) -> None:
    """Refuse a folder, a file that is being read, and a folder that does not exist."""
    if path.is_dir():
        raise OutputError(f"{path} is a folder; give the name of a file.")
    for other in inputs:
        if path.exists() and Path(other).exists() and path.samefile(other):
            raise OutputError(f"{path} is the file that is being read; choose another name for the output.")
    if not path.parent.is_dir():
        raise OutputError(f"The folder {path.parent} does not exist; create it first: mkdir -p {path.parent}")


@contextmanager
def atomic(path: str | Path) -> Iterator[BinaryIO]:
    """A file that gets its name once it is complete; on any error nothing is left behind and nothing is lost.

    Examples
    --------
    >>> with atomic("/tmp/greeting.txt") as file:
    ...     _ = file.write(b"hello")
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    part = _beside(target)
    try:
        try:
            with part.open("x+b") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)
    except OutputError:
        raise
    except OSError as error:
        raise _explain(Path(path), error) from None


def write_npz(file: BinaryIO, arrays: dict[str, np.ndarray]) -> None:
    """Write arrays as numpy.savez does, but each aligned in the file, so that it can be mapped into memory.

    On a full disk, numpy.savez may also leave behind an archive object that raises an error when it is freed.
    """
    import zipfile

    import numpy as np

    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy")
            member.extra = _padding(file.tell() + _MEMBER_HEADER + len(member.filename.encode()))
            with archive.open(member, "w", force_zip64=True) as opened:
                np.lib.format.write_array(opened, np.asanyarray(array), allow_pickle=False)  # type: ignore[arg-type]


def _padding(start: int) -> bytes:
    """An extra field of a zip header, at this place in the file, after which the content begins at a multiple of ALIGNMENT.

    The identifier is the one that Android's zipalign uses for the same purpose; readers skip it.
    """
    n_zeros = -(start + _PADDING.size) % ALIGNMENT
    return _PADDING.pack(0xD935, 2 + n_zeros, ALIGNMENT) + bytes(n_zeros)


def _beside(path: Path) -> Path:
    """A new name in the same folder, short enough for every file system."""
    return path.parent / f".{path.name[:100]}.{secrets.token_hex(4)}.part"


def _explain(path: Path, error: OSError | ValueError) -> OutputError:
    code = getattr(error, "errno", None)
    if code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return OutputError(
            f"{path} cannot be written: the disk is full; nothing was left there. Free some space, or choose another folder."
        )
    if code in (errno.EACCES, errno.EPERM, errno.EROFS):
        return OutputError(f"{path} cannot be written: no permission to write to {path.parent}; choose another folder.")
    reason = getattr(error, "strerror", None) or str(error)
    return OutputError(f"{path} cannot be written: {reason[:1].lower() + reason[1:]}; choose another name or folder.")
