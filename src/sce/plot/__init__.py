"""Pictures of embeddings with matplotlib."""

from __future__ import annotations

from sce.plot.scatter import scatter

__all__ = ["scatter"]
