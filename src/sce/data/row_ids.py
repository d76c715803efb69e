"""Columns that name the rows: found by their names and by their values."""

from __future__ import annotations

import re

import numpy as np

from sce.core.counting import DISTINCT_BY_CHANCE
from sce.data.cells import is_number
from sce.data.formatted import read_formatted

# Names, in lower case, of columns that hold ids if their values are all different.
ID_NAMES = frozenset(
    ["", "unnamed: 0", "id", "ids", "index", "row", "rowid", "row_id", "name", "barcode", "__index_level_0__"]
)
# PassengerId, customerID, "Customer ID", cell_id, subject.uuid
_STRONG_ENDING = re.compile(r"[a-z0-9]I[dD]$|[\W_]([iI][dD][sS]?|uuid|UUID|guid|GUID|barcode)$")
_WEAK_ENDING = re.compile(r"[\W_](idx|index|key|no|nr)$", re.IGNORECASE)  # case-no, but also "refractive index"
_THINGS_WITH_IDS = (
    *("account", "case", "cell", "client", "customer", "device", "employee", "event", "item", "object", "order"),
    *("passenger", "patient", "person", "product", "record", "sample", "student", "subject", "transaction", "user"),
)
_WRITTEN_TOGETHER = re.compile(rf"({'|'.join(_THINGS_WITH_IDS)})(id|idx|no|nr|key)", re.IGNORECASE)
LONGEST_NAME = 1000  # characters of an id or a label
_FORMATTED_NUMBER = re.compile(r"[-+$€£]?[0-9][0-9.,' ]*[%€$£]?")


def is_id_name(name: str) -> bool:
    """Whether a name is one that columns of ids may have.

    >>> [is_id_name(name) for name in ("PassengerId", "customer ID", "cell_id", "userid", "case-no", "acid", "grid", "price")]
    [True, True, True, True, True, False, False, False]
    """
    return is_sure_id_name(name) or _WEAK_ENDING.search(name.strip()) is not None


def is_sure_id_name(name: str) -> bool:
    """Whether a name is one that nothing but ids has.

    >>> is_sure_id_name("PassengerId"), is_sure_id_name("refractive index")
    (True, False)
    """
    name = name.strip()
    written_together = _WRITTEN_TOGETHER.fullmatch(name) is not None
    return name.lower() in ID_NAMES or written_together or _STRONG_ENDING.search(name) is not None


def holds_ids(name: str, values: np.ndarray) -> bool:
    """Whether a column holds ids, by its name and its values.

    >>> holds_ids("case no", np.array([3, 5, 8])), holds_ids("case no", np.array([5, 3, 8]))
    (True, False)
    """
    if not is_id_name(name) or not is_id(values) or is_prose(values):
        return False
    return is_sure_id_name(name) or _rises(values)


def _rises(values: np.ndarray) -> bool:
    if values.dtype.kind in "OU":
        if not all(is_number(word) for word in values):
            return True
        values = values.astype(np.float64)
    return bool((np.diff(values) > 0).all())


def is_id(values: np.ndarray) -> bool:
    """Whether the values are all different, and whole numbers or text rather than measurements."""
    return len(values) > 1 and is_whole(values) and len(np.unique(values)) == len(values)


def is_long_id(values: np.ndarray) -> bool:
    """Whether the values are ids, and too many for that to be a coincidence."""
    return len(values) > DISTINCT_BY_CHANCE and is_id(values)


def is_prose(values: np.ndarray) -> bool:
    """Whether some text is too long for an id or a label."""
    return values.dtype.kind in "OU" and any(len(value) > LONGEST_NAME for value in values)


def is_whole(values: np.ndarray) -> bool:
    """Whether the values are whole numbers, or text of which at least one is none."""
    if values.dtype.kind == "f":
        return bool((values[~np.isnan(values)] % 1 == 0).all())
    if values.dtype.kind not in "OU":
        return values.dtype.kind in "iu"
    if not all(is_number(word) for word in values):
        return True
    return all(float(word) % 1 == 0 for word in values)


def names_rows(values: np.ndarray) -> bool:
    """Whether text is different in each row, and neither numbers nor formatted ones such as 10% or 1,000."""
    if (
        values.dtype.kind not in "OU"
        or is_prose(values)
        or not is_long_id(values)
        or read_formatted(values) is not None
    ):
        return False
    return sum(_FORMATTED_NUMBER.fullmatch(str(value)) is not None for value in values) < len(values) / 2
