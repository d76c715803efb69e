"""The sweep file: a family of maps of the same points over the repulsion weight r, for a slider.

An .npz archive, read with allow_pickle=False:

    sce_sweep   a JSON text: {"format": 1, "sce": "0.1.0", "marks": {"SCE": {"r": 1.9, "frame": 1}, ...}, ...}
    frames      (f, n, d) float32, the coordinates of each map
    log10_r     (f,) the logarithm of each map's repulsion weight
    alphas      (f,) SCE's alpha of each map, if the sweep is over alpha
    ids, labels, label_names, point_of_row    as in a map
    figure_*    (f,) one array for each figure of quality
    P_*         on request: the similarity graph (CSR)

The same run gives the same bytes: the file holds no date. The frames are aligned in the file, so that those of a large sweep
can be mapped into memory instead of being read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sce.core.mmap import is_mapped, release, releasing
from sce.data.arrays import SWEEP
from sce.errors import InputError
from sce.results import archive
from sce.results.archive import (
    Archive,
    Kind,
    common_header,
    matrix_arrays,
    matrix_from,
    per_row,
    row_arrays,
    rows_from,
)
from sce.results.maps import Map

SWEEP_KIND = Kind(SWEEP, "sweep", 1, "sce sweep {path} -o sweep.npz")


class Mark(NamedTuple):
    """The r that a rule chooses, and the frame nearest to it."""

    r: float
    frame: int | None  # None if r is outside the sweep


@dataclass(eq=False, repr=False)
class Sweep:
    """Maps of the same points over the repulsion weight r.

    Attributes
    ----------
    frames : ndarray of shape (n_maps, n_points, n_components)
        The coordinates of each map, float32. Those of a large file are a read-only :class:`numpy.memmap`: they are read as
        they are used, so such a file opens at once and takes no memory.
    log10_r : ndarray of shape (n_maps,)
        The logarithm of each map's repulsion weight r, in rising order; falling if the sweep is over alpha.
    ids : ndarray of shape (n_points,)
        The name or number of each row of the data.
    alphas : ndarray of shape (n_maps,), optional
        SCE's alpha of each map, in rising order, if the sweep is over alpha.
    marks : dict
        The r that "SCE" and "t-SNE" choose, each at its own minimum, and the frame nearest to it: :class:`Mark`.
    labels : ndarray of shape (n_points,), optional
        Classes or numbers to colour by.
    label_name : str, optional
        What the labels are called.
    figures : dict of arrays
        Quality figures of each map; :func:`sce.sweep` lists them.
    parameters : dict
        The parameters of :class:`sce.SCE`; `alpha` is that of the mark "SCE".
    facts : dict
        How the run went: "afresh", "n_iterations", "stop_reasons", "neighbor_method", "neighbor_recall", "source", "notes".
    P : sparse matrix, optional
        The graph, if it was kept.
    point_of_row : ndarray, optional
        The point of each row of the data, -1 for none; None where rows were neither left out nor merged.
    """

    frames: np.ndarray
    log10_r: np.ndarray
    ids: np.ndarray
    alphas: np.ndarray | None = None
    marks: dict[str, Mark] = field(default_factory=dict)
    labels: np.ndarray | None = None
    label_name: str | None = None
    figures: dict[str, np.ndarray] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    P: Any = None
    point_of_row: np.ndarray | None = None

    @property
    def r(self) -> np.ndarray:
        """The repulsion weight of each map."""
        return 10.0**self.log10_r

    def __len__(self) -> int:
        return len(self.frames)

    def nearest(self, r: float) -> int:
        """The frame whose log r is nearest.

        Examples
        --------
        >>> Sweep(np.zeros((3, 5, 2)), np.array([0.0, 1.0, 2.0]), np.arange(5)).nearest(50.0)
        2
        """
        return int(np.argmin(np.abs(self.log10_r - np.log10(r))))

    def mark(self, name: str, r: float) -> None:
        """Mark the r that a rule chooses.

        An r beyond the first or last map by more than half the largest step between maps has no frame.
        """
        frame = self.nearest(r)
        steps = np.abs(np.diff(self.log10_r))
        away = abs(float(self.log10_r[frame] - np.log10(r)))
        inside = self.log10_r.min() <= np.log10(r) <= self.log10_r.max()
        self.marks[name] = Mark(float(r), frame if inside or (len(steps) and away <= steps.max() / 2) else None)

    def map(self, frame: int) -> Map:
        """One of the maps, as a :class:`sce.Map` with the labels, ids and graph of the sweep.

        A frame of a mapped file is read, and checked, here.
        """
        return Map(
            Y=self._coordinates(frame),
            ids=self.ids,
            labels=self.labels,
            label_name=self.label_name,
            parameters=self.parameters,
            r=float(self.r[frame]),
            facts={key: value for key, value in self.facts.items() if key not in ("n_iterations", "stop_reasons")},
            P=self.P,
            point_of_row=self.point_of_row,
        )

    def save(self, path: str | Path) -> None:
        """Write the sweep to an .npz file, whole or not at all.

        An existing file is replaced only if it is a sweep itself.
        """
        self._check()
        header = {
            "marks": {name: mark._asdict() for name, mark in self.marks.items()},
            "label_name": self.label_name,
            "parameters": self.parameters,
            "facts": self.facts,
        }
        archive.write(path, SWEEP_KIND, header, self._arrays())

    @classmethod
    def load(cls, path: str | Path, *, whole: bool = True) -> Sweep:
        """Read a sweep file; a map is refused. :func:`sce.load` opens both.

        Parameters
        ----------
        path : str or Path
            An .npz written by `sce sweep` or :meth:`save`.
        whole : bool, default=True
            Whether to read the graph as well, if it was kept.

        Examples
        --------
        >>> import sce
        >>> sce.Sweep.load("sweep.npz").frames.shape  # doctest: +SKIP
        (33, 1797, 2)
        """
        with archive.opened(path, SWEEP_KIND) as file:
            return read_sweep(file, whole=whole)

    def _coordinates(self, frame: int) -> np.ndarray:
        """A frame: in memory and known to be finite, even if the frames are mapped."""
        if not is_mapped(self.frames):
            return self.frames[frame]  # type: ignore[no-any-return]
        Y = np.array(self.frames[frame])
        release(self.frames)
        if not np.isfinite(Y).all():
            raise InputError(
                f"Frame {frame} of the sweep has NaN or infinity, so its file is damaged; create the sweep again."
            )
        return Y

    def _repr_html_(self) -> str:
        from sce.results.result_pages import sweep_page

        return sweep_page(self)

    def __repr__(self) -> str:
        f, n, d = self.frames.shape
        low, high = self.log10_r.min(), self.log10_r.max()
        marks = "".join(f", {name} at r = {mark.r:.4g}" for name, mark in self.marks.items())
        return f"Sweep({f} maps of {n} points in {d} dimensions, log10 r from {low:.3g} to {high:.3g}{marks})"

    def _check(self) -> None:
        """Refuse a sweep that could not be read back."""
        if np.ndim(self.frames) != 3 or not np.size(self.frames) or np.asarray(self.frames).dtype.kind != "f":
            shape = np.shape(self.frames)
            raise InputError(f"frames must be floating point numbers of shape (maps, points, dimensions); got {shape}.")
        for name, values in (("log10_r", self.log10_r), ("alphas", self.alphas), *self.figures.items()):
            if values is not None and np.shape(values) != (len(self),):
                raise InputError(
                    f"{name} must have one value for each of the {len(self)} maps; the shape is {np.shape(values)}."
                )
        if not (_all_finite(self.frames) and np.isfinite(self.log10_r).all()):
            raise InputError("frames or log10_r have NaN or infinity; a sweep has finite numbers only.")
        per_row(self.ids, self.frames.shape[1], "ids")
        if self.labels is not None:
            per_row(self.labels, self.frames.shape[1], "labels")

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = {
            "frames": self.frames,
            "log10_r": self.log10_r,
            **row_arrays(self.ids, self.labels, self.point_of_row),
        }
        if self.alphas is not None:
            arrays["alphas"] = self.alphas
        arrays |= {f"figure_{name}": np.asarray(values) for name, values in self.figures.items()}
        return arrays | matrix_arrays("P", self.P)


def read_sweep(file: Archive, *, whole: bool) -> Sweep:
    """The sweep in an open file; large frames are mapped, and then checked one by one as :meth:`Sweep.map` reads them."""
    arrays = file.arrays(() if whole else ("P",), mapped=("frames",))
    frames, log10_r, alphas = (arrays.get(name) for name in ("frames", "log10_r", "alphas"))
    if frames is None or frames.ndim != 3 or frames.dtype.kind != "f" or not frames.size:
        raise file.damaged("has no frames")
    figures = {name.removeprefix("figure_"): a for name, a in arrays.items() if name.startswith("figure_")}
    for values in (log10_r, *([] if alphas is None else [alphas]), *figures.values()):
        if values is None or values.shape != (len(frames),) or values.dtype.kind not in "fiu":
            raise file.damaged(f"has {len(frames)} maps, but not as many r or figures")
    if log10_r is None or not np.isfinite(log10_r).all() or not (is_mapped(frames) or _all_finite(frames)):
        raise file.damaged("has no finite coordinates")
    n = frames.shape[1]
    return Sweep(
        frames=frames,
        log10_r=log10_r,
        alphas=alphas,
        marks=_read_marks(file, len(frames)),
        figures=figures,
        P=matrix_from("P", arrays, (n, n)),
        **rows_from(file, arrays, n),
        **common_header(file),
    )


def _read_marks(file: Archive, n_maps: int) -> dict[str, Mark]:
    """The marks in the header of a file."""
    marks = file.header.get("marks", {})
    found: dict[str, Mark] = {}
    for name, mark in marks.items() if isinstance(marks, dict) else [("", None)]:
        r, frame = (mark.get("r"), mark.get("frame")) if isinstance(mark, dict) else (None, None)
        fits = frame is None or (isinstance(frame, int) and 0 <= frame < n_maps)
        if not fits or not isinstance(r, int | float) or not r > 0:
            raise file.damaged("has a damaged header")
        found[name] = Mark(float(r), frame)
    return found


def _all_finite(frames: Any) -> bool:
    """Whether all coordinates are finite; looks at one frame at a time, and leaves nothing of a mapped file in memory."""
    frames = np.asanyarray(frames)
    is_finite = releasing(frames, lambda start, stop: bool(np.isfinite(frames[start:stop]).all()))
    return all(is_finite(k, k + 1) for k in range(len(frames)))
