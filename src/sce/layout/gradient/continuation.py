"""The full gradient's way to the r of a rule: through the family in small factors, each map the start of the next.

A map that minimises J at some r neither grows nor shrinks there; so any start tells by its own balance of pull and push at
which r it lies. From there r goes to the rule's in factors of at most FACTOR, a few iterations at each. Straight from a poor
start to a strong repulsion the way is long and ends in a worse minimum; and a map that comes from its neighbour in the
family looks like it.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from sce.core.parallel import Team
from sce.core.random import normal_array, stream
from sce.errors import SCEError
from sce.graph.csr import arrays_of
from sce.layout.components import link_components
from sce.layout.divergence import divergence, divergence_constant
from sce.layout.gradient.descent import Descent, Step
from sce.layout.gradient.precondition import Preconditioner
from sce.layout.gradient.terms import Gradient
from sce.layout.records import DONE, NOBODY, Layout, LayoutOptions, Record, Watch, run
from sce.layout.scale import FixedScale, ScaleRule

ITERATIONS = 1000  # at most
TOLERANCE = 1e-3
FACTOR = 2.5  # between one r and the next
NEAR = 1.1  # to the rule's r: from here on the rule itself is followed
MOST_GAIN = 0.8  # by which the rule's r follows r, where both are far from one another
RUNG = 15  # iterations at each r on the way, at most
PATIENCE = 3  # small steps in a row that end a run
SPAN = 10  # iterations over which the loss must fall
NOISE = 0.01  # parts points that lie on one another, which no force can, where the repulsion grows
BALANCE = 0.01  # of r: what may be left between the r of the rule and that at which the map keeps its size
CLOSE = 0.02  # of the logarithm of a scale
SCALINGS = 3  # at the end, at most
COLLAPSED = 1e-9  # the standard deviation below which a start has no shape
SPOT = 1e-3  # the standard deviation of a map that is becoming a single point
SINGLE = "the minimum is a single point: the repulsion is too weak to part anything"
STUCK = "no step lowers J any further"


def descend(
    P: sp.csr_matrix, start: np.ndarray, options: LayoutOptions, team: Team, watch: Watch = NOBODY, method: str = "auto"
) -> Layout:
    """Minimise J by the full gradient: L-BFGS from the start's own r to that of the rule.

    Parameters
    ----------
    P : csr_matrix
        Symmetric, non-negative, without a diagonal, with at least one edge; sums to 1.
    start : ndarray of shape (N, d)
        The first coordinates.
    options : LayoutOptions
        Of which `learning_rate` and `n_repulsive` mean nothing here.
    team : Team
    watch : Watch, optional
        Called after every iteration.
    method : {"auto", "exact", "grid"}, default="auto"
        How the repulsion is summed.
    """
    links = link_components(P, options.seed)
    gradient = Gradient(P, options.weights, team, method, links)
    smooth = Preconditioner(arrays_of(P if links is None else sp.csr_matrix(P + links)), team)
    descent = Descent(gradient, smooth, np.array(start, np.float64))
    path = Path(descent, options, divergence_constant(P, options.weights))
    history, reason = run(itertools.islice(path.walk(), options.n_epochs or ITERATIONS), path.coordinates, watch)
    if reason == DONE:
        way = "" if path.arrived else f" on the way to the rule's r, {descent.weight(options.rule):.4g}"
        reason = f"all iterations done{way}"
    return Layout(path.coordinates(), history[-1].r, history, reason)


class Path:
    """A descent on its way to a rule.

    Parameters
    ----------
    descent : Descent
        At the start.
    options : LayoutOptions
    constants : (float, float)
        Those of :func:`sce.layout.divergence.divergence_constant`.
    """

    def __init__(self, descent: Descent, options: LayoutOptions, constants: tuple[float, float]) -> None:
        self._descent, self._options, self._constants = descent, options, constants
        self._tol = TOLERANCE if options.tol is None else options.tol
        self._count = self._scalings = 0
        self.arrived = False

    def coordinates(self) -> np.ndarray:
        """The present map around its centre, float32."""
        Y = self._descent.terms.Y
        return (Y - Y.mean(axis=0)).astype(np.float32)

    def walk(self) -> Iterator[tuple[Record, str | None]]:
        """Iterate until the map is at the rule's r and has settled: a record of each iteration, the reason with the last."""
        descent, rule = self._descent, self._options.rule
        if descent.size() < COLLAPSED:
            descent.jump(descent.terms.Y + self._noise(0))
        r = _first(descent.natural_weight(), descent.weight(rule))
        before: tuple[float, float] | None = None
        for rung in itertools.count():
            now = r, descent.weight(rule)
            goal = _foresee(before, now)
            before = now if rung > 0 else None  # the start has not settled
            here = _nearer(r, goal, rule)
            if rung > 0:
                self._scale(here, self._noise(rung) if descent.weight(here) > r else 0.0)
            self.arrived = here is rule
            reason = None
            for record, reason in self._settle(here):
                yield record, reason if self.arrived else None
            if self.arrived:
                return
            r = goal if reason == SINGLE and goal < r else descent.weight(here)

    def _settle(self, rule: ScaleRule) -> Iterator[tuple[Record, str | None]]:
        """Iterate at a rule until little changes, or for RUNG iterations on the way."""
        descent, arrived = self._descent, self.arrived
        tol, span = (self._tol, SPAN) if arrived else (max(self._tol, TOLERANCE), SPAN // 2)
        falls: deque[float] = deque(maxlen=span)
        small, spots, r = 0, 0, descent.weight(rule)
        for count in itertools.count(1):
            step = descent.step(rule)
            record = self._record(rule, step)
            falls.append(step.fall)
            small = small + 1 if step.change < tol and abs(record.r - r) < tol * r else 0
            spots += step.size < SPOT
            r, reason = record.r, None
            if step.length == 0.0:
                reason = STUCK
            elif step.size < SPOT and spots > 1 and descent.natural_weight() > r:
                reason = SINGLE
            elif arrived and small >= PATIENCE:
                reason = f"relative changes of Y and r below tol = {tol:g}"
            elif len(falls) == span and tol > 0 and sum(falls) < tol * descent.objective(rule):
                reason = f"J falls by a smaller share than tol = {tol:g} in {span} iterations"
            unbalanced = arrived and reason not in (None, SINGLE) and self._is_unbalanced(rule)
            if reason == SINGLE and arrived:
                descent.jump(descent.terms.Y * SPOT)  # shown as what it is
            yield record, None if unbalanced else reason
            if unbalanced:
                small = 0
                falls.clear()
                self._scalings += 1
                self._scale(rule)
            elif reason is not None or (count == RUNG and not arrived):
                return
            elif step.size < SPOT:  # at this size all maps are alike: a larger one shows whether it shrinks again
                descent.jump(descent.terms.Y * (0.1 / SPOT))

    def _is_unbalanced(self, rule: ScaleRule) -> bool:
        """Whether the map has not the size it wants to have: where J is nearly flat along it, steps are small."""
        return self._scalings < SCALINGS and abs(self._descent.imbalance(rule)) > BALANCE

    def _noise(self, rung: int) -> np.ndarray:
        return NOISE * normal_array(stream(self._options.seed, f"rung {rung}"), self._descent.terms.Y.shape)

    def _record(self, rule: ScaleRule, step: Step) -> Record:
        terms, r = self._descent.terms, self._descent.weight(rule)
        loss = divergence(self._constants, terms.attraction, terms.mean_q_U, r)
        if not (math.isfinite(loss) and np.isfinite(terms.Y).all()):
            raise SCEError(
                f"The layout left the range of numbers in iteration {self._count + 1}; choose another scale."
            )
        self._count += 1
        return Record(self._count, loss, r, step.length, step.change)

    def _scale(self, rule: ScaleRule, noise: np.ndarray | float = 0.0) -> None:
        """Scale the map to where it neither grows nor shrinks at the r of a rule, by the secant method on logarithms.

        In large maps the r at which they keep their size is as the square of the size: there the first guess is exact.
        """
        descent = self._descent
        Y = descent.terms.Y - descent.terms.Y.mean(axis=0)
        before = descent.imbalance(rule)
        most = math.log(FACTOR)
        first = min(max(-0.5 * before, -0.5 * most), 0.5 * most)
        descent.jump(math.exp(first) * Y + noise)
        after = descent.imbalance(rule)
        bend = (after - before) / first if first else 0.0
        second = -before / bend if bend > 0 else 4.0 * first
        second = math.copysign(min(abs(second), abs(4.0 * first), most), first)
        if abs(second - first) > CLOSE:
            descent.jump(math.exp(second) * Y + noise)


def _first(natural: float, goal: float) -> float:
    """The first r: the start's own; but on the way up none below 1, where nothing is to be learnt."""
    return max(natural, min(goal, 1.0)) if natural < goal else natural


def _foresee(before: tuple[float, float] | None, now: tuple[float, float]) -> float:
    """Where r and the rule's r will meet, from two maps that have settled at some r, and the rule's r at each.

    Examples
    --------
    >>> _foresee(None, (10.0, 20.0)), round(_foresee((10.0, 20.0), (20.0, 20.0 * 2**0.5)), 6)
    (20.0, 40.0)
    """
    if before is None or before[0] == now[0]:
        return now[1]
    (x0, g0), (x1, g1) = (np.log(pair) for pair in (before, now))
    gain = min(max((g1 - g0) / (x1 - x0), 0.0), MOST_GAIN)
    return math.exp((g1 - gain * x1) / (1.0 - gain))


def _nearer(r: float, goal: float, rule: ScaleRule) -> ScaleRule:
    """The rule itself, if its r is near; else a fixed r on the way to it."""
    if goal / NEAR <= r <= goal * NEAR:
        return rule
    return FixedScale(min(r * FACTOR, goal) if goal > r else max(r / FACTOR, goal))
