"""The map file: an embedding and what is known about it, in plain arrays and JSON that any later version can read.

An .npz archive, read with allow_pickle=False:

    sce_map     a JSON text: {"format": 1, "sce": "0.1.0", "r": 2.1, "parameters": {...}, "facts": {...}, ...}
    Y           (n, d) float32, the coordinates
    ids         (n,) text or whole numbers, the names of the rows
    labels      (n,) numbers or dates; or whole numbers, -1 for none, that point into label_names
    label_names (k,) text, if the labels are text
    point_of_row    (rows of the data,) whole numbers, -1 for none, if rows were left out or merged
    history_*   one array for each quantity recorded per epoch
    P_*, X*     on request: the similarity graph (CSR) and the data (dense or CSR)

The same run gives the same bytes: the file holds no date.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sce.data.arrays import MAP
from sce.errors import InputError
from sce.results import archive
from sce.results.archive import (
    Archive,
    Kind,
    common_header,
    matrix_arrays,
    matrix_from,
    per_row,
    plain,
    row_arrays,
    rows_from,
)
from sce.results.tabular import columns_of, make_frame, usual_library

MAP_KIND = Kind(MAP, "map", 1, "sce embed {path} -o map.npz")


class FittedModel(Protocol):
    """What a map takes from a fitted :class:`sce.SCE`."""

    embedding_: np.ndarray
    scale_: float
    history_: Mapping[str, np.ndarray]
    n_epochs_: int
    stop_reason_: str
    neighbor_method_: str | None
    neighbor_recall_: float | None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, by name."""


@dataclass(eq=False, repr=False)
class Map:
    """An embedding and what is known about it.

    Attributes
    ----------
    Y : ndarray of shape (n, d)
        The coordinates.
    ids : ndarray of shape (n,)
        The name or number of each row of the data.
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
        How the run went: "n_epochs", "stop_reason", "neighbor_method", "neighbor_recall", "source", "notes"; and "library", of
        the data frame that was embedded.
    P, X : sparse matrix, array
        The graph and the data, if they were saved. A large dense X of a file is mapped, not read.
    point_of_row : ndarray, optional
        The point of each row of the data, -1 for none; None where rows were neither left out nor merged.
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
    point_of_row: np.ndarray | None = None

    @classmethod
    def from_model(cls, model: FittedModel, *, labels: Any = None, ids: Any = None, **other: Any) -> Map:
        """The map of a fitted :class:`sce.SCE`; further arguments are attributes of the map.

        The index of a data frame, or the names of the nodes of a graph, are the ids if no others are given.

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
        ids = getattr(model, "ids_", None) if ids is None else ids
        library = getattr(model, "_library", None)
        facts = {
            "n_epochs": model.n_epochs_,
            "stop_reason": model.stop_reason_,
            "neighbor_method": model.neighbor_method_,
            "neighbor_recall": model.neighbor_recall_,
            **({} if library is None else {"library": library}),
        }
        return cls(
            Y=model.embedding_,
            ids=per_row(np.arange(n) if ids is None else ids, n, "ids"),
            labels=None if labels is None else per_row(labels, n, "labels"),
            parameters={**plain(model.get_params(deep=False)), **other.pop("parameters", {})},
            r=float(model.scale_),
            history=dict(model.history_),
            facts={**facts, **other.pop("facts", {})},
            **other,
        )

    def to_frame(self, backend: str | None = None, **columns: Any) -> Any:
        """The map as a data frame, with the ids as index (pandas) or as a column.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library. By default that of the data frame that was embedded, or else pandas if it is installed.
        **columns : array of shape (n,)
            More columns, such as ``cluster=sce.find_clusters(map.Y)``.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            With the columns x, y and z, the labels under their name, and those given.

        Examples
        --------
        >>> import numpy as np
        >>> from sce import Map
        >>> made = Map(np.zeros((2, 2), np.float32), np.array(["a", "b"]), np.array([5, 6]), "age")
        >>> made.to_frame("pandas", cluster=[0, -1])
             x    y  age  cluster
        a  0.0  0.0    5        0
        b  0.0  0.0    6       -1
        """
        library = usual_library(self.facts.get("library")) if backend is None else backend
        return make_frame(columns_of(self.Y, self.ids, self.labels, self.label_name, columns), library)

    def save(self, path: str | Path) -> None:
        """Write the map to an .npz file, whole or not at all.

        An existing file is replaced only if it is a map itself.
        """
        self._check()
        archive.write(path, MAP_KIND, self._header(), self._arrays())

    def _check(self) -> None:
        """Refuse a map that could not be read back."""
        if np.ndim(self.Y) != 2 or not len(self.Y) or np.asarray(self.Y).dtype.kind != "f":
            raise InputError(
                f"Y must be a table of floating point numbers, a row for each point; got shape {np.shape(self.Y)}."
            )
        if not np.isfinite(self.Y).all():
            raise InputError("Y has NaN or infinity; a map has finite coordinates only.")
        per_row(self.ids, len(self.Y), "ids")
        if self.labels is not None:
            per_row(self.labels, len(self.Y), "labels")

    def _repr_html_(self) -> str:
        from sce.results.result_pages import map_page

        return map_page(self)

    def __repr__(self) -> str:
        kept = [name for name in ("labels", "P", "X") if getattr(self, name) is not None]
        also = f", with {', '.join(kept)}" if kept else ""
        return f"Map({self.Y.shape[0]} points in {self.Y.shape[1]} dimensions, r = {self.r:.4g}{also})"

    def _header(self) -> dict[str, Any]:
        return {
            "r": self.r if np.isfinite(self.r) else None,
            "label_name": self.label_name,
            "parameters": self.parameters,
            "facts": self.facts,
        }

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = {"Y": self.Y, **row_arrays(self.ids, self.labels, self.point_of_row)}
        arrays |= {f"history_{name}": np.asarray(values) for name, values in self.history.items()}
        return arrays | matrix_arrays("P", self.P) | matrix_arrays("X", self.X)


def load(path: str | Path, *, whole: bool = True) -> Map:
    """Read a map file; a sweep is refused. :func:`sce.load` opens both.

    Parameters
    ----------
    path : str or Path
        An .npz written by `sce embed` or :meth:`Map.save`.
    whole : bool, default=True
        Whether to read the graph and the data as well, if they were saved.

    Returns
    -------
    Map

    Examples
    --------
    >>> from sce.results import maps
    >>> Y = maps.load("map.npz").Y  # doctest: +SKIP
    """
    with archive.opened(path, MAP_KIND) as file:
        return read_map(file, whole=whole)


def read_map(file: Archive, *, whole: bool) -> Map:
    """The map in an open file."""
    arrays = file.arrays(() if whole else ("P", "X"), mapped=("X",))
    Y, r = arrays.get("Y"), file.header.get("r")
    if Y is None or Y.ndim != 2 or Y.dtype.kind != "f" or not len(Y) or not np.isfinite(Y).all():
        raise file.damaged("has no finite coordinates Y")
    rows = rows_from(file, arrays, len(Y))
    if not isinstance(r, int | float | None):
        raise file.damaged("has a damaged header")
    return Map(
        Y=Y,
        r=float("nan") if r is None else float(r),
        history={k.removeprefix("history_"): a for k, a in arrays.items() if k.startswith("history_") and a.ndim == 1},
        P=matrix_from("P", arrays, (len(Y), len(Y))),
        X=matrix_from("X", arrays, None),
        **rows,
        **common_header(file),
    )
