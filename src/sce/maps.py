"""The map file: what an embedding is, in plain arrays and JSON that any later version can read.

An .npz archive, read with allow_pickle=False:

    sce_map     a JSON text: {"format": 1, "sce": "0.1.0", "r": 2.1, "parameters": {...}, "facts": {...}, ...}
    Y           (n, d) float32, the coordinates
    ids         (n,) text or whole numbers, the names of the rows
    labels      (n,) numbers; or whole numbers, -1 for none, that point into label_names
    label_names (k,) text, where the labels are text
    history_*   one array for each thing recorded per epoch
    P_*, X*     on request: the similarity graph (CSR) and the data (dense, or CSR)

The same run gives the same bytes: there is no date in it.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sce.errors import InputError
from sce.files.arrays import MAP
from sce.files.sniff import check_file, reading
from sce.files.write import atomic, check_writable, write_npz
from sce.missing import as_text

if TYPE_CHECKING:
    from sce.estimator import SCE

FORMAT = 1
_CSR = ("data", "indices", "indptr")


@dataclass(eq=False, repr=False)
class Map:
    """An embedding with what is known about it.

    Attributes
    ----------
    Y : ndarray of shape (n, d)
        The coordinates.
    ids : ndarray of shape (n,)
        The name or number of each row in the data.
    labels : ndarray of shape (n,), optional
        Classes or numbers to colour by.
    label_name : str, optional
        What the labels are called.
    parameters : dict
        The parameters of :class:`sce.SCE`, and the preparation of the data.
    r : float
        The repulsion weight.
    history : dict of arrays
        As `SCE.history_`.
    facts : dict
        How the run went: "n_epochs", "stop_reason", "neighbor_method", "neighbor_recall", "source", "notes".
    P, X : sparse matrix, array
        The graph and the data, where they were saved.
    """

    Y: np.ndarray
    ids: np.ndarray
    labels: np.ndarray | None = None
    label_name: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    r: float = float("nan")
    history: dict[str, np.ndarray] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    P: Any = None
    X: Any = None

    @classmethod
    def from_model(cls, model: SCE, *, labels: Any = None, ids: Any = None, **other: Any) -> Map:
        """The map of a fitted :class:`sce.SCE`; further arguments are attributes of the map.

        Examples
        --------
        >>> import numpy as np
        >>> from sce import SCE, Map
        >>> X = np.random.default_rng(0).normal(size=(100, 4))
        >>> Map.from_model(SCE(random_state=0).fit(X), labels=X[:, 0] > 0).Y.shape
        (100, 2)
        """
        if not hasattr(model, "embedding_"):
            raise InputError("The model is not fitted; call fit first.")
        n = len(model.embedding_)
        facts = {
            "n_epochs": model.n_epochs_,
            "stop_reason": model.stop_reason_,
            "neighbor_method": model.neighbor_method_,
            "neighbor_recall": model.neighbor_recall_,
        }
        return cls(
            Y=model.embedding_,
            ids=_per_row(np.arange(n) if ids is None else ids, n, "ids"),
            labels=None if labels is None else _per_row(labels, n, "labels"),
            parameters={**_plain(model.get_params(deep=False)), **other.pop("parameters", {})},
            r=float(model.scale_),
            history=dict(model.history_),
            facts={**facts, **other.pop("facts", {})},
            **other,
        )

    def save(self, path: str | Path) -> None:
        """Write the map to an .npz file, whole or not at all.

        An existing file is replaced only if it is a map itself.
        """
        path = check_writable(path, [".npz"])
        refuse_to_replace(path)
        self._check()
        with atomic(path) as file:
            write_npz(file, self._arrays())

    def _check(self) -> None:
        """Refuse what could not be read again."""
        if np.ndim(self.Y) != 2 or not len(self.Y) or np.asarray(self.Y).dtype.kind != "f":
            raise InputError(
                f"Y must be a table of floating point numbers, a row for each point; got shape {np.shape(self.Y)}."
            )
        if not np.isfinite(self.Y).all():
            raise InputError("Y has NaN or infinity; a map has finite coordinates only.")
        _per_row(self.ids, len(self.Y), "ids")
        if self.labels is not None:
            _per_row(self.labels, len(self.Y), "labels")

    def __repr__(self) -> str:
        kept = [name for name in ("labels", "P", "X") if getattr(self, name) is not None]
        also = f", with {', '.join(kept)}" if kept else ""
        return f"Map({self.Y.shape[0]} points in {self.Y.shape[1]} dimensions, r = {self.r:.4g}{also})"

    def _arrays(self) -> dict[str, np.ndarray]:
        header = {
            "format": FORMAT,
            "sce": _version(),
            "r": self.r if np.isfinite(self.r) else None,
            "label_name": self.label_name,
            "parameters": _plain(self.parameters),
            "facts": _plain(self.facts),
        }
        arrays = {MAP: np.array(json.dumps(header, ensure_ascii=False)), "Y": self.Y, "ids": _storable(self.ids)}
        if self.labels is not None:
            arrays["labels"] = _storable(self.labels)
            if arrays["labels"].dtype.kind == "U":
                names, codes = np.unique(arrays["labels"], return_inverse=True)
                arrays["label_names"], arrays["labels"] = names, codes.reshape(-1).astype(np.int32)
        arrays |= {f"history_{name}": np.asarray(values) for name, values in self.history.items()}
        return arrays | _matrix_arrays("P", self.P) | _matrix_arrays("X", self.X)


def load(path: str | Path, *, whole: bool = True) -> Map:
    """Read a map file.

    Parameters
    ----------
    path : str or Path
        An .npz written by `sce embed` or :meth:`Map.save`.
    whole : bool, default=True
        Whether to read the graph and the data as well, where they were saved.

    Returns
    -------
    Map

    Examples
    --------
    >>> import sce
    >>> Y = sce.load("map.npz").Y  # doctest: +SKIP
    """
    path = Path(path)
    kind = check_file(path)
    if kind != ".npz":
        raise InputError(f"{path} is not a map, which ends in .npz; make one with: sce embed {path} -o map.npz")
    with reading(path, kind), path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
        header = _read_header(path, file)
        wanted = [
            name for name in file.files if name != MAP and (whole or (name != "X" and name[:2] not in ("P_", "X_")))
        ]
        arrays = {name: _array(path, file, name) for name in wanted}
        return _from_arrays(path, header, arrays)


def is_map(path: Path) -> bool:
    """Whether a file is a map of any version."""
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{MAP}.npy" in archive.namelist()
    except Exception:  # noqa: BLE001  (zipfile has many ways to say no)
        return False


def refuse_to_replace(path: Path) -> None:
    """Refuse to write a map over a file that is something else."""
    from sce.errors import OutputError

    if path.exists() and path.stat().st_size and not is_map(path):
        raise OutputError(f"{path} is there already and is not a map; choose another name, or remove it first.")


# -------------------------------------------------------------------------------------------------------------- reading


def _array(path: Path, file: Any, name: str) -> np.ndarray:
    try:
        return file[name]
    except ValueError as error:
        if "pickle" not in str(error):
            raise
        raise InputError(
            f"The array {name!r} of {path} holds pickled Python objects, which sce does not open, because they can run "
            "code; make the map anew."
        ) from None


def _read_header(path: Path, file: Any) -> dict[str, Any]:
    if MAP not in file.files:
        listed = " ".join(", ".join(file.files).split())[:200] or "nothing"
        raise InputError(f"{path} is not a map (it holds {listed}); make one with: sce embed {path} -o map.npz")
    header = json.loads(str(_array(path, file, MAP)), parse_constant=lambda _: None)  # NaN is not JSON
    if not isinstance(header, dict) or not isinstance(header.get("format"), int):
        raise InputError(f"{path} has a damaged header; make the map anew.")
    if header["format"] > FORMAT:
        raise InputError(
            f"{path} was written by a later version of sce ({header.get('sce')}, map format {header['format']}; this is "
            f"{_version()}, which reads up to {FORMAT}); update with: pip install --upgrade sce"
        )
    return header


def _from_arrays(path: Path, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Map:
    Y, ids, labels = arrays.get("Y"), arrays.get("ids"), arrays.get("labels")
    if Y is None or Y.ndim != 2 or Y.dtype.kind != "f" or not len(Y) or not np.isfinite(Y).all():
        raise InputError(f"{path} has no finite coordinates Y; make the map anew.")
    ids = np.arange(len(Y)) if ids is None else ids
    if labels is not None and "label_names" in arrays:
        labels = _named(path, labels, arrays["label_names"])
    for name, values in (("ids", ids), ("labels", labels)):
        if values is not None and values.shape != (len(Y),):
            raise InputError(f"{path} has {len(Y)} points, but {name} of shape {values.shape}; make the map anew.")
    parameters, facts, r = header.get("parameters", {}), header.get("facts", {}), header.get("r")
    label_name = header.get("label_name")
    fits = isinstance(parameters, dict) and isinstance(facts, dict)
    if not fits or not isinstance(r, int | float | None) or not isinstance(label_name, str | None):
        raise InputError(f"{path} has a damaged header; make the map anew.")
    return Map(
        Y=Y,
        ids=ids,
        labels=labels,
        label_name=label_name,
        parameters=parameters,
        r=float("nan") if r is None else float(r),
        history={k.removeprefix("history_"): a for k, a in arrays.items() if k.startswith("history_") and a.ndim == 1},
        facts=facts,
        P=_matrix("P", arrays, (len(Y), len(Y))),
        X=_matrix("X", arrays, None),
    )


def _named(path: Path, codes: np.ndarray, names: np.ndarray) -> np.ndarray:
    """Names for codes, none for -1."""
    if codes.dtype.kind not in "iu" or codes.max(initial=-1) >= len(names):
        raise InputError(f"{path} has labels without names; make the map anew.")
    return np.append(names, "")[np.maximum(codes, -1)]


def _matrix(name: str, arrays: dict[str, np.ndarray], shape: tuple[int, int] | None) -> Any:
    if f"{name}_indptr" not in arrays:
        return arrays.get(name)
    from scipy import sparse

    shape = shape or tuple(arrays[f"{name}_shape"])
    matrix = sparse.csr_matrix(tuple(arrays[f"{name}_{part}"] for part in _CSR), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


# -------------------------------------------------------------------------------------------------------------- writing


def _matrix_arrays(name: str, matrix: Any) -> dict[str, np.ndarray]:
    if matrix is None:
        return {}
    if not hasattr(matrix, "tocsr"):
        return {name: np.asarray(matrix)}
    matrix = matrix.tocsr()
    return {f"{name}_{part}": getattr(matrix, part) for part in _CSR} | {f"{name}_shape": np.array(matrix.shape)}


def _per_row(values: Any, n: int, name: str) -> np.ndarray:
    values = np.asarray(values)
    if values.shape != (n,):
        raise InputError(f"{name} must be as many as the points, {n}; their shape is {values.shape}.")
    return values


def _storable(values: np.ndarray) -> np.ndarray:
    """Numbers as they are, everything else as text."""
    return values if values.dtype.kind in "buifU" else as_text(values).astype(str)


def _plain(value: Any) -> Any:
    """What JSON can hold: numbers, texts, lists and dictionaries; anything else by its repr."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
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
