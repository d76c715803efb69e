"""The one decorator of all compiled kernels, and the folder that keeps them.

A kernel releases the GIL, so plain Python threads run kernels side by side: numba's own threading layers, which abort
on two fits at once or after a fork, are never started. It is compiled once per environment and kept on disk, in a folder
named after the state of all source files that kernels are made of: numba itself looks only at the file of the outermost
function, and would go on using a kernel after an upgrade has changed what it calls.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache

from sce.core.progress import note
from sce.core.sources import PACKAGE, Sources, own_sources

# Fused multiply-add and nothing else: no re-ordering of sums, so results do not depend on the vector width of the CPU.
FUSED = frozenset({"contract"})
_KERNEL_MARKS = (b"@kernel", b"@intrinsic", b" = kernel(")  # what a file with kernels contains


def kernel(function: Callable[..., Any] | None = None, *, fused: bool = False) -> Any:
    """Compile a function with numba: cached on disk, without the GIL, IEEE arithmetic in the order written.

    Parameters
    ----------
    function : callable
        What to compile.
    fused : bool, default=False
        Allow fused multiply-add: twice the speed in dot products, but the last bits may differ on a CPU without it. Such a
        kernel is always inlined into its callers: what is fused depends on the surrounding code, and otherwise the process
        that compiles might use a copy compiled on its own, and later processes the one compiled into the caller.
    """
    if function is None:
        return lambda f: kernel(f, fused=fused)
    folder = cache_folder()
    options = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": set(FUSED) if fused else False,
        "forceinline": fused,
        "no_cfunc_wrapper": True,  # which only C needs: it would take a twentieth of the time to compile
    }
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = folder or before  # read once, right here: other libraries' kernels keep their folder
    try:
        compiled = numba.njit(**options, cache=folder is not None)(function)
    except (OSError, RuntimeError):  # no file can be made in the folder any more
        return numba.njit(**options)(function)
    finally:
        numba.config.CACHE_DIR = before
    if isinstance(cache := getattr(compiled, "_cache", None), FunctionCache):
        cache.__class__ = _ForgivingCache
    return compiled


class _ForgivingCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function, except that a broken file is forgotten, and that what cannot be kept is not.

    Numba itself raises an error where a file is empty or cut off, as a full disk or a killed process leaves it, and where
    the disk is full.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function, or None if there is none that can be read."""
        try:
            found = super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 (unpickling a broken file may raise anything)
            found = None
            with contextlib.suppress(Exception):
                self.flush()
        if found is None:
            _say_once()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function, if that is possible."""
        with contextlib.suppress(Exception):
            super().save_overload(sig, data)


@lru_cache(maxsize=1)
def _say_once() -> None:
    """Say why nothing seems to happen for some seconds."""
    note("Compiling, once per environment.")


@lru_cache(maxsize=1)
def cache_folder() -> str | None:
    """Where compiled kernels are kept: the first of several places that is writable, or None."""
    name = f"sce-kernels-{kernel_state(own_sources())}"
    for place in _places():
        folder = place / name
        if _make_writable(folder):
            _forget_others(folder)
            return str(folder)
    return None


def kernel_state(sources: Sources) -> str:
    """A name for the state of all that kernels are made of: their modules, and what these import, constants for example."""
    return sources.state(sources.imported_by(sources.containing(*_KERNEL_MARKS)))


def _places() -> Iterator[Path]:
    """Numba's own setting, next to the package, the user's cache, a private temporary folder."""
    if numba.config.CACHE_DIR:
        yield Path(numba.config.CACHE_DIR)
    yield PACKAGE / "__pycache__"
    user = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    with contextlib.suppress(RuntimeError):  # no home
        yield user.expanduser() / "sce"
    temporary = private_temporary_folder()
    if temporary is not None:
        yield temporary


def _make_writable(folder: Path) -> bool:
    """Whether the folder exists or could be created, and is writable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _forget_others(folder: Path) -> None:
    """Remove kernels of other source states that have not been added to for a month; whoever needs them compiles again."""
    for other in folder.parent.glob("sce-kernels-*"):
        if other != folder and time.time() - other.stat().st_mtime > 30 * 86_400:
            shutil.rmtree(other, ignore_errors=True)


def private_temporary_folder() -> Path | None:
    """A temporary folder that only this user can write to, or None: the cache holds code that will be run."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"sce-{user}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    ours = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    private = os.name == "nt" or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) == 0
    return folder if stat.S_ISDIR(status.st_mode) and ours and private else None
