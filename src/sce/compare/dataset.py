"""The data of a comparison: vectors or a graph, how to build P, and the classes if they are known."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sce.errors import InputError, ParameterError

if TYPE_CHECKING:
    from sce.graph.build import GraphOptions

_BYTES_HASHED_AT_ONCE = 1 << 24  # of an array, which bounds the copies made


@dataclass
class Data:
    """Named data to compare methods on.

    Attributes
    ----------
    name : str
        Names the folder and the figure.
    X : array or sparse matrix of shape (n, d), optional
        Vectors; without them, methods that need vectors are left out.
    P : sparse matrix of shape (n, n), optional
        A similarity graph; built from X as `graph` says if there is none.
    labels : array of shape (n,), optional
        Classes or numbers to colour the insets by.
    kind : {"auto", "classes", "number"}, default="auto"
        What the labels are, as in :func:`sce.plot.scatter`.
    are_classes : bool, default=True
        Whether labels that are classes are expected to agree with clusters.
    graph : GraphOptions, optional
        How to build P from X; with the defaults of :class:`sce.SCE` if not given.
    source : str
        The origin of the data, for the report.

    Examples
    --------
    >>> data = Data("noise", X=np.random.default_rng(0).normal(size=(50, 3)))
    >>> data.n
    50
    """

    name: str
    X: Any = None
    P: Any = None
    labels: Any = None
    kind: str = "auto"
    are_classes: bool = True
    graph: GraphOptions | None = None
    source: str = ""

    def __post_init__(self) -> None:
        if not self.name or self.name.startswith(".") or any(c in self.name for c in "/\\\0"):
            raise ParameterError(f"The name of the data becomes the name of a folder, which cannot be {self.name!r}.")
        if self.X is None and self.P is None:
            raise InputError("A comparison needs vectors X or a similarity graph P.")
        if self.X is not None:
            self.X = _vectors(self.X)
        if self.X is not None and self.P is not None and self.P.shape[0] != self.X.shape[0]:
            raise InputError(f"P has {self.P.shape[0]} points, but X has {self.X.shape[0]} rows.")
        if self.labels is not None and len(self.labels) != self.n:
            raise InputError(f"There must be one label for each of the {self.n} points; got {len(self.labels)}.")

    @property
    def n(self) -> int:
        """The number of points."""
        return int((self.P if self.X is None else self.X).shape[0])

    @property
    def metric(self) -> str:
        """The metric of the vectors, if P is built with a named one; else "euclidean"."""
        metric = "euclidean" if self.graph is None else self.graph.metric
        return metric if isinstance(metric, str) else "euclidean"

    def classes(self) -> np.ndarray | None:
        """The class of each point as a number, -1 for none; None if the labels are not classes."""
        from sce.data.labels import Classes, as_labels

        if self.labels is None or not self.are_classes:
            return None
        read = as_labels(self.labels, self.n, self.kind)
        return np.asarray(read.codes, np.int64) if isinstance(read, Classes) else None


def _vectors(X: Any) -> Any:
    """Rows of float32, dense or CSR, the same for every method."""
    if hasattr(X, "tocsr"):
        return X.tocsr().astype(np.float32)
    X = np.ascontiguousarray(X, np.float32)
    if X.ndim != 2 or not len(X):
        raise InputError(f"X must be a table with a row for each point; its shape is {X.shape}.")
    return X


def fingerprint(*parts: Any) -> str:
    """A short name for the content of arrays, sparse matrices and texts.

    Examples
    --------
    >>> fingerprint(np.arange(3)) == fingerprint(np.arange(3)), fingerprint(np.arange(3)) == fingerprint(np.arange(4))
    (True, False)
    """
    digest = hashlib.sha256()
    for part in parts:
        arrays = [part.data, part.indices, part.indptr] if hasattr(part, "indptr") else [part]
        digest.update(repr(getattr(part, "shape", type(part).__name__)).encode())
        for array in arrays:
            _add(digest, array)
    return digest.hexdigest()[:16]


def _add(digest: Any, value: Any) -> None:
    if not isinstance(value, np.ndarray):
        digest.update(repr(value).encode())
        return
    digest.update(str(value.dtype).encode())
    if value.dtype.hasobject:
        digest.update(repr(value.tolist()).encode())
        return
    step = max(1, _BYTES_HASHED_AT_ONCE // max(1, value[:1].nbytes))
    for start in range(0, len(value), step):
        digest.update(np.ascontiguousarray(value[start : start + step]).tobytes())
