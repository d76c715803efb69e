"""A P in several components has no minimum: nothing holds the components together, and they drift apart for ever.

The full gradient then adds weak links: every point outside the largest component gets one to a random point of it, which pulls
like an edge of P that weighs LINK of what a point has of P in the mean. So components come to rest where distance no longer
matters much: at up to the square root of r / LINK from the largest.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sce.core.random import below, bits_array, stream
from sce.graph.csr import arrays_of, components

LINK = 0.01


def link_components(P: sp.csr_matrix, seed: int) -> sp.csr_matrix | None:
    """The links, as a symmetric matrix to be added to P; None for a P in one piece.

    Examples
    --------
    >>> P = sp.csr_matrix(np.kron(np.eye(2), [[0, 0.25], [0.25, 0]]))
    >>> round(float(link_components(P, seed=0).sum()), 6)
    0.01
    """
    label = components(arrays_of(P))
    if label.max(initial=0) == 0:
        return None
    n = P.shape[0]
    largest = np.bincount(label).argmax()
    outside, inside = np.flatnonzero(label != largest), np.flatnonzero(label == largest)
    partners = inside[below.py_func(bits_array(stream(seed, "links"), len(outside)), len(inside))]
    half = sp.csr_matrix((np.full(len(outside), LINK / n, np.float32), (outside, partners)), (n, n))
    return sp.csr_matrix(half + half.T)
