"""How neighbours become similarities, by the name of the affinity."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from sce.core.parallel import Team
from sce.graph.affinity import entropic_affinity, entropic_cross_affinity, knn_affinity, knn_cross_affinity
from sce.graph.found import Neighbors
from sce.graph.shared import CANDIDATES_PER_NEIGHBOR, scaled_neighbors, shared_affinity


def nearest(candidates: Neighbors, k: int) -> Neighbors:
    """The first k of each row's candidates."""
    ids, distances = (np.ascontiguousarray(part[:, :k]) for part in (candidates.indices, candidates.distances))
    return Neighbors(ids, distances, candidates.method, candidates.recall)


class AffinityKind(NamedTuple):
    """How neighbours become similarities: P sums to 1 over all rows; of new rows, each row does."""

    among_rows: Callable[[Neighbors, float, Team], sparse.csr_matrix]  # of the neighbours and the perplexity
    of_new_rows: Callable[[Neighbors, int, float, Team], sparse.csr_matrix]  # also of the number of indexed rows
    candidates: float = 1.0  # that are looked for, for each neighbour
    choose: Callable[[Neighbors, int, Team], Neighbors] = lambda found, k, _: nearest(
        found, k
    )  # the neighbours among the candidates


# Those of :mod:`sce.graph.affinity_names` that are made from neighbours.
AFFINITIES = {
    "shared": AffinityKind(shared_affinity, entropic_cross_affinity, CANDIDATES_PER_NEIGHBOR, scaled_neighbors),
    "entropic": AffinityKind(entropic_affinity, entropic_cross_affinity),
    "knn": AffinityKind(
        lambda near, _, team: knn_affinity(near, team),
        lambda near, n_indexed, _, __: knn_cross_affinity(near, n_indexed),
    ),
}
