"""Which source files a module depends on, and the state they are in.

A version number does not tell two states of the sources apart while they are being worked on. What was computed or compiled
by some code is valid as long as that code, and all it imports, is the same.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
_IMPORT = re.compile(rb"^[ \t]*(?:from (sce[\w.]*) import (\([^)]*\)|[^\n]*)|import (sce[\w.]+))", re.MULTILINE)
_NAME = re.compile(rb"\w+")


class Sources:
    """The source files of a package, by the names of their modules.

    Parameters
    ----------
    package : Path, default=PACKAGE
        The folder of the package; that of sce by default.
    """

    def __init__(self, package: Path = PACKAGE) -> None:
        self._content: dict[str, bytes] = {}
        root = os.fspath(package)
        for folder, folders, files in os.walk(root):
            folders[:] = [name for name in folders if name != "__pycache__"]
            for file in files:
                if file.endswith(".py"):
                    place = os.path.relpath(os.path.join(folder, file), root)[:-3].replace(os.sep, ".")  # noqa: PTH118
                    with open(os.path.join(folder, file), "rb") as opened:  # noqa: PTH118, PTH123
                        self._content[f"sce.{place}".removesuffix(".__init__")] = opened.read()
        self._imports: dict[str, list[str]] = {}

    def containing(self, *marks: bytes) -> set[str]:
        """The modules whose files contain any of some bytes."""
        return {name for name, text in self._content.items() if any(mark in text for mark in marks)}

    def imported_by(self, modules: Iterable[str]) -> set[str]:
        """Some modules, and all modules of the package that they import, directly or not; imports in functions count.

        Examples
        --------
        >>> sorted(Sources().imported_by(["sce.core.parallel"]))
        ['sce.core.meter', 'sce.core.parallel', 'sce.errors']
        """
        found: set[str] = set()
        waiting = list(modules)
        while waiting:
            name = waiting.pop()
            if name not in found and name in self._content:
                found.add(name)
                waiting += self.imports(name)
        return found

    def imports(self, module: str) -> list[str]:
        """The modules of the package that a module imports itself; a name imported from a folder may be a module in it."""
        if module not in self._imports:
            names: list[str] = []
            for origin, listed, plain in _IMPORT.findall(self._content[module]):
                home = (origin or plain).decode()
                names += [home, *(f"{home}.{name.decode()}" for name in _NAME.findall(listed))]
            self._imports[module] = [name for name in names if name != "sce" and name in self._content]
        return self._imports[module]

    def state(self, modules: Iterable[str]) -> str:
        """A short name for the content of some modules: it changes when any of them does."""
        digest = hashlib.sha256()
        for name in sorted(modules):
            digest.update(name.encode() + b"\n" + self._content[name])
        return digest.hexdigest()[:16]

    def text(self, module: str) -> str:
        """The source of a module."""
        return self._content[module].decode()


@lru_cache(maxsize=1)
def own_sources() -> Sources:
    """The source files of sce, as they are when this is first called."""
    return Sources()
