"""L-BFGS: directions from the last few steps and the changes of the gradient along them.

The usual two loops, arranged so that all inner products of a loop are taken in one pass over the kept vectors. Sums are
taken in pieces of fixed size: the same bytes on any number of threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.parallel import Team

STEPS_KEPT = 6  # steps remembered; more do no better
_NUMBERS_SUMMED_AT_ONCE = 8192  # numbers of a vector that are summed at once


class MemoryState(NamedTuple):
    """All that a memory holds."""

    steps: np.ndarray  # (STEPS_KEPT, size): s
    changes: np.ndarray  # (STEPS_KEPT, size): y
    smoothed: np.ndarray  # (STEPS_KEPT, size) float32: H y
    products: np.ndarray  # (STEPS_KEPT, STEPS_KEPT): s_i . y_j
    rows: np.ndarray  # those in use, the oldest first
    factor: float  # of the first guess of the inverse Hessian


class Memory:
    """The last steps s and changes of gradient y, as rows of arrays that are filled in turn.

    The initial inverse Hessian is a linear operator H, which is applied to each new gradient and to nothing else: with H y
    kept next to y, the two loops need only a sum of it.

    Parameters
    ----------
    size : int
        Of a vector.
    team : Team
    state : MemoryState, optional
        What another memory held.
    """

    def __init__(self, size: int, team: Team, state: MemoryState | None = None) -> None:
        self._team = team
        if state is None:
            vectors = (
                np.zeros((STEPS_KEPT, size)),
                np.zeros((STEPS_KEPT, size)),
                np.zeros((STEPS_KEPT, size), np.float32),
            )
            state = MemoryState(*vectors, np.zeros((STEPS_KEPT, STEPS_KEPT)), np.empty(0, np.int64), 1.0)
        self._steps, self._changes, self._smoothed, self._products = state[:4]
        self._rows: list[int] = [int(row) for row in state.rows]
        self._factor = state.factor

    def state(self) -> MemoryState:
        """What the memory holds; the vectors are copied."""
        steps, changes, smoothed, products = (
            array.copy() for array in (self._steps, self._changes, self._smoothed, self._products)
        )
        return MemoryState(steps, changes, smoothed, products, np.array(self._rows, np.int64), self._factor)

    def forget(self) -> None:
        """Start again, keeping only the scale of the steps."""
        self._rows = []

    def keep(self, s: np.ndarray, y: np.ndarray, Hy: np.ndarray) -> None:
        """Remember a step and the change of gradient along it, unless the curvature there is not positive."""
        sy, yHy = self.dot(s, y), self.dot(y, Hy)
        if not (sy > 1e-10 * np.sqrt(self.dot(s, s) * self.dot(y, y)) and yHy > 0.0):
            return
        row = self._rows.pop(0) if len(self._rows) == STEPS_KEPT else len(self._rows)
        self._steps[row], self._changes[row], self._smoothed[row] = s.reshape(-1), y.reshape(-1), Hy.reshape(-1)
        self._rows.append(row)
        self._products[row, :] = self._dots(self._changes, s)
        self._products[:, row] = self._dots(self._steps, y)
        self._factor = float(sy / yHy)

    def direction(self, G: np.ndarray, HG: np.ndarray) -> np.ndarray:
        """The descent direction at gradient G."""
        back, forth = np.zeros(STEPS_KEPT), np.zeros(STEPS_KEPT)
        sG = self._dots(self._steps, G)
        for i in reversed(self._rows):
            back[i] = (sG[i] - (self._products[i] * back).sum()) / self._products[i, i]
        p = self._combine(self._smoothed, -back, HG)
        p *= self._factor
        yp = self._dots(self._changes, p)
        for i in self._rows:
            forth[i] = back[i] - (yp[i] + (self._products[:, i] * forth).sum()) / self._products[i, i]
        return -self._combine(self._steps, forth, p)

    def dot(self, a: np.ndarray, b: np.ndarray) -> float:
        """The inner product of two vectors."""
        return float(self._sum_pieces(a.reshape(1, -1), b)[0])

    def _dots(self, rows: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The inner products with the rows in use; 0 for the others."""
        used = len(self._rows)
        return (
            np.append(self._sum_pieces(rows[:used], v), np.zeros(STEPS_KEPT - used)) if used else np.zeros(STEPS_KEPT)
        )

    def _sum_pieces(self, rows: np.ndarray, v: np.ndarray) -> np.ndarray:
        v = v.reshape(-1)
        sums = np.empty((-(-v.size // _NUMBERS_SUMMED_AT_ONCE), len(rows)))
        self._team.sweep(
            lambda start, stop: _dot(rows, v, start, stop, sums[start // _NUMBERS_SUMMED_AT_ONCE]),
            v.size,
            _NUMBERS_SUMMED_AT_ONCE,
        )
        return np.asarray(sums.sum(axis=0))

    def _combine(self, rows: np.ndarray, factors: np.ndarray, v: np.ndarray) -> np.ndarray:
        """v + factors @ rows, in the shape of v."""
        flat, out = v.reshape(-1), np.empty(v.size)
        rows = rows[: len(self._rows)]
        self._team.sweep(
            lambda start, stop: _add(rows, factors, flat, start, stop, out), v.size, _NUMBERS_SUMMED_AT_ONCE
        )
        return out.reshape(v.shape)


@kernel(fused=True)
def _dot(rows: Any, v: Any, start: Any, stop: Any, sums: Any) -> None:
    """The part of the inner products of v with rows that lies in start to stop; four sums side by side, for speed."""
    whole = start + (stop - start) // 4 * 4
    for r in range(rows.shape[0]):
        row = rows[r]
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for k in range(start, whole, 4):
            a += row[k] * v[k]
            b += row[k + 1] * v[k + 1]
            c += row[k + 2] * v[k + 2]
            d += row[k + 3] * v[k + 3]
        for k in range(whole, stop):
            a += row[k] * v[k]
        sums[r] = (a + b) + (c + d)


@kernel(fused=True)
def _add(rows: Any, factors: Any, v: Any, start: Any, stop: Any, out: Any) -> None:
    for k in range(start, stop):
        out[k] = v[k]
    for r in range(rows.shape[0]):
        f, row = factors[r], rows[r]
        for k in range(start, stop):
            out[k] += f * row[k]
