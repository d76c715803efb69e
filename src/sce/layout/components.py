"""Links between the components of P.

If P has several components, J has no minimum: nothing holds the components together, and they drift apart for ever. The full
gradient therefore adds weak links: every point outside the largest component gets one to a random point of it, which pulls like
an edge of P whose weight is LINK_WEIGHT times the mean degree of a point. Components then come to rest where distance no longer
matters much: at up to the square root of r / LINK_WEIGHT from the largest.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sce.core.random import below, bits_array, stream
from sce.layout.similarities import Similarities

LINK_WEIGHT = 0.01  # relative to the mean degree of a point


def link_components(graph: Similarities, seed: int) -> Similarities | None:
    """The links, as a symmetric matrix to be added to P; None if P is connected.

    Examples
    --------
    >>> from sce.core.parallel import Team
    >>> P = sp.csr_matrix(np.kron(np.eye(2), [[0, 0.25], [0.25, 0]]))
    >>> round(float(link_components(Similarities(P, Team(1)), seed=0).P.sum()), 6)
    0.01
    """
    label = graph.components()
    if label.max(initial=0) == 0:
        return None
    n = graph.n_points
    largest = np.bincount(label).argmax()
    outside, inside = np.flatnonzero(label != largest), np.flatnonzero(label == largest)
    partners = inside[below.py_func(bits_array(stream(seed, "links"), len(outside)), len(inside))]
    half = sp.csr_matrix((np.full(len(outside), LINK_WEIGHT / n, np.float32), (outside, partners)), (n, n))
    return Similarities(sp.csr_matrix(half + half.T), graph.team)
