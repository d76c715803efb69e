"""The colour scale of numbers, and its colour bar."""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.core.palette import by_number
from sce.core.raster import Paint


def number_scale(values: np.ndarray) -> tuple[Paint, tuple[Any, Any, str] | None]:
    """Colours of numbers from dark to light, and (norm, colour map, open ends) of the colour bar.

    There is no colour bar if no value is finite.
    """
    from matplotlib import colormaps
    from matplotlib.colors import Normalize

    cmap = colormaps["viridis"]
    paint, (low, high, extend) = by_number(values, np.array(cmap(np.arange(256)))[:, :3])
    return paint, (Normalize(low, high), cmap, extend) if np.isfinite(values).any() else None
