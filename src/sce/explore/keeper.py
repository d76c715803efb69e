"""Keeps the named clusters of a map: the document in memory and its journal on disk, one operation at a time."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sce.errors import InputError
from sce.explore.document import Document
from sce.explore.journal import Journal, journal_path
from sce.explore.naming import apply, without_strangers
from sce.explore.operations import NamingError
from sce.explore.row_names import RowNames


class StaleError(NamingError):
    """An operation that is based on an earlier revision than the present one."""


class Keeper:
    """The named clusters of a map.

    Parameters
    ----------
    of : Path
        The map, beside which the file is.
    ids : ndarray of shape (n,)

    Attributes
    ----------
    document : Document
        The clusters now.
    """

    def __init__(self, of: Path, ids: np.ndarray) -> None:
        self._of, self._names = of, RowNames(ids)
        self._lock = threading.Lock()
        self._journal, self.document = self._load()
        self._first_revision = self.document.revision

    @property
    def path(self) -> Path:
        """The file with the clusters."""
        return self._journal.path

    @property
    def writable(self) -> bool:
        """Whether clusters can be named."""
        return self._journal.writable

    @property
    def note(self) -> str:
        """Why clusters cannot be named, or what was mended in the file, or what the last operation did besides."""
        return self._journal.why_not or self.document.note or self._mended()

    def _mended(self) -> str:
        """What was mended when the file was opened, until the first operation."""
        return self._journal.note if self.document.revision == self._first_revision else ""

    def submit(self, base: Any, op: dict[str, Any]) -> Document:
        """Do an operation; when this returns, it is on the disk.

        Parameters
        ----------
        base : int
            The revision that the operation is based on.
        op : dict
            As :func:`sce.explore.naming.apply` takes it.

        Raises
        ------
        StaleError
            If that is not the present revision.
        NamingError, OutputError
            If the operation makes no sense, or cannot be saved. Nothing has changed then.
        """
        with self._lock:
            if type(base) is not int or base != self.document.revision:
                raise StaleError("The clusters were changed in another window; look at them, and do it again.")
            op = without_strangers(op)
            after = apply(self.document, op)
            self._journal.append(after.revision, written(op, self._names))
            self.document = after
        return after

    def refreshed(self) -> Document:
        """The clusters now; those that another explorer has named since, if this one only reads."""
        if not self.writable:
            with self._lock:
                self._journal.close()
                self._journal, self.document = self._load()
        return self.document

    def close(self) -> None:
        """Let another process name clusters."""
        self._journal.close()

    def _load(self) -> tuple[Journal, Document]:
        """The file, and the clusters that its operations make."""
        names = self._names
        rows = "numbers" if names.by_number else "ids"
        header = {"map": self._of.name, "n": names.n, "rows": rows, "ids_sha256": names.digest}
        journal = Journal(journal_path(self._of), header)
        document = Document.empty(names.n)
        number = 1
        try:
            for number, op in enumerate(journal.operations, 2):  # noqa: B007
                document = apply(document, read_back(op, names))
        except NamingError as error:
            journal.close()
            raise InputError(
                f"{journal.path} is damaged in line {number}: {str(error).rstrip('.')}; restore it, or move it away."
            ) from None
        journal.operations.clear()
        return journal, replace(document, note="")


def written(op: dict[str, Any], names: RowNames) -> dict[str, Any]:
    """An operation with its rows as the file has them."""
    found = {key: value for key, value in op.items() if key not in ("rows", "clusters")}
    if "rows" in op:
        found["rows"] = names.write(np.unique(op["rows"]))
    if "clusters" in op:
        found["clusters"] = [written(each, names) for each in op["clusters"]]
    return found


def read_back(op: dict[str, Any], names: RowNames) -> dict[str, Any]:
    """An operation of the file with row numbers."""
    found = dict(op)
    if "rows" in op:
        found["rows"] = names.read(op["rows"])
    if isinstance(op.get("clusters"), list):
        found["clusters"] = [read_back(each, names) if isinstance(each, dict) else each for each in op["clusters"]]
    return found
