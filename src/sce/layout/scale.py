"""The rules for the repulsion weight r = s N(N-1): the whole family from GSNE to t-SNE to SCE.

====================  =============================================  ==================================
rule                  r                                              what it is
====================  =============================================  ==================================
``FixedScale(r)``     r                                              GSNE
``SNEScale(beta)``    1 / (beta E_U[q])                              t-SNE, (over-)exaggerated t-SNE
``SCEScale(alpha)``   1 / (alpha E_P[q] + (1 - alpha) E_U[q])        SCE, Eq. (6); alpha = 0 is t-SNE
====================  =============================================  ==================================

While the layout moves, the mean in the denominator is estimated from the q of the pairs that were drawn: the estimate counts as
a certain number of old draws, its memory, and each epoch's draws are mixed in. r starts low, so that what belongs together
gathers before repulsion separates it (t-SNE's early exaggeration does the same). Eq. (6) followed at once from a random start
would blow the layout up, because q is small everywhere.

A new rule is a subclass of :class:`ScaleRule` here, and a name in RULES and in :mod:`sce.layout.scale_names` if users should be
able to name it.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from sce.errors import ParameterError
from sce.layout.scale_names import rules_with

Forgetting = float | Literal["paper"]


class ScaleRule:
    """What every rule provides."""

    forgetting: Forgetting = 0.1  # the memory of the estimate, as a share of all steps still planned
    start: float = 0.2  # the first r

    def weight(self, mean_q_P: float, mean_q_U: float) -> float:
        """The repulsion weight r at these means."""
        raise NotImplementedError(f"{type(self).__name__} has no method weight(mean_q_P, mean_q_U).")

    def energy(self, mean_q_P: float, mean_q_U: float) -> float:
        """What the repulsion costs: a function of E_U[q] whose slope is the weight, for the line search."""
        raise NotImplementedError(f"{type(self).__name__} has no method energy(mean_q_P, mean_q_U).")

    @property
    def is_fixed(self) -> bool:
        """Whether r does not depend on the map."""
        return False

    @property
    def has_minimum(self) -> bool:
        """Whether the objective has a minimum that the full gradient can reach."""
        return True

    @property
    def expected_r(self) -> float:
        """The expected r at the minimum; infinite if it cannot be predicted."""
        return math.inf


@dataclass(frozen=True)
class FixedScale(ScaleRule):
    """A constant repulsion weight r: GSNE.

    Examples
    --------
    >>> FixedScale(10.0).weight(mean_q_P=0.9, mean_q_U=0.1)
    10.0
    """

    r: float

    def __post_init__(self) -> None:
        _require_number(self.r, "scale", "a repulsion weight r above 0, at most 1e30", 0.0, 1e30, open_left=True)

    def weight(self, mean_q_P: float, mean_q_U: float) -> float:  # noqa: ARG002
        """r itself."""
        return float(self.r)

    def energy(self, mean_q_P: float, mean_q_U: float) -> float:  # noqa: ARG002
        """r E_U[q]."""
        return float(self.r) * mean_q_U

    @property
    def is_fixed(self) -> bool:
        """Always."""
        return True

    @property
    def expected_r(self) -> float:
        """r itself."""
        return float(self.r)


@dataclass(frozen=True)
class SCEScale(ScaleRule):
    """SCE's own choice, Eq. (6) of the paper: the closer neighbours have come, the weaker the repulsion.

    Parameters
    ----------
    alpha : float in [0, 1], default=0.05
        The share of E_P[q] in the mean; 0 is t-SNE's choice, larger values bring less repulsion. The paper's is 0.5.
    forgetting : float or "paper", default=0.1
        The memory of the estimate, as a share of all steps still planned: r is slow at first and has reached Eq. (6) at
        the end. "paper" is the paper's rate, a memory of N(N-1) draws, which hardly moves in any affordable run.
    start : float, default=0.2
        The first r; the paper's is 1.

    Examples
    --------
    >>> SCEScale(alpha=0.5).weight(mean_q_P=0.9, mean_q_U=0.1)
    2.0
    """

    alpha: float = 0.05
    forgetting: Forgetting = 0.1
    start: float = 0.2

    def __post_init__(self) -> None:
        _require_number(self.alpha, "alpha", "a number from 0 to 1", 0.0, 1.0)
        _check_memory(self.forgetting, self.start)

    def weight(self, mean_q_P: float, mean_q_U: float) -> float:
        """1 / (alpha E_P[q] + (1 - alpha) E_U[q])."""
        return 1.0 / (self.alpha * mean_q_P + (1.0 - self.alpha) * mean_q_U)

    def energy(self, mean_q_P: float, mean_q_U: float) -> float:
        """The integral of the weight over E_U[q], at a given E_P[q]."""
        near, far = self.alpha * mean_q_P, (1.0 - self.alpha) * mean_q_U
        if self.alpha < 0.5:
            return math.log(near + far) / (1.0 - self.alpha)
        if self.alpha < 1:  # the same up to a constant, which would swamp it where alpha is nearly 1
            return math.log1p(far / near) / (1.0 - self.alpha)
        return mean_q_U / mean_q_P

    @property
    def expected_r(self) -> float:
        """About 1 / alpha, because neighbours have q near 1 and other pairs q near 0."""
        return 1.0 / self.alpha if self.alpha > 0 else math.inf


@dataclass(frozen=True)
class SNEScale(ScaleRule):
    """t-SNE's choice, which makes the output similarities sum to 1; `exaggeration` beta weakens the repulsion.

    `forgetting` and `start` are as in :class:`SCEScale`.

    Examples
    --------
    >>> SNEScale(exaggeration=4.0).weight(mean_q_P=0.9, mean_q_U=0.125)
    2.0
    """

    exaggeration: float = 1.0
    forgetting: Forgetting = 0.1
    start: float = 0.2

    def __post_init__(self) -> None:
        _require_number(self.exaggeration, "exaggeration", "a number above 0", 0.0, math.inf, open_left=True)
        _check_memory(self.forgetting, self.start)

    def weight(self, mean_q_P: float, mean_q_U: float) -> float:  # noqa: ARG002
        """1 / (exaggeration E_U[q])."""
        return 1.0 / (self.exaggeration * mean_q_U)

    def energy(self, mean_q_P: float, mean_q_U: float) -> float:  # noqa: ARG002
        """ln(E_U[q]) / exaggeration."""
        return math.log(mean_q_U) / self.exaggeration

    @property
    def has_minimum(self) -> bool:
        """Below an exaggeration of 1 the map grows for ever."""
        return self.exaggeration >= 1.0


# Words that `scale` may be: the rule from the estimator's `alpha` and `exaggeration`.
RULES: dict[str, Callable[[float, float], ScaleRule]] = {
    "sce": lambda alpha, _: SCEScale(alpha),
    "sne": lambda _, exaggeration: SNEScale(exaggeration),
}


def make_rule(scale: Any, alpha: float = 0.05, exaggeration: float = 1.0) -> ScaleRule:
    """The rule object for the `scale` of the estimator: "sce", "sne", a number r, or a rule object.

    Examples
    --------
    >>> make_rule("sce", alpha=0.25)
    SCEScale(alpha=0.25, forgetting=0.1, start=0.2)
    >>> make_rule(30)
    FixedScale(r=30)
    """
    if exaggeration != 1.0 and not (isinstance(scale, str) and scale in rules_with("exaggeration")):
        words = " or ".join(f'scale="{name}"' for name in rules_with("exaggeration"))
        raise ParameterError(f"exaggeration={exaggeration!r} is only for {words}; got scale={scale!r}.")
    _require_number(alpha, "alpha", "a number from 0 to 1", 0.0, 1.0)
    if isinstance(scale, ScaleRule):
        return scale
    if isinstance(scale, str):
        if scale not in RULES:
            words = ", ".join(f'"{word}"' for word in RULES)
            raise ParameterError(f"scale must be {words}, a repulsion weight r above 0 or a rule; got {scale!r}.")
        return RULES[scale](alpha, exaggeration)
    return FixedScale(scale)


class ScaleEstimate:
    """The repulsion weight of a rule while the sampler moves the map.

    Parameters
    ----------
    rule : ScaleRule
    planned : float
        All steps of the planned run.
    n_pairs : float
        N(N-1), the paper's memory.

    Attributes
    ----------
    mean_q_P, mean_q_U : float
        The estimates of E_P[q] and E_U[q].
    done : float
        Steps so far.
    """

    def __init__(self, rule: ScaleRule, planned: float, n_pairs: float) -> None:
        self._rule, self._planned, self._n_pairs = rule, planned, n_pairs
        self.done = 0.0
        first = 1.0 if rule.is_fixed else rule.weight(1.0, 1.0) / rule.start
        self.mean_q_P = self.mean_q_U = first  # the means at which the rule gives its own start

    @property
    def r(self) -> float:
        """The present repulsion weight."""
        return self._rule.weight(self.mean_q_P, self.mean_q_U)

    def mix(self, mean_q_P: float, mean_q_U: float, steps: float) -> None:
        """Mix in the means of q over the pairs drawn in this many steps."""
        if self._rule.is_fixed:
            return
        self.done += steps
        if self._rule.forgetting == "paper":
            memory = self._n_pairs
        else:
            memory = self._rule.forgetting * max(self._planned - self.done, 0.0)
        rho = memory / (memory + steps)
        self.mean_q_P = rho * self.mean_q_P + (1.0 - rho) * mean_q_P
        self.mean_q_U = rho * self.mean_q_U + (1.0 - rho) * mean_q_U


def _check_memory(forgetting: Any, start: Any) -> None:
    if forgetting != "paper":
        _require_number(forgetting, "forgetting", '"paper" or a share of the planned steps, 0 or more', 0.0, math.inf)
    _require_number(start, "start", "a repulsion weight r above 0", 0.0, math.inf, open_left=True)


def _require_number(value: Any, name: str, what: str, low: float, high: float, *, open_left: bool = False) -> None:
    """Refuse anything but a finite number in the range."""
    try:
        number = float(value) if isinstance(value, numbers.Real) else math.nan
    except (TypeError, ValueError):
        number = math.nan
    inside = low <= number <= high and not (open_left and number == low) and math.isfinite(number)
    if isinstance(value, bool) or not inside:
        raise ParameterError(f"{name} must be {what}; got {value!r}.")
