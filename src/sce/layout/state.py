"""The state of a layout: a small plain record, which can be written as arrays and read again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from sce.errors import InputError
from sce.layout.gradient.continuation import GradientState
from sce.layout.plan import GRADIENT, Stage
from sce.layout.records import Record
from sce.layout.sampler.epochs import SamplerState
from sce.layout.scale import FixedScale, ScaleRule

_NOWHERE = np.empty((0, 0), np.float32)


class State(NamedTuple):
    """Where a layout is between two stages, epochs or iterations.

    Attributes
    ----------
    plan : tuple of Stage
        All stages.
    position : int
        The stage that comes next, or is under way.
    Y : ndarray of shape (n, d), float32
        Where that stage begins. The first coarse stage begins with all points, a later one with the points of its own level.
    history : tuple of Record
        Of all epochs and iterations so far.
    before : int
        How many of them came before that stage.
    inside : SamplerState, GradientState or None
        Where the stage is, if it is under way.
    reason : str
        Why the stage before it ended.
    """

    plan: tuple[Stage, ...]
    position: int = 0
    Y: np.ndarray = _NOWHERE
    history: tuple[Record, ...] = ()
    before: int = 0
    inside: SamplerState | GradientState | None = None
    reason: str = ""

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Plain arrays, to be saved with numpy.savez for example."""
        plan = [
            [*stage[:2], stage.rule.r if isinstance(stage.rule, FixedScale) else None, *stage[3:]]
            for stage in self.plan
        ]
        arrays = {
            "plan": np.array(json.dumps(plan)),
            "position": np.array([self.position, self.before]),
            "reason": np.array(self.reason),
            "Y": self.Y,
            "history": np.array(self.history, np.float64).reshape(-1, len(Record._fields)),
        }
        return arrays if self.inside is None else arrays | _flat(self.inside, "inside")

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], rule: ScaleRule) -> State:
        """The state that :meth:`to_arrays` wrote; `rule` is that of the options, which is not among the arrays."""
        try:
            plan = tuple(_stage(entry, rule) for entry in json.loads(str(arrays["plan"])))
            position, before = (int(value) for value in arrays["position"])
            history = tuple(Record(int(row[0]), *map(float, row[1:])) for row in arrays["history"])
            inside = None
            if any(name.startswith("inside.") for name in arrays):
                inside = _unflat(GradientState if plan[position].kind == GRADIENT else SamplerState, arrays, "inside")
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InputError(f"These arrays are not the state of a layout ({error}).") from None
        return cls(plan, position, np.asarray(arrays["Y"]), history, before, inside, str(arrays["reason"]))


def _stage(entry: list[Any], rule: ScaleRule) -> Stage:
    kind, n_points, r, n_epochs, rate, *others = entry
    return Stage(kind, n_points, rule if r is None else FixedScale(r), n_epochs, tuple(rate), *others)


def _flat(record: Any, prefix: str) -> dict[str, np.ndarray]:
    """The fields of a named tuple, and of those in it, as arrays under dotted names."""
    arrays: dict[str, np.ndarray] = {}
    for name, value in record._asdict().items():
        place = f"{prefix}.{name}"
        arrays |= _flat(value, place) if hasattr(value, "_fields") else {place: np.asarray(value)}
    return arrays


def _unflat(kind: Any, arrays: Mapping[str, np.ndarray], prefix: str) -> Any:
    """The named tuple of a kind that :func:`_flat` made arrays of."""
    values = {}
    for name, hint in get_type_hints(kind).items():
        place = f"{prefix}.{name}"
        if hasattr(hint, "_fields"):
            values[name] = _unflat(hint, arrays, place)
        else:
            values[name] = arrays[place] if hint is np.ndarray else arrays[place].item()
    return kind(**values)
