"""Columns that name the rows: found by their names and by their values."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from sce.data.cells import is_number

# Names, in lower case, of columns that hold ids if their values are all different.
ID_NAMES = frozenset(
    ["", "unnamed: 0", "id", "ids", "index", "row", "rowid", "row_id", "name", "barcode", "__index_level_0__"]
)
# PassengerId, customerID, "Customer ID", cell_id, case-no, order_key, subject.uuid
_ID_ENDING = re.compile(r"[a-z0-9]I[dD]$|[\W_](id|ids|idx|index|key|no|nr|uuid|guid|barcode)$", re.IGNORECASE)
_CAMEL_CASE = re.compile(r"[a-z0-9]I[dD]$")
_THINGS_WITH_IDS = (
    *("account", "case", "cell", "client", "customer", "device", "employee", "event", "item", "object", "order"),
    *("passenger", "patient", "person", "product", "record", "sample", "student", "subject", "transaction", "user"),
)
_WRITTEN_TOGETHER = re.compile(rf"({'|'.join(_THINGS_WITH_IDS)})(id|idx|no|nr|key)", re.IGNORECASE)
# What may well be measured although its values count the rows.
_MEASURED = re.compile(
    r"(^|[\W_])(time|t|second|seconds|minute|minutes|hour|hours|day|days|week|month|year|date|age|frame|step|epoch|cycle|"
    r"dose|rank|position|depth|distance|x|y|z)($|[\W_])",
    re.IGNORECASE,
)
DISTINCT_BY_CHANCE = 10  # up to this many rows, all values being different does not make a column ids
_FORMATTED_NUMBER = re.compile(r"[-+$€£]?[0-9][0-9.,' ]*[%€$£]?")


def is_id_name(name: str) -> bool:
    """Whether a name is one that columns of ids have.

    >>> [is_id_name(name) for name in ("PassengerId", "customer ID", "cell_id", "userid", "index", "acid", "grid", "price")]
    [True, True, True, True, True, False, False, False]
    """
    if name.strip().lower() in ID_NAMES or _WRITTEN_TOGETHER.fullmatch(name.strip()):
        return True
    found = _ID_ENDING.search(name.strip())
    return found is not None and (found[1] is not None or _CAMEL_CASE.search(name.strip()) is not None)


def is_id(values: np.ndarray) -> bool:
    """Whether the values are all different, and whole numbers or text rather than measurements."""
    return len(values) > 1 and _is_whole(values) and len(np.unique(values)) == len(values)


def is_long_id(values: np.ndarray) -> bool:
    """Whether the values are ids, and too many for that to be a coincidence."""
    return len(values) > DISTINCT_BY_CHANCE and is_id(values)


def _is_whole(values: np.ndarray) -> bool:
    """Whether the values are whole numbers, or text of which at least one is none."""
    if values.dtype.kind == "f":
        return bool((values % 1 == 0).all())
    if values.dtype.kind not in "OU":
        return values.dtype.kind in "iu"
    if not all(is_number(word) for word in values):
        return True
    return all(float(word) % 1 == 0 for word in values)


def names_rows(values: np.ndarray) -> bool:
    """Whether text is different in each row, and neither numbers nor formatted ones such as 10% or 1,000."""
    if values.dtype.kind not in "OU" or not is_long_id(values):
        return False
    return sum(_FORMATTED_NUMBER.fullmatch(str(value)) is not None for value in values) < len(values) / 2


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
