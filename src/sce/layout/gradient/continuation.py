"""Continuation over r: the full gradient follows the minimum from the start's own r to that of a rule, in small factors.

A map that minimises J at some r neither grows nor shrinks there, so the balance of pull and push of any start tells its own r.
From there r approaches that of the rule in factors of at most R_FACTOR, with a few iterations at each value, a *rung*. Going
straight from a poor start to a strong repulsion takes longer and ends in a worse minimum; and a map that starts from its
neighbour in the family looks like it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sce.core.random import normal_array, stream
from sce.errors import SCEError
from sce.layout.components import link_components
from sce.layout.divergence import divergence, divergence_constants
from sce.layout.gradient.descent import Descent, DescentState, Step
from sce.layout.gradient.precondition import Preconditioner
from sce.layout.gradient.terms import Gradient, Terms
from sce.layout.plan import GRADIENT_TOLERANCE, Stage
from sce.layout.problem import Problem
from sce.layout.records import Layout, Record
from sce.layout.scale import FixedScale, ScaleRule

R_FACTOR = 2.5  # between the r of one rung and the next
ARRIVED_WITHIN = 1.1  # a factor from the rule's r: from here on the rule itself is followed
MOST_FEEDBACK = 0.8  # the most by which the rule's r is taken to follow r, where the two are far apart
RUNG_ITERATIONS = 15  # on the way, at most
SMALL_STEPS = 3  # in a row that end a run
LOSS_SPAN = 10  # iterations over which the loss must fall
RUNG_NOISE = 0.01  # separates coinciding points, which no force can, where the repulsion grows
BALANCED_WITHIN = 0.01  # of r: what may be left between the rule's r and that at which the map keeps its size
RESCALED_WITHIN = 0.02  # of the logarithm of a scale
RESCALES_AT_THE_END = 3  # at most
SHAPELESS_BELOW = 1e-9  # the standard deviation of a start without a shape
SPOT_BELOW = 1e-3  # the standard deviation of a map that is becoming a single point
SPOT_ENLARGED = 0.1  # the standard deviation at which one looks whether it shrinks again
SINGLE = "the minimum is a single point: the repulsion is too weak to separate anything"
STUCK = "no step lowers J any further"
KEPT = "the start is kept, because its J without links between components is lower"

_BEGIN, _STEP, _RESCALE, _ENLARGE, _NEXT_RUNG = range(5)  # what comes before the next iteration


class Rung(NamedTuple):
    """The progress of the continuation: the present r, and what has been observed at it."""

    number: int = 0
    r: float = math.nan  # of the map when the rung began
    goal: float = math.nan  # where r and the rule's r will meet
    before_r: float = math.nan  # r and the rule's r at the rung before the last, where both had settled
    before_rule_r: float = math.nan
    target: float = math.nan  # the fixed r of this rung; NaN where the rule itself is followed
    arrived: bool = False
    iterations: int = 0
    small_steps: int = 0
    spots: int = 0
    last_r: float = math.nan
    single: bool = False  # whether the rung ended in a single point
    pending: int = _BEGIN
    rescales: int = 0  # of the whole run
    total: int = 0  # iterations of the whole run


class GradientState(NamedTuple):
    """Where the full gradient is between two iterations."""

    descent: DescentState
    rung: Rung
    falls: np.ndarray  # of the loss in the last iterations of this rung


class Continuation:
    """Minimises J by the full gradient, an iteration of L-BFGS at a time.

    Parameters
    ----------
    problem : Problem
        With at least one edge.
    stage : Stage
        The rule, the maximum number of iterations, the tolerance.
    start : ndarray of shape (n, d)
        The first coordinates.
    state : GradientState, optional
        Where to go on.
    method : {"auto", "exact", "grid"}, default="auto"
        How the repulsion is summed.
    """

    def __init__(
        self,
        problem: Problem,
        stage: Stage,
        start: np.ndarray,
        state: GradientState | None = None,
        method: str = "auto",
    ) -> None:
        graph, links = problem.graph, link_components(problem.graph, problem.seed, stage.share)
        gradient = Gradient(graph, problem.weights, method, links)
        smooth = Preconditioner(graph)
        self._rule, self._tol, self._most, self._seed = stage.rule, stage.tol, stage.n_epochs, problem.seed
        self._direct = stage.direct
        self._constants = divergence_constants(problem)
        self._descent = Descent(gradient, smooth, np.array(start, np.float64), None if state is None else state.descent)
        # Links might pull the map to a higher J of P alone; then the start is kept.
        self._start = None if links is None else gradient(np.array(start, np.float64))
        self._rung = Rung() if state is None else state.rung
        self._falls: list[float] = [] if state is None else [float(fall) for fall in state.falls]

    # ------------------------------------------------------------------------------------------------ as a running stage

    def advance(self) -> tuple[Record, str | None] | None:
        """Iterate once: a record, and the reason if the map is at the rule's r and has settled; None at the last."""
        if self._rung.total == self._most:
            return None
        self._prepare()
        rung, here = self._rung, self._here()
        step = self._descent.step(here)
        record = self._record(here, step)
        reason = self._observe(step, record.r)
        unbalanced = rung.arrived and reason not in (None, SINGLE) and self._is_unbalanced()
        if reason == SINGLE and rung.arrived:
            self._descent.jump(self._descent.terms.Y * SPOT_BELOW)  # shown as what it is
        self._decide(step, reason, unbalanced=unbalanced)
        ended = reason if rung.arrived and not unbalanced else None
        is_last = ended is not None or self._rung.total == self._most
        if is_last and self._start is not None and _is_below(self._start, self._descent.terms, record.r):
            self._descent.jump(self._start.Y)
            return self._record(here, step), KEPT
        return record, ended

    def coordinates(self) -> np.ndarray:
        """The present map around its centre, float32."""
        Y = self._descent.terms.Y
        return (Y - Y.mean(axis=0)).astype(np.float32)

    def state(self) -> GradientState:
        """Where to go on."""
        return GradientState(self._descent.state(), self._rung, np.array(self._falls, np.float64))

    def done_reason(self) -> str:
        """Why a run of all iterations ended."""
        if self._rung.arrived:
            return "all iterations done"
        return f"all iterations done before reaching the rule's r, {self._descent.weight(self._rule):.4g}"

    def close(self) -> None:
        """Nothing to release."""

    # -------------------------------------------------------------------------------------------- between two iterations

    def _prepare(self) -> None:
        """Do what the last iteration found to be due."""
        descent, rung = self._descent, self._rung
        if rung.pending == _BEGIN:
            if descent.size() < SHAPELESS_BELOW:
                descent.jump(descent.terms.Y + self._noise(0))
            goal = descent.weight(self._rule)
            self._enter(0, goal if self._direct else _first_r(descent.natural_weight(), goal))
        elif rung.pending == _NEXT_RUNG:
            skips = rung.single and rung.goal < rung.r
            self._enter(rung.number + 1, rung.goal if skips else descent.weight(self._here()))
        elif rung.pending == _RESCALE:
            self._falls = []
            self._rung = rung._replace(small_steps=0, rescales=rung.rescales + 1)
            self._rescale(self._here())
        elif rung.pending == _ENLARGE:  # at that size all maps are alike: a larger one shows whether it shrinks again
            descent.jump(descent.terms.Y * (SPOT_ENLARGED / SPOT_BELOW))

    def _enter(self, number: int, r: float) -> None:
        """Begin the rung that follows a map at r."""
        descent, rung = self._descent, self._rung
        rule_r = descent.weight(self._rule)
        before = None if math.isnan(rung.before_r) else (rung.before_r, rung.before_rule_r)
        goal = _foresee(before, (r, rule_r))
        here = _nearer(r, goal, self._rule)
        if number > 0:
            self._rescale(here, self._noise(number) if descent.weight(here) > r else 0.0)
        self._falls = []
        self._rung = Rung(
            number,
            r,
            goal,
            *((r, rule_r) if number > 0 else (math.nan, math.nan)),  # the start had not settled
            target=math.nan if here is self._rule else here.weight(1.0, 1.0),
            arrived=here is self._rule,
            last_r=descent.weight(here),
            rescales=rung.rescales,
            total=rung.total,
        )

    def _here(self) -> ScaleRule:
        """The rule of this rung."""
        return self._rule if self._rung.arrived else FixedScale(self._rung.target)

    def _observe(self, step: Step, r: float) -> str | None:
        """Record an iteration; returns the reason to end the rung, if there is one."""
        descent, rung = self._descent, self._rung
        tol, span = self._limits()
        self._falls = [*self._falls, step.fall][-span:]
        is_small = step.change < tol and abs(r - rung.last_r) < tol * rung.last_r
        small_steps = rung.small_steps + 1 if is_small else 0
        spots = rung.spots + (step.size < SPOT_BELOW)
        self._rung = rung._replace(
            iterations=rung.iterations + 1, small_steps=small_steps, spots=spots, last_r=r, total=rung.total + 1
        )
        if step.length == 0.0:
            return STUCK
        if step.size < SPOT_BELOW and spots > 1 and descent.natural_weight() > r:
            return SINGLE
        if rung.arrived and small_steps >= SMALL_STEPS:
            return f"relative changes of Y and r below tol = {tol:g}"
        if len(self._falls) == span and tol > 0 and sum(self._falls) < tol * descent.objective(self._here()):
            return f"relative decrease of J below tol = {tol:g} over {span} iterations"
        return None

    def _decide(self, step: Step, reason: str | None, *, unbalanced: bool) -> None:
        """What comes before the next iteration."""
        rung = self._rung
        if unbalanced:
            pending = _RESCALE
        elif reason is not None or (rung.iterations == RUNG_ITERATIONS and not rung.arrived):
            pending = _NEXT_RUNG
        else:
            pending = _ENLARGE if step.size < SPOT_BELOW else _STEP
        self._rung = rung._replace(pending=pending, single=reason == SINGLE)

    def _limits(self) -> tuple[float, int]:
        """The tolerance, and the iterations over which the loss must fall: coarser on the way."""
        return (self._tol, LOSS_SPAN) if self._rung.arrived else (max(self._tol, GRADIENT_TOLERANCE), LOSS_SPAN // 2)

    def _is_unbalanced(self) -> bool:
        """Whether the map is not at its equilibrium size: where J is nearly flat along the scale, steps are small."""
        imbalance = self._descent.imbalance(self._rule)
        return self._rung.rescales < RESCALES_AT_THE_END and abs(imbalance) > BALANCED_WITHIN

    def _noise(self, rung: int) -> np.ndarray:
        return RUNG_NOISE * normal_array(stream(self._seed, f"rung {rung}"), self._descent.terms.Y.shape)

    def _record(self, rule: ScaleRule, step: Step) -> Record:
        terms, r = self._descent.terms, self._descent.weight(rule)
        loss = divergence(self._constants, terms.attraction, terms.mean_q_U, r)
        number = self._rung.total + 1
        if not (math.isfinite(loss) and np.isfinite(terms.Y).all()):
            raise SCEError(f"The layout diverged in iteration {number}; choose another scale.")
        return Record(number, loss, r, step.length, step.change)

    def _rescale(self, rule: ScaleRule, noise: np.ndarray | float = 0.0) -> None:
        """Scale the map to where it neither grows nor shrinks at the r of a rule, by the secant method on logarithms.

        The r at which a large map keeps its size is proportional to the square of the size: there the first guess is exact.
        """
        descent = self._descent
        Y = descent.terms.Y - descent.terms.Y.mean(axis=0)
        before = descent.imbalance(rule)
        most = math.log(R_FACTOR)
        first = min(max(-0.5 * before, -0.5 * most), 0.5 * most)
        descent.jump(math.exp(first) * Y + noise)
        after = descent.imbalance(rule)
        bend = (after - before) / first if first else 0.0
        second = -before / bend if bend > 0 else 4.0 * first
        second = math.copysign(min(abs(second), abs(4.0 * first), most), first)
        if abs(second - first) > RESCALED_WITHIN:
            descent.jump(math.exp(second) * Y + noise)


def descend(problem: Problem, stage: Stage, start: np.ndarray, method: str = "auto") -> Layout:
    """Run the full gradient from a start to its end.

    Parameters
    ----------
    problem, stage, start, method
        As in :class:`Continuation`.
    """
    path = Continuation(problem, stage, start, method=method)
    history: list[Record] = []
    reason = None
    while reason is None and (advanced := path.advance()) is not None:
        record, reason = advanced
        history.append(record)
    return Layout(path.coordinates(), history[-1].r, history, reason or path.done_reason())


def _first_r(natural: float, goal: float) -> float:
    """The first r: the start's own; but on the way up at least 1, because lower values gain nothing."""
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
    gain = min(max((g1 - g0) / (x1 - x0), 0.0), MOST_FEEDBACK)
    return math.exp((g1 - gain * x1) / (1.0 - gain))


def _is_below(start: Terms, end: Terms, r: float) -> bool:
    """Whether J of P at r is lower at the start than at the end."""
    return start.attraction + r * start.mean_q_U < end.attraction + r * end.mean_q_U


def _nearer(r: float, goal: float, rule: ScaleRule) -> ScaleRule:
    """The rule itself, if its r is near; else a fixed r on the way to it."""
    if goal / ARRIVED_WITHIN <= r <= goal * ARRIVED_WITHIN:
        return rule
    return FixedScale(min(r * R_FACTOR, goal) if goal > r else max(r / R_FACTOR, goal))
