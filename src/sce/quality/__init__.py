"""Is what we see in the data? Figures that tell clusters of the data from clusters that only the picture shows.

`assess` computes every figure that is possible for a map, `points` figures for every point; the others compute parts of it.
Large data are measured on samples, so that a million rows take seconds. Nothing here draws, reads files or changes a map.
"""

from __future__ import annotations

from sce.quality.classes import ClassAgreement, class_agreement, label_accuracy
from sce.quality.clusterability import Clusterability, clusterability
from sce.quality.in_graph import ClustersInGraph, clusters_in_graph
from sce.quality.neighbors import NeighborsKept, edges_kept, neighbors_kept, triplets_kept
from sce.quality.points import PointQuality, points
from sce.quality.report import Quality, assess
from sce.quality.stability import Stability, stability

__all__ = [
    "ClassAgreement",
    "Clusterability",
    "ClustersInGraph",
    "NeighborsKept",
    "PointQuality",
    "Quality",
    "Stability",
    "assess",
    "class_agreement",
    "clusterability",
    "clusters_in_graph",
    "edges_kept",
    "label_accuracy",
    "neighbors_kept",
    "points",
    "stability",
    "triplets_kept",
]
