"""Pictures of embeddings, of the clusters in P and of sweeps, with matplotlib."""

from __future__ import annotations

from sce.plot.block_picture import block_matrix
from sce.plot.scatter import scatter
from sce.plot.series import series

__all__ = ["block_matrix", "scatter", "series"]
