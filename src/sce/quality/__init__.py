"""Is what we see in the data? Figures that tell a cluster of the data from one that only the picture has.

`assess` gives all that can be had for a map; the others are its parts. Each is measured on samples where there are many
points, so that a million rows take seconds.
"""

from __future__ import annotations

from sce.quality.classes import ClassAgreement, class_agreement, label_accuracy
from sce.quality.clusterability import Clusterability, clusterability
from sce.quality.in_graph import ClustersInGraph, clusters_in_graph
from sce.quality.neighbors import NeighborsKept, edges_kept, neighbors_kept, triplets_kept
from sce.quality.report import Quality, assess
from sce.quality.stability import Stability, stability

__all__ = [
    "ClassAgreement",
    "Clusterability",
    "ClustersInGraph",
    "NeighborsKept",
    "Quality",
    "Stability",
    "assess",
    "class_agreement",
    "clusterability",
    "clusters_in_graph",
    "edges_kept",
    "label_accuracy",
    "neighbors_kept",
    "stability",
    "triplets_kept",
]
