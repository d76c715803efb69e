"""From data to the similarity graph: X -> P.

:func:`build_affinity` is the one entrance; everything it needs is imported when it is called.
"""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sce.core.warn import warn
from sce.errors import DataWarning, GraphWarning, InputError, ParameterError

if TYPE_CHECKING:
    from scipy import sparse

    from sce.core.parallel import Team
    from sce.graph.index import Neighbors

__all__ = ["AffinityResult", "GraphOptions", "build_affinity"]

AFFINITIES = ("knn", "entropic", "precomputed")
_LEAST_PERPLEXITY = 2.0  # of few neighbours: at 1 only the nearest counts, and nothing holds together
_FEW_NEIGHBORS = 4  # are never recommended
_FEW_COMPONENTS = 5  # as many may well be true clusters, however few the rows


@dataclass(frozen=True)
class GraphOptions:
    """How P is made from X; the parameters of the same names of :class:`sce.SCE`."""

    affinity: str | Callable[[Any], Any] = "entropic"
    n_neighbors: int = 15
    perplexity: float | None = None
    metric: str | Callable[..., float] = "euclidean"


class AffinityResult(NamedTuple):
    """P, how the neighbours were found (None if not searched for), the share of true ones among them, and remarks."""

    P: sparse.csr_matrix
    neighbors_method: str | None
    recall: float | None
    notes: tuple[str, ...]


def build_affinity(X: Any, options: GraphOptions, team: Team, seed: int) -> AffinityResult:
    """Make the similarity graph P: symmetric, zero diagonal, sums to 1.

    Parameters
    ----------
    X : array or scipy sparse matrix
        Rows of finite numbers; with `metric="precomputed"` n x n distances, with `affinity="precomputed"` similarities.
    options : GraphOptions
    team : Team
    seed : int

    Returns
    -------
    AffinityResult
        `notes` repeats what was warned about.

    Examples
    --------
    >>> from sce.core.parallel import Team
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> build_affinity(X, GraphOptions(n_neighbors=1), Team(1), seed=0).P.nnz
    4
    """
    check_options(options)
    X = X if hasattr(X, "tocsr") else np.asarray(X)
    remarks = _Remarks()
    if callable(options.affinity):
        P, near = _given(options.affinity(X)), None
        if P.shape[0] != X.shape[0]:
            raise InputError(
                f"The affinity function gave a graph of {P.shape[0]} points for the {X.shape[0]} rows of X."
            )
    elif options.affinity == "precomputed":
        _remark_on_memory(X, 0, options, remarks)
        P, near = _given(X), None
    elif X.shape[0] == 1:
        P, near = _single_point(), None
    else:
        P, near = _searched(X, options, team, seed, remarks)
    _remark_on_graph(P, near, remarks)
    if near is None:
        return AffinityResult(P, None, None, tuple(remarks.notes))
    return AffinityResult(P, near.method, near.recall, tuple(remarks.notes))


class _Remarks:
    """Warnings, given and kept."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def warn(self, text: str, category: type[Warning]) -> None:
        self.notes.append(text)
        warn(text, category)


# ---------------------------------------------------------------------------------------------------------- parameters


def check_options(options: GraphOptions) -> None:
    """Raise ParameterError, in one sentence, on the first value that means nothing."""
    if not callable(options.affinity) and not (isinstance(options.affinity, str) and options.affinity in AFFINITIES):
        near = difflib.get_close_matches(str(options.affinity), AFFINITIES, 1, 0.4)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ParameterError(
            f"affinity must be 'knn', 'entropic', 'precomputed' or a function X -> P; got {options.affinity!r}{hint}"
        )
    k = options.n_neighbors
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, numbers.Integral) or k < 1:
        raise ParameterError(f"n_neighbors must be a whole number of at least 1; got {k!r}.")
    p = options.perplexity
    if p is not None and (
        isinstance(p, (bool, np.bool_)) or not isinstance(p, numbers.Real) or not 1 < float(p) < np.inf
    ):
        raise ParameterError(f"perplexity must be a finite number greater than 1, or None; got {p!r}.")
    from sce.graph.index import check_metric

    check_metric(options.metric)


def _fitting_count(n: int, options: GraphOptions, remarks: _Remarks) -> tuple[int, float]:
    """The number of neighbours and the perplexity that n rows allow."""
    if options.affinity == "knn" or options.perplexity is None:
        k = int(options.n_neighbors)
        most = max(1, (n - 1) // 2)  # where all are neighbours of all, the best map is a single point
        if k > most:
            remarks.warn(
                f"n_neighbors={k} was lowered to {most}, half of the other rows, for there are only {n} rows.",
                DataWarning,
            )
        k = min(k, most)
        return k, max(min(k, _LEAST_PERPLEXITY), k / 3)
    perplexity = float(options.perplexity)
    if 3 * perplexity > n - 1:
        lowered = (n - 1) / 3
        remarks.warn(
            f"perplexity={perplexity:g} was lowered to {lowered:.3g}, a third of the other rows, "
            f"for there are only {n} rows.",
            DataWarning,
        )
        perplexity = lowered
    return min(n - 1, int(np.ceil(3 * perplexity - 1e-9))), perplexity


# -------------------------------------------------------------------------------------------------------------- sources


def _given(P: Any) -> sparse.csr_matrix:
    """P from the user; a single point needs no edge."""
    from sce.graph.precomputed import check_affinity

    return _single_point() if np.shape(P) == (1, 1) else check_affinity(P)


def _single_point() -> sparse.csr_matrix:
    """The graph of one point: no edge."""
    from scipy import sparse

    return sparse.csr_matrix((1, 1), dtype=np.float32)


def _searched(
    X: Any, options: GraphOptions, team: Team, seed: int, remarks: _Remarks
) -> tuple[sparse.csr_matrix, Neighbors]:
    """P from the nearest neighbours in X."""
    from sce.graph.affinity import entropic_affinity, knn_affinity
    from sce.graph.distances import neighbors_from_distances
    from sce.graph.index import nearest_neighbors

    k, perplexity = _fitting_count(X.shape[0], options, remarks)
    _remark_on_memory(X, k, options, remarks)
    if isinstance(options.metric, str) and options.metric == "precomputed":
        near = neighbors_from_distances(X, k)
    else:
        near = nearest_neighbors(X, k, metric=options.metric, seed=seed, team=team)
    if not (near.indices >= 0).any():
        raise InputError("No row of the distance matrix has a neighbour, so there is no graph to draw.")
    _remark_on_copies(near, remarks)
    P = knn_affinity(near, team) if options.affinity == "knn" else entropic_affinity(near, perplexity, team)
    return P, near


# -------------------------------------------------------------------------------------------------------------- remarks


def _remark_on_memory(X: Any, k: int, options: GraphOptions, remarks: _Remarks) -> None:
    """A fit that is going to take more memory than is free, and what would take less; k is 0 where X is P."""
    from sce.core.memory import free_memory
    from sce.graph.forecast import fit_memory, given_memory

    free = free_memory()
    n, is_sparse = X.shape[0], hasattr(X, "tocsr")
    columns = 0 if is_sparse or options.metric == "precomputed" else X.shape[1]
    copied = not _reads_in_place(X, columns, options.metric)
    need = fit_memory(n, columns, k, copied=copied) if k else given_memory(n, X.nnz if is_sparse else X.size)
    if free is None or need <= free:
        return
    fewer = next(
        (m for m in range(k - 1, _FEW_NEIGHBORS, -1) if fit_memory(n, columns, m, copied=copied) <= free), None
    )
    if fewer is None:
        advice = (
            f"embed a sample of {int(0.9 * n * free / need):,} rows, or fewer"
            if k
            else "drop its smallest similarities"
        )
    elif options.affinity == "knn" or options.perplexity is None:
        advice = f"n_neighbors={fewer} would fit"
    else:
        advice = f"perplexity={fewer / 3:.3g} would fit"
    remarks.warn(
        f"The fit takes about {need / 2**30:.1f} GiB of memory at its peak, and {free / 2**30:.1f} GiB are free; {advice}.",
        DataWarning,
    )


def _reads_in_place(X: Any, columns: int, metric: object) -> bool:
    """Whether the search can do without a copy of X, whatever its numbers are."""
    from sce.graph.forest import SKETCH_ABOVE
    from sce.graph.kernels import pad_columns
    from sce.graph.rows import can_borrow

    as_they_are = isinstance(metric, str) and metric in ("euclidean", "sqeuclidean", "l2")
    return as_they_are and columns > SKETCH_ABOVE and can_borrow(X, pad_columns(columns))


def _remark_on_copies(near: Neighbors, remarks: _Remarks) -> None:
    """Rows surrounded by nothing but copies are cut off from the rest."""
    k = near.distances.shape[1]
    count = int((near.distances[:, -1] == 0).sum())
    if count and k < len(near.indices) - 1:
        remarks.warn(
            f"{count} rows have {k} or more exact copies (rows at distance 0), so that all their neighbours are copies and "
            "nothing ties them to other rows: raise n_neighbors (perplexity), or merge copies and pass their numbers as "
            "sample_weight.",
            DataWarning,
        )


def _remark_on_graph(P: sparse.csr_matrix, near: Neighbors | None, remarks: _Remarks) -> None:
    """Rows without edges, and graphs in very many pieces."""
    from sce.graph.csr import arrays_of, components

    n = P.shape[0]
    alone = np.flatnonzero(np.diff(P.indptr) == 0)
    if alone.size and n > 1:
        shown = ", ".join(map(str, alone[:5])) + (", ..." if alone.size > 5 else "")
        remarks.warn(
            f"{alone.size} of {n} rows have no edge in the graph (rows {shown}); nothing holds them in place.",
            GraphWarning,
        )
    pieces = int(components(arrays_of(P)).max(initial=-1)) + 1 - alone.size
    if pieces > max(_FEW_COMPONENTS, n / 20):
        advice = "" if near is None else ": a larger n_neighbors (or perplexity) joins them"
        remarks.warn(
            f"The graph falls into {pieces} separate pieces, whose places on the map mean nothing{advice}.",
            GraphWarning,
        )
