"""A sweep over r: each map from its neighbour."""

import itertools

import numpy as np

from sce.layout import objective
from sce.layout.records import LayoutOptions
from sce.layout.scale import FixedScale
from sce.layout.sweep import sweep
from sce.parallel import Team


def test_maps_follow_one_another(graph):
    """In the order asked for, each with its r; neighbours look alike, and E_U falls as r grows."""
    P, start = graph(400, degree=1), np.random.default_rng(0).normal(size=(400, 2))
    weights = [30.0, 0.3, 1.0, 3.0, 10.0, 100.0]
    with Team(2) as team:
        layouts = sweep(P, start, weights, LayoutOptions(FixedScale(1.0)), team)
    assert [layout.r for layout in layouts] == weights
    order = np.argsort(weights)
    maps = [layouts[k].Y / layouts[k].Y.std() for k in order]
    for before, after in itertools.pairwise(maps):
        assert np.linalg.norm(before - after) < 0.6 * np.linalg.norm(before)
    assert (np.diff([objective.means(P, layouts[k].Y).q_U for k in order]) < 0).all()
