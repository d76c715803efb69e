"""Data sets from openml.org, by scikit-learn's client."""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

import numpy as np

from sce.errors import InputError

_LIAC_ARFF_UP_TO_CELLS = 100_000_000  # more cells need pandas: the other parser is slow and takes much memory


def download(number: int, shape: tuple[int, int] | None = None) -> tuple[np.ndarray, np.ndarray | None]:
    """X and y of a data set at openml.org; scikit-learn verifies the checksum.

    Parameters
    ----------
    number : int
        The number of the data set.
    shape : tuple of two ints, optional
        The expected numbers of rows and columns.

    Returns
    -------
    X : ndarray
        uint8 if that is exact, else float32.
    y : ndarray, optional
        The rank of each label among all labels.

    Raises
    ------
    OSError, ValueError
        Without a network, or if the answer is not a data set.
    """
    from sklearn.datasets import fetch_openml

    fast = importlib.util.find_spec("pandas") is not None
    if not fast and shape is not None and shape[0] * shape[1] > _LIAC_ARFF_UP_TO_CELLS:
        raise InputError("reading this many rows needs pandas: pip install pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about retries and old versions; the shape is checked
        sent = fetch_openml(
            data_id=number, as_frame=False, parser="pandas" if fast else "liac-arff", cache=False, delay=0.5
        )
    return compact(sent.data), None if sent.target is None else numbered(sent.target)


def compact(X: Any) -> np.ndarray:
    """Numbers as uint8 if that is exact, else as float32.

    Examples
    --------
    >>> compact(np.array([[0.0, 255.0]])).dtype, compact(np.array([[0.5, 255.0]])).dtype
    (dtype('uint8'), dtype('float32'))
    """
    X = np.asarray(X, dtype=np.float32)
    for part in (X[:1000], X):  # the first rows usually settle it
        with np.errstate(invalid="ignore"):
            small = np.clip(part, 0, 255).astype(np.uint8)
        if not np.array_equal(small, part):
            return X
    return small


def numbered(labels: Any) -> np.ndarray:
    """Labels as 0, 1, 2, ... in numerical order if all are numbers, else in alphabetical order.

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
