"""UMAP, PaCMAP and LocalMAP by their authors' packages.

None gets a seed: with one, UMAP and PaCMAP's neighbour search run on a single thread, unlike what their users see.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.compare.interface import Made, Problem


def umap(problem: Problem) -> Made:
    """UMAP's layout of P, with weights scaled to a maximum of 1 like those of its own graphs; otherwise with its defaults."""
    from sklearn.utils import check_random_state
    from umap.umap_ import (  # type: ignore[import-not-found, import-untyped]
        find_ab_params,
        simplicial_set_embedding,
    )

    graph = problem.P.tocoo().astype(np.float32)
    graph.data /= graph.data.max()
    a, b = find_ab_params(1.0, 0.1)
    Y, _ = simplicial_set_embedding(
        data=_vectors(problem),
        graph=graph,
        n_components=2,
        initial_alpha=1.0,
        a=a,
        b=b,
        gamma=1.0,
        negative_sample_rate=5,
        n_epochs=None,
        init="spectral",
        random_state=check_random_state(None),
        metric="euclidean",
        metric_kwds={},
        densmap=False,
        densmap_kwds={},
        output_dens=False,
        parallel=True,
    )
    return Made(np.asarray(Y))


def umap_vectors(problem: Problem) -> Made:
    """UMAP with its defaults."""
    from umap import UMAP  # type: ignore[import-not-found, import-untyped]

    return Made(np.asarray(UMAP(n_jobs=problem.n_jobs).fit_transform(problem.X)))


def pacmap(problem: Problem) -> Made:
    """PaCMAP with its defaults."""
    from pacmap import PaCMAP  # type: ignore[import-not-found, import-untyped]

    return Made(np.asarray(PaCMAP().fit_transform(problem.X)))


def localmap(problem: Problem) -> Made:
    """LocalMAP with its defaults."""
    from pacmap import LocalMAP

    return Made(np.asarray(LocalMAP().fit_transform(problem.X)))


def _vectors(problem: Problem) -> Any:
    """What UMAP uses to place the components of a disconnected graph."""
    if problem.X is not None:
        return problem.X
    from sce.core.parallel import Team
    from sce.layout.problem import Problem as LayoutProblem
    from sce.layout.similarities import Similarities
    from sce.layout.start import starting_points

    with Team(problem.n_jobs) as team:
        return starting_points(LayoutProblem(Similarities(problem.P, team), seed=problem.seed), "auto", 2)
