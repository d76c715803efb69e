"""P ordered by the clusters seen on the maps, side by side: the paper's test of whether the clusters are in P."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sce.compare.panels import PANEL_SIDE, save_png
from sce.compare.store import Row, Status, Store
from sce.plot.axes import new_figure

METHODS_SHOWN = ("sce", "tsne", "tsne-gradient")  # the first two that have a map
DENSITY_LIMITS = (0.01, 100.0)  # in multiples of the mean, the same for all panels


def write_blocks(path: Path, P: Any, store: Store) -> bool:
    """Draw P ordered by the clusters of SCE's and of t-SNE's map; return whether there was anything to draw."""
    rows = _chosen(store.rows())
    if rows:
        save_png(draw_blocks(P, rows, store), path, tight=True)
    return bool(rows)


def _chosen(rows: Sequence[Row]) -> list[Row]:
    found = {row.method: row for row in rows if row.status == Status.DONE}
    return [found[name] for name in METHODS_SHOWN if name in found][:2]


def draw_blocks(P: Any, rows: Sequence[Row], store: Store) -> Any:
    """The figure, with a panel for each row."""
    from sce.clusters.hdbscan import find_clusters
    from sce.plot import block_matrix
    from sce.results.maps import load

    side = 2.0 * PANEL_SIDE
    figure = new_figure((len(rows) * side, side), facecolor="white")
    figure.subplots_adjust(wspace=0.4)
    for place, row in enumerate(rows):
        ax = figure.add_subplot(1, len(rows), place + 1)
        labels = find_clusters(load(store.map_path(row.method), whole=False).Y)
        block_matrix(P, labels, ax=ax, limits=DENSITY_LIMITS)
        share, null = row.figures.get("share"), row.figures.get("share_null")
        shares = "" if share is None or null is None else f": {share:.2f} of P inside, {null:.2f} by chance"
        ax.set_title(f"{row.title}, {labels.max() + 1} clusters{shares}", fontsize=8, parse_math=False)
    return figure
