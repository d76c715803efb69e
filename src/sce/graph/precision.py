"""Whether float32 is fine enough for a search.

Prepared rows are float32. Where clusters are small against the distances between them (events of a second in a year, say), the
rounding errors of a row are as large as the distances to its neighbours, and different rows become equal. Such rows are found
by comparing the distances found with the rounding errors, and are searched for in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team
from sce.graph.found import Found

ROUNDING = 2.0**-24  # the largest rounding error of a float32 number, relatively
_FINE = 2.0**7  # distances this many times as large as the rounding errors of a row leave recall above 0.999
_PRECISION_TASK_ROWS = 4096  # rows a thread takes at once

FINE, BLURRED, ALL_COPIES = 0, 1, 2  # what float32 makes of a row's neighbours


@kernel
def _judge(distances: Any, squared: Any, errors: Any, verdicts: Any) -> None:
    """Judge each row by the distance of its neighbours from a third of the list on, the first that is above zero."""
    k = distances.shape[1]
    for i in range(distances.shape[0]):
        place = k // 3
        while place < k and distances[i, place] == 0:
            place += 1
        if place == k:
            verdicts[i] = ALL_COPIES
            continue
        distance = np.float64(distances[i, place])
        if squared:
            distance = np.sqrt(distance)
        verdicts[i] = BLURRED if distance < _FINE * errors[i] else FINE


def judge(found: Found, errors: np.ndarray, team: Team) -> np.ndarray:
    """For each row FINE, BLURRED (its rounding error is near the distances found) or ALL_COPIES (these are all zero).

    Parameters
    ----------
    found : Found
    errors : array of shape (n,)
        A bound on the rounding error of each row.
    team : Team

    Returns
    -------
    uint8 array of shape (n,)
    """
    verdicts = np.empty(len(errors), np.uint8)

    def work(start: int, stop: int) -> None:
        _judge(found.distances[start:stop], found.squared, errors[start:stop], verdicts[start:stop])

    team.sweep(work, len(errors), _PRECISION_TASK_ROWS)
    return verdicts
