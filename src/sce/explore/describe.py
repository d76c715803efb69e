"""What a cluster is: its classes, the columns in which it differs from the rest, and what the graph says about it.

The figures of the graph are those of :func:`sce.quality.clusters_in_graph`, which `sce quality` shows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.data.labels import Classes, as_labels
from sce.explore.point_columns import PointColumn, cell, read_content
from sce.explore.session import Session
from sce.quality import ClustersInGraph, clusters_in_graph

_MOST_SHOWN = 10  # columns in which a cluster differs
_MOST_CLASSES_SHOWN = 5
_ROWS_COMPARED = 20_000  # inside, and outside, of a cluster
_VALUES_COMPARED = 1 << 24  # of the data, inside and outside: of wide data fewer rows


def describe_rows(session: Session, rows: np.ndarray) -> dict[str, Any]:
    """Size, classes, and the columns in which some rows differ most from the others."""
    outside = np.ones(session.n, np.bool_)
    outside[rows] = False
    others = np.flatnonzero(outside)
    columns = list(session.columns.items())
    return {
        "size": len(rows),
        "share": len(rows) / session.n,
        "labels": [
            {"column": name, "top": top_classes(column, rows)}
            for name, column in columns
            if column.role == "label" and column.kind == "classes"
        ],
        "numbers": _differing_numbers(session, columns, rows, others),
        "categories": _differing_categories(columns, rows, others),
    }


def top_classes(column: PointColumn, rows: np.ndarray) -> list[dict[str, Any]]:
    """The most frequent classes of some rows: count, share of the rows, share of all points."""
    content = read_content(column)
    assert isinstance(content, Classes)
    n_classes = len(content.names)
    inside = np.bincount(content.codes[rows] + 1, minlength=n_classes + 1)
    overall = np.bincount(content.codes + 1, minlength=n_classes + 1)
    order = np.argsort(-inside, kind="stable")[:_MOST_CLASSES_SHOWN]
    names = [content.missing, *content.names]
    return [
        {
            "name": cell(names[k]),
            "count": int(inside[k]),
            "share": inside[k] / len(rows),
            "overall": overall[k] / len(content.codes),
        }
        for k in order.tolist()
        if inside[k]
    ]


def effect_sizes(inside: np.ndarray, outside: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cohen's d of each column, and its means inside and outside; NaN is left out.

    The difference of the means over the pooled standard deviation; infinite where there is a difference but no deviation.

    Examples
    --------
    >>> effect_sizes(np.array([[4.0], [6.0]]), np.array([[0.0], [2.0]]))[0].round(3)
    array([2.828])
    """
    (a, mean_a, squares_a), (b, mean_b, squares_b) = _moments(inside), _moments(outside)
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = np.sqrt((squares_a + squares_b) / (a + b - 2))
        effect = (mean_a - mean_b) / pooled
    effect[(mean_a == mean_b) | (a == 0) | (b == 0) | (a + b <= 2)] = 0.0
    return effect, mean_a, mean_b


def _moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each column: how many values, their mean, and the sum of squared deviations from it."""
    there = np.isfinite(values)
    count = there.sum(axis=0)
    mean = np.divide(np.where(there, values, 0.0).sum(axis=0), count, out=np.zeros(values.shape[1]), where=count > 0)
    return count, mean, (np.where(there, values - mean, 0.0) ** 2).sum(axis=0)


def evenly(rows: np.ndarray, most: int) -> np.ndarray:
    """At most so many of some rows, spread evenly over them."""
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]


def _differing_numbers(
    session: Session, columns: list[tuple[str, PointColumn]], rows: np.ndarray, others: np.ndarray
) -> list[dict[str, Any]]:
    """The columns of numbers with the largest effects."""
    listed = [(name, column) for name, column in columns if column.kind == "number" and column.role == "column"]
    if not len(others):
        return []
    if listed:
        names = [name for name, _ in listed]
        a, b = evenly(rows, _ROWS_COMPARED), evenly(others, _ROWS_COMPARED)
        parts = [effect_sizes(_numbers(column, a), _numbers(column, b)) for _, column in listed]
        effect, inside, outside = (np.concatenate(part) for part in zip(*parts, strict=True))
    elif session.X is not None:
        names = session.names_of_data
        most = max(2, min(_ROWS_COMPARED, _VALUES_COMPARED // session.X.shape[1]))
        a, b = (_dense(session.X[np.sort(evenly(part, most))]) for part in (rows, others))
        effect, inside, outside = effect_sizes(a, b)
    else:
        return []
    order = [k for k in np.argsort(-np.abs(effect), kind="stable")[:_MOST_SHOWN].tolist() if effect[k] != 0]
    return [
        {"column": names[k], "effect": cell(float(effect[k])), "inside": float(inside[k]), "outside": float(outside[k])}
        for k in order
    ]


def _numbers(column: PointColumn, rows: np.ndarray) -> np.ndarray:
    return np.asarray(column.take(rows), np.float64)[:, None]


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)


def _differing_categories(
    columns: list[tuple[str, PointColumn]], rows: np.ndarray, others: np.ndarray
) -> list[dict[str, Any]]:
    """The classes whose shares differ most, at most one of each column."""
    found: list[tuple[float, dict[str, Any]]] = []
    for name, column in columns:
        if column.kind != "classes" or not len(others):
            continue
        a, b = evenly(rows, _ROWS_COMPARED), evenly(others, _ROWS_COMPARED)
        content = as_labels(np.concatenate([column.take(a), column.take(b)]), len(a) + len(b), "classes")
        assert isinstance(content, Classes)
        n_classes = len(content.names)
        inside = np.bincount(content.codes[: len(a)] + 1, minlength=n_classes + 1) / len(a)
        outside = np.bincount(content.codes[len(a) :] + 1, minlength=n_classes + 1) / len(b)
        k = int(np.argmax(np.abs(inside - outside)))
        effect = float(inside[k] - outside[k])
        what = {"column": name, "name": cell([content.missing, *content.names][k]), "effect": effect}
        if effect:
            found.append((abs(effect), {**what, "inside": float(inside[k]), "outside": float(outside[k])}))
    found.sort(key=lambda each: -each[0])
    return [what for _, what in found[:_MOST_SHOWN]]


# ------------------------------------------------------------------------------------------------------------- the graph


def alone_in_graph(P: Any, rows: np.ndarray) -> ClustersInGraph:
    """The figures of one cluster against the rest of the graph."""
    labels = np.full(P.shape[0], -1, np.int32)
    labels[rows] = 0
    return clusters_in_graph(P, labels, judged=False)


def in_graph(alone: ClustersInGraph, every: ClustersInGraph, code: int, names: list[str]) -> dict[str, Any]:
    """What the graph says about the cluster of a code, alone and among all clusters.

    Parameters
    ----------
    alone : ClustersInGraph
        The cluster against the rest.
    every : ClustersInGraph
        All clusters.
    code : int
        The label of the cluster in `every`.
    names : list of str
        What the clusters are called, by their labels.
    """
    c = int(np.searchsorted(every.names, code))
    told = every.judgement
    merges = [] if told is None else [merge for merge in told.merges if code in merge]
    return {
        "share": alone.measured.share,
        "share_null": alone.null.mean.share,
        "density_ratio": cell(float(alone.measured.density_ratio)),
        "density_ratio_null": cell(float(alone.null.mean.density_ratio)),
        "conductance": float(every.measured.conductance[c]),
        "conductance_null": float(every.null.mean.conductance[c]),
        "real": None if told is None else bool(told.real[c]),
        "no_gap_to": [names[other] for merge in merges for other in merge if other != code],
        "splits": [] if told is None else next((sizes for name, sizes in told.splits if name == code), []),
        "part_of_more": told is not None and code in told.fragments,
        "says": _said(every, c, merges, names),
    }


def _said(every: ClustersInGraph, c: int, merges: list[list[int]], names: list[str]) -> str:
    """The verdict in words, with names of clusters for their numbers."""
    if every.judgement is None:
        return "not judged: too many clusters"
    words = every.judgement.says(c)
    if not merges:
        return words
    others = [names[other] for merge in merges for other in merge if other != int(every.names[c])]
    _, *more = words.split("; ")
    return "; ".join([f"runs into {', '.join(others)}", *more])
