"""Folders of parts: a table in several files, as Spark, Dask and Hugging Face's datasets write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from sce.errors import InputError

PART_ENDINGS = (".parquet", ".arrow", ".feather")
_MISSING_PARTITION = "__HIVE_DEFAULT_PARTITION__"


class PartFile(NamedTuple):
    """A file of a folder."""

    path: Path
    partition: dict[str, str]  # what its folders say about its rows, as in year=2024/part-0.parquet


def kind_of_folder(folder: Path) -> str | None:
    """The ending of the parts in a folder; None if there are no parts."""
    endings = {path.suffix.lower() for path in _files(folder)}
    if len(endings) > 1:
        raise InputError(
            f"{folder} is a folder of {' and '.join(sorted(endings))} files; give a folder with parts of one kind, or a file."
        )
    return next(iter(endings), None)


def find_parts(path: Path) -> list[PartFile]:
    """The parts of a table: the file itself, or those in the folder, in natural order."""
    if not path.is_dir():
        return [PartFile(path, {})]
    parts = [PartFile(file, _partition(path, file)) for file in sorted(_files(path), key=_natural)]
    keys = {tuple(part.partition) for part in parts}
    if len(keys) > 1:
        raise InputError(f"{path} has parts in folders of different kinds: {_shown(keys)}; give one of the folders.")
    return parts


def _files(folder: Path) -> Iterable[Path]:
    """The files of data in a folder and its folders key=value; names that begin with . or _ belong to who wrote them."""
    for path in folder.iterdir():
        if path.name[0] in "._":
            continue
        if path.is_dir():
            yield from _files(path) if "=" in path.name else ()
        elif path.suffix.lower() in PART_ENDINGS:
            yield path


def _natural(path: Path) -> list[tuple[int, str]]:
    """A sort key by which part-2 comes before part-10."""
    return [(int(word), "") if word.isdecimal() else (-1, word) for word in re.split(r"(\d+)", str(path)) if word]


def _partition(folder: Path, file: Path) -> dict[str, str]:
    found = {}
    for name in file.relative_to(folder).parts[:-1]:
        key, equals, value = name.partition("=")
        if equals:
            found[unquote(key)] = "" if value == _MISSING_PARTITION else unquote(value)
    return found


def _shown(keys: Iterable[tuple[str, ...]]) -> str:
    return ", ".join(sorted("/".join(f"{name}=..." for name in names) or "none" for names in keys))
