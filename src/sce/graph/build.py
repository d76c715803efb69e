"""From data to the similarity graph: X -> P.

Use :func:`build_affinity`, or :func:`build_cross_affinity` for new rows; both import what they need when they are called.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sce.core.hints import did_you_mean
from sce.core.warn import warn
from sce.errors import DataWarning, GraphWarning, InputError, ParameterError
from sce.graph.affinity_names import AFFINITY_NAMES, WITH_PERPLEXITY
from sce.graph.metrics import SQUARES, is_metric, metric_sentence, own_metric

if TYPE_CHECKING:
    from scipy import sparse

    from sce.core.parallel import Team
    from sce.graph.index import NeighborIndex, Neighbors

__all__ = ["AffinityResult", "GraphOptions", "build_affinity", "build_cross_affinity"]

_MIN_PERPLEXITY = 2.0  # for few neighbours: at 1 only the nearest counts, and the graph falls apart
_MIN_ADVISED_NEIGHBORS = 5  # fewer are never recommended
_COMPONENTS_WITHOUT_WARNING = 5  # that many may well be true clusters, however few the rows
_ROWS_PER_COMPONENT = 20  # with fewer rows for each component, the graph is in too many pieces


@dataclass(frozen=True)
class GraphOptions:
    """How P is made from X; the parameters are those of :class:`sce.SCE` with the same names.

    Raises ParameterError, in one sentence, at the first invalid value.
    """

    affinity: str | Callable[[Any], Any] = "shared"
    n_neighbors: int | None = None
    perplexity: float | None = None
    metric: str | Callable[..., float] = "euclidean"

    @property
    def uses_perplexity(self) -> bool:
        """Whether `perplexity`, rather than `n_neighbors`, sets the number of neighbours."""
        return self.perplexity is not None and self.affinity in WITH_PERPLEXITY

    @property
    def is_pairwise(self) -> bool:
        """Whether X is a square matrix of similarities or distances."""
        return "precomputed" in (self.affinity, self.metric)

    def __post_init__(self) -> None:
        for name, (is_valid, sentence) in _CONSTRAINTS.items():
            value = getattr(self, name)
            if not is_valid(value):
                raise ParameterError(sentence(value))


def _is_affinity(value: object) -> bool:
    return callable(value) or (isinstance(value, str) and value in AFFINITY_NAMES)


def _is_count(value: object) -> bool:
    return not isinstance(value, (bool, np.bool_)) and isinstance(value, numbers.Integral) and int(value) >= 1


def _is_perplexity(value: object) -> bool:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    return value is None or (is_number and 1 < float(value) < np.inf)  # type: ignore[arg-type]


def _affinity_sentence(value: object) -> str:
    names = ", ".join(map(repr, AFFINITY_NAMES))
    return f"affinity must be {names} or a function X -> P; got {value!r}{did_you_mean(value, AFFINITY_NAMES, 0.4)}"


# For each option: what its value must satisfy, and the sentence if it does not.
_CONSTRAINTS: dict[str, tuple[Callable[[Any], bool], Callable[[Any], str]]] = {
    "affinity": (_is_affinity, _affinity_sentence),
    "n_neighbors": (
        lambda k: k is None or _is_count(k),
        lambda k: f"n_neighbors must be a whole number of at least 1, or None; got {k!r}.",
    ),
    "perplexity": (
        _is_perplexity,
        lambda p: f"perplexity must be a finite number greater than 1, or None; got {p!r}.",
    ),
    "metric": (is_metric, metric_sentence),
}


class AffinityResult(NamedTuple):
    """P, how the neighbours were found (None if there was no search), the share of true ones among them, and remarks.

    `n_neighbors` is their number, `perplexity` that of the weights; None where there are none.
    """

    P: sparse.csr_matrix
    neighbors_method: str | None
    recall: float | None
    notes: tuple[str, ...]
    n_neighbors: int | None = None
    perplexity: float | None = None


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
        `notes` repeats the warnings.

    Examples
    --------
    >>> from sce.core.parallel import Team
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> build_affinity(X, GraphOptions(n_neighbors=1), Team(1), seed=0).P.nnz
    4
    """
    X = X if hasattr(X, "tocsr") else np.asarray(X)
    remarks, perplexity = _Remarks(), None
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
        P, near, perplexity = _searched(X, options, team, seed, remarks)
    _remark_on_graph(P, near, remarks)
    if near is None:
        return AffinityResult(P, None, None, tuple(remarks.notes))
    return AffinityResult(P, near.method, near.recall, tuple(remarks.notes), near.indices.shape[1], perplexity)


def build_cross_affinity(
    index: NeighborIndex,
    rows: Any,
    options: GraphOptions,
    team: Team,
    *,
    n_neighbors: int | None = None,
    perplexity: float | None = None,
) -> sparse.csr_matrix:
    """The similarities of new rows to indexed ones: conditional probabilities p_j|i, each row of which sums to 1.

    Parameters
    ----------
    index : NeighborIndex
        Of the indexed rows, with the metric of the options.
    rows : array or scipy sparse matrix
        New rows; with `metric="precomputed"` their distances to the indexed ones.
    options : GraphOptions
        With affinity "knn", "entropic" or "shared"; with the last the weights are those of "entropic".
    team : Team
    n_neighbors : int, optional
        That of the graph of the indexed rows, where the options have none. 15 by default.
    perplexity : float, optional
        Likewise. A third of the neighbours by default.

    Returns
    -------
    scipy.sparse.csr_matrix of shape (n_new, n_indexed), float32

    Examples
    --------
    >>> from sce.core.parallel import Team
    >>> from sce.graph.index import build_index
    >>> index = build_index(np.array([[0.0], [1.0], [5.0], [6.0], [7.0]]))
    >>> build_cross_affinity(index, [[6.6]], GraphOptions("knn", n_neighbors=2), Team(1)).toarray()
    array([[0. , 0. , 0. , 0.5, 0.5]], dtype=float32)
    """
    from sce.graph.affinities import AFFINITIES
    from sce.graph.dimension import NEIGHBORS

    if options.affinity not in AFFINITIES:
        names = " or ".join(map(repr, AFFINITIES))
        raise ParameterError(f"Similarities of new rows need affinity={names}; got affinity={options.affinity!r}.")
    most, given = _fitting_count(index.n_rows, options)
    k = most if given or options.n_neighbors else min(most, n_neighbors or NEIGHBORS)
    near = index.query(rows, k, team)
    return AFFINITIES[str(options.affinity)].of_new_rows(
        near, index.n_rows, given or perplexity or _least(k, k / 3), team
    )


class _Remarks:
    """Warnings, both issued and kept."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def warn(self, text: str, category: type[Warning]) -> None:
        self.notes.append(text)
        warn(text, category)


# -------------------------------------------------------------------------------------------------- lengths of lists


def _fitting_count(n: int, options: GraphOptions, remarks: _Remarks | None = None) -> tuple[int, float | None]:
    """The number of neighbours and the perplexity, if one is given, that n rows allow, with a remark where they are lowered.

    Where the number is left to us, the most that it may be; the dimension of the data decides.
    """
    from sce.graph.dimension import suited_neighbors

    if not options.uses_perplexity:
        most = max(1, (n - 1) // 2)  # where all are neighbours of all, the best map is a single point
        if options.n_neighbors is None:
            return min(suited_neighbors(n), most), None
        k = int(options.n_neighbors)
        if k > most and remarks is not None:
            remarks.warn(
                f"n_neighbors={k} was lowered to {most}, half of the other rows, because there are only {n} rows.",
                DataWarning,
            )
        return min(k, most), None
    perplexity = float(options.perplexity or 0.0)
    if 3 * perplexity > n - 1:
        lowered = (n - 1) / 3
        if remarks is not None:
            remarks.warn(
                f"perplexity={perplexity:g} was lowered to {lowered:.3g}, a third of the other rows, "
                f"because there are only {n} rows.",
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
) -> tuple[sparse.csr_matrix, Neighbors, float | None]:
    """P from the nearest neighbours in X, and the perplexity of its weights."""
    from sce.graph.affinities import AFFINITIES
    from sce.graph.dimension import NEIGHBORS, own_dimension, suited_neighbors, suited_perplexity
    from sce.graph.found import first
    from sce.graph.index import nearest_neighbors

    n = X.shape[0]
    k, perplexity = _fitting_count(n, options, remarks)
    _remark_on_memory(X, k, options, remarks)
    near = nearest_neighbors(X, k, metric=options.metric, seed=seed, team=team)
    if not (near.indices >= 0).any():
        raise InputError("No row of the distance matrix has a neighbour, so there is no graph to draw.")
    _remark_on_recall(near, X, options, remarks)
    weighted = options.affinity in WITH_PERPLEXITY
    if perplexity is None and (weighted or options.n_neighbors is None):
        dimension = own_dimension(first(near, NEIGHBORS))
        if options.n_neighbors is None:
            k = min(k, suited_neighbors(n, dimension))
            near = first(near, k)
        if weighted:
            perplexity = _least(k, suited_perplexity(k, dimension))
    _remark_on_copies(near, remarks)
    return AFFINITIES[str(options.affinity)].among_rows(near, perplexity or 0.0, team), near, perplexity


def _least(k: int, perplexity: float) -> float:
    """The perplexity, raised where there are few neighbours."""
    return max(min(k, _MIN_PERPLEXITY), perplexity)


# -------------------------------------------------------------------------------------------------------------- remarks


def _remark_on_memory(X: Any, k: int, options: GraphOptions, remarks: _Remarks) -> None:
    """Remark on a fit that needs more memory than is free, and on what would need less; k is 0 if X is P."""
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
        (m for m in range(k - 1, _MIN_ADVISED_NEIGHBORS - 1, -1) if fit_memory(n, columns, m, copied=copied) <= free),
        None,
    )
    if fewer is None:
        advice = (
            f"embed a sample of {int(0.9 * n * free / need):,} rows, or fewer"
            if k
            else "drop its smallest similarities"
        )
    elif not options.uses_perplexity:
        advice = f"n_neighbors={fewer} would fit"
    else:
        advice = f"perplexity={fewer / 3:.3g} would fit"
    remarks.warn(
        f"The fit takes about {need / 2**30:.1f} GiB of memory at its peak, but only {free / 2**30:.1f} GiB are free; "
        f"{advice}.",
        DataWarning,
    )


def _reads_in_place(X: Any, columns: int, metric: object) -> bool:
    """Whether the search needs no copy of X, whatever its values."""
    from sce.graph.kernels import pad_columns
    from sce.graph.rows import can_borrow
    from sce.graph.sketch import SKETCH_ABOVE_COLUMNS

    own = own_metric(metric)
    as_they_are = own is not None and own.terms == SQUARES and not own.unit_rows
    return as_they_are and columns > SKETCH_ABOVE_COLUMNS and can_borrow(X, pad_columns(columns))


def _remark_on_recall(near: Neighbors, X: Any, options: GraphOptions, remarks: _Remarks) -> None:
    """Remark on a search that missed many neighbours: rows without structure, too many to compare them all."""
    from sce.graph.forest import BRUTE_FORCE_INSTEAD_UP_TO_TERMS
    from sce.graph.found import POOR_RECALL
    from sce.graph.kernels import pad_columns

    if near.recall >= POOR_RECALL:
        return
    own = own_metric(options.metric)
    columns = pad_columns(X.shape[1] + (own is not None and own.unit_rows))
    rows = int((BRUTE_FORCE_INSTEAD_UP_TO_TERMS / columns) ** 0.5)
    remarks.warn(
        f"Only about {100 * near.recall:.0f} % of the nearest neighbours were found, because in {X.shape[1]} columns the rows "
        "are about equally far from one another: reduce the columns to fewer principal components (such as 20), embed a "
        f"sample of at most {rows:,} rows, which are compared with one another, or give neighbours found elsewhere with "
        "metric='precomputed'.",
        GraphWarning,
    )


def _remark_on_copies(near: Neighbors, remarks: _Remarks) -> None:
    """Remark on rows whose neighbours are all copies: they are cut off from the rest."""
    k = near.distances.shape[1]
    count = int((near.distances[:, -1] == 0).sum())
    if count and k < len(near.indices) - 1:
        remarks.warn(
            f"{count} rows have {k} or more exact copies (rows at distance 0), so all their neighbours are copies and "
            "nothing ties them to other rows: raise n_neighbors (perplexity), or make one point of each, weighted by the "
            "number of its copies, with sce.merge_copies(X), which gives X and sample_weight.",
            DataWarning,
        )


def _remark_on_graph(P: sparse.csr_matrix, near: Neighbors | None, remarks: _Remarks) -> None:
    """Remark on rows without edges, and on a graph in very many pieces."""
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
    if pieces > max(_COMPONENTS_WITHOUT_WARNING, n / _ROWS_PER_COMPONENT):
        advice = "" if near is None else ": a larger n_neighbors (or perplexity) joins them"
        remarks.warn(
            f"The graph has {pieces} components, whose positions relative to each other mean nothing{advice}.",
            GraphWarning,
        )
