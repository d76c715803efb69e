"""A family of maps, each started from its neighbour: pictures that morph instead of jumping."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from sce.core.parallel import Team
from sce.layout.components import link_components
from sce.layout.gradient.continuation import descend
from sce.layout.gradient.terms import Gradient, Terms
from sce.layout.records import Layout, LayoutOptions
from sce.layout.scale import FixedScale, ScaleRule, SCEScale

STRONG = 0.5  # the E_P[q] below which neighbours lie far apart
SCALINGS = 4  # at most, to the size that r asks for
MOST = 10.0  # the factor of one of them
CLOSE = 0.01  # of the logarithm of a scale
MARGIN = 1e-4  # of J: what a new shape must gain
TINY = 1e-300
SAME = "the map before it, in another size, is as good"


def walk(
    P: sp.csr_matrix,
    start: np.ndarray,
    rules: Sequence[ScaleRule],
    options: LayoutOptions,
    team: Team,
    frames: np.ndarray,
    *,
    afresh: bool = False,
) -> Iterator[tuple[int, Layout]]:
    """Make the maps of several rules for r, by the full gradient.

    The first map is that of the r nearest to 1, where the start matters least; from there the others follow, up and down,
    each from the map before it. Where two r lie farther apart than a small factor, the way between them is walked too. Under
    strong repulsion another r changes the size of the best map only, and what a descent changes in its shape is chance: there
    the map before it, in the right size, is kept, unless the new one is clearly better.

    Parameters
    ----------
    P : csr_matrix
    start : ndarray of shape (N, d)
        The start of the first map: principal axes, or better the sampler's map at r = 1.
    rules : sequence of rules
        In any order.
    options : LayoutOptions
        Its rule is not used.
    team : Team
    frames : ndarray of shape (len(rules), N, d)
        Takes the maps.
    afresh : bool, default=False
        Start every map from `start` instead.

    Yields
    ------
    k, layout : int, Layout
        What became ``frames[k]``, the map of ``rules[k]``.
    """
    measure = Gradient(P, options.weights, team, links=link_components(P, options.seed))
    for k, before in _plan([_expected_log_r(rule) for rule in rules]):
        first = start if afresh or before is None else frames[before]
        layout = descend(P, first, replace(options, rule=rules[k]), team)
        if isinstance(rules[k], FixedScale) and first is not start:
            layout = _better(layout, first, measure)
        frames[k] = layout.Y
        yield k, layout


def _better(layout: Layout, before: np.ndarray, measure: Gradient) -> Layout:
    """The layout, or the map before it in the size that r asks for, where that is as good."""
    r, old = layout.r, measure(before.astype(np.float64))
    if old.mean_q_P > STRONG:
        return layout
    for _ in range(SCALINGS):
        factor = math.sqrt(r / _natural_weight(old))
        old = measure(old.Y * min(max(factor, 1.0 / MOST), MOST))
        if abs(math.log(factor)) < CLOSE:
            break
    new = measure(layout.Y.astype(np.float64))
    if not _objective(old, r) < (1.0 + MARGIN) * _objective(new, r):
        return layout
    return layout._replace(Y=old.Y.astype(np.float32), stop_reason=SAME)


def _natural_weight(terms: Terms) -> float:
    """The r at which the map neither grows nor shrinks."""
    return max(float((terms.Y * terms.pull).sum()) / max(-float((terms.Y * terms.push).sum()), TINY), TINY)


def _objective(terms: Terms, r: float) -> float:
    return terms.attraction + terms.links + r * terms.mean_q_U


def _plan(logs: Sequence[float]) -> list[tuple[int, int | None]]:
    """Which map to make when, and from which: from the one nearest to 0 up, then from it down.

    Examples
    --------
    >>> _plan([3.0, 0.1, 2.0, -1.0])
    [(1, None), (2, 1), (0, 2), (3, 1)]
    """
    order = [int(k) for k in np.argsort(logs, kind="stable")]
    middle = min(range(len(order)), key=lambda place: abs(logs[order[place]]))
    up, down = order[middle:], order[: middle + 1][::-1]
    return [(up[0], None), *((k, before) for way in (up, down) for before, k in itertools.pairwise(way))]


def _expected_log_r(rule: ScaleRule) -> float:
    """The logarithm of the r of a rule, as far as it can be told beforehand; SCE's is about 1 / alpha."""
    if isinstance(rule, FixedScale):
        return math.log(rule.r)
    return -math.log(rule.alpha) if isinstance(rule, SCEScale) and rule.alpha > 0 else math.inf


def turned(Y: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Y around its centre, rotated or mirrored, not scaled, to lie as nearly as it can on another map (Procrustes).

    Examples
    --------
    >>> Y = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.5], [0.0, -0.5]])
    >>> turned(Y[:, ::-1], like=Y).round(6).tolist() == Y.tolist()
    True
    """
    centred, goal = (Z - Z.mean(axis=0, dtype=np.float64) for Z in (Y, like))
    U, _, Vt = np.linalg.svd(centred.T @ goal)
    return (centred @ (U @ Vt)).astype(Y.dtype)
