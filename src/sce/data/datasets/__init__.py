"""Data sets by name: those of the paper, their stand-ins, and any .npz in a folder of your own.

>>> from sce import datasets
>>> X, y = datasets.load("digits")
>>> X.shape
(1797, 64)
>>> datasets.about("mnist").similarities
{'affinity': 'knn', 'n_neighbors': 10}
"""

from __future__ import annotations

from sce.data.datasets.find import Dataset, about, describe, load, names
from sce.data.datasets.known import About

__all__ = ["About", "Dataset", "about", "describe", "load", "names"]
