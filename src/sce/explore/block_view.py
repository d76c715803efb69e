"""The block picture for the page: the densities of the graph between clusters as grey values."""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.quality.block_density import NO_CLUSTER, Blocks, block_density, density_limits
from sce.web.packing import pack

_LIGHTEST_GREY, _DARKEST_GREY = 1, 255  # of a pixel with edges; 0 is none


def pack_blocks(P: Any, labels: np.ndarray, names: list[str], colors: list[str | None], pixels: int) -> bytes:
    """The picture as it travels.

    The densities on a logarithmic scale, in the limits of :func:`sce.plot.block_matrix`: 0 is none, 1 the lightest or lighter,
    255 the darkest or darker. `edges` are the positions between which each row, and column, of pixels lies, `starts` those
    between which each cluster lies, `order` is the point at each position.

    Parameters
    ----------
    P : CSR matrix of shape (n, n)
    labels : ndarray of shape (n,)
        The number of the cluster of each point, -1 for none.
    names, colors : lists
        Of the clusters, by number.
    pixels : int
        In each direction.
    """
    blocks = block_density(P, labels, pixels)
    codes = [-1 if name == NO_CLUSTER else int(name) for name in blocks.names]
    grey, limits = grey_values(blocks)
    meta = {
        "names": [NO_CLUSTER if code < 0 else names[code] for code in codes],
        "colors": [None if code < 0 else colors[code] for code in codes],
        "clusters": codes,
        "limits": limits,
    }
    arrays = {
        "density": grey,
        "edges": blocks.edges.astype(np.uint32),
        "starts": blocks.starts.astype(np.uint32),
        "order": blocks.order.astype(np.uint32),
    }
    return pack(meta, arrays)


def grey_values(blocks: Blocks) -> tuple[np.ndarray, list[float] | None]:
    """The densities as bytes, and the densities of 1 and of 255; None where the graph has no edges."""
    density = blocks.density
    there = density > 0
    if not there.any():
        return np.zeros(density.shape, np.uint8), None
    low, high = density_limits(blocks)
    share = np.log(np.where(there, density, low) / low) / np.log(high / low)
    grey = np.rint(_LIGHTEST_GREY + np.clip(share, 0.0, 1.0) * (_DARKEST_GREY - _LIGHTEST_GREY))
    return np.where(there, grey, 0).astype(np.uint8), [low, high]
