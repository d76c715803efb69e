"""sce: see the clusters in your data.

>>> from sce import SCE
>>> SCE(random_state=0)
SCE(random_state=0)

Nothing heavy is imported until a name is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from sce import compare as compare
    from sce import plot as plot
    from sce import quality as quality
    from sce import tl as tl
    from sce.clusters.hdbscan import find_clusters as find_clusters
    from sce.data import datasets as datasets
    from sce.data.merging import merge_copies as merge_copies
    from sce.data.reader import read as read
    from sce.errors import DataWarning as DataWarning
    from sce.errors import GraphWarning as GraphWarning
    from sce.errors import InputError as InputError
    from sce.errors import OutputError as OutputError
    from sce.errors import ParameterError as ParameterError
    from sce.errors import ScalingWarning as ScalingWarning
    from sce.errors import SCEError as SCEError
    from sce.errors import SCEWarning as SCEWarning
    from sce.estimator import SCE as SCE
    from sce.graph.distances import neighbors_graph as neighbors_graph
    from sce.layout.scale import FixedScale as FixedScale
    from sce.layout.scale import SCEScale as SCEScale
    from sce.layout.scale import SNEScale as SNEScale
    from sce.loading import load as load
    from sce.results.maps import Map as Map
    from sce.results.sweeps import Sweep as Sweep
    from sce.sweeping import sweep as sweep

# Public name: the module that has it.
_NAMES = {
    "SCE": "sce.estimator",
    "FixedScale": "sce.layout.scale",
    "SCEScale": "sce.layout.scale",
    "SNEScale": "sce.layout.scale",
    "neighbors_graph": "sce.graph.distances",
    "Map": "sce.results.maps",
    "Sweep": "sce.results.sweeps",
    "load": "sce.loading",
    "read": "sce.data.reader",
    "merge_copies": "sce.data.merging",
    "sweep": "sce.sweeping",
    "find_clusters": "sce.clusters.hdbscan",
    "SCEError": "sce.errors",
    "InputError": "sce.errors",
    "ParameterError": "sce.errors",
    "OutputError": "sce.errors",
    "SCEWarning": "sce.errors",
    "DataWarning": "sce.errors",
    "GraphWarning": "sce.errors",
    "ScalingWarning": "sce.errors",
}
# Public module: where it is.
_MODULES = {
    "compare": "sce.compare",
    "datasets": "sce.data.datasets",
    "plot": "sce.plot",
    "quality": "sce.quality",
    "tl": "sce.tl",
}
__all__ = [*_NAMES, *_MODULES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name in _NAMES:
        return getattr(importlib.import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'sce' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
