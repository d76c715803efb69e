"""How neighbours become similarities, by the name of the affinity."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from scipy import sparse

from sce.core.parallel import Team
from sce.graph.affinity import entropic_affinity, entropic_cross_affinity, knn_affinity, knn_cross_affinity
from sce.graph.found import Neighbors
from sce.graph.shared import shared_affinity


class AffinityKind(NamedTuple):
    """How neighbours become similarities: P sums to 1 over all rows; of new rows, each row does."""

    among_rows: Callable[[Neighbors, float, Team], sparse.csr_matrix]  # of the neighbours and the perplexity
    of_new_rows: Callable[[Neighbors, int, float, Team], sparse.csr_matrix]  # also of the number of indexed rows


# Those of :mod:`sce.graph.affinity_names` that are made from neighbours.
AFFINITIES = {
    "shared": AffinityKind(shared_affinity, entropic_cross_affinity),
    "entropic": AffinityKind(entropic_affinity, entropic_cross_affinity),
    "knn": AffinityKind(
        lambda near, _, team: knn_affinity(near, team),
        lambda near, n_indexed, _, __: knn_cross_affinity(near, n_indexed),
    ),
}
