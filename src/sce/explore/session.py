"""A session: a map or a sweep that is open in the explorer, with all that is known about its points."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sce.explore.attached import Attached
from sce.explore.heavy import MOST_POINTS_IN_A_THREAD, Heavy
from sce.explore.keeper import Keeper
from sce.explore.point_columns import PointColumn, different_names, make_column
from sce.graph.again import can_make_again, make_again
from sce.results.maps import Map
from sce.results.sweeps import Sweep

FOUND_CLUSTERS = "found clusters"
_GRAPH_FIGURES, _DATA_FIGURES = ("edges_cut", "edges_stretched"), ("neighbors_kept",)


@dataclass(eq=False)
class Session:
    """An open map or sweep.

    Attributes
    ----------
    path : Path
        Its file.
    result : Map or Sweep
    attached : Attached
        The data, their columns and images.
    notes : list of str
        Decisions made on the way, for the user.
    heavy : Heavy
        What takes long to compute.
    """

    path: Path
    result: Map | Sweep
    attached: Attached = field(default_factory=Attached)
    notes: list[str] = field(default_factory=list)
    heavy: Heavy = field(init=False)

    def __post_init__(self) -> None:
        """Compute in worker processes where there are many points."""
        self.heavy = Heavy(apart=self.n > MOST_POINTS_IN_A_THREAD)

    @property
    def n(self) -> int:
        """The number of points."""
        return len(self.result.ids)

    @property
    def X(self) -> Any:  # noqa: N802
        """The data as they were embedded, or None."""
        return self.attached.X

    @property
    def names_of_data(self) -> list[str]:
        """What the columns of the data are called."""
        return list(self.attached.names or map(str, range(self.X.shape[1])))

    @property
    def metric(self) -> str:
        """The distance in the data."""
        return str(self.result.parameters.get("metric", "euclidean"))

    @property
    def n_frames(self) -> int:
        """The number of maps: 1, or those of a sweep."""
        return len(self.result) if isinstance(self.result, Sweep) else 1

    @property
    def dims(self) -> int:
        """The dimensions of the page's map: two for a map in one, which lies on a line."""
        own = self.result.frames.shape[2] if isinstance(self.result, Sweep) else self.result.Y.shape[1]
        return max(2, int(own))

    def places(self, frame: int) -> np.ndarray:
        """Where the page shows the points of a frame, of shape (n, dims)."""
        Y = self.coordinates(frame)
        return Y if Y.shape[1] == self.dims else np.column_stack([Y, np.zeros(self.n, Y.dtype)])

    @cached_property
    def first_frame(self) -> int:
        """The frame to show first: that of SCE's r, if it is in the sweep."""
        if not isinstance(self.result, Sweep):
            return 0
        mark = self.result.marks.get("SCE")
        return mark.frame if mark is not None and mark.frame is not None else 0

    def coordinates(self, frame: int) -> np.ndarray:
        """The coordinates of a frame; of a map, frame 0 is the map."""
        return self.result.map(frame).Y if isinstance(self.result, Sweep) else self.result.Y

    @cached_property
    def columns(self) -> dict[str, PointColumn]:
        """The label and the columns of the data, by name."""
        found = list(self.attached.columns)
        labels = self.result.labels
        if labels is not None:
            found.insert(0, make_column(self.result.label_name or "label", "label", labels.__getitem__))
        return different_names(found)

    @property
    def figures_of_points(self) -> tuple[str, ...]:
        """The names of the figures of quality that can be computed for each point."""
        return (*(_DATA_FIGURES if self.X is not None else ()), *(_GRAPH_FIGURES if self.has_graph else ()))

    @property
    def has_graph(self) -> bool:
        """Whether there is a graph, or one can be made again from the data."""
        known = self.result.P is not None or self.attached.graph is not None
        return known or (self.X is not None and can_make_again(self.result.parameters))

    def graph(self) -> Any:
        """The graph, made again from the data if need be; None if that cannot be done. As :meth:`Heavy.compute`."""
        if self.attached.graph is not None:
            return self.attached.graph
        if self.result.P is not None or not self.has_graph:
            return self.result.P
        return self.heavy.compute(("Making the graph again",), make_again, self.X, self.result.parameters)

    @cached_property
    def keeper(self) -> Keeper:
        """The named clusters, and the file that they are in."""
        return Keeper(self.path, self.result.ids)

    def about(self) -> dict[str, Any]:
        """What the page needs to know first."""
        images = self.attached.images
        named = [{"name": FOUND_CLUSTERS, "kind": "classes", "role": "found"}]
        named += [{"name": name, "kind": "number", "role": "quality"} for name in self.figures_of_points]
        label = next((name for name, column in self.columns.items() if column.role == "label"), None)
        return {
            "title": Path(str(self.result.facts.get("source") or self.path.name)).name,
            "file": self.path.name,
            "n": self.n,
            "dims": self.dims,
            "frames": _frames(self.result) if isinstance(self.result, Sweep) else None,
            "frame": self.first_frame,
            "r": None if isinstance(self.result, Sweep) else _finite(self.result.r),
            "columns": [*(column.facts() for column in self.columns.values()), *named],
            "label": label,
            "has": {
                "data": self.X is not None,
                "graph": self.has_graph,
                "thumbnails": None if images is None else {"width": images.width, "height": images.height},
            },
            "ids": "numbers" if self.result.ids.dtype.kind in "iu" else "text",
            "naming": {"revision": self.keeper.document.revision, "writable": self.keeper.writable},
            "notes": self.notes,
        }


def _frames(sweep: Sweep) -> dict[str, Any]:
    """The maps of a sweep: their r, the marks, figures as functions of r."""
    return {
        "r": [_finite(r) for r in sweep.r],
        "alphas": None if sweep.alphas is None else [_finite(alpha) for alpha in sweep.alphas],
        "marks": {name: {"r": _finite(mark.r), "frame": mark.frame} for name, mark in sweep.marks.items()},
        "figures": {name: [_finite(value) for value in values] for name, values in sweep.figures.items()},
    }


def _finite(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
