"""The methods of our own family: SCE, GSNE and t-SNE by the full gradient."""

from __future__ import annotations

from typing import Any

from sce.compare.interface import Made, Problem


def sce(problem: Problem, **parameters: Any) -> Made:
    """SCE on P; further parameters are those of :class:`sce.SCE`.

    The start is as of :class:`sce.SCE` with vectors, along their principal axes, where there are vectors.
    """
    P = problem.P
    if problem.X is None:
        return _fit(problem, P, affinity="precomputed", **parameters)
    return _fit(problem, problem.X, affinity=lambda _: P, **parameters)


def gsne(problem: Problem, r: float = 1.0) -> Made:
    """GSNE: the repulsion weight is a given number."""
    return sce(problem, scale=float(r))


def tsne_gradient(problem: Problem) -> Made:
    """t-SNE to the minimum: r = 1 / E_U[q] by our full gradient."""
    return sce(problem, scale="sne", optimizer="gradient")


def sce_vectors(problem: Problem, **parameters: Any) -> Made:
    """SCE as a user has it who gives nothing but data."""
    return _fit(problem, problem.X, **parameters)


def _fit(problem: Problem, X: Any, **parameters: Any) -> Made:
    from sce.estimator import SCE

    model = SCE(**parameters, random_state=problem.seed, n_jobs=problem.n_jobs).fit(X)
    facts = {"n_epochs": model.n_epochs_, "stop_reason": model.stop_reason_}
    return Made(model.embedding_, float(model.scale_), facts)
