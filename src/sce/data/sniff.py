"""The kind of a file: by its name, checked against its first bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sce.core.hints import nearest_words
from sce.data.kinds import FILE_KINDS, READABLE_FILES
from sce.data.parts import PART_ENDINGS, kind_of_folder
from sce.errors import InputError, SCEError

# First bytes of files that sce does not read, and what such a file is.
_FOREIGN_SIGNATURES = (
    (rb"\x1f\x8b", "a gzip file (.gz)"),
    (rb"\x80[\x02-\x05]", "a Python pickle"),
    (rb"%PDF|\x89PNG|\xff\xd8\xff", "a picture or a document"),
    (rb"(?i)\s*<(!doctype|html|\?xml)", "a web page"),
)
# What to do about files of other kinds, by their endings.
_REMEDIES = (
    ((".xlsx", ".xls", ".ods", ".numbers"), "save the sheet as .csv"),
    ((".zip", ".xz", ".bz2", ".zst", ".7z", ".tar", ".tgz"), "unpack it"),
    ((".json",), "write an object in each line, and name it .jsonl"),
)


def kind_of(path: Path) -> str:
    """The kind of a file by its name, one of FILE_KINDS.

    Examples
    --------
    >>> kind_of(Path("counts.MTX.gz"))
    '.mtx'
    """
    name = path.name.lower()
    packed = name.endswith(".gz")
    kind = Path(name[:-3] if packed else name).suffix
    if kind not in FILE_KINDS or (packed and not FILE_KINDS[kind].gzip):
        near = nearest_words(kind, FILE_KINDS, likeness=0.6)
        hint = f" (did you mean {near[0]}?)" if near else ""
        hint += next((f" ({remedy})" for endings, remedy in _REMEDIES if path.suffix.lower() in endings), "")
        raise InputError(
            f"{path} ends in {''.join(path.suffixes[-2:] if packed else path.suffixes[-1:]) or 'nothing'}, which sce "
            f"cannot read{hint}; it reads {READABLE_FILES}."
        )
    return kind


def check_file(path: Path) -> str:
    """The kind of a file, once it is known to exist, to be readable and not empty, and to begin as its name says."""
    if str(path) in ("-", "/dev/stdin"):
        raise InputError("sce reads files, not standard input; save the data to a file first.")
    try:
        if path.is_dir():
            return _check_folder(path)
        kind = kind_of(path)
        with path.open("rb") as file:
            first = file.read(4096)
    except SCEError:
        raise
    except FileNotFoundError:
        raise InputError(f"There is no file {path}{_nearest(path)}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    if not first:
        raise InputError(f"{path} is empty; give a file with data in it.")
    _check_signature(path, kind, first)
    return kind


def _check_folder(path: Path) -> str:
    """The kind of the parts of a table in a folder."""
    kind = kind_of_folder(path)
    if kind is None:
        raise InputError(
            f"{path} is a folder without {', '.join(PART_ENDINGS[:-1])} or {PART_ENDINGS[-1]} files; give a file, or a "
            "folder of such parts."
        )
    return kind


def _check_signature(path: Path, kind: str, first: bytes) -> None:
    """Refuse a file whose first bytes are those of another kind."""
    found = _recognise(first)
    packed = path.suffix.lower() == ".gz"
    expected = FILE_KINDS[kind]
    if packed:
        right = first.startswith(b"\x1f\x8b")
    elif expected.signature is None:
        right = found is None
    else:
        right = re.match(expected.signature, first) is not None
    if not right:
        found = found or ("text" if b"\x00" not in first else "something else")
        raise InputError(
            f"{path} is not what its name says: it should be {'a gzip file' if packed else expected.title}, but its first "
            f"bytes are those of {found}; give the right file, or rename it."
        )


def _recognise(first: bytes) -> str | None:
    """What a file with these first bytes is; None for text and for what is not known."""
    known = ((kind.signature, kind.shown) for kind in FILE_KINDS.values() if kind.signature is not None)
    return next((shown for pattern, shown in (*known, *_FOREIGN_SIGNATURES) if re.match(pattern, first)), None)


def _nearest(path: Path) -> str:
    """A hint at a file with a similar name."""
    try:
        names = [p.name for p in path.parent.iterdir()]
    except OSError:
        return f": the folder {path.parent} does not exist." if not path.parent.is_dir() else "."
    near = nearest_words(path.name, names, likeness=0.6)
    return f"; did you mean {path.parent / near[0]}?" if near else "."


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever a reader raises into an InputError of one sentence; our own errors pass unchanged."""
    try:
        yield
    except SCEError:
        raise
    except MemoryError:
        raise InputError(
            f"{path} needs more memory than there is; read fewer columns with columns=, or save it as .npy, which is "
            "memory-mapped."
        ) from None
    except Exception as error:
        reason = re.sub(r"\s+", " ", str(error)).strip() or type(error).__name__
        raise InputError(
            f"{path} cannot be read as {FILE_KINDS[kind].title}: it is damaged or truncated ({reason[:200].rstrip('.')}); "
            "copy it again or recreate it."
        ) from error
