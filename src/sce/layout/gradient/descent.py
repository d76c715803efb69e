"""The iterations of the full gradient: L-BFGS with a line search on J.

For each scale rule there is a function of E_U whose slope is the rule's r (see the `energy` of the rules). The line search
lowers the attraction plus that function: J itself for a fixed r, its own objective for t-SNE's rule, and for SCE's rule one in
which E_P is held fixed for a few steps. So r is what the rule says at the present map; nothing is averaged.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sce.layout.gradient.lbfgs import Memory, MemoryState
from sce.layout.gradient.precondition import Preconditioner
from sce.layout.gradient.terms import Gradient, Terms
from sce.layout.scale import ScaleRule

_FIRST_ACCURACY = 1e-2  # of the repulsion's sums
_GRADIENT_ACCURACY = 0.1  # of the whole gradient, which those sums must allow: with 2e-4, J falls no faster
_ARMIJO = 1e-4  # the share of the promised decrease that a step must bring
_STEP_TRIES = 12  # shorter and shorter steps
_FARTHEST_MOVE = 0.5  # standard deviations of the map that a point may move at once
_FIXED_MEAN_STEPS = 4  # for which E_P is held fixed


class Step(NamedTuple):
    """What an iteration did."""

    length: float  # of the step, where 1 is L-BFGS's own; 0 if no step was found that lowers J
    change: float  # |Y - Y_before| / |Y|
    fall: float  # of what the line search lowers
    size: float  # the standard deviation of the map


class DescentState(NamedTuple):
    """All that a descent needs to continue."""

    Y: np.ndarray  # (n, d) float64
    terms_accuracy: float  # at which the terms at Y were computed
    accuracy: float  # of the next ones
    mean_q_P: float  # the E_P that is held fixed
    steps: int  # since then
    smoothed: np.ndarray  # (n, d), the smoothed gradient at Y; empty if it is not known
    memory: MemoryState


class Descent:
    """A map on its way down.

    Parameters
    ----------
    gradient : Gradient
    smooth : Preconditioner
    Y : ndarray of shape (n, d), float64
        The start.
    state : DescentState, optional
        Where another descent stopped, instead of a start.

    Attributes
    ----------
    terms : Terms
        At the present Y.
    """

    def __init__(
        self, gradient: Gradient, smooth: Preconditioner, Y: np.ndarray, state: DescentState | None = None
    ) -> None:
        self._gradient, self._smooth = gradient, smooth
        self._memory = Memory(Y.size, gradient.team, None if state is None else state.memory)
        self._terms_accuracy = _FIRST_ACCURACY if state is None else state.terms_accuracy
        self._accuracy = _FIRST_ACCURACY if state is None else state.accuracy
        Y = Y if state is None else state.Y
        self.terms, self._size = gradient(Y, self._terms_accuracy), _size(Y)
        # The gradient at the present Y, smoothed.
        self._smoothed = None if state is None or not state.smoothed.size else state.smoothed
        self._q_P = self.terms.mean_q_P if state is None else state.mean_q_P
        self._count = 0 if state is None else state.steps

    def state(self) -> DescentState:
        """Where to go on."""
        smoothed = np.empty((0, 0)) if self._smoothed is None else self._smoothed
        numbers = self._terms_accuracy, self._accuracy, self._q_P, self._count
        return DescentState(self.terms.Y, *numbers, smoothed, self._memory.state())

    def jump(self, Y: np.ndarray) -> None:
        """Go on from another Y."""
        self._memory.forget()
        self._smoothed = None
        self._terms_accuracy = self._accuracy
        self.terms, self._size = self._gradient(Y, self._accuracy), _size(Y)

    def objective(self, rule: ScaleRule) -> float:
        """J at the r of the rule."""
        return self.terms.attraction + self.weight(rule) * self.terms.mean_q_U

    def weight(self, rule: ScaleRule) -> float:
        """The r of the rule at the present Y."""
        return rule.weight(self.terms.mean_q_P, self.terms.mean_q_U)

    def size(self) -> float:
        """The standard deviation of the map."""
        return self._size

    def natural_weight(self) -> float:
        """The r at which the map would neither grow nor shrink: its own r, if it is a minimum at some r."""
        inward, outward = (float((force * self.terms.Y).sum()) for force in (self.terms.pull, self.terms.push))
        return -inward / outward if outward < 0 < inward else 1.0

    def imbalance(self, rule: ScaleRule) -> float:
        """The logarithm of the map's own r over that of the rule: negative where the map wants to grow."""
        return math.log(self.natural_weight() / self.weight(rule))

    def step(self, rule: ScaleRule) -> Step:
        """Move once."""
        before, q_P = self.terms, self._refresh(rule)
        energy, G = self._energy(before, rule, q_P), self._slope(before, rule, q_P)
        self._adapt(G, rule)
        HG = self._smooth(G) if self._smoothed is None else self._smoothed
        direction, slope = self._direct(G, HG)
        length, after = 1.0, before
        for _ in range(_STEP_TRIES):
            after = self._gradient(before.Y + length * direction, self._accuracy)
            rise = self._energy(after, rule, q_P) - energy
            G_after = self._slope(after, rule, q_P)
            if _is_lower(rise, length * slope, length * self._memory.dot(G_after, direction), energy):
                break
            length *= _shorten(rise, length * slope)
        else:
            self._memory.forget()
            return Step(0.0, 0.0, 0.0, self._size)
        self._smoothed = self._smooth(G_after)
        self._memory.keep(after.Y - before.Y, G_after - G, self._smoothed - HG)
        self.terms, self._size, self._terms_accuracy = after, _size(after.Y), self._accuracy
        change = math.sqrt(float(np.square(after.Y - before.Y).sum()) / len(after.Y))
        return Step(length, change / self._size if self._size > 0 else 0.0, -rise, self._size)

    def _refresh(self, rule: ScaleRule) -> float:
        """The E_P that is held fixed for this step: the present one, or that of up to _FIXED_MEAN_STEPS steps ago."""
        self._count += 1
        present = self.terms.mean_q_P
        if self._count > _FIXED_MEAN_STEPS or self._smoothed is None:
            u = self.terms.mean_q_U
            if rule.weight(present, u) != rule.weight(self._q_P, u):
                self._smoothed = None
            self._q_P, self._count = present, 0
        return self._q_P

    def _direct(self, G: np.ndarray, HG: np.ndarray) -> tuple[np.ndarray, float]:
        """The direction, and the slope along it, which is negative."""
        direction = self._memory.direction(G, HG)
        slope = self._memory.dot(G, direction)
        if not slope < 0:
            self._memory.forget()
            direction = self._memory.direction(G, HG)
            slope = self._memory.dot(G, direction)
        return self._hold_back(G, direction, slope)

    def _hold_back(self, G: np.ndarray, direction: np.ndarray, slope: float) -> tuple[np.ndarray, float]:
        """Shorten moves of points that would fly far, because J hardly pulls them back; all moves, if only that descends."""
        ways = np.sqrt(np.square(direction).sum(axis=1))
        factors = np.minimum(1.0, _FARTHEST_MOVE * max(self._size, 1.0) / np.maximum(ways, 1e-300))
        least = float(factors.min())
        if least == 1.0:
            return direction, slope
        held = factors[:, None] * direction
        slope_held = self._memory.dot(G, held)
        return (held, slope_held) if slope_held < 0 else (least * direction, least * slope)

    @staticmethod
    def _energy(terms: Terms, rule: ScaleRule, q_P: float) -> float:
        return terms.attraction + terms.links + rule.energy(q_P, terms.mean_q_U)

    @staticmethod
    def _slope(terms: Terms, rule: ScaleRule, q_P: float) -> np.ndarray:
        """The gradient of the energy."""
        return np.asarray(terms.pull + rule.weight(q_P, terms.mean_q_U) * terms.push)

    def _adapt(self, G: np.ndarray, rule: ScaleRule) -> None:
        """Request more accurate sums the more attraction and repulsion cancel."""
        push = self.weight(rule) * math.sqrt(self._memory.dot(self.terms.push, self.terms.push))
        ratio = math.sqrt(self._memory.dot(G, G)) / push if push > 0 else 1.0
        wanted = min(max(_GRADIENT_ACCURACY * ratio, 1e-8), _FIRST_ACCURACY)
        self._accuracy = 10.0 ** math.floor(math.log10(wanted))


def _size(Y: np.ndarray) -> float:
    """The standard deviation of a map."""
    return math.sqrt(float(np.square(Y - Y.mean(axis=0)).sum()) / len(Y))


def _is_lower(rise: float, promised: float, slope_after: float, energy: float) -> bool:
    """Armijo's condition; or, where the decrease is below the errors of the sums, that of Hager and Zhang on slopes."""
    if rise <= _ARMIJO * promised:
        return True
    return rise <= 1e-6 * abs(energy) and slope_after <= (2.0 * _ARMIJO - 1.0) * promised


def _shorten(rise: float, promised: float) -> float:
    """The factor by which to shorten a step: to the bottom of the parabola through value, slope and the new value."""
    if not math.isfinite(rise):
        return 0.1
    return min(max(-promised / (2.0 * (rise - promised)), 0.1), 0.5)
