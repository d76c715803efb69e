"""The dimension of the data as their neighbours see it, and the number of neighbours and the perplexity that suit it.

With weights that fall off quickly a point is tied to few others. In many dimensions these few lead everywhere. In the plane
they do not: what chance left sparse comes apart, and clouds become crumbs, lines become beads. There all neighbours have to
count the same. They also have to where most dimensions are noise, and chance decides who is nearest. On planted clouds, rings,
moons, lines and squares (benchmarks/planted.py) this makes the difference between finding what was planted and finding crumbs;
on images and tables with 4 to 10 dimensions of their own a perplexity of a third of the neighbours is best. Rings and moons
of a thousand rows need more neighbours, too.
"""

from __future__ import annotations

import numpy as np

from sce.graph.found import Neighbors

NEIGHBORS = 15
FEW_DIMENSIONS = 3.75  # below which small tables have more neighbours
MANY_ROWS = 10_000  # from which on 15 are enough in few dimensions, too
MOST_NEIGHBORS = 25
FLAT_BELOW = 4.5  # dimensions, below which weights become flatter
NOISY_ABOVE = 10.0  # dimensions, above which they do, too
FLATTENING = 1.5  # the power of how far below or above
_NEIGHBORS_AT_LEAST = 5  # to tell a dimension
_ROWS_SAMPLED = 10_000


def own_dimension(neighbors: Neighbors) -> float:
    """The median over rows of Levina and Bickel's estimate: how fast distances grow from one neighbour to the next.

    NaN where there are too few neighbours, or no row has distinct ones.

    Examples
    --------
    >>> from sce.core.parallel import Team
    >>> from sce.graph.index import nearest_neighbors
    >>> X = np.random.default_rng(0).uniform(size=(2000, 3))
    >>> bool(2.5 < own_dimension(nearest_neighbors(X, 15, team=Team(1))) < 3.2)
    True
    """
    n, k = neighbors.indices.shape
    if k < _NEIGHBORS_AT_LEAST:
        return float("nan")
    rows = slice(None, None, max(1, n // _ROWS_SAMPLED))
    distances = neighbors.distances[rows].astype(np.float64)
    usable = (neighbors.indices[rows] >= 0).all(axis=1) & (distances[:, 0] > 0)
    if not usable.any():
        return float("nan")
    distances = distances[usable]
    inverse = np.log(distances[:, -1:] / distances[:, :-1]).sum(axis=1) / (k - 2)
    typical = float(np.median(inverse))
    return 1.0 / typical if typical > 0 else float("inf")


def suited_neighbors(n: int, dimension: float = 0.0) -> int:
    """The number of neighbours for n rows: 15, and up to 25 for fewer than 10,000 rows of few dimensions.

    Examples
    --------
    >>> [suited_neighbors(n, 2.0) for n in (1_000, 5_000, 10_000)], suited_neighbors(1_000, 3.0), suited_neighbors(1_000, 8.0)
    ([25, 21, 15], 19, 15)
    """
    if np.isnan(dimension):
        return NEIGHBORS
    most = min(MOST_NEIGHBORS / NEIGHBORS, max(1.0, (MANY_ROWS / n) ** 0.5))
    wanted = max(1.0, FEW_DIMENSIONS / dimension) if dimension > 0 else most
    return round(NEIGHBORS * min(most, wanted))


def suited_perplexity(k: int, dimension: float) -> float:
    """The perplexity for k neighbours: a third of them, and up to all of them in few dimensions and in very many.

    Examples
    --------
    >>> [round(suited_perplexity(15, d), 1) for d in (1.9, 3, 4, 7, 12, 25)]
    [15, 9.2, 6.0, 5.0, 6.6, 15]
    """
    if np.isnan(dimension):
        return k / 3
    flatter = max(FLAT_BELOW / dimension, dimension / NOISY_ABOVE, 1.0)
    return min(k, k / 3 * flatter**FLATTENING)
