"""Links between the components of P.

If P has several components, J has no minimum: nothing holds the components together, and they drift apart for ever. The full
gradient therefore adds a weak attraction between all pairs of points of different components, LINK_WEIGHT times as strong as
P. It is sampled: every point outside the largest component gets a link to a random point of another one. Two components far
from all others come to rest at the square root of r / LINK_WEIGHT from each other.

The links must be weak. They are long, and -ln q of one is about 7, where an edge of P costs 0.05: on IJCNN, ten components,
links of a hundredth of P pull the components together until J of P alone is above that of the start.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sce.core.random import below, bits_array, stream
from sce.layout.similarities import Similarities

LINK_WEIGHT = 1e-3  # of all links between different components, if all pairs of points had one; P is 1


def link_components(graph: Similarities, seed: int, share: float = 1.0) -> Similarities | None:
    """The links, as a symmetric matrix to be added to P; None if P is connected.

    On a coarse level, where `share` of P is between points and scaled to 1, the links are scaled as well.

    Examples
    --------
    >>> from sce.core.parallel import Team
    >>> P = sp.csr_matrix(np.kron(np.eye(2), [[0, 0.25], [0.25, 0]]))
    >>> round(float(link_components(Similarities(P, Team(1)), seed=0).P.sum()), 6)  # half of all pairs are apart
    0.0005
    """
    label = graph.components()
    if label.max(initial=0) == 0:
        return None
    n, sizes = graph.n_points, np.bincount(label)
    largest = sizes.argmax()
    by_component = np.argsort(label, kind="stable")
    points = np.flatnonzero(label != largest)
    own = sizes[label[points]]
    ends = np.cumsum(sizes)[label[points]]  # where, in that order, the other components begin
    others = below.py_func(bits_array(stream(seed, "links"), len(points)), n - own)
    partners = by_component[(ends + others) % n]
    weights = LINK_WEIGHT / share / (2 * n) * (1.0 - own / n)
    weights[label[partners] == largest] *= 2.0  # the points there have no links of their own
    half = sp.csr_matrix((weights.astype(np.float32), (points, partners)), (n, n))
    return Similarities(sp.csr_matrix(half + half.T), graph.team)
