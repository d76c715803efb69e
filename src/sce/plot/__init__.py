"""Pictures of embeddings, of the clusters in P, and of sweeps, drawn with matplotlib.

This package only draws: what a picture shows (rasters, dot sizes, colours, densities) is computed in sce.core and sce.quality,
which do not need matplotlib.
"""

from __future__ import annotations

from sce.plot.block_picture import block_matrix
from sce.plot.scatter import scatter
from sce.plot.series import series

__all__ = ["block_matrix", "scatter", "series"]
