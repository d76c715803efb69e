"""P to Y, the entry point: plan the stages and run them one after another.

Between any two epochs or iterations a layout is fully described by a :class:`State`: a few arrays and numbers. A run that is
given a state continues from there and ends with the same bytes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol, cast

import numpy as np

from sce.layout.coarse import Level, make_levels, merge_start, split_points
from sce.layout.coarse_progress import MERGING, CoarseProgress
from sce.layout.engine import Engine
from sce.layout.gradient.continuation import Continuation, GradientState
from sce.layout.plan import GRADIENT, GRADIENT_ITERATIONS, SAMPLER, START, Stage, make_plan, wants_levels
from sce.layout.problem import Problem
from sce.layout.records import NOBODY, STOPPED, Layout, Record, Watch
from sce.layout.sampler.epochs import Sampler, SamplerState
from sce.layout.settings import LayoutOptions
from sce.layout.start import starting_points
from sce.layout.state import State

SINGLE_POINT = "a single point"


class Running(Protocol):
    """A running stage."""

    def advance(self) -> tuple[Record, str | None] | None:
        """Run one epoch or iteration: its record, and the reason if it was the last; None where all are done."""

    def coordinates(self) -> np.ndarray:
        """The present map, float32, in the order of the data."""

    def state(self) -> Any:
        """Plain arrays and numbers, from which the stage can continue."""

    def done_reason(self) -> str:
        """The reason of a stage that ran all its epochs."""

    def close(self) -> None:
        """Release what the stage holds."""


def lay_out(
    problem: Problem,
    options: LayoutOptions,
    engine: Engine,
    *,
    vectors: Any = None,
    watch: Watch = NOBODY,
    state: State | None = None,
) -> Layout:
    """Lay P out.

    Parameters
    ----------
    problem : Problem
        P with at least one edge (or a single point), point weights, seed.
    options : LayoutOptions
    engine : Engine
        Where the sampler's laps run.
    vectors : array or sparse matrix, optional
        X, for a start along its principal axes.
    watch : Watch, optional
        Called after every epoch or iteration.
    state : State, optional
        The state of an earlier run of the same problem and options, to continue from.

    Returns
    -------
    Layout
    """
    if problem.n_points == 1:
        return Layout(np.zeros((1, options.n_components), np.float32), options.rule.weight(1.0, 1.0), [], SINGLE_POINT)
    return _Run(problem, options, engine, vectors, watch).go(state)


class _Run:
    """A layout running through its stages."""

    def __init__(self, problem: Problem, options: LayoutOptions, engine: Engine, vectors: Any, watch: Watch) -> None:
        self._problem, self._options, self._engine, self._vectors = problem, options, engine, vectors
        self._watch = watch
        self._levels: list[Level] = []  # the finest first; gone when laid out
        self._show: Callable[[Record], None] | None = None
        self._coarse = CoarseProgress()

    def go(self, state: State | None) -> Layout:
        """Run all stages, or continue from a state if there is one."""
        state = self._begin() if state is None else self._resume(state)
        while state.position < len(state.plan) and state.reason != STOPPED:
            stage = state.plan[state.position]
            if self._show is None and stage.kind != START and not stage.level:
                self._show = self._begin_showing(state)
            Y, history, reason = self._run_stage(stage, state)
            state = State(state.plan, state.position + 1, Y, history, len(history), reason=reason)
            self._checkpoint(functools.partial(_same, state))
        return Layout(state.Y, state.history[-1].r, list(state.history), state.reason)

    def _begin(self) -> State:
        if wants_levels(self._options):
            self._levels = self._make_levels()
        return State(tuple(make_plan(self._problem, self._options, self._levels)))

    def _resume(self, state: State) -> State:
        """Make the levels again that are still to be laid out."""
        wanted = max((stage.level for stage in state.plan[state.position :]), default=0)
        if wanted:
            self._levels = self._make_levels()[:wanted]
        return state

    def _make_levels(self) -> list[Level]:
        progress = CoarseProgress(self._share("Coarse maps"))
        return list(progress.merged(make_levels(self._problem), self._problem.n_points))

    def _run_stage(self, stage: Stage, state: State) -> tuple[np.ndarray, tuple[Record, ...], str]:
        """Run a stage to its end: where the next one begins, all records, and why it ended."""
        if stage.kind == START:
            if self._watch.reporter is not None:
                self._watch.reporter.wait("Start")
            Y = starting_points(self._problem, self._options.init, self._options.n_components, self._vectors)
            self._report("Start")
            self._coarse = CoarseProgress(self._share("Coarse maps", MERGING) if _level_after(state) else None)
            return Y, state.history, ""
        running = self._open(stage, state)
        try:
            history, reason = self._run_epochs(stage, running, state)
            Y = running.coordinates()
        finally:
            running.close()
        if stage.level:
            self._coarse.epoch(state.plan, state.position, stage.n_epochs)
        return self._descend_to(_level_after(state), Y, stage, state), history, reason

    def _descend_to(self, level: int, Y: np.ndarray, stage: Stage, state: State) -> np.ndarray:
        """Split merged points until those of a finer level are left, where the next stage is on one."""
        for number in range(stage.level, level, -1):
            Y = split_points(Y, self._levels.pop(), number, self._problem.seed)
        if stage.level > level == 0:
            sizes = dict.fromkeys(str(each.n_points) for each in state.plan if each.level)
            self._report(f"Coarse maps of {', '.join(sizes)} points")
        return Y

    def _open(self, stage: Stage, state: State) -> Running:
        """A stage at its beginning, or where it was interrupted."""
        problem, start = self._problem, state.Y
        if stage.level:
            if len(start) == problem.n_points:  # the first of the coarse stages
                start = merge_start(start, problem.weights, self._levels)
            level = self._levels[-1]
            problem = Problem(level.graph, level.weights, problem.seed)
        if stage.kind == GRADIENT:
            return Continuation(problem, stage, start, cast("GradientState | None", state.inside))
        return Sampler(problem, stage, self._engine, start, cast("SamplerState | None", state.inside))

    def _run_epochs(self, stage: Stage, running: Running, state: State) -> tuple[tuple[Record, ...], str]:
        """Advance until the stage or callback gives a reason to stop. Epochs of coarse levels are neither shown nor kept."""
        history = list(state.history)
        while (advanced := running.advance()) is not None:
            record, reason = advanced
            stopped = False
            if stage.level:
                self._coarse.epoch(state.plan, state.position, record.epoch)
            else:
                record = record._replace(epoch=record.epoch + state.before)
                history.append(record)
                stopped = self._tell(record, running)
            self._checkpoint(lambda: state._replace(history=tuple(history), inside=running.state()))
            if stopped or reason is not None:
                return tuple(history), STOPPED if stopped else str(reason)
        return tuple(history), running.done_reason()

    # -------------------------------------------------------------------------------------------------- who looks on

    def _begin_showing(self, state: State) -> Callable[[Record], None] | None:
        epochs = sum(stage.n_epochs for stage in state.plan if stage.kind == SAMPLER and not stage.level)
        most = sum(stage.n_epochs for stage in state.plan if stage.kind == GRADIENT and not stage.level)
        known = most if most < GRADIENT_ITERATIONS else None  # otherwise it goes to the minimum
        return None if self._watch.reporter is None else self._watch.reporter.epochs(epochs or None, known)

    def _tell(self, record: Record, running: Running) -> bool:
        """Show a record, and ask the callback whether to stop."""
        if self._show is not None:
            self._show(record)
        if self._watch.callback is None:
            return False
        answer = self._watch.callback(record.epoch, running.coordinates(), record.r, record.loss)
        return isinstance(answer, bool | np.bool_) and bool(answer)

    def _share(self, name: str, done: float = 0.0) -> Callable[[float], None] | None:
        return None if self._watch.reporter is None else self._watch.reporter.share(name, done)

    def _report(self, text: str) -> None:
        if self._watch.reporter is not None:
            self._watch.reporter.stage(text)

    def _checkpoint(self, state: Callable[[], State]) -> None:
        if self._watch.checkpoint is not None:
            self._watch.checkpoint(state)


def _level_after(state: State) -> int:
    """The level of the stage after the present one."""
    after = state.position + 1
    return state.plan[after].level if after < len(state.plan) else 0


def _same(state: State) -> State:
    return state
