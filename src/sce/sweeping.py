"""The sweep: one graph, a map for each r, the choices of SCE and t-SNE, and quality over r."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sce.core import validate
from sce.core.memory import free_memory
from sce.core.parallel import Team, resolve_n_jobs
from sce.core.progress import Reporter
from sce.errors import InputError, ParameterError
from sce.estimator import GRAPH_PARAMETERS, SCE, check_parameters, given_options
from sce.graph.build import GraphOptions
from sce.graph.networks import as_network
from sce.layout.family import minimise, turned, walk
from sce.layout.gradient.terms import Gradient
from sce.layout.plan import GATHERING_R
from sce.layout.problem import Problem
from sce.layout.records import Layout
from sce.layout.scale import FixedScale, ScaleRule, SCEScale, SNEScale
from sce.layout.settings import check_components
from sce.layout.similarities import Similarities
from sce.results.archive import per_row, plain
from sce.results.sweeps import Sweep

LOG10_R = np.arange(33) / 4  # 0 to 8, as in the paper's user study
N_RELABELLINGS = 5  # random ones, for the null of each figure
HARDLY_A_MAP_BELOW = 0.01  # the standard deviation of a map that is hardly more than a spot
_REFUSED = ("scale", "exaggeration", "optimizer", "callback")  # parameters of SCE that a sweep decides itself
_FROM_CLUSTERS = ("n_clusters", "covered", "share", "share_null", "modularity", "modularity_null")


def sweep(
    X: Any,
    log10_r: Any = None,
    *,
    alphas: Any = None,
    afresh: bool = False,
    labels: Any = None,
    score_labels: bool = True,
    ids: Any = None,
    sample_weight: Any = None,
    keep_graph: bool = False,
    **parameters: Any,
) -> Sweep:
    """Embed X once for each of many repulsion weights r: the family from over-attractive to over-repulsive.

    The graph is built once. Each map minimises J(Y; r) by the full gradient and is started from its neighbour in the sweep, so
    that the maps morph into one another. The r that SCE and t-SNE choose, each at its own minimum, are marked.

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (n_samples, n_features)
        Vectors; or a square matrix, where `affinity` or `metric` is "precomputed".
    log10_r : sequence of floats, optional
        The logarithms of r; 0, 0.25, ..., 8 by default.
    alphas : sequence of floats, optional
        Values of SCE's alpha, from 0 to 1, instead of r: each map is at the r that SCE chooses with that alpha.
    afresh : bool, default=False
        Start every map from the same map of weak repulsion, as ``SCE(scale=r)`` does, instead of from its neighbour; the maps
        are then rotated to match.
    labels : array of shape (n_samples,), optional
        Classes or numbers to colour by.
    score_labels : bool, default=True
        Whether classes are expected to appear as clusters, so that accuracy is meaningful.
    ids : array of shape (n_samples,), optional
        The names of the rows.
    sample_weight : array of shape (n_samples,), optional
        How many points each row stands for.
    keep_graph : bool, default=False
        Keep P in the result.
    **parameters
        Of :class:`sce.SCE`; not `scale`, `exaggeration`, `optimizer` and `callback`. `alpha` is that of the mark "SCE".

    Returns
    -------
    Sweep
        Its `figures` are, for each map: "attraction", "mean_q_P", "mean_q_U" (-E_P[ln q], E_P[q] and E_U[q], from which J and
        all rules for r are computed), "size" (standard deviation), "edges_kept" (as :func:`sce.quality.edges_kept`),
        "n_clusters" and "covered" (clusters seen in the map by :func:`sce.find_clusters`, and the share of points in them),
        "share" and "modularity" (of P inside these clusters), "share_null" and "modularity_null" (the same of a random
        relabelling), and where labels are classes "accuracy" (of the 15 nearest on the map).

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(300, 10, centers=4, random_state=0)
    >>> family = sweep(X, [0, 1, 2], labels=y, random_state=0)
    >>> family.frames.shape, sorted(family.marks)
    ((3, 300, 2), ['SCE', 't-SNE'])
    """
    rules, values = check_values(log10_r, alphas)
    X, ids, parameters = _opened(X, ids, parameters)
    model = _model(parameters)
    n = _count_rows(X)
    _refuse_too_large(len(rules), n, model.n_components)
    labels = None if labels is None else per_row(labels, n, "labels")
    ids = np.arange(n) if ids is None else per_row(ids, n, "ids")
    model.fit(X, sample_weight=sample_weight)
    weights, seed = validate.check_weights(sample_weight, n), validate.draw_seed(model.random_state)
    result = Sweep(
        np.empty((len(rules), *model.embedding_.shape), np.float32),
        np.empty(len(rules)),
        ids,
        alphas=None if alphas is None else values,
        labels=labels,
        parameters={key: value for key, value in plain(model.get_params(deep=False)).items() if key not in _REFUSED},
        facts={
            "afresh": bool(afresh),
            "neighbor_method": model.neighbor_method_,
            "neighbor_recall": model.neighbor_recall_,
        },
        P=model.affinity_ if keep_graph else None,
    )
    with Team(resolve_n_jobs(model.n_jobs)) as team, Reporter(bool(model.verbose)) as report:
        task = _Task(
            model, Problem(Similarities(model.affinity_, team), weights, seed), check_parameters(model).layout.tol
        )
        _embed(result, rules, task, report)
        _measure(result, task, _classes(labels) if score_labels else None, report)
        for name, rule in (("SCE", SCEScale(model.alpha)), ("t-SNE", SNEScale())):
            result.mark(name, _choose(result, rule, task))
            report.stage(f"{name} chooses r = {result.marks[name].r:.4g}")
    return result


# --------------------------------------------------------------------------------------------------------------- checks


def check_values(log10_r: Any, alphas: Any) -> tuple[list[ScaleRule], np.ndarray]:
    """The rules of the maps, and the rising values they were made from."""
    if log10_r is not None and alphas is not None:
        raise ParameterError("A sweep varies log10_r or alphas, not both; leave one of them out.")
    name, given = ("log10_r", LOG10_R if log10_r is None else log10_r) if alphas is None else ("alphas", alphas)
    low, high = (-30.0, 30.0) if alphas is None else (0.0, 1.0)
    try:
        values = np.unique(np.asarray(given, np.float64))
    except (TypeError, ValueError):
        values = np.array([np.nan])
    if np.ndim(given) != 1 or not len(values) or not ((values >= low) & (values <= high)).all():
        raise ParameterError(f"{name} must be one or more numbers from {low:g} to {high:g}; got {given!r}.")
    make = FixedScale if alphas is None else SCEScale
    return [make(float(10.0**value if alphas is None else value)) for value in values], values


def _model(parameters: dict[str, Any]) -> SCE:
    """The model that makes the graph and, by the sampler, a map of weak repulsion to start from."""
    for name in _REFUSED:
        if name in parameters:
            raise ParameterError(
                f"{name} has no meaning in a sweep, which varies r by the full gradient; leave it out."
            )
    model = SCE(**parameters, scale=GATHERING_R)
    if not isinstance(model.random_state, int | np.integer):  # one seed for all that follows, and to be kept
        model.random_state = validate.draw_seed(model.random_state)
    return model


def _opened(X: Any, ids: Any, parameters: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """X, ids and parameters, with a graph of networkx or igraph as a matrix."""
    network = as_network(X)
    if network is None:
        return X, ids, parameters
    given_options(GraphOptions(**{name: parameters[name] for name in GRAPH_PARAMETERS if name in parameters}))
    return network.weights, network.names if ids is None else ids, {**parameters, "affinity": "precomputed"}


def _count_rows(X: Any) -> int:
    shape = np.shape(X) if not hasattr(X, "shape") else X.shape
    if not shape or shape[0] < 2:
        raise InputError(f"A sweep needs at least two points, a row for each; the shape of X is {tuple(shape)}.")
    return int(shape[0])


def _refuse_too_large(n_maps: int, n: int, n_components: Any) -> None:
    """Refuse maps that would not fit in memory before the work begins."""
    needed, free = 4 * n_maps * n * check_components(n_components), free_memory()
    if free is not None and needed > free:
        raise InputError(
            f"{n_maps} maps of {n:,} points take {needed / 2**30:.1f} GiB, but only {free / 2**30:.1f} GiB are free; use fewer "
            "maps, or fewer rows."
        )


# ----------------------------------------------------------------------------------------------------------------- work


class _Task(NamedTuple):
    """The fitted model, the problem that all maps share, and the tolerance."""

    model: SCE
    problem: Problem
    tol: float | None


def _embed(result: Sweep, rules: list[ScaleRule], task: _Task, report: Reporter) -> None:
    """Fill in frames, log10_r and how the runs went."""
    layouts: dict[int, Layout] = {}
    show = report.steps(len(rules), "map")
    afresh = result.facts["afresh"]
    start = task.model.embedding_
    for k, layout in walk(task.problem, start, rules, result.frames, tol=task.tol, afresh=afresh):
        result.log10_r[k] = np.log10(layout.r)
        layouts[k] = layout._replace(Y=np.empty(0))
        show(f"log10 r = {result.log10_r[k]:.4g}")
    ended = [layouts[k] for k in range(len(rules))]
    result.facts["n_iterations"] = [len(layout.history) for layout in ended]
    result.facts["stop_reasons"] = [layout.stop_reason for layout in ended]
    for k in range(1, len(rules) if afresh else 0):
        result.frames[k] = turned(result.frames[k], like=result.frames[k - 1])


class _Known(NamedTuple):
    """The points that have a class, and their classes."""

    rows: np.ndarray
    codes: np.ndarray


def _classes(labels: np.ndarray | None) -> _Known | None:
    """The classes that labels are, if they are two or more."""
    from sce.data.labels import Classes, as_labels

    read = None if labels is None else as_labels(labels, len(labels), "auto")
    if not isinstance(read, Classes) or len(read.names) < 2:
        return None
    rows = np.flatnonzero(read.codes >= 0)
    return _Known(rows, read.codes[rows])


def _measure(result: Sweep, task: _Task, known: _Known | None, report: Reporter) -> None:
    """Fill in the figures of quality."""
    model = task.model
    gradient = Gradient(task.problem.graph, task.problem.weights)
    show = report.steps(len(result), "figures", f"Figures of {len(result)} maps")
    found = []
    for Y, log10_r in zip(result.frames, result.log10_r, strict=True):
        terms = gradient(Y.astype(np.float64))
        means = {"attraction": terms.attraction, "mean_q_P": terms.mean_q_P, "mean_q_U": terms.mean_q_U}
        found.append({**means, "size": float(Y.std()), **_quality(model.affinity_, Y, known, model.n_jobs)})
        show(f"log10 r = {log10_r:.4g}")
    result.figures = {name: np.array([one[name] for one in found]) for name in found[0]}


def _quality(P: sp.csr_matrix, Y: np.ndarray, known: _Known | None, n_jobs: int | None) -> dict[str, float]:
    """Figures that need the graph and the map only, and the accuracy of classes."""
    from sce.clusters.hdbscan import find_clusters
    from sce.quality.classes import label_accuracy
    from sce.quality.in_graph import clusters_in_graph
    from sce.quality.neighbors import edges_kept

    labels = find_clusters(Y, n_jobs=n_jobs)
    inside = clusters_in_graph(P, labels, n_null=N_RELABELLINGS, judged=False, n_jobs=n_jobs).figures()
    found = {"edges_kept": edges_kept(P, Y, n_jobs=n_jobs), **{name: inside[name] for name in _FROM_CLUSTERS}}
    if known is not None:
        found["accuracy"] = label_accuracy(Y[known.rows], known.codes)
    return found


def _choose(result: Sweep, rule: ScaleRule, task: _Task) -> float:
    """The r of a rule at its own minimum, sought from the map that is nearest to it."""
    means = zip(result.figures["mean_q_P"], result.figures["mean_q_U"], strict=True)
    excess = np.log10([rule.weight(float(q_P), float(q_U)) for q_P, q_U in means]) - result.log10_r
    shaped = np.flatnonzero(
        result.figures["size"] >= HARDLY_A_MAP_BELOW
    )  # where all is one spot, every rule says r = 1
    rising = shaped[np.argsort(result.log10_r[shaped], kind="stable")] if len(shaped) else np.arange(len(result))
    start = result.frames[rising[_crossing(excess[rising])]]
    return minimise(task.problem, rule, start, task.tol).r


def _crossing(excess: np.ndarray) -> int:
    """The index nearest to where the numbers first fall to 0; the last if they never do.

    The first, because under strong repulsion t-SNE's r is close to that of the map at any r, although its minimum is elsewhere.

    Examples
    --------
    >>> _crossing(np.array([2.0, 0.3, -0.1, -0.01, 0.001])), _crossing(np.array([2.0, 1.0])), _crossing(np.array([-1.0, -2.0]))
    (2, 1, 0)
    """
    below = np.flatnonzero(excess <= 0)
    if not len(below):
        return len(excess) - 1
    first = int(below[0])
    return first - 1 if first > 0 and excess[first - 1] < -excess[first] else first
