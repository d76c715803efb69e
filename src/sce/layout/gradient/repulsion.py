"""The repulsion of all pairs, in time that hardly depends on their positions: sum_j q_ij and sum_j q_ij^2 (y_i - y_j).

The potential of a point, q = 1 / (1 + d^2), is the sum of a smooth part and a short-ranged one (Ewald's trick),

    1/u = (1 - exp(-T u)) / u + exp(-T u) / u,        u = 1 + d^2.

The smooth part is as fine as a grid of some mesh size can resolve, and is summed by :mod:`sce.layout.gradient.grid`; of the
other part only near pairs matter. They are summed one by one (:mod:`sce.layout.gradient.pairs`) or, where points are crowded,
by the same trick on a finer grid for that part of the map, so that an outlier or a few dense clusters in a wide map cost
little. While the map is small, the kernel itself is smooth on the grid, and there is no other part. Few points are summed
pair by pair. The force is minus half the slope of the potential.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sce.core.parallel import Team
from sce.layout.gradient.grid import Grid, Workspace, make_grid, smooth_field, spectrum
from sce.layout.gradient.pairs import add_near, around, exact_field, pairs_per_tile
from sce.layout.gradient.split import (
    ALL_PAIR_COST,
    PAIR_COST,
    PATCH_COST,
    Precision,
    Split,
    choose_split,
    point_cost,
    precision_for,
    reach,
    survey,
)
from sce.layout.gradient.tiles import AXES, Frame, Tiles, bounds, embed, sort_points, unsort

_EXACT_AT_MOST_POINTS = 50_000  # beyond, summing all pairs is never quicker than a grid
_EXACT_UP_TO_POINTS = 32  # beyond, the self-interaction of a point through its splines is small compared with the whole
_SPECTRA_BYTES = 1 << 27  # of spectra
_PARABOLA_BELOW = 1e-5  # extents below which the kernel is a parabola


class Field(NamedTuple):
    """Sums over all other points: of q, and of q^2 (y_i - y_j)."""

    potential: np.ndarray  # (n,)
    force: np.ndarray  # (n, d)


class Repulsion:
    """The repulsion that each point feels from all others, each as strong as its charge.

    Spectra of kernels and work arrays are kept between calls; results depend neither on these nor on threads.

    Parameters
    ----------
    charges : ndarray of shape (n,)
        How strongly each point repels others; usually all ones.
    team : Team
    method : {"auto", "exact", "grid"}, default="auto"
        All pairs, a grid, or whichever is quicker.

    Examples
    --------
    >>> Y = np.random.default_rng(0).normal(size=(500, 2))
    >>> with Team(2) as team:
    ...     exact = Repulsion(np.ones(500), team, "exact")(Y)
    ...     field = Repulsion(np.ones(500), team, "grid")(Y, accuracy=1e-6)
    >>> bool(np.linalg.norm(field.force - exact.force) < 1e-6 * np.linalg.norm(exact.force))
    True
    """

    def __init__(self, charges: np.ndarray, team: Team, method: str = "auto") -> None:
        self.charges = np.ascontiguousarray(charges, dtype=np.float64)
        self.team = team
        self.method = method
        self._space = Workspace()
        self._spectra: dict[tuple[object, ...], np.ndarray] = {}

    def __call__(self, Y: np.ndarray, accuracy: float = 1e-4) -> Field:
        """Potential and force at the points Y of shape (n, d), d = 1, 2 or 3.

        Parameters
        ----------
        Y : ndarray of shape (n, d), float64
        accuracy : float, default=1e-4
            A bound on the relative error of the force over all points: 1e-8 or more.
        """
        d = Y.shape[1]
        precision = precision_for(accuracy)
        if self._is_exact(Y, precision):
            field = exact_field(Y, self.charges, self.team)
        else:
            field = self._sum(embed(Y), self.charges, AXES[d], precision, 0.0)
            field[:, 1:] *= -0.5
        return Field(np.ascontiguousarray(field[:, 0]), np.ascontiguousarray(field[:, [axis + 1 for axis in AXES[d]]]))

    def _is_exact(self, Y: np.ndarray, precision: Precision) -> bool:
        """Whether all pairs are to be summed one by one."""
        n, d = Y.shape
        if self.method == "exact" or n <= _EXACT_UP_TO_POINTS:
            return True
        if self.method == "grid" or n > _EXACT_AT_MOST_POINTS:
            return False
        if ALL_PAIR_COST[d] * n * n < point_cost(d, precision.order) * n + PATCH_COST:
            return True  # no split costs less
        points = embed(Y)
        low, high = bounds(points)
        if (high - low).max() < _PARABOLA_BELOW:
            return False
        split = choose_split(survey(points, AXES[d], low, high - low, precision), precision, 0.0)
        return ALL_PAIR_COST[d] * n * n < split.cost + PATCH_COST

    @property
    def n_bytes(self) -> int:
        """The memory that is kept between calls."""
        return self._space.n_bytes + sum(array.nbytes for array in self._spectra.values())

    def _sum(
        self, points: np.ndarray, charges: np.ndarray, axes: tuple[int, ...], precision: Precision, below: float
    ) -> np.ndarray:
        """Potential and slope for the kernel exp(-below u) / u, as an array of shape (n, 4)."""
        low, high = bounds(points)
        extents = high - low
        if extents.max() < _PARABOLA_BELOW:
            return _sum_in_a_spot(points - low, charges, below)
        split = choose_split(survey(points, axes, low, extents, precision), precision, below)
        return self._sum_split(points, charges, axes, precision, below, split)

    def _sum_split(
        self,
        points: np.ndarray,
        charges: np.ndarray,
        axes: tuple[int, ...],
        precision: Precision,
        below: float,
        split: Split,
    ) -> np.ndarray:
        """The same for a given split."""
        low, high = bounds(points)
        extents = high - low
        grid = make_grid(low, extents, axes, split.step, precision.order, precision.fade, reach(below, precision.cut))
        a, b, c = (int(extent * (1.0 / split.step)) // split.side + 1 for extent in extents)
        tiles = sort_points(points, charges, Frame(low, 1.0 / split.step, split.side, (a, b, c)), self.team)
        found = smooth_field(tiles, grid, self._spectrum(grid, below, split.T), self.team, self._space)
        level = float(_kernel(np.array([grid.distance**2]), below, split.T)[0])
        own = float(_kernel(np.zeros(1), below, split.T)[0])
        found[:, 0] += level * charges.sum() - own * tiles.charges
        if split.cutoff > 0:
            self._add_near(tiles, axes, precision, split, found)
        return unsort(tiles, found, self.team)

    def _add_near(
        self, tiles: Tiles, axes: tuple[int, ...], precision: Precision, split: Split, found: np.ndarray
    ) -> None:
        """Add the short-ranged part: by a finer grid where points are crowded, pair by pair elsewhere."""
        wanted = np.ones(tiles.shape, bool)
        for patch in _crowded(tiles):
            members = _members(tiles, around(patch.astype(np.int64)) > 0)
            points, charges = np.ascontiguousarray(tiles.points[:, members].T), tiles.charges[members]
            low, high = bounds(points)
            extents = high - low
            targets = np.repeat(patch.ravel(), np.diff(tiles.starts))[members]
            if extents.max() < _PARABOLA_BELOW:
                part = _sum_in_a_spot(points - low, charges, split.T)
            else:
                finer = choose_split(survey(points, axes, low, extents, precision), precision, split.T)
                direct = PAIR_COST * float(pairs_per_tile(tiles)[patch].sum())
                if finer.step > split.step / 1.5 or finer.cost + PATCH_COST > direct:
                    continue
                part = self._sum_split(points, charges, axes, precision, split.T, finer)
            found[members[targets]] += part[targets]
            wanted &= ~patch
        add_near(tiles, wanted, len(axes), split.T, math.exp(-split.T), found, self.team)

    def _spectrum(self, grid: Grid, below: float, T: float) -> np.ndarray:
        """The spectrum of the kernel from `below` to T, from earlier calls if it was used lately."""
        key = (grid.step, grid.order, grid.fade, grid.padded, below, T)
        shape = self._spectra.pop(key, None)
        if shape is None:
            level = 1.0 + grid.distance**2
            shape = spectrum(grid, lambda square: _kernel_above(square, level, below, T))
            while (
                self._spectra and sum(array.nbytes for array in self._spectra.values()) + shape.nbytes > _SPECTRA_BYTES
            ):
                del self._spectra[next(iter(self._spectra))]  # the one that was used longest ago
        self._spectra[key] = shape
        return shape


def _kernel(square: np.ndarray, below: float, T: float) -> np.ndarray:
    """(exp(-below u) - exp(-T u)) / u."""
    u = 1.0 + square
    return np.asarray(np.exp(-below * u) * (1.0 if math.isinf(T) else -np.expm1((below - T) * u)) / u)


def _kernel_above(square: np.ndarray, level: float, below: float, T: float) -> np.ndarray:
    """The kernel minus its value at u = level, to full precision: of a small map only that difference varies."""
    if math.isinf(T):
        return _gap(square, level, below)
    return _kernel(square, below, T) - _kernel(np.array(level - 1.0), below, T)


def _gap(square: np.ndarray, level: float, T: float) -> np.ndarray:
    """exp(-T u) / u - exp(-T level) / level."""
    u = 1.0 + square
    rest = level - 1.0 - square
    close = math.exp(-T * level) * (np.expm1(np.minimum(T * rest, 1.0)) / u + rest / (u * level))
    return np.where(T * rest < 1.0, close, np.exp(-T * u) / u - math.exp(-T * level) / level)


def _sum_in_a_spot(points: np.ndarray, charges: np.ndarray, below: float) -> np.ndarray:
    """The sum for points so close together that exp(-below u) / u is a parabola."""
    total, height = charges.sum(), math.exp(-below)
    field = np.empty((len(points), 4))
    field[:, 0] = height * (total - charges)
    field[:, 1:] = -2.0 * height * (1.0 + below) * (total * points - (charges[:, None] * points).sum(axis=0))
    return field


def _crowded(tiles: Tiles) -> list[np.ndarray]:
    """Groups of adjacent tiles with enough pairs for a grid of their own to pay, as masks."""
    from scipy import ndimage

    pairs = PAIR_COST * pairs_per_tile(tiles)
    dense = pairs > 0.25 * PATCH_COST
    if not dense.any():
        return []
    labels, count = ndimage.label(dense, structure=np.ones((3, 3, 3)))
    totals = np.bincount(labels.ravel(), pairs.ravel(), count + 1)
    return [labels == k for k in range(1, count + 1) if totals[k] > 2.0 * PATCH_COST]


def _members(tiles: Tiles, chosen: np.ndarray) -> np.ndarray:
    """The places of all points in the chosen tiles."""
    return np.flatnonzero(np.repeat(chosen.ravel(), np.diff(tiles.starts)))
