"""A graph made again from the data, with the same bytes as the fit made it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from sce.core.parallel import Team, resolve_n_jobs
from sce.core.progress import Reporter
from sce.graph.affinity_names import AFFINITY_NAMES
from sce.graph.build import GraphOptions, build_affinity


def can_make_again(used: Mapping[str, Any]) -> bool:
    """Whether the graph follows from the data and these parameters, so that it was neither given nor made by a function."""
    return used.get("affinity") in AFFINITY_NAMES and "precomputed" not in (used["affinity"], used.get("metric"))


def make_again(X: Any, used: Mapping[str, Any], *, n_jobs: int | None = None, verbose: bool = False) -> Any:
    """The graph of the data under the parameters of a fit.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        The data that were embedded.
    used : mapping
        The parameters of the fit, as a map keeps them.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.
    verbose : bool, default=False
        Whether to show the progress.

    Examples
    --------
    >>> import numpy as np
    >>> from sce import SCE
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> model = SCE(random_state=0).fit(X)
    >>> abs(make_again(X, model.get_params()) - model.affinity_).max()
    np.float32(0.0)
    """
    names = ("affinity", "n_neighbors", "perplexity", "metric")
    options = GraphOptions(**{name: used[name] for name in names if name in used})
    jobs, seed = resolve_n_jobs(n_jobs), int(used.get("random_state") or 0)
    with warnings.catch_warnings(), Reporter(verbose) as report, Team(jobs, report.meter("Graph")) as team:
        warnings.simplefilter("ignore")  # the fit has given them
        return build_affinity(X, options, team, seed).P
