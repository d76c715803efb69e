"""Wide rows in few principal directions, in which the search for candidates is quick."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel
from sce.core.linalg import add_row
from sce.core.parallel import Team
from sce.core.principal import principal_axes, project
from sce.core.simd import LANES
from sce.graph.inplace import widen_rows
from sce.graph.kernels import exact_neighbors, pad_columns
from sce.graph.metrics import SQUARES
from sce.graph.ranking import Probe, share_found

SKETCH_ABOVE_COLUMNS = 160  # below, a sketch saves less than it costs
SKETCH_MAX_COLUMNS = 256
_SKETCH_MIN_SHARE = 0.985  # of the true neighbours that a sketch must keep
_SKETCH_LAST_SLACK = 0.03  # by which the largest sketch may fall short of that


class Directions(NamedTuple):
    """Principal directions: a row x has the coordinates (x - mean) axes."""

    mean: np.ndarray
    axes: np.ndarray


class Sketch(NamedTuple):
    """The rows in these directions."""

    values: np.ndarray
    directions: Directions


def sketch(X: np.ndarray, truth: Probe, width: int, seed: int, team: Team) -> Sketch | None:
    """X in as few principal directions as keep the true neighbours among the `width` nearest; None if that takes many.

    The share of the variance would be a poor guide: where clusters are far apart, a few directions hold nearly all of it
    and say nothing about distances within a cluster.
    """
    n, d = X.shape
    if d <= SKETCH_ABOVE_COLUMNS:
        return None
    most = min(SKETCH_MAX_COLUMNS, d // 2 // LANES * LANES)
    memory = np.empty(n * most, np.float32)  # the system provides only what is written
    for half in (1, 2):  # twice as many axes take four times as long to find
        columns = pad_columns(half * most // 2)
        mean, axes, _ = principal_axes(X, columns, seed, team, n_sample=2048, n_iter=3)
        Z = memory[:0].reshape(n, 0)
        for quarters in (2 * half - 1, 2 * half):
            have, wanted = Z.shape[1], min(columns, pad_columns(quarters * most // 4))
            Z = widen_rows(memory, Z, wanted)
            with team.meter.part(0.25):
                project(X, mean, axes[:, have:wanted], team, out=Z[:, have:])
            slack = _SKETCH_LAST_SLACK if quarters == 4 else 0.0
            if _kept(truth, Z, width, seed, team) >= _SKETCH_MIN_SHARE - slack:
                return Sketch(Z, Directions(mean, axes[:, :wanted]))
    return None


def _kept(truth: Probe, Z: np.ndarray, width: int, seed: int, team: Team) -> float:
    """The share of the true neighbours among the `width` nearest on a sketch Z."""
    return share_found(truth.ids, exact_neighbors(Z, truth.rows, width, SQUARES, seed, team).ids)


def project_singly(rows: np.ndarray, directions: Directions) -> np.ndarray:
    """The coordinates of each row, float32, computed for each row alone: they do not depend on the other rows.

    Examples
    --------
    >>> project_singly(np.ones((1, 2), np.float32), Directions(np.array([1.0, 0.0]), np.eye(2)))
    array([[0., 1.]], dtype=float32)
    """
    axes = np.ascontiguousarray(directions.axes, np.float32)
    out = np.zeros((len(rows), axes.shape[1]), np.float32)
    _project_rows(np.ascontiguousarray(rows, np.float32), directions.mean, axes, out)
    return out


@kernel(fused=True)
def _project_rows(rows: Any, mean: Any, axes: Any, out: Any) -> None:
    centred = np.empty(rows.shape[1], np.float32)
    for i in range(rows.shape[0]):
        for c in range(centred.size):
            centred[c] = rows[i, c] - mean[c]
        add_row(out[i], centred, axes, (0, axes.shape[0], 0, axes.shape[1]))
