"""The data of a comparison: vectors or a graph, how P is made, and classes where they are known."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sce.errors import InputError, ParameterError

if TYPE_CHECKING:
    from sce.graph.build import GraphOptions


@dataclass
class Data:
    """Data with a name.

    Attributes
    ----------
    name : str
        The name of the folder and of the figure.
    X : array or sparse matrix of shape (n, d), optional
        Vectors; the methods that take vectors are left out without them.
    P : sparse matrix of shape (n, n), optional
        A similarity graph; made from X by `graph` where there is none.
    labels : array of shape (n,), optional
        Classes or numbers to colour the insets by.
    kind : {"auto", "classes", "number"}, default="auto"
        What the labels are, as in :func:`sce.plot.scatter`.
    are_classes : bool, default=True
        Whether clusters should agree with the labels, if these are classes.
    graph : GraphOptions, optional
        How P is made from X; as of :class:`sce.SCE` by default.
    source : str
        Where the data come from, for the report.

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
            raise ParameterError(f"The name of the data becomes that of a folder, which {self.name!r} cannot be.")
        if self.X is None and self.P is None:
            raise InputError("A comparison needs vectors X, or a similarity graph P.")
        if self.X is not None:
            self.X = _vectors(self.X)
        if self.X is not None and self.P is not None and self.P.shape[0] != self.X.shape[0]:
            raise InputError(f"P has {self.P.shape[0]} points, but X has {self.X.shape[0]} rows.")
        if self.labels is not None and len(self.labels) != self.n:
            raise InputError(f"labels must be as many as the points, {self.n}; got {len(self.labels)}.")

    @property
    def n(self) -> int:
        """The number of points."""
        return int((self.P if self.X is None else self.X).shape[0])

    @property
    def metric(self) -> str:
        """The metric of the vectors, where P was made with one that has a name."""
        metric = "euclidean" if self.graph is None else self.graph.metric
        return metric if isinstance(metric, str) else "euclidean"

    def classes(self) -> np.ndarray | None:
        """A number for each point's class, -1 for none; None where the labels are no classes."""
        from sce.data.labels import Classes, as_labels

        if self.labels is None or not self.are_classes:
            return None
        read = as_labels(self.labels, self.n, self.kind)
        return np.asarray(read.codes, np.int64) if isinstance(read, Classes) else None


def _vectors(X: Any) -> Any:
    """Rows of float32, dense or CSR: the same for every method."""
    if hasattr(X, "tocsr"):
        return X.tocsr().astype(np.float32)
    X = np.ascontiguousarray(X, np.float32)
    if X.ndim != 2 or not len(X):
        raise InputError(f"X must be a table, a row for each point; its shape is {X.shape}.")
    return X


def fingerprint(*parts: Any) -> str:
    """A short name for arrays, sparse matrices and texts: another for other content.

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
    for start in range(0, len(value), max(1, (1 << 24) // max(1, value[:1].nbytes))):
        digest.update(
            np.ascontiguousarray(value[start : start + max(1, (1 << 24) // max(1, value[:1].nbytes))]).tobytes()
        )
