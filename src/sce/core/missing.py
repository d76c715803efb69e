"""What counts as "no value" among Python objects."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT, pandas.NA or an empty text.

    >>> [is_missing(value) for value in (None, float("nan"), "", " ", 0, "a")]
    [True, True, True, True, False, False]
    """
    if value is None or (isinstance(value, str | bytes) and not value.strip()):
        return True
    try:
        return bool(value != value)  # noqa: PLR0124
    except (TypeError, ValueError):  # pandas.NA is neither equal nor unequal to itself
        return True


def as_text(values: Any) -> np.ndarray:
    """An array of Python strings, empty where there is no value; bytes are decoded as UTF-8.

    >>> as_text([b"a", None, 1.5]).tolist()
    ['a', '', '1.5']
    """
    words = ["" if is_missing(value) else _word(value) for value in values]
    out = np.empty(len(words), object)
    out[:] = words
    return out


def _word(value: Any) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
