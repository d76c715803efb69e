"""P ordered by the clusters on the maps: the paper's test, as pictures side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sce.compare.panels import SIDE, save_png
from sce.compare.store import DONE, Row, Store

WANTED = ("sce", "tsne", "tsne-gradient")  # the last only where openTSNE's is not there

LIMITS = (0.01, 100.0)  # of the density, in times the mean: the same for all panels


def write_blocks(path: Path, P: Any, store: Store) -> bool:
    """Draw P by the clusters of SCE's and of t-SNE's map; whether there was anything to draw."""
    rows = _chosen(store.rows())
    if rows:
        save_png(draw_blocks(P, rows, store), path, tight=True)
    return bool(rows)


def _chosen(rows: Sequence[Row]) -> list[Row]:
    found = {row.method: row for row in rows if row.status == DONE}
    return [found[name] for name in WANTED if name in found][:2]


def draw_blocks(P: Any, rows: Sequence[Row], store: Store) -> Any:
    """The figure: a panel for each row."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from sce.clusters.hdbscan import find_clusters
    from sce.plot import block_matrix
    from sce.results.maps import load

    side = 2.0 * SIDE
    figure = Figure(figsize=(len(rows) * side, side), facecolor="white")
    FigureCanvasAgg(figure)
    figure.subplots_adjust(wspace=0.4)
    for place, row in enumerate(rows):
        ax = figure.add_subplot(1, len(rows), place + 1)
        labels = find_clusters(load(store.map_path(row.method), whole=False).Y)
        block_matrix(P, labels, ax=ax, limits=LIMITS)
        share, null = row.figures.get("share"), row.figures.get("share_null")
        said = "" if share is None or null is None else f": {share:.2f} of P inside, {null:.2f} by chance"
        ax.set_title(f"{row.title}, {labels.max() + 1} clusters{said}", fontsize=8, parse_math=False)
    return figure
