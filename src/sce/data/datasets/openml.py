"""Data sets from openml.org, with scikit-learn's client."""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

import numpy as np

from sce.errors import InputError

_MOST_CELLS = 100_000_000  # that scikit-learn's own parser, which is slow and large, should read


def download(number: int, shape: tuple[int, int] | None = None) -> tuple[np.ndarray, np.ndarray | None]:
    """X and y of a data set at openml.org; scikit-learn checks what was sent.

    Parameters
    ----------
    number : int
        Of the data set.
    shape : tuple of two ints, optional
        Rows and columns to expect.

    Returns
    -------
    X : ndarray
        uint8 where that loses nothing, else float32.
    y : ndarray, optional
        The place of each label among all of them in their order.

    Raises
    ------
    OSError, ValueError
        Without network, or if what was sent is not a data set.
    """
    from sklearn.datasets import fetch_openml

    fast = importlib.util.find_spec("pandas") is not None
    if not fast and shape is not None and shape[0] * shape[1] > _MOST_CELLS:
        raise InputError("so many rows need pandas to be read: pip install pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of trying again, and of old versions: the shape is checked
        sent = fetch_openml(
            data_id=number, as_frame=False, parser="pandas" if fast else "liac-arff", cache=False, delay=0.5
        )
    return compact(sent.data), None if sent.target is None else numbered(sent.target)


def compact(X: Any) -> np.ndarray:
    """Numbers as uint8 where that loses nothing, else as float32.

    Examples
    --------
    >>> compact(np.array([[0.0, 255.0]])).dtype, compact(np.array([[0.5, 255.0]])).dtype
    (dtype('uint8'), dtype('float32'))
    """
    X = np.asarray(X, dtype=np.float32)
    for part in (X[:1000], X):  # most data show at once that they are not such
        with np.errstate(invalid="ignore"):
            small = np.clip(part, 0, 255).astype(np.uint8)
        if not np.array_equal(small, part):
            return X
    return small


def numbered(labels: Any) -> np.ndarray:
    """Labels as 0, 1, 2, ... in their order: that of numbers where they are numbers, else that of words.

    Examples
    --------
    >>> numbered(["10", "2", "10"])
    array([1, 0, 1])
    """
    labels = np.asarray(labels).astype(str)
    found, place = np.unique(labels, return_inverse=True)
    try:
        order = np.argsort(found.astype(np.float64), kind="stable")
    except ValueError:
        return place
    rank = np.empty(len(found), dtype=place.dtype)
    rank[order] = np.arange(len(found))
    return rank[place]
