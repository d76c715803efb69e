"""Numbers of clusters: 0 for the largest, 1 for the next, and so on."""

from __future__ import annotations

import numpy as np


def number_by_size(labels: np.ndarray) -> np.ndarray:
    """Renumber clusters by decreasing size; of two of equal size, the one with the earliest point comes first.

    Parameters
    ----------
    labels : array of shape (n,)
        Whole numbers; not every number up to the largest need be in use. -1 marks points in no cluster.

    Returns
    -------
    numbers : array of shape (n,), int32
        -1 where `labels` is -1.

    Examples
    --------
    >>> number_by_size(np.array([7, -1, 2, 7, 4]))
    array([ 0, -1,  1,  0,  2], dtype=int32)
    """
    inside = np.flatnonzero(labels >= 0)
    sizes = np.bincount(labels[inside])
    first = np.full(len(sizes), len(labels))
    np.minimum.at(first, labels[inside], inside)
    number = np.full(len(sizes) + 1, -1, np.int32)  # the last is for -1
    number[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return number[labels]
