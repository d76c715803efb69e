"""Layouts of given graphs, for tests: the whole way, or the full gradient alone."""

import numpy as np

from sce.core.parallel import Team
from sce.engines.threads import ThreadEngine
from sce.layout.gradient.continuation import Continuation
from sce.layout.lay_out import lay_out
from sce.layout.plan import gradient_stage
from sce.layout.problem import Problem
from sce.layout.records import STOPPED, Layout, Watch
from sce.layout.settings import LayoutOptions
from sce.layout.similarities import Similarities


def make_problem(P, team, weights=None, seed=0):
    """A graph with what belongs to it."""
    return Problem(Similarities(P, team), weights, seed)


def run(P, rule, optimizer="auto", *, start="auto", n_jobs=2, callback=None, weights=None, seed=0, **options):
    """The layout of a graph from a start."""
    with Team(n_jobs) as team:
        chosen = LayoutOptions(rule, optimizer=optimizer, init=start, **options)
        return lay_out(make_problem(P, team, weights, seed), chosen, ThreadEngine(team), watch=Watch(callback))


def descend(P, rule, start, *, n_jobs=2, method="auto", callback=None, weights=None, seed=0, **options):
    """The full gradient alone, from any start, however poor."""
    with Team(n_jobs) as team:
        problem = make_problem(P, team, weights, seed)
        chosen = LayoutOptions(rule, **options)
        path = Continuation(problem, gradient_stage(problem, chosen, chosen.n_epochs), np.asarray(start), method=method)
        history, reason = [], None
        while reason is None and (advanced := path.advance()) is not None:
            record, reason = advanced
            history.append(record)
            if callback is not None and callback(record.epoch, path.coordinates(), record.r, record.loss) is True:
                reason = STOPPED
        return Layout(path.coordinates(), history[-1].r, history, reason or path.done_reason())
