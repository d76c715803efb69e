"""P to Y: by the sampler, by the full gradient, or by one after the other.

The sampler finds the large structure of a map in seconds, from coarse maps (:mod:`sce.layout.coarse`), and is right while the
repulsion is weak. The full gradient carries a map to any r and to the minimum, at many times the cost of an epoch. So by
default the sampler draws a map of weak repulsion, and the full gradient goes on from there wherever that pays: docs/method.md
has the measurements.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from sce.core.parallel import Team
from sce.engines import Engine
from sce.layout.gradient.continuation import descend
from sce.layout.records import NOBODY, STOPPED, Layout, LayoutOptions, Record, Watch
from sce.layout.sampler.epochs import choose_epochs, sample
from sce.layout.scale import FixedScale, ScaleRule, SCEScale, SNEScale

OPTIMIZERS = ("auto", "sampler", "gradient")
WEAK = 1.0  # the r at which the sampler prepares a map for another r
FAINT, STRONG = 0.1, 12.0  # below and above these r the full gradient pays for any number of points
FEW = 10_000  # points up to which it pays at any r
LEAST_ALPHA = 0.1  # SCE's r is about 1 / alpha: from here on the sampler can follow it


def optimize(
    P: sp.csr_matrix,
    start: np.ndarray,
    options: LayoutOptions,
    optimizer: str,
    engine: Engine,
    team: Team,
    watch: Watch = NOBODY,
) -> Layout:
    """Lay P out.

    Parameters
    ----------
    P : csr_matrix
        Symmetric, non-negative, without a diagonal, with at least one edge; sums to 1.
    start : ndarray of shape (N, d)
        The first coordinates.
    options : LayoutOptions
    optimizer : {"auto", "sampler", "gradient"}
    engine : Engine
        Where the sampler's tasks run.
    team : Team
    watch : Watch, optional
        Called after every epoch or iteration.
    """
    if optimizer == "gradient":
        return descend(P, start, options, team, watch)
    if optimizer == "sampler" or not gradient_pays(options.rule, P.shape[0]):
        return sample(P, start, options, engine, team, watch)
    draft = sample(P, start, replace(options, rule=weak_rule(options.rule)), engine, team, watch)
    if draft.stop_reason == STOPPED:
        return draft
    done = len(draft.history)
    final = descend(P, draft.Y, replace(options, n_epochs=None), team, _later(watch, done))
    return final._replace(history=draft.history + [_shifted(record, done) for record in final.history])


def gradient_pays(rule: ScaleRule, n: int) -> bool:
    """Whether the full gradient, after the sampler, gives a lower J than the sampler alone in the same time.

    Examples
    --------
    >>> gradient_pays(FixedScale(1.0), 5_000), gradient_pays(FixedScale(1.0), 70_000), gradient_pays(SNEScale(), 70_000)
    (True, False, True)
    """
    if isinstance(rule, SNEScale):
        return rule.exaggeration >= 1.0  # or else there is no minimum to go to
    if n <= FEW:
        return True
    return not FAINT <= rule.r <= STRONG if isinstance(rule, FixedScale) else rule.alpha < 1.0 / STRONG


def weak_rule(rule: ScaleRule) -> ScaleRule:
    """The rule for the sampler's map that the full gradient starts from: of weak repulsion.

    Examples
    --------
    >>> weak_rule(FixedScale(100.0)), weak_rule(SNEScale()).r
    (FixedScale(r=1.0), 1.0)
    """
    follows = isinstance(rule, SCEScale) and rule.alpha >= LEAST_ALPHA
    return rule if follows else FixedScale(WEAK)


def plan_epochs(P: sp.csr_matrix, options: LayoutOptions, optimizer: str) -> int | None:
    """The sampler's epochs; None where there are none, for nobody knows beforehand when the full gradient ends."""
    if optimizer == "gradient":
        return None
    return options.n_epochs or choose_epochs(P.shape[0], P.nnz // 2)


def _shifted(record: Record, done: int) -> Record:
    return record._replace(epoch=record.epoch + done)


def _later(watch: Watch, done: int) -> Watch:
    """The same onlookers, for whom epochs go on counting."""
    callback, progress = watch
    return Watch(
        None if callback is None else (lambda epoch, Y, r, loss: callback(epoch + done, Y, r, loss)),
        None if progress is None else (lambda record: progress(_shifted(record, done))),
    )
