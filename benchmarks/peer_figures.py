"""The data sets of peers.py, and the quality of their maps, by the same figures for every method."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from sce import datasets, find_clusters
from sce.core.parallel import Team
from sce.graph.build import GraphOptions, build_affinity
from sce.quality import class_agreement, clusters_in_graph, neighbors_kept
from sce.quality.check import sampled
from sce.quality.ranks import nearest, ranks

K = 15
QUERIES = 1000


class Data:
    """A data set, or a sample of its rows.

    Attributes
    ----------
    name : str
        With the number of rows, where they are a sample.
    X : float32 array of shape (n, d)
    classes : array of shape (n,) or None
        The labels, where they are expected to show as clusters.
    groups : array of shape (n,) or None
        Trials of motion capture: they are not clusters, but neighbours on a map should share one.
    """

    def __init__(self, name: str, rows: int | None, threads: int) -> None:
        X, y = datasets.load(name)
        about = datasets.about(name)
        classes = y if about.labels_are_classes else None
        groups = y if about.labels == "trials" else _trials(name)
        kept: np.ndarray | slice = slice(None)
        if rows is not None and rows < len(X):
            kept = sampled(len(X), rows, 0)
            name = f"{name}-{rows}"
        self.name, self.threads = name, threads
        self.X = np.ascontiguousarray(X[kept], np.float32)
        self.classes = None if classes is None else classes[kept]
        self.groups = None if groups is None else groups[kept]

    @cached_property
    def graph(self) -> sp.csr_matrix:
        """The 15-NN graph with equal weights by which clusters are judged; it is no method's own."""
        with Team(self.threads) as team:
            return build_affinity(self.X, GraphOptions("knn", K), team, seed=0).P


def _trials(name: str) -> np.ndarray | None:
    """The array `trial` in the file of a data set, if it has one."""
    path = Path(os.environ.get("SCE_DATA", "")) / f"{name}.npz"
    if not path.is_file():
        return None
    with np.load(path) as file:
        return file.get("trial")


def figures(data: Data, Y: np.ndarray) -> dict[str, float]:
    """The figures of a map.

    kept : share of the 15 nearest on the map that are among the 15 nearest in the data
    clusters, inside, chance : the number of clusters that :func:`sce.find_clusters` sees on the map, the share of P within
        them, and that share with shuffled labels
    accuracy, ami, covered : as in :func:`sce.quality.class_agreement`, where there are classes
    together : share of the 15 nearest on the map that belong to the same trial, where there are trials
    """
    Y = np.ascontiguousarray(Y, np.float32)
    seen = clusters_in_graph(
        data.graph, find_clusters(Y, n_jobs=data.threads), judged=False, n_jobs=data.threads
    ).figures()
    found = {
        "kept": neighbors_kept(data.X, Y, k=K, n_queries=QUERIES, n_jobs=data.threads).recall,
        "clusters": seen["n_clusters"],
        "inside": seen["share"],
        "chance": seen["share_null"],
    }
    if data.classes is not None:
        agreement = class_agreement(Y, data.classes, n_jobs=data.threads)
        found |= {name: float(getattr(agreement, name)) for name in ("accuracy", "ami", "covered")}
    if data.groups is not None:
        found["together"] = _together(Y, data.groups, data.threads)
    return {name: float(value) for name, value in found.items()}


def _together(Y: np.ndarray, groups: np.ndarray, threads: int) -> float:
    """The share of the 15 nearest on the map that belong to the same group, over a sample of points."""
    queries = sampled(len(Y), QUERIES, 0)
    with Team(threads) as team:
        near = nearest(Y, "euclidean", queries, K, team)
    return float((groups[near] == groups[queries][:, None]).mean())


def recall(data: Data, ids: np.ndarray) -> dict[str, float]:
    """The share of the neighbours found that are true ones, over a sample of rows; ties in distance all count as true."""
    queries = sampled(len(ids), QUERIES, 0)
    found = ids[queries]
    missing = found < 0
    others = (queries[:, None] + 1) % len(ids)
    with Team(data.threads) as team:
        place = np.array(ranks(data.X, "euclidean", queries, np.where(missing, others, found), team))
    return {"recall": float(((place <= ids.shape[1]) & ~missing).mean())}
