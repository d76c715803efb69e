"""NumPy's own files: .npy, which is memory-mapped, and .npz, of arrays or of a scipy sparse matrix."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from sce.core.missing import as_text
from sce.data.source import Request, Source, pick_columns
from sce.errors import InputError

_SPARSE_MEMBERS = {"format", "shape", "data"}  # arrays that scipy.sparse.save_npz always writes
MAP, SWEEP = "sce_map", "sce_sweep"  # the header array of a map file, and of a sweep file
OWN = {MAP: "map", SWEEP: "sweep"}  # what to call the file; sce.load opens both
LABEL_ARRAYS = ("y", "labels", "label", "target")  # arrays of an .npz that hold labels, the most likely first


def read_npy(path: Path, request: Request) -> Source:
    """An .npy file, memory-mapped: its pages are read on demand."""
    refuse_pickle(path)
    X = np.load(path, mmap_mode="r", allow_pickle=False)
    return _source(path, X, request)


def refuse_pickle(path: Path) -> None:
    """Refuse an .npy that holds Python objects."""
    with path.open("rb") as file:
        _refuse_objects(path, "", _header(file)[1])


def read_npz(path: Path, request: Request) -> Source:
    """An .npz file: a sparse matrix, or a matrix X with arrays of labels."""
    shapes = npz_shapes(path)
    for header, what in OWN.items():
        if header in shapes:
            raise InputError(f"{path} is a {what}, not data; draw it with: sce plot {path}")
    if is_sparse(shapes):
        return _source(path, load_sparse(path), request)
    with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
        name = _matrix_name(path, shapes, request.array)
        X = file[name]
        rows = X.shape[:1]
        others = sorted((k for k in shapes if k != name and shapes[k] == rows), key=labels_first)
        extra = {k: plain_values(path, k, file[k]) for k in others}
    source = _source(path, X, request)
    source.extra |= extra
    return source


def is_sparse(shapes: Any) -> bool:
    """Whether these are the arrays of a scipy sparse matrix."""
    return set(shapes) >= _SPARSE_MEMBERS


def load_sparse(path: Path) -> Any:
    """A matrix saved by scipy.sparse.save_npz, as CSR, with its indices checked."""
    from scipy import sparse

    npz_shapes(path)
    matrix = sparse.load_npz(path)
    if matrix.format in ("csr", "csc", "bsr"):
        matrix.check_format(full_check=True)  # before a conversion dereferences the indices
    matrix = matrix.tocsr()
    matrix.sum_duplicates()
    return matrix


def npz_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """The shape of each array in an .npz, read from the headers; arrays of Python objects are refused."""
    shapes = {}
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            if not member.endswith(".npy"):
                continue
            with archive.open(member) as file:
                shape, dtype = _header(file)
            _refuse_objects(path, f"Array {member[:-4]!r} of ", dtype)
            shapes[member[:-4]] = shape
    if not shapes:
        raise InputError(f"{path} holds no array; write one with numpy.savez(path, X=X).")
    return shapes


def _header(file: Any) -> tuple[tuple[int, ...], np.dtype]:
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    return shape, dtype


def _refuse_objects(path: Path, where: str, dtype: np.dtype) -> None:
    """Refuse pickles, which can run arbitrary code when they are read."""
    if dtype.hasobject:
        how = "numbers or text, for example X.astype(float) or y.astype(str)" if where else "numbers, X.astype(float)"
        raise InputError(
            f"{where}{path} holds pickled Python objects, which sce does not open because they can run code; save plain "
            f"{how}."
        )


def _matrix_name(path: Path, shapes: dict[str, tuple[int, ...]], wanted: str | None) -> str:
    """The array to embed: the requested one, or X, or the only matrix."""
    listed = " ".join(", ".join(f"{name} {shape}" for name, shape in shapes.items()).split())[:300]
    if wanted is not None:
        if wanted not in shapes:
            raise InputError(f"{path} has no array {wanted!r}; it has: {listed}.")
        return wanted
    matrices = [name for name, shape in shapes.items() if len(shape) == 2]
    if "X" in matrices:
        return "X"
    if len(matrices) != 1:
        found = f"{len(matrices)} matrices" if matrices else "no matrix"
        raise InputError(f"{path} has {found} and none named X; choose one with array=: it has {listed}.")
    return matrices[0]


def labels_first(name: str) -> int:
    """A sort key that puts the arrays that most likely hold labels first."""
    return LABEL_ARRAYS.index(name) if name in LABEL_ARRAYS else len(LABEL_ARRAYS)


def plain_values(path: Path, name: str, values: np.ndarray) -> np.ndarray:
    """One number or text per row; text as Python strings."""
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or values.dtype.kind not in "buifUS":
        raise InputError(
            f"{name} of {path} holds {values.dtype} of shape {values.shape}; labels are one number or text per row."
        )
    return as_text(values) if values.dtype.kind in "US" else values


def _source(path: Path, X: Any, request: Request) -> Source:
    """The requested columns of a matrix; the fields of records become columns with names."""
    if X.dtype.names:
        names = list(X.dtype.names)
        kinds = {X.dtype[name].kind for name in names}
        if not kinds <= set("buif") or X.ndim != 1:
            raise InputError(f"{path} holds records with fields that are not numbers; save the numbers as a matrix.")
        X = np.stack([X[name] for name in names], axis=1)
        return pick_columns(Source(path, X, names), request)
    return pick_columns(Source(path, X), request) if X.ndim == 2 else Source(path, X)
