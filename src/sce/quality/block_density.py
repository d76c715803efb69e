"""How dense P is between clusters: the numbers behind the block picture, the paper's spy plot.

Rows and columns of P are ordered by cluster and divided into pixels; each pixel has the mean of P over its pairs of points.
Clusters that are in P are dense squares on the diagonal.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.random import permutation, stream
from sce.core.validate import check_count
from sce.data.labels import Classes, as_labels
from sce.errors import InputError
from sce.graph.csr import check_similarities

_DARKEST_DENSITY = 100.0  # in multiples of the mean; more if much of P is denser
_MAX_DECADES = 4  # between the lightest and the darkest density
NO_CLUSTER = "none"  # the name of the points that are in no cluster


class Blocks(NamedTuple):
    """P by pixels, with the clusters in order of size; points in no cluster, if there are any, come last, as one more."""

    density: (
        np.ndarray
    )  # (m, m), the mean of P over the pairs of points of each pixel, in multiples of that over all pairs
    edges: np.ndarray  # (m + 1,), the positions between which each row, and column, of pixels lies
    starts: np.ndarray  # (k + 1,), the positions between which each cluster lies
    names: list[str]  # of the k clusters
    order: np.ndarray  # (n,), the point at each position


def block_density(P: Any, labels: Any, pixels: int = 500) -> Blocks:
    """The densities that :func:`sce.plot.block_matrix` draws.

    Parameters
    ----------
    P, labels, pixels
        As in :func:`sce.plot.block_matrix`.

    Returns
    -------
    Blocks

    Examples
    --------
    >>> from scipy import sparse
    >>> P = sparse.csr_matrix([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    >>> blocks = block_density(P, [-1, 0, 0])
    >>> blocks.density
    array([[0., 0., 3.],
           [0., 0., 0.],
           [3., 0., 0.]])
    >>> blocks.names, blocks.starts
    (['0', 'none'], array([0, 2, 3]))
    """
    pixels = check_count(pixels, "pixels")
    P = similarities_of(P)
    n = P.shape[0]
    codes, names = rank_clusters(labels, n)
    codes = codes.astype(np.min_scalar_type(len(names)))  # short integers are sorted by counting
    sizes = np.bincount(codes, minlength=len(names))
    starts = np.append(0, np.cumsum(sizes))
    edges = pixel_edges(sizes, pixels)
    pixel = np.empty(n, np.int16 if len(edges) < 1 << 15 else np.int32)
    pixel_at = np.repeat(np.arange(len(edges) - 1, dtype=pixel.dtype), np.diff(edges))
    order = permutation(stream(0, "blocks"), n)
    order = order[np.argsort(codes[order], kind="stable")]
    pixel[order] = pixel_at
    total = np.zeros((len(edges) - 1, len(edges) - 1))
    _sum_by_pixel(P.indptr, P.indices, P.data, pixel, total)
    whole = total.sum()
    width = np.diff(edges).astype(np.float64)
    pairs = np.outer(width, width) - np.diag(width)
    density = np.zeros_like(total)
    np.divide(total, pairs, out=density, where=pairs > 0)
    return Blocks(density * (n * (n - 1.0) / whole) if whole > 0 else density, edges, starts, names, order)


def density_limits(blocks: Blocks) -> tuple[float, float]:
    """The lightest and the darkest density of a picture of a graph that has edges.

    From the density of a single pair in a pixel to 100, or to the density that a tenth of P exceeds.

    Examples
    --------
    >>> from scipy import sparse
    >>> density_limits(block_density(sparse.csr_matrix([[0, 1, 0], [1, 0, 0], [0, 0, 0]]), [-1, 0, 0]))
    (1.0, 100.0)
    """
    width = np.diff(blocks.edges)
    share = (blocks.density * np.outer(width, width)).ravel()
    values = blocks.density.ravel()
    order = np.argsort(values)
    mass = np.cumsum(share[order])
    high = max(_DARKEST_DENSITY, float(values[order][np.searchsorted(mass, 0.9 * mass[-1])]))
    return max(min(float(values[values > 0].min()), 1.0), high / 10.0**_MAX_DECADES), high


@kernel
def _sum_by_pixel(starts: Any, ids: Any, values: Any, pixel: Any, total: Any) -> None:
    """Add the entries of P, without the diagonal, to the pixels of their rows and columns."""
    for i in range(starts.size - 1):
        row = total[pixel[i]]
        for e in range(starts[i], starts[i + 1]):
            if ids[e] != i:
                row[pixel[ids[e]]] += values[e]


def similarities_of(P: Any) -> Any:
    """The similarities of a fitted model, of a map, or P itself, as a CSR matrix of finite numbers, none negative."""
    from scipy import sparse

    if hasattr(P, "fit") and not hasattr(P, "affinity_"):
        raise InputError(f"The {type(P).__name__} is not fitted; call fit first.")
    is_matrix = sparse.issparse(P) or hasattr(P, "__array__")
    P = P if is_matrix else getattr(P, "affinity_", getattr(P, "P", P))
    if P is None:
        raise InputError("The map has no P; save it with the map: Map.from_model(model, P=model.affinity_).")
    P = check_similarities(P)
    if not P.shape[0]:
        raise InputError("A similarity graph must have at least one point; this one has none.")
    return P.astype(np.uint8) if P.dtype.kind == "b" else P


def rank_clusters(labels: Any, n: int) -> tuple[np.ndarray, list[str]]:
    """The rank of each point's cluster by size, largest first, and the names by rank; points in no cluster rank last."""
    found = np.asarray(labels) if isinstance(labels, np.ndarray | list | tuple) else labels
    if isinstance(found, np.ndarray) and found.dtype.kind in "iu" and found.shape == (n,):
        classes = _numbered_clusters(found)
    else:
        classes = as_labels(labels, n, "classes")  # type: ignore[assignment]
    sizes = np.bincount(classes.codes[classes.codes >= 0], minlength=len(classes.names))
    order = np.lexsort((np.arange(len(sizes)), -sizes))
    rank = np.empty(len(sizes) + 1, np.int64)
    rank[order] = np.arange(len(sizes))
    rank[-1] = len(sizes)
    names = [classes.names[k] for k in order]
    return rank[classes.codes], [*names, NO_CLUSTER] if (classes.codes < 0).any() else names


def _numbered_clusters(labels: np.ndarray) -> Classes:
    """Whole numbers as clusters; negative ones mean none."""
    top = int(labels.max())
    if top < 2 * len(labels):  # small enough to count instead of sorting
        labels = labels.astype(np.int64, copy=False)
        count = np.bincount(labels[labels >= 0], minlength=1)
        present = np.flatnonzero(count)
        codes = np.append(np.cumsum(count > 0) - 1, -1)[np.maximum(labels, -1)]
    else:
        present, codes = np.unique(labels, return_inverse=True)
        n_negative = int(np.searchsorted(present, 0))
        present, codes = present[n_negative:], np.maximum(codes - n_negative, -1)
    return Classes(codes, [str(x) for x in present.tolist()], NO_CLUSTER)


def pixel_edges(sizes: np.ndarray, pixels: int) -> np.ndarray:
    """The positions where pixels begin and end: about as many pixels as asked for, and an edge wherever a cluster ends.

    Consecutive clusters smaller than half a pixel share pixels.

    Examples
    --------
    >>> pixel_edges(np.array([40, 20, 1, 1]), 6)
    array([ 0, 10, 20, 30, 40, 50, 60, 62])
    """
    n = int(sizes.sum())
    if n <= pixels:
        return np.arange(n + 1)
    size = n / pixels
    pieces: list[int] = []
    small = 0
    for length in sizes.tolist():
        if length < size / 2:
            small += length
            continue
        pieces += [small, length]
        small = 0
    pieces.append(small)
    edges = [0]
    for length in pieces:
        parts = max(1, round(length / size))
        edges += [edges[-1] + length * (p + 1) // parts for p in range(parts)] if length else []
    return np.array(edges)
