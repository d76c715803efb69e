"""Columns that only count the rows, as ids often do."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

DISTINCT_BY_CHANCE = 10  # up to this many rows, all values being different does not make a column ids
# What may well be measured although its values count the rows.
_MEASURED = re.compile(
    r"(^|[\W_])(time|t|second|seconds|minute|minutes|hour|hours|day|days|week|month|year|date|age|frame|step|epoch|cycle|"
    r"dose|rank|position|depth|distance|x|y|z)($|[\W_])",
    re.IGNORECASE,
)


def may_be_measured(name: str) -> bool:
    """Whether a column of this name may be data although its values count the rows.

    >>> [may_be_measured(name) for name in ("time", "world rank", "time_s", "a", "column_1")]
    [True, True, True, False, False]
    """
    return _MEASURED.search(name) is not None


def counting_columns(X: Any) -> list[int]:
    """The columns of a dense matrix whose values are the numbers of the rows, from 0 or 1 on.

    Examples
    --------
    >>> counting_columns(np.column_stack([np.arange(20) % 7, np.arange(1, 21)]))
    [1]
    """
    n = X.shape[0]
    if n <= DISTINCT_BY_CHANCE or hasattr(X, "tocsr"):
        return []
    first = np.asarray(X[:3])
    start = first[0]
    likely = ((start == 0) | (start == 1)) & (first[1] == start + 1) & (first[2] == start + 2)
    numbers = np.arange(n)
    return [c for c in np.flatnonzero(likely).tolist() if (np.asarray(X[:, c]) == numbers + int(start[c])).all()]
