"""A file that only grows: one process appends to it, and a line is on the disk when `append` returns."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from sce.errors import InputError, OutputError

_PERMISSIONS = 0o600  # what somebody named is nobody else's business
_CLOSED = -1  # in place of a descriptor
_OPENING = os.O_APPEND | sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
_BEGUN_BY_OTHERS = "Another explorer has begun to name clusters of this map. Load this page again to see them."


class AppendOnly:
    """A file, locked by the first process that opens it; others read it.

    Parameters
    ----------
    path : Path
        A link is refused. A file that does not exist is created by the first `append`.

    Attributes
    ----------
    why_not : str
        Why nothing can be appended; empty if it can.
    length : int
        Bytes in the file.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.why_not, self.length = path, "", 0
        self._file = _CLOSED
        try:
            self._open()
        except OSError as error:
            self.close()
            if error.errno == errno.ELOOP or path.is_symlink():
                raise InputError(
                    f"{path} is a link, which is not followed; remove it, or put the file there."
                ) from None
            raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
        except InputError:
            self.close()
            raise

    def _open(self) -> None:
        if self.path.is_symlink():
            raise OSError(errno.ELOOP, "it is a link")
        try:
            self._file = os.open(self.path, os.O_RDWR | _OPENING)
        except FileNotFoundError:
            if not os.access(self.path.parent, os.W_OK):
                self.why_not = f"Clusters cannot be named: there is no permission to write to {self.path.parent}."
            return
        except PermissionError:
            self._file = os.open(self.path, os.O_RDONLY | _OPENING)
            self.why_not = f"Clusters cannot be named: there is no permission to write to {self.path}."
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            raise InputError(f"{self.path} is not a file; remove it.")
        if not self.why_not and not _lock(self._file):
            self.why_not = (
                "Clusters cannot be named here: another explorer has this map open. Close it, and load this page again."
            )

    def read(self) -> bytes:
        """All that is in the file."""
        if self._file == _CLOSED:
            return b""
        with os.fdopen(os.dup(self._file), "rb") as file:
            file.seek(0)
            content = file.read()
        self.length = len(content)
        return content

    def cut(self, length: int) -> None:
        """Keep this many bytes."""
        os.ftruncate(self._file, length)
        os.fsync(self._file)
        self.length = length

    def append(self, line: bytes) -> None:
        """Write a line, and return once it is on the disk.

        Raises
        ------
        OutputError
            If that fails; the file is then as it was.
        """
        if self.why_not:
            raise OutputError(self.why_not)
        try:
            if self._file == _CLOSED:
                self._create()
            self._check_place()
            self._write(line)
        except OutputError:
            raise
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            reason = "the disk is full" if full else error.strerror or str(error)
            raise OutputError(f"Not saved: {self.path} cannot be written ({reason}); nothing was changed.") from None

    def close(self) -> None:
        """Let another process append."""
        if self._file != _CLOSED:
            os.close(self._file)
        self._file = _CLOSED

    def _create(self) -> None:
        """Create the file, for this user only."""
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _OPENING, _PERMISSIONS)
        except FileExistsError:
            self.why_not = _BEGUN_BY_OTHERS
            raise OutputError(self.why_not) from None
        if hasattr(os, "fchmod"):
            os.fchmod(self._file, _PERMISSIONS)  # whatever the umask
        if not _lock(self._file):
            self.why_not = _BEGUN_BY_OTHERS
            raise OutputError(self.why_not)
        if hasattr(os, "O_DIRECTORY"):
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _check_place(self) -> None:
        """Refuse to write to a file that was moved, removed or changed by others."""
        own = os.fstat(self._file)
        try:
            there = self.path.lstat()
        except FileNotFoundError:
            there = None
        if there is None or (there.st_ino, there.st_dev) != (own.st_ino, own.st_dev) or own.st_size != self.length:
            self.why_not = f"Not saved: {self.path} was moved or changed by another program; start the explorer again."
            raise OutputError(self.why_not)

    def _write(self, line: bytes) -> None:
        """Append a line and wait for the disk; if that fails, the file is as before, or not written to any more."""
        try:
            if os.write(self._file, line) < len(line):
                _refuse_full()
            os.fsync(self._file)
        except OSError:
            try:
                self.cut(self.length)
            except OSError:
                self.why_not = f"{self.path} cannot be written any more; start the explorer again."
            raise
        self.length += len(line)


def _refuse_full() -> None:
    raise OSError(errno.ENOSPC, "the disk is full")


def _lock(file: int) -> bool:
    """Whether this process may append from now on; the lock ends with the process, however that ends."""
    try:
        import fcntl
    except ImportError:  # on Windows
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
