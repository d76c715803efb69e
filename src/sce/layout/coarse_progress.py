"""How far the coarse maps have come: merging neighbours first, then the stages of each level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from sce.layout.coarse import COARSEST_POINTS, Level
from sce.layout.plan import GRADIENT, Stage

MERGING = 0.15  # of the time of the coarse maps
_ITERATION = 2.5  # times the time of one of the sampler's epochs


class CoarseProgress:
    """Tells a function which share is done, never less than before.

    Parameters
    ----------
    show : callable, optional
        Takes the share; None where nobody looks on.

    Examples
    --------
    >>> from sce.layout.scale import FixedScale
    >>> plan = [Stage("sampler", 1000, FixedScale(1.0), 3, level=1), Stage("sampler", 2000, FixedScale(1.0), 3)]
    >>> progress = CoarseProgress(lambda share: print(round(share, 2)))
    >>> for epoch in (1, 2, 3):
    ...     progress.epoch(plan, 0, epoch)
    0.43
    0.72
    1.0
    """

    def __init__(self, show: Callable[[float], None] | None = None) -> None:
        self._show = show

    def merged(self, levels: Iterable[Level], n_points: int) -> Iterator[Level]:
        """The levels, as they are made."""
        for level in levels:
            yield level
            if self._show is not None:
                left = (level.graph.n_points - COARSEST_POINTS) / max(1, n_points - COARSEST_POINTS)
                self._show(MERGING * min(1.0, max(0.0, 1.0 - left)))

    def epoch(self, plan: Sequence[Stage], position: int, epoch: int) -> None:
        """So many epochs of a stage of the plan are done."""
        if self._show is None:
            return
        works = [_work(stage) for stage in plan]
        stage = plan[position]
        done = sum(works[:position]) + works[position] * min(1.0, epoch / max(1, stage.n_epochs))
        self._show(MERGING + (1.0 - MERGING) * done / max(sum(works), 1.0))


def _work(stage: Stage) -> float:
    """The time of a stage on a level, in no unit; 0 for one on all points."""
    if not stage.level:
        return 0.0
    return float(stage.n_points) * stage.n_epochs * (_ITERATION if stage.kind == GRADIENT else 1.0)
