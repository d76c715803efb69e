"""The methods of peers.py: how each is called with its own defaults, and which of its functions belong to which stage.

No method gets a seed that would cost it threads: with a seed umap-learn runs, and PaCMAP searches neighbours, on a single one.
openTSNE and PHATE use a single thread by default and are given as many as the others. Only "sce30" is not a default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

GRAPH, LAYOUT, REST = "graph", "layout", "rest"
K = 15
Fit = Callable[[np.ndarray, int, int], np.ndarray]


class Method(NamedTuple):
    """A method: the module and package it comes from, its fit (X, seed, threads), and the functions of its stages."""

    title: str
    module: str
    package: str
    fit: Fit
    stages: tuple[tuple[str, str], ...] = ()


def _sce(X: np.ndarray, seed: int, threads: int) -> np.ndarray:
    from sce import SCE

    return SCE(random_state=seed, n_jobs=threads).fit_transform(X)


def _sce30(X: np.ndarray, seed: int, threads: int) -> np.ndarray:
    from sce import SCE

    return SCE(affinity="entropic", perplexity=30, random_state=seed, n_jobs=threads).fit_transform(X)


def _umap(X: np.ndarray, seed: int, threads: int) -> np.ndarray:  # noqa: ARG001
    import umap

    return np.asarray(umap.UMAP().fit_transform(X))


def _opentsne(X: np.ndarray, seed: int, threads: int) -> np.ndarray:
    import openTSNE

    return np.asarray(openTSNE.TSNE(random_state=seed, n_jobs=threads).fit(X))


def _pacmap(X: np.ndarray, seed: int, threads: int) -> np.ndarray:  # noqa: ARG001
    import pacmap

    return np.asarray(pacmap.PaCMAP().fit_transform(X))


def _localmap(X: np.ndarray, seed: int, threads: int) -> np.ndarray:  # noqa: ARG001
    import pacmap

    return np.asarray(pacmap.LocalMAP().fit_transform(X))


def _trimap(X: np.ndarray, seed: int, threads: int) -> np.ndarray:  # noqa: ARG001
    import trimap

    return np.asarray(trimap.TRIMAP().fit_transform(X))


def _phate(X: np.ndarray, seed: int, threads: int) -> np.ndarray:
    import phate

    return np.asarray(phate.PHATE(random_state=seed, n_jobs=threads, verbose=0).fit_transform(X))


_SCE_STAGES = (
    ("sce.estimator:build_affinity", GRAPH),
    ("sce.estimator:lay_out", LAYOUT),
    ("sce.layout.lay_out:starting_points", REST),
)
METHODS: dict[str, Method] = {
    "sce": Method("sce", "sce", "sce", _sce, _SCE_STAGES),
    "sce30": Method("sce, perplexity 30", "sce", "sce", _sce30, _SCE_STAGES),  # the paper's, for SHUTTLE and IJCNN
    "umap": Method(
        "umap-learn",
        "umap",
        "umap-learn",
        _umap,
        (
            ("umap.umap_:nearest_neighbors", GRAPH),
            ("umap.umap_:pairwise_distances", GRAPH),  # used instead for few points
            ("umap.umap_:fuzzy_simplicial_set", GRAPH),
            ("umap.umap_:optimize_layout_euclidean", LAYOUT),
        ),
    ),
    "opentsne": Method(
        "openTSNE",
        "openTSNE",
        "openTSNE",
        _opentsne,
        (
            ("openTSNE.affinity:PerplexityBasedNN.__init__", GRAPH),
            ("openTSNE.affinity:MultiscaleMixture.__init__", GRAPH),
            ("openTSNE.tsne:TSNEEmbedding.optimize", LAYOUT),
        ),
    ),
    "pacmap": Method(
        "PaCMAP",
        "pacmap",
        "pacmap",
        _pacmap,
        (("pacmap.pacmap:PaCMAP.sample_pairs", GRAPH), ("pacmap.pacmap:pacmap", LAYOUT)),
    ),
    "localmap": Method(
        "LocalMAP",
        "pacmap",
        "pacmap",
        _localmap,
        (("pacmap.pacmap:PaCMAP.sample_pairs", GRAPH), ("pacmap.pacmap:localmap", LAYOUT)),
    ),
    "trimap": Method(
        "TriMap",
        "trimap",
        "trimap",
        _trimap,
        (("trimap.trimap_:generate_triplets", GRAPH), ("trimap.trimap_:trimap", LAYOUT)),
    ),
    "phate": Method(
        "PHATE",
        "phate",
        "phate",
        _phate,
        (("graphtools:Graph", GRAPH), ("phate.mds:embed_MDS", LAYOUT)),
    ),
}


# --------------------------------------------------------------------------------------------------- neighbours alone


def _sce_neighbors(X: np.ndarray, seed: int, threads: int) -> np.ndarray:
    from sce.core.parallel import Team
    from sce.graph.index import nearest_neighbors

    with Team(threads) as team:
        return nearest_neighbors(X, K, seed=seed, team=team).indices


def _pynndescent(X: np.ndarray, seed: int, threads: int) -> np.ndarray:  # noqa: ARG001
    import pynndescent

    ids = pynndescent.NNDescent(X, n_neighbors=K + 1).neighbor_graph[0]  # the row itself is one of them
    itself = ids == np.arange(len(ids))[:, None]
    itself[~itself.any(axis=1), -1] = True
    return np.asarray(ids[~itself].reshape(len(ids), K))


NEIGHBORS: dict[str, Method] = {
    "sce-neighbors": Method("sce", "sce", "sce", _sce_neighbors),
    "pynndescent": Method("pynndescent", "pynndescent", "pynndescent", _pynndescent),
}
EVERY: dict[str, Any] = {**METHODS, **NEIGHBORS}
