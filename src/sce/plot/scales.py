"""The colour scale of numbers and dates, and its colour bar."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.palette import by_number
from sce.core.raster import Paint
from sce.data.labels import Numbers

_FIRST_DATE, _LAST_DATE = -719162.0, 2932896.0  # of a calendar's years 1 to 9999, in days since 1970


class Scale(NamedTuple):
    """What a colour bar shows."""

    norm: Any
    cmap: Any
    extend: str  # the ends at which there are values beyond
    ticks: Any = None  # a locator and a formatter, for dates


def number_scale(numbers: Numbers, cmap: Any, missing: np.ndarray) -> tuple[Paint, Scale | None]:
    """Colours of numbers, and their scale; there is none if no value is finite."""
    from matplotlib.colors import Normalize

    paint, (low, high, extend) = by_number(numbers.values, np.array(cmap(np.linspace(0.0, 1.0, 256)))[:, :3], missing)
    if not np.isfinite(numbers.values).any():
        return paint, None
    ticks = _date_ticks() if numbers.dates and low > _FIRST_DATE and high < _LAST_DATE else None
    return paint, Scale(Normalize(low, high), cmap, extend, ticks)


def _date_ticks() -> tuple[Any, Any]:
    """Ticks at years, months, days or hours, as suits the range."""
    from matplotlib.dates import AutoDateFormatter, AutoDateLocator

    locator = AutoDateLocator(maxticks=9)
    return locator, AutoDateFormatter(locator)
