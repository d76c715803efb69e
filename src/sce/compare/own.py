"""sce's own methods: SCE, GSNE, and t-SNE by the full gradient."""

from __future__ import annotations

from typing import Any

from sce.compare.interface import Made, Problem


def sce(problem: Problem, **parameters: Any) -> Made:
    """SCE on P; further parameters are those of :class:`sce.SCE`.

    If there are vectors, the start is along their principal axes, as in :class:`sce.SCE` with vectors.
    """
    P = problem.P
    if problem.X is None:
        return _fit(problem, P, affinity="precomputed", **parameters)
    return _fit(problem, problem.X, affinity=lambda _: P, **parameters)


def gsne(problem: Problem, r: float = 1.0) -> Made:
    """GSNE: a fixed repulsion weight."""
    return sce(problem, scale=float(r))


def tsne_gradient(problem: Problem) -> Made:
    """t-SNE at its minimum: r = 1 / E_U[q], by the full gradient."""
    return sce(problem, scale="sne", optimizer="gradient")


def sce_vectors(problem: Problem, **parameters: Any) -> Made:
    """SCE with its defaults, from vectors."""
    return _fit(problem, problem.X, **parameters)


def _fit(problem: Problem, X: Any, **parameters: Any) -> Made:
    from sce.estimator import SCE

    model = SCE(**parameters, random_state=problem.seed, n_jobs=problem.n_jobs).fit(X)
    facts = {"n_epochs": model.n_epochs_, "stop_reason": model.stop_reason_}
    return Made(model.embedding_, float(model.scale_), facts)
