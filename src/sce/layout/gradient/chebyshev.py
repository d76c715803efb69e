"""One step of Chebyshev's iteration for the Laplacian of P, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.core.compiled import kernel


@kernel(fused=True)
def chebyshev_rows(graph: Any, diagonal: Any, vectors: Any, factors: Any, axes: Any, part: Any) -> None:
    """A step of Chebyshev's iteration for rows part[0] to part[1]: residual, next step, and the sum of the steps."""
    residual, step, following, direction = vectors
    four = np.float32(4.0)
    d = len(axes)
    for i in range(part[0], part[1]):
        scale = factors[1] / diagonal[i]
        x, y, z = np.float32(0.0), np.float32(0.0), np.float32(0.0)
        for e in range(graph.indptr[i], graph.indptr[i + 1]):
            j, p = d * graph.indices[e], np.float32(graph.data[e])
            x += p * step[j]
            if d > 1:
                y += p * step[j + 1]
            if d > 2:
                z += p * step[j + 2]
        for c in range(d):
            total = x if c == 0 else y if c == 1 else z
            k = d * i + c
            residual[k] -= diagonal[i] * step[k] - four * total
            following[k] = factors[0] * step[k] + scale * residual[k]
            direction[k] += following[k]
