"""What the files of sce have in common: .npz archives of plain arrays and a JSON header, with a version, without pickles.

The same content gives the same bytes: there is no date in a file.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sce.core.missing import as_text
from sce.core.write import atomic, check_writable, write_npz
from sce.data.arrays import OWN
from sce.data.sniff import check_file, reading
from sce.errors import InputError, OutputError

_CSR = ("data", "indices", "indptr")


class Kind(NamedTuple):
    """A kind of file: the array with its header, what it is called, its newest format, and the command that makes one."""

    header: str
    what: str
    format: int
    recipe: str  # {path} stands for the data


# -------------------------------------------------------------------------------------------------------------- reading


@contextmanager
def opened(path: Path, kind: Kind) -> Iterator[tuple[dict[str, Any], Any]]:
    """The header and the archive; whatever goes wrong with either is said in a sentence."""
    ending = check_file(path)
    recipe = kind.recipe.format(path=path)
    if ending != ".npz":
        raise InputError(f"{path} is not a {kind.what}, which ends in .npz; make one with: {recipe}")
    with reading(path, ending), path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        yield _read_header(path, archive, kind), archive


def read_arrays(path: Path, archive: Any, kind: Kind, leave: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
    """All arrays but the header and the matrices of these names."""
    unwanted = tuple(f"{name}_" for name in leave)
    wanted = [
        name for name in archive.files if name != kind.header and name not in leave and not name.startswith(unwanted)
    ]
    return {name: _array(path, archive, name, kind) for name in wanted}


def damaged(path: Path, kind: Kind, how: str) -> InputError:
    """The error for a file that cannot be right."""
    return InputError(f"{path} {how}; make the {kind.what} anew.")


def _array(path: Path, archive: Any, name: str, kind: Kind) -> np.ndarray:
    try:
        return archive[name]
    except ValueError as error:
        if "pickle" not in str(error):
            raise
        raise InputError(
            f"The array {name!r} of {path} holds pickled Python objects, which sce does not open, because they can run "
            f"code; make the {kind.what} anew."
        ) from None


def _read_header(path: Path, archive: Any, kind: Kind) -> dict[str, Any]:
    if kind.header not in archive.files:
        raise InputError(_stranger(path, archive.files, kind))
    header = json.loads(str(_array(path, archive, kind.header, kind)), parse_constant=lambda _: None)  # NaN is not JSON
    if not isinstance(header, dict) or not isinstance(header.get("format"), int):
        raise damaged(path, kind, "has a damaged header")
    if header["format"] > kind.format:
        raise InputError(
            f"{path} was written by a later version of sce ({header.get('sce')}, {kind.what} format {header['format']}; "
            f"this is {_version()}, which reads up to {kind.format}); update with: pip install --upgrade sce"
        )
    return header


def _stranger(path: Path, names: list[str], kind: Kind) -> str:
    """What an archive is that is not of the kind."""
    for header, (what, opener) in OWN.items():
        if header in names:
            return f"{path} is a {what}, not a {kind.what}; open it with {opener}, or draw it with: sce plot {path}"
    listed = " ".join(", ".join(names).split())[:200] or "nothing"
    return f"{path} is not a {kind.what} (it holds {listed}); make one with: {kind.recipe.format(path=path)}"


def common_header(path: Path, header: dict[str, Any], kind: Kind) -> dict[str, Any]:
    """label_name, parameters and facts, which every kind has, once they are known to be what they should."""
    parameters, facts, label_name = header.get("parameters", {}), header.get("facts", {}), header.get("label_name")
    if not (isinstance(parameters, dict) and isinstance(facts, dict) and isinstance(label_name, str | None)):
        raise damaged(path, kind, "has a damaged header")
    return {"label_name": label_name, "parameters": parameters, "facts": facts}


def rows_from(path: Path, arrays: dict[str, np.ndarray], n: int, kind: Kind) -> dict[str, Any]:
    """The ids and labels of n points."""
    ids, labels = arrays.get("ids"), arrays.get("labels")
    ids = np.arange(n) if ids is None else ids
    if labels is not None and "label_names" in arrays:
        labels = _named(path, labels, arrays["label_names"], kind)
    for name, values in (("ids", ids), ("labels", labels)):
        if values is not None and values.shape != (n,):
            raise damaged(path, kind, f"has {n} points, but {name} of shape {values.shape}")
    return {"ids": ids, "labels": labels}


def matrix_from(name: str, arrays: dict[str, np.ndarray], shape: tuple[int, int] | None) -> Any:
    """A matrix, dense or sparse, or None."""
    if f"{name}_indptr" not in arrays:
        return arrays.get(name)
    from scipy import sparse

    shape = shape or tuple(arrays[f"{name}_shape"])
    matrix = sparse.csr_matrix(tuple(arrays[f"{name}_{part}"] for part in _CSR), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def _named(path: Path, codes: np.ndarray, names: np.ndarray, kind: Kind) -> np.ndarray:
    """Names for codes, none for -1."""
    if codes.dtype.kind not in "iu" or codes.max(initial=-1) >= len(names):
        raise damaged(path, kind, "has labels without names")
    return np.append(names, "")[np.maximum(codes, -1)]


# -------------------------------------------------------------------------------------------------------------- writing


def write(path: str | Path, kind: Kind, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write a file, whole or not at all; an existing one is replaced only if it is of the same kind."""
    path = check_writable(path, [".npz"])
    refuse_to_replace(path, kind)
    text = json.dumps({"format": kind.format, "sce": _version(), **plain(header)}, ensure_ascii=False)
    with atomic(path) as file:
        write_npz(file, {kind.header: np.array(text), **arrays})


def is_kind(path: Path, kind: Kind) -> bool:
    """Whether a file is of a kind, of any version."""
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{kind.header}.npy" in archive.namelist()
    except Exception:  # noqa: BLE001  (zipfile has many ways to say no)
        return False


def refuse_to_replace(path: Path, kind: Kind) -> None:
    """Refuse to write over a file that is something else."""
    if path.exists() and path.stat().st_size and not is_kind(path, kind):
        raise OutputError(f"{path} is there already and is not a {kind.what}; choose another name, or remove it first.")


def row_arrays(ids: np.ndarray, labels: np.ndarray | None) -> dict[str, np.ndarray]:
    """Ids and labels, text among these as numbers that point into label_names."""
    arrays = {"ids": _storable(ids)}
    if labels is not None:
        arrays["labels"] = _storable(labels)
        if arrays["labels"].dtype.kind == "U":
            names, codes = np.unique(arrays["labels"], return_inverse=True)
            arrays["label_names"], arrays["labels"] = names, codes.reshape(-1).astype(np.int32)
    return arrays


def matrix_arrays(name: str, matrix: Any) -> dict[str, np.ndarray]:
    """A dense array as it is, the parts of a sparse matrix, or nothing."""
    if matrix is None:
        return {}
    if not hasattr(matrix, "tocsr"):
        return {name: np.asarray(matrix)}
    matrix = matrix.tocsr()
    return {f"{name}_{part}": getattr(matrix, part) for part in _CSR} | {f"{name}_shape": np.array(matrix.shape)}


def per_row(values: Any, n: int, name: str) -> np.ndarray:
    """One value for each of n points."""
    values = np.asarray(values)
    if values.shape != (n,):
        raise InputError(f"{name} must be as many as the points, {n}; their shape is {values.shape}.")
    return values


def _storable(values: Any) -> np.ndarray:
    """Numbers as they are, everything else as text."""
    values = np.asarray(values)
    return values if values.dtype.kind in "buifU" else as_text(values).astype(str)


def plain(value: Any) -> Any:
    """What JSON can hold: numbers, texts, lists and dictionaries; anything else by its repr.

    Examples
    --------
    >>> plain({"init": np.zeros((5, 2)), "r": np.float64(2.0), "affinity": plain})
    {'init': 'array of shape (5, 2)', 'r': 2.0, 'affinity': 'plain'}
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return repr(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return f"array of shape {value.shape}" if isinstance(value, np.ndarray) else _describe(value)


def _describe(value: Any) -> str:
    """An object without the address that its repr may carry, which no two runs share."""
    return getattr(value, "__name__", None) or (repr(value) if " at 0x" not in repr(value) else type(value).__name__)


def _version() -> str:
    from sce import __version__

    return __version__
