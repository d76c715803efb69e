"""The common base of result files: .npz archives of plain arrays and a JSON header with a format number, without pickles.

The same content gives the same bytes: a file holds no date.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from sce.core.dataframes import as_column
from sce.core.missing import as_text
from sce.core.write import atomic, check_writable, write_npz
from sce.data.arrays import OWN
from sce.data.labels import as_dates
from sce.data.sniff import check_file, reading
from sce.errors import InputError, OutputError
from sce.results.stored import map_array

_CSR = ("data", "indices", "indptr")


class Kind(NamedTuple):
    """A kind of result file."""

    header: str  # the name of the array that holds the header, by which the kind is known
    what: str  # what to call such a file
    format: int  # the newest format
    recipe: str  # the command that makes one; {path} stands for the data


# -------------------------------------------------------------------------------------------------------------- reading


class Archive:
    """An open result file: its kind, its header, and its arrays on request."""

    def __init__(self, path: Path, kind: Kind, file: BinaryIO, members: Any) -> None:
        self.path, self.kind = path, kind
        self._file, self._members = file, members
        self.header = self._read_header()

    def arrays(self, without: Collection[str] = (), mapped: Collection[str] = ()) -> dict[str, np.ndarray]:
        """The arrays of the file, by name.

        Parameters
        ----------
        without : collection of str
            Matrices to leave out, whether dense or sparse.
        mapped : collection of str
            Arrays to map read-only instead of reading them, where they are large and the file allows it.
        """
        parts = tuple(f"{name}_" for name in without)
        found = {}
        for name in self._members.files:
            if name != self.kind.header and name not in without and not name.startswith(parts):
                array = map_array(self._file, self._members.zip, name) if name in mapped else None
                found[name] = self._read(name) if array is None else array
        return found

    def damaged(self, how: str) -> InputError:
        """The error for an invalid file."""
        return InputError(f"{self.path} {how}; create the {self.kind.what} again.")

    def _read(self, name: str) -> np.ndarray:
        try:
            array: np.ndarray = self._members[name]
        except ValueError as error:
            if "pickle" not in str(error):
                raise
            raise InputError(
                f"The array {name!r} of {self.path} holds pickled Python objects, which sce does not open, because they "
                f"can run code; create the {self.kind.what} again."
            ) from None
        return array

    def _read_header(self) -> dict[str, Any]:
        text = str(self._read(self.kind.header))
        header = json.loads(text, parse_constant=lambda _: None)  # NaN is not JSON
        if not isinstance(header, dict) or not isinstance(header.get("format"), int):
            raise self.damaged("has a damaged header")
        if header["format"] > self.kind.format:
            raise InputError(
                f"{self.path} was written by a later version of sce ({header.get('sce')}, {self.kind.what} format "
                f"{header['format']}; this is {_version()}, which reads up to {self.kind.format}); update with: "
                "pip install --upgrade sce"
            )
        return header


@contextmanager
def opened(path: str | Path, *kinds: Kind) -> Iterator[Archive]:
    """A file of one of some kinds; any problem with it becomes an error of one sentence."""
    path = Path(path)
    ending = check_file(path)
    if ending != ".npz":
        raise InputError(f"{path} is {_none_of(kinds)}: its name must end in .npz; {_advice(path, kinds)}")
    with reading(path, ending), path.open("rb") as file, np.load(file, allow_pickle=False) as members:
        kind = next((kind for kind in kinds if kind.header in members.files), None)
        if kind is None:
            raise InputError(_explain_other(path, members.files, kinds))
        yield Archive(path, kind, file, members)


def _explain_other(path: Path, names: list[str], kinds: tuple[Kind, ...]) -> str:
    """The error message for an archive that is of none of these kinds."""
    for header, what in OWN.items():
        if header in names:
            return f"{path} is a {what}, {_none_of(kinds)}; open it with sce.load, or draw it with: sce plot {path}"
    listed = " ".join(", ".join(names).split())[:200] or "nothing"
    return f"{path} is {_none_of(kinds)} (it holds {listed}); {_advice(path, kinds)}"


def _none_of(kinds: tuple[Kind, ...]) -> str:
    names = [f"a {kind.what}" for kind in kinds]
    return f"not {names[0]}" if len(names) == 1 else f"neither {' nor '.join(names)}"


def _advice(path: Path, kinds: tuple[Kind, ...]) -> str:
    return f"make one with: {' or '.join(kind.recipe.format(path=path) for kind in kinds)}"


def common_header(archive: Archive) -> dict[str, Any]:
    """label_name, parameters and facts, which every kind has, checked."""
    header = archive.header
    parameters, facts, label_name = header.get("parameters", {}), header.get("facts", {}), header.get("label_name")
    if not (isinstance(parameters, dict) and isinstance(facts, dict) and isinstance(label_name, str | None)):
        raise archive.damaged("has a damaged header")
    return {"label_name": label_name, "parameters": parameters, "facts": facts}


def rows_from(archive: Archive, arrays: dict[str, np.ndarray], n: int) -> dict[str, Any]:
    """The ids and labels of n points, and the rows that they are of."""
    ids, labels, point_of_row = (arrays.get(name) for name in ("ids", "labels", "point_of_row"))
    ids = np.arange(n) if ids is None else ids
    if labels is not None and "label_names" in arrays:
        labels = _named(archive, labels, arrays["label_names"])
    for name, values in (("ids", ids), ("labels", labels)):
        if values is not None and values.shape != (n,):
            raise archive.damaged(f"has {n} points, but {name} of shape {values.shape}")
    if point_of_row is not None and not _are_points(point_of_row, n):
        raise archive.damaged("has rows of points that there are not")
    return {"ids": ids, "labels": labels, "point_of_row": point_of_row}


def _are_points(point_of_row: np.ndarray, n: int) -> bool:
    """Whether these are the points, out of n, of some rows, and none is without a row."""
    if point_of_row.ndim != 1 or point_of_row.dtype.kind != "i":
        return False
    return bool(np.array_equal(np.unique(point_of_row[point_of_row >= 0]), np.arange(n)))


def matrix_from(name: str, arrays: dict[str, np.ndarray], shape: tuple[int, int] | None) -> Any:
    """A matrix, dense or sparse, or None."""
    if f"{name}_indptr" not in arrays:
        return arrays.get(name)
    from scipy import sparse

    shape = shape or tuple(arrays[f"{name}_shape"])
    matrix = sparse.csr_matrix(tuple(arrays[f"{name}_{part}"] for part in _CSR), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def _named(archive: Archive, codes: np.ndarray, names: np.ndarray) -> np.ndarray:
    """The name of each code; empty for -1."""
    if codes.dtype.kind not in "iu" or codes.max(initial=-1) >= len(names):
        raise archive.damaged("has labels without names")
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
    """Whether a file is of a kind, in any format."""
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{kind.header}.npy" in archive.namelist()
    except Exception:  # noqa: BLE001  (zipfile raises many types of error)
        return False


def refuse_to_replace(path: Path, kind: Kind) -> None:
    """Refuse to overwrite a file of another kind."""
    if path.exists() and path.stat().st_size and not is_kind(path, kind):
        raise OutputError(f"{path} exists and is not a {kind.what}; choose another name, or remove it first.")


def row_arrays(
    ids: np.ndarray, labels: np.ndarray | None, point_of_row: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Ids and labels; labels that are text become codes that point into label_names, and dates remain dates."""
    arrays = {"ids": _storable(ids)}
    if point_of_row is not None:
        arrays["point_of_row"] = np.asarray(point_of_row, np.int32)
    if labels is not None:
        dates = as_dates(np.asarray(labels))
        arrays["labels"] = _storable(labels) if dates is None else dates
        if arrays["labels"].dtype.kind == "U":
            names, codes = np.unique(arrays["labels"], return_inverse=True)
            arrays["label_names"], arrays["labels"] = names, codes.reshape(-1).astype(np.int32)
    return arrays


def matrix_arrays(name: str, matrix: Any) -> dict[str, np.ndarray]:
    """A dense array as it is, the parts of a sparse matrix, or nothing for None."""
    if matrix is None:
        return {}
    if not hasattr(matrix, "tocsr"):
        return {name: np.asarray(matrix)}
    matrix = matrix.tocsr()
    return {f"{name}_{part}": getattr(matrix, part) for part in _CSR} | {f"{name}_shape": np.array(matrix.shape)}


def per_row(values: Any, n: int, name: str) -> np.ndarray:
    """Values as an array, one for each of n points."""
    values = np.asarray(as_column(values))
    if values.shape != (n,):
        raise InputError(f"{name} must have one value for each of the {n} points; the shape is {values.shape}.")
    return values


def _storable(values: Any) -> np.ndarray:
    """Numbers as they are, everything else as text."""
    values = np.asarray(values)
    return values if values.dtype.kind in "buifU" else as_text(values).astype(str)


def plain(value: Any) -> Any:
    """A value as JSON can hold it: numbers, text, lists and dictionaries; anything else by its repr.

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
    """The name or repr of an object, without its address in memory, which changes from run to run."""
    return getattr(value, "__name__", None) or (repr(value) if " at 0x" not in repr(value) else type(value).__name__)


def _version() -> str:
    from sce import __version__

    return __version__
