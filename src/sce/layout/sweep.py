"""A family of maps over r, each started from its neighbour: pictures that morph instead of jumping."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from sce.layout.path import descend
from sce.layout.records import Layout, LayoutOptions
from sce.layout.scale import FixedScale
from sce.parallel import Team


def sweep(
    P: sp.csr_matrix, start: np.ndarray, weights: Sequence[float], options: LayoutOptions, team: Team
) -> list[Layout]:
    """The maps at given repulsion weights r, by the full gradient.

    The first map is that of the r nearest to 1, where the start matters least; from there the others follow, up and down,
    each from the map before it. Where two r lie farther apart than a small factor, the way between them is walked too.

    Parameters
    ----------
    P : csr_matrix
    start : ndarray of shape (N, d)
        The start of the first map: principal axes, or better the sampler's map at r = 1.
    weights : sequence of float
        The r, in any order.
    options : LayoutOptions
        Its rule is not used.
    team : Team

    Returns
    -------
    layouts : list of Layout
        In the order of `weights`.
    """
    order = np.argsort(weights, kind="stable")
    middle = int(np.argmin([abs(math.log(weights[k])) for k in order]))
    layouts: dict[int, Layout] = {}
    for way in (order[middle:], order[: middle + 1][::-1]):
        Y = start
        for k in way:
            if k not in layouts:
                rule = FixedScale(float(weights[k]))
                layouts[k] = descend(P, Y, replace(options, rule=rule), team)
            Y = layouts[k].Y
    return [layouts[k] for k in range(len(weights))]
