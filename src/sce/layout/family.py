"""A family of maps, each started from its neighbour: pictures that morph instead of jumping."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from sce.core.linalg import orthogonal_factor
from sce.layout.components import link_components
from sce.layout.gradient.continuation import descend
from sce.layout.gradient.terms import Gradient, Terms
from sce.layout.plan import gradient_stage
from sce.layout.problem import Problem
from sce.layout.records import Layout
from sce.layout.scale import ScaleRule
from sce.layout.settings import LayoutOptions

SHAPE_SETTLED_BELOW = 0.5  # the E_P[q] below which neighbours lie far apart: another r changes the size of the map only
FAMILY_RESCALES = 4  # at most, to the size that r asks for
RESCALE_AT_MOST = 10.0  # the factor of one of them
RESCALE_DONE_WITHIN = 0.01  # of the logarithm of a scale
NEW_SHAPE_GAIN = 1e-4  # of J: what a new shape must gain
SAME_SHAPE = "the previous map, rescaled, is as good"
_SMALLEST_WEIGHT = 1e-300


def walk(
    problem: Problem,
    start: np.ndarray,
    rules: Sequence[ScaleRule],
    frames: np.ndarray,
    *,
    tol: float | None = None,
    afresh: bool = False,
) -> Iterator[tuple[int, Layout]]:
    """Make the maps of several rules for r, by the full gradient.

    The first map is that of the r nearest to 1, where the start matters least; from there the others follow, up and down, each
    started from the previous map. Where two values of r differ by more than a small factor, values between them are visited,
    too. Under strong repulsion another r changes only the size of the best map, and changes of shape during a descent are
    random: there the previous map is kept and rescaled, unless the new one is clearly better.

    Parameters
    ----------
    problem : Problem
    start : ndarray of shape (n, d)
        The start of the first map: principal axes, or better the sampler's map at r = 1.
    rules : sequence of rules
        In any order.
    frames : ndarray of shape (len(rules), n, d)
        Receives the maps.
    tol : float, optional
        As in :class:`sce.SCE`; None is "auto".
    afresh : bool, default=False
        Start every map from `start` instead.

    Yields
    ------
    k, layout : int, Layout
        What became ``frames[k]``, the map of ``rules[k]``.
    """
    measure = Gradient(problem.graph, problem.weights, links=link_components(problem.graph, problem.seed))
    for k, before in _plan([_log(rule.expected_r) for rule in rules]):
        first = start if afresh or before is None else frames[before]
        layout = minimise(problem, rules[k], first, tol)
        if rules[k].is_fixed and first is not start:
            layout = _better(layout, first, measure)
        frames[k] = layout.Y
        yield k, layout


def minimise(problem: Problem, rule: ScaleRule, start: np.ndarray, tol: float | None = None) -> Layout:
    """The map of a rule, by the full gradient from a start."""
    return descend(problem, gradient_stage(problem, LayoutOptions(rule, tol=tol), None), start)


def _better(layout: Layout, before: np.ndarray, measure: Gradient) -> Layout:
    """The layout, or the previous map, rescaled for r, where that is as good."""
    r, old = layout.r, measure(before.astype(np.float64))
    if old.mean_q_P > SHAPE_SETTLED_BELOW:
        return layout
    for _ in range(FAMILY_RESCALES):
        factor = math.sqrt(r / _natural_weight(old))
        old = measure(old.Y * min(max(factor, 1.0 / RESCALE_AT_MOST), RESCALE_AT_MOST))
        if abs(math.log(factor)) < RESCALE_DONE_WITHIN:
            break
    new = measure(layout.Y.astype(np.float64))
    if not _objective(old, r) < (1.0 + NEW_SHAPE_GAIN) * _objective(new, r):
        return layout
    return layout._replace(Y=old.Y.astype(np.float32), stop_reason=SAME_SHAPE)


def _natural_weight(terms: Terms) -> float:
    """The r at which the map neither grows nor shrinks."""
    return max(
        float((terms.Y * terms.pull).sum()) / max(-float((terms.Y * terms.push).sum()), _SMALLEST_WEIGHT),
        _SMALLEST_WEIGHT,
    )


def _objective(terms: Terms, r: float) -> float:
    return terms.attraction + terms.links + r * terms.mean_q_U


def _plan(logs: Sequence[float]) -> list[tuple[int, int | None]]:
    """The order of the maps, and the map that each starts from: from the one nearest to 0 up, then from it down.

    Examples
    --------
    >>> _plan([3.0, 0.1, 2.0, -1.0])
    [(1, None), (2, 1), (0, 2), (3, 1)]
    """
    order = [int(k) for k in np.argsort(logs, kind="stable")]
    middle = min(range(len(order)), key=lambda place: abs(logs[order[place]]))
    up, down = order[middle:], order[: middle + 1][::-1]
    return [(up[0], None), *((k, before) for way in (up, down) for before, k in itertools.pairwise(way))]


def _log(r: float) -> float:
    return math.log(r) if math.isfinite(r) else math.inf


def turned(Y: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Y centred, rotated or mirrored, but not scaled, to match another map as closely as possible (Procrustes).

    Examples
    --------
    >>> Y = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.5], [0.0, -0.5]])
    >>> turned(Y[:, ::-1], like=Y).round(6).tolist() == Y.tolist()
    True
    """
    centred, goal = (Z - Z.mean(axis=0, dtype=np.float64) for Z in (Y, like))
    overlap = (centred[:, :, None] * goal[:, None, :]).sum(axis=0)
    rotation = orthogonal_factor(overlap)
    return (centred[:, :, None] * rotation).sum(axis=1).astype(Y.dtype)
