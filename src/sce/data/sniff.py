"""What kind of file is this? By its name, and whether its first bytes agree."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sce.errors import InputError, SCEError

# Kind: what to call it. A kind is the end of a name, without .gz.
KINDS = {
    ".npy": "a NumPy array",
    ".npz": "an archive of NumPy arrays",
    ".csv": "a table of text",
    ".tsv": "a table of text",
    ".txt": "a table of text",
    ".parquet": "a Parquet table",
    ".mtx": "a Matrix Market file",
    ".h5ad": "an AnnData file",
}
TEXT = (".csv", ".tsv", ".txt")
_PACKED = (*TEXT, ".mtx")  # may also end in .gz

# First bytes: what they say of a file, and the kinds they fit.
_SIGNATURES = (
    (rb"\x93NUMPY", "a NumPy array (.npy)", (".npy",)),
    (rb"PK(\x03\x04|\x05\x06)", "a zip archive (.npz, .xlsx)", (".npz",)),
    (rb"PAR1", "a Parquet table", (".parquet",)),
    (rb"\x89HDF\r\n", "an HDF5 file (.h5ad)", (".h5ad",)),
    (rb"%%MatrixMarket", "a Matrix Market file (.mtx)", (".mtx",)),
    (rb"\x1f\x8b", "compressed by gzip (.gz)", ()),
    (rb"\x80[\x02-\x05]", "a Python pickle", ()),
    (rb"%PDF|\x89PNG|\xff\xd8\xff", "a picture or a document", ()),
    (rb"(?i)\s*<(!doctype|html|\?xml)", "a web page", ()),
)


def kind_of(path: Path) -> str:
    """The kind of a file by its name, one of KINDS.

    Examples
    --------
    >>> kind_of(Path("counts.MTX.gz"))
    '.mtx'
    """
    name = path.name.lower()
    packed = name.endswith(".gz")
    kind = Path(name[:-3] if packed else name).suffix
    if kind not in KINDS or (packed and kind not in _PACKED):
        near = difflib.get_close_matches(kind, KINDS, 1, 0.6)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise InputError(
            f"{path} ends in {''.join(path.suffixes[-2:] if packed else path.suffixes[-1:]) or 'nothing'}, which sce "
            f"cannot read{hint}; give {', '.join(KINDS)}, the texts and .mtx also with .gz."
        )
    return kind


def check_file(path: Path) -> str:
    """The kind of a file that is there, can be read, is not empty, and begins as its name says."""
    if str(path) in ("-", "/dev/stdin"):
        raise InputError("sce reads files, not standard input; save it to a file first.")
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder; give a file in it.")
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
    _refuse_stranger(path, kind, first)
    return kind


def _refuse_stranger(path: Path, kind: str, first: bytes) -> None:
    """Refuse a file whose first bytes are those of another kind."""
    packed = path.suffix.lower() == ".gz"
    is_, fits = next(((is_, fits) for pattern, is_, fits in _SIGNATURES if re.match(pattern, first)), (None, ()))
    if packed:
        right = first[:2] == b"\x1f\x8b"
    elif is_ is None:
        right = kind in TEXT
        is_ = "text" if b"\x00" not in first else "something else"
    else:
        right = kind in fits
    if not right:
        meant = "gzip" if packed else KINDS[kind]
        raise InputError(
            f"{path} is not what its name says: it should be {meant}, but its first bytes are those of "
            f"{(is_ or 'something else').removeprefix('compressed by ')}; give the right file, or the right name."
        )


def _nearest(path: Path) -> str:
    """A hint at a file with nearly this name."""
    try:
        names = [p.name for p in path.parent.iterdir()]
    except OSError:
        return f": the folder {path.parent} is not there." if not path.parent.is_dir() else "."
    near = difflib.get_close_matches(path.name, names, 1, 0.6)
    return f"; did you mean {path.parent / near[0]}?" if near else "."


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever a reader raises into one sentence; our own errors pass."""
    try:
        yield
    except SCEError:
        raise
    except MemoryError:
        raise InputError(
            f"{path} needs more memory than there is; read fewer columns with --columns, or save it as .npy, which "
            "is not read as a whole."
        ) from None
    except Exception as error:
        reason = re.sub(r"\s+", " ", str(error)).strip() or type(error).__name__
        raise InputError(
            f"{path} cannot be read as {KINDS[kind]}: it is damaged or cut short ({reason[:200].rstrip('.')}); copy or "
            "make it anew."
        ) from error
