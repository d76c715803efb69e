"""Pickles whose large arrays lie in files, which the reader maps: they are written once, and not copied into its memory.

The array of a mapped file is copy-on-write: it is as good as any other array, and nothing that is done to it reaches the file.
"""

from __future__ import annotations

import pickle
import secrets
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

_LARGE_BYTES = 1 << 16  # of an array; smaller ones are pickled like everything else


def dump(value: Any, file: IO[bytes], save: Callable[[np.ndarray], str]) -> None:
    """Pickle a value; `save` puts a large array in it, wherever in it, into a file."""
    _Writer(file, save).dump(value)


def load(file: IO[bytes], fetch: Callable[[str], np.ndarray]) -> Any:
    """The value that was pickled; `fetch` gets an array from its file."""
    return _Reader(file, fetch).load()


def save_array(path: str | Path, array: np.ndarray) -> None:
    """Write an array to a file; none is left where there is no room."""
    try:
        with Path(path).open("xb") as file:
            np.save(file, array, allow_pickle=False)
    except BaseException:
        Path(path).unlink(missing_ok=True)
        raise


def map_array(path: str | Path) -> np.ndarray:
    """The array in a file, without reading it."""
    return np.asarray(np.load(path, mmap_mode="c", allow_pickle=False))


class _Writer(pickle.Pickler):
    def __init__(self, file: IO[bytes], save: Callable[[np.ndarray], str]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._save = save

    def persistent_id(self, value: Any) -> str | None:
        """The file of a large array."""
        is_array = type(value) in (np.ndarray, np.memmap) and not value.dtype.hasobject
        return self._save(value) if is_array and value.nbytes >= _LARGE_BYTES else None


class _Reader(pickle.Unpickler):
    def __init__(self, file: IO[bytes], fetch: Callable[[str], np.ndarray]) -> None:
        super().__init__(file)
        self._fetch = fetch

    def persistent_load(self, path: str) -> np.ndarray:
        """The array in a file."""
        return self._fetch(path)


class ArrayFiles:
    """The files of arrays that a process sends, and gets back: each array has one, for as long as the array lives.

    An array must not be changed after it has been sent.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[int, tuple[weakref.ref[np.ndarray], str]] = {}  # by id

    def save(self, array: np.ndarray) -> str:
        """The file of an array, written if there is none."""
        known, path = self._known.get(id(array), (None, ""))
        if known is None or known() is not array:
            path = str(self._folder / f"{secrets.token_hex(8)}.npy")
            save_array(path, array)
            self._remember(array, path)
        return path

    def fetch(self, path: str) -> np.ndarray:
        """The array in a file that another process has written for this one."""
        array = map_array(path)
        self._remember(array, path)
        return array

    def _remember(self, array: np.ndarray, path: str) -> None:
        self._known[id(array)] = weakref.ref(array), path
        weakref.finalize(array, self._forget, id(array), path).atexit = False  # the whole folder goes then

    def _forget(self, number: int, path: str) -> None:
        if self._known.get(number, (None, ""))[1] == path:
            del self._known[number]
        Path(path).unlink(missing_ok=True)
