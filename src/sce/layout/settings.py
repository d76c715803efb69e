"""How P is laid out: the options, and the checks of user input, one line per parameter."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sce.core.validate import check_count, is_word
from sce.errors import ParameterError
from sce.layout.scale import ScaleRule, make_rule
from sce.layout.start import STARTS

OPTIMIZERS = ("auto", "sampler", "gradient")


@dataclass(frozen=True)
class LayoutOptions:
    """How P is laid out; the parameters are those of :class:`sce.SCE` with the same names; None is "auto".

    `n_epochs` counts the sampler's epochs, or the maximum number of iterations of the full gradient. `learning_rate` is the
    sampler's rate in the first and in the (never run) epoch after the last one; between them it is linear. `tol` is the
    relative change of Y and r that ends a run.
    """

    rule: ScaleRule
    n_epochs: int | None = None
    learning_rate: tuple[float, float] | None = None
    n_repulsive: int = 1
    tol: float | None = None
    optimizer: str = "auto"
    init: str | np.ndarray = "auto"
    n_components: int = 2


def layout_options(
    *, scale: Any = "sce", alpha: float = 0.05, exaggeration: float = 1.0, **parameters: Any
) -> LayoutOptions:
    """The options from parameters as users give them; raises ParameterError at the first invalid one.

    Examples
    --------
    >>> layout_options(scale=10.0, n_epochs="auto", learning_rate=0.5)
    LayoutOptions(rule=FixedScale(r=10.0), n_epochs=None, learning_rate=(0.5, 0.0), n_repulsive=1, ...)
    """
    checked = {name: CHECKS[name](value) for name, value in parameters.items()}
    rule = make_rule(scale, alpha, exaggeration)
    if checked.get("optimizer") == "gradient" and not rule.has_minimum:
        given = getattr(rule, "exaggeration", exaggeration)
        raise ParameterError(
            f'exaggeration={given!r} needs optimizer="sampler": below 1 the objective has no minimum, and the full '
            "gradient would never stop."
        )
    return LayoutOptions(rule, **checked)


def check_components(value: Any) -> int:
    """1, 2 or 3."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not 1 <= int(value) <= 3:
        raise ParameterError(f"n_components must be 1, 2 or 3; got {value!r}.")
    return int(value)


def _check_rate(rate: Any) -> tuple[float, float] | None:
    """(first, last) rates from a number, which falls to 0, or from a pair."""
    if is_word(rate, "auto"):
        return None
    pair = (rate, 0.0) if isinstance(rate, numbers.Real) and not isinstance(rate, bool) else rate
    if (
        not isinstance(pair, tuple | list)
        or len(pair) != 2
        or not all(isinstance(x, numbers.Real) and not isinstance(x, bool) and 0 <= float(x) <= 100 for x in pair)
        or pair[0] <= 0
    ):
        raise ParameterError(
            'learning_rate must be "auto", a number above 0, at most 100, which falls to 0 along the run, or a pair '
            f"(first, last); got {rate!r}."
        )
    return float(pair[0]), float(pair[1])


def _check_tolerance(tol: Any) -> float | None:
    if is_word(tol, "auto"):
        return None
    if isinstance(tol, bool) or not isinstance(tol, numbers.Real) or not 0 <= float(tol) < math.inf:
        raise ParameterError(f'tol must be "auto" or a number, 0 or more; got {tol!r}.')
    return float(tol)


def _check_optimizer(value: Any) -> str:
    if not (isinstance(value, str) and value in OPTIMIZERS):
        raise ParameterError(f"optimizer must be one of {', '.join(OPTIMIZERS)}; got {value!r}.")
    return value


def _check_init(value: Any) -> str | np.ndarray:
    """A name; an array is checked when the number of points is known."""
    if isinstance(value, str) and value not in STARTS:
        raise ParameterError(f"init must be one of {', '.join(STARTS)} or an array of coordinates; got {value!r}.")
    return value


CHECKS: dict[str, Callable[[Any], Any]] = {
    "n_components": check_components,
    "n_epochs": lambda value: None if is_word(value, "auto") else check_count(value, "n_epochs"),
    "learning_rate": _check_rate,
    "n_repulsive": lambda value: check_count(value, "n_repulsive"),
    "tol": _check_tolerance,
    "optimizer": _check_optimizer,
    "init": _check_init,
}
