"""t-SNE by openTSNE: plain, exaggerated, and by the rules of opt-SNE.

opt-SNE (Belkina et al., Automated optimized parameters for T-distributed stochastic neighbor embedding improve visualization
and analysis of large datasets, Nature Communications 10, 2019) is t-SNE with three rules: the learning rate is the number of
points divided by the early exaggeration; early exaggeration ends after the first peak of the relative rate at which KL falls;
the run ends when KL falls by less than a 5000th of itself. KL is checked at the same iterations as in the authors' code.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.compare.interface import Made, Problem

EXAGGERATION = 12.0
MAX_OPTSNE_ITERATIONS = 1000  # as in the authors' script
_FIRST_KL_CHECK = 15  # iteration, in either phase
_EARLY_CHECK_EVERY, _LATE_CHECK_EVERY = 3, 5  # iterations between two checks of KL
_CHECKS_AFTER_PEAK = 2  # before early exaggeration ends
_SMALLEST_KL_FALL = 5000.0  # as a fraction: KL / this


def tsne(problem: Problem, exaggeration: float = 1.0) -> Made:
    """On P, with openTSNE's defaults except for the exaggeration after the early phase."""
    return _fit(problem, affinities=_affinities(problem.P), exaggeration=exaggeration)


def tsne_vectors(problem: Problem) -> Made:
    """On vectors, with openTSNE's defaults and its own affinities."""
    return _fit(problem)


def optsne(problem: Problem) -> Made:
    """On P, by opt-SNE's rules."""
    return _fit_by_rules(problem, affinities=_affinities(problem.P))


def optsne_vectors(problem: Problem) -> Made:
    """On vectors, with openTSNE's own affinities, by opt-SNE's rules."""
    return _fit_by_rules(problem)


class PeakOfRate:
    """Ends early exaggeration: called with KL every few iterations, returns True shortly after the peak of its relative fall.

    Examples
    --------
    >>> stop = PeakOfRate()
    >>> [stop(i, kl, None) for i, kl in ((15, 9.0), (18, 8.8), (21, 8.0), (24, 7.9), (27, 7.8), (30, 7.7))]
    [False, False, False, False, False, True]
    """

    def __init__(self) -> None:
        self._last: float | None = None
        self._rate = -np.inf
        self._checks_since = -1

    def __call__(self, iteration: int, error: float, _: Any) -> bool:
        """Whether to stop."""
        if iteration < _FIRST_KL_CHECK:
            return False
        if self._last is not None and self._checks_since < 0:
            rate = (self._last - error) / self._last
            if rate < self._rate:
                self._checks_since = 0
            self._rate = rate
        elif self._checks_since >= 0:
            self._checks_since += 1
        self._last = error
        return self._checks_since >= _CHECKS_AFTER_PEAK


class SmallFall:
    """Ends the run: called with KL every few iterations, returns True once it has fallen by less than a 5000th of itself."""

    def __init__(self) -> None:
        self._last: float | None = None

    def __call__(self, iteration: int, error: float, _: Any) -> bool:
        """Whether to stop."""
        if iteration < _FIRST_KL_CHECK:
            return False
        done = self._last is not None and self._last - error < error / _SMALLEST_KL_FALL
        self._last = error
        return done


# ------------------------------------------------------------------------------------------------------------- openTSNE


def _model(problem: Problem, **options: Any) -> Any:
    import openTSNE  # type: ignore[import-not-found, import-untyped]

    return openTSNE.TSNE(n_jobs=problem.n_jobs, random_state=problem.seed, **options)


def _affinities(P: Any) -> Any:
    """A copy of P, because openTSNE multiplies it in place, with the types that its kernels need."""
    import scipy.sparse as sp
    from openTSNE.affinity import PrecomputedAffinities  # type: ignore[import-not-found, import-untyped]

    own = sp.csr_matrix((P.data.astype(np.float64), P.indices.astype(np.int32), P.indptr.astype(np.int32)), P.shape)
    return PrecomputedAffinities(own)


def _fit(problem: Problem, affinities: Any = None, exaggeration: float = 1.0) -> Made:
    late = None if exaggeration == 1.0 else float(exaggeration)
    embedding = _model(problem, exaggeration=late).fit(problem.X, affinities=affinities)
    return Made(np.asarray(embedding), facts={"kl": float(embedding.kl_divergence)})


def _fit_by_rules(problem: Problem, affinities: Any = None) -> Made:
    embedding = _model(problem).prepare_initial(problem.X, affinities=affinities)
    rate = embedding.shape[0] / EXAGGERATION
    counted: list[int] = []
    phases = ((EXAGGERATION, PeakOfRate(), _EARLY_CHECK_EVERY), (1.0, SmallFall(), _LATE_CHECK_EVERY))
    for exaggeration, rule, every in phases:
        seen = _Counting(rule, every)
        embedding = embedding.optimize(
            n_iter=MAX_OPTSNE_ITERATIONS - sum(counted),
            exaggeration=exaggeration,
            learning_rate=rate,
            momentum=0.8,
            callbacks=seen,
            callbacks_every_iters=every,
        )
        counted.append(seen.iterations)
        if sum(counted) >= MAX_OPTSNE_ITERATIONS:
            break
    facts = {"kl": float(embedding.kl_divergence), "early_iterations": counted[0], "iterations": sum(counted)}
    return Made(np.asarray(embedding), facts=facts)


class _Counting:
    """A rule that remembers the last iteration."""

    def __init__(self, rule: Any, every: int) -> None:
        self._rule, self._every, self.iterations = rule, every, 0

    def __call__(self, iteration: int, error: float, embedding: Any) -> bool:
        self.iterations = iteration
        return bool(self._rule(iteration, error, embedding))
