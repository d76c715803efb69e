"""`sce plot`: from a map or a sweep to a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sce.cli.console import Console
from sce.cli.options import UsageError
from sce.cli.spelling import as_options
from sce.core.write import atomic, check_writable
from sce.loading import load
from sce.results.maps import Map
from sce.results.sweeps import Sweep

PICTURES = (".png", ".svg", ".pdf")
PAGE = ".html"
_FOR_PAGES = ("data", "columns", "images", "neighbors")


def run(args: Any, console: Console) -> None:
    """Read the map or the sweep, draw it, write the picture."""
    if not 1 <= args.width <= 100 or not 10 <= args.dpi <= 2000 or args.width * args.dpi > 20_000:
        raise UsageError(
            "--width takes 1 to 100 inches and --dpi 10 to 2000; their product may be at most 20,000 dots."
        )
    if not 1 <= args.n_maps <= 100:
        raise UsageError(f"--n-maps takes 1 to 100, not {args.n_maps}.")
    name = args.output or f"{Path(args.map).name.removesuffix('.npz')}.png"
    path = check_writable(name, (*PICTURES, PAGE), [args.map])
    if path.suffix.lower() == PAGE:
        _write_page(args, path, console)
        return
    given = next((option for option in _FOR_PAGES if getattr(args, option) not in (None, False)), None)
    if given:
        raise UsageError(f"--{given} is for pages; end the name of --output in .html, or leave it out.")
    options = {key: getattr(args, key) for key in ("kind", "size", "opacity", "title")} | coloring(args)
    result = load(args.map, whole=False)
    _choose_labels(result, args)
    if isinstance(result, Sweep):
        from sce.plot import series

        picture = series(result, n_maps=args.n_maps, **options)
        what = f"{len(result)} maps of {result.frames.shape[1]} points"
    else:
        picture = draw(result, width=args.width, frame=args.frame, **options)
        what = f"{len(result.Y)} points"
    write_picture(picture, path, args.dpi)
    console.stage("draw")
    facts = {"plot": str(path), "points": len(result.ids), "label_name": result.label_name}
    by = f" by {result.label_name}" if result.labels is not None and result.label_name else ""
    console.result(facts, f"{path}: {what}{', coloured' + by if result.labels is not None else ''}")


def _write_page(args: Any, path: Path, console: Console) -> None:
    """A page in one file, to explore the map without a server."""
    from sce.explore.one_file import write_html
    from sce.explore.opening import open_session

    labels = None if args.labels == "clusters" else args.labels
    session = open_session(
        args.map,
        data=args.data,
        columns=args.columns,
        images=args.images or "no",
        labels=labels,
        verbose=console.verbose,
    )
    if args.labels == "clusters":
        _choose_labels(session.result, args)
    more = {"columns": args.columns is not None, "thumbnails": args.images is not None, "neighbors": args.neighbors}
    write_html(session, path, **more)
    console.stage("page")
    size = path.stat().st_size
    facts = {"page": str(path), "points": session.n, "bytes": size}
    console.result(facts, f"{path}: {session.n} points, {size / 1e6:.2g} MB; open it in any browser")


def _choose_labels(result: Map | Sweep, args: Any) -> None:
    """Put the requested labels into the map or the sweep."""
    if args.labels == "none":
        result.labels = result.label_name = None
    elif args.labels == "clusters":
        from sce.clusters.hdbscan import find_clusters

        result.labels, result.label_name = find_clusters(_shown(result)), "clusters"
    elif args.labels is not None:
        from sce.data.label_files import read_label_file

        result.labels, result.label_name = read_label_file(
            args.labels, len(result.ids), args.map, point_of_row=result.point_of_row
        )


def _shown(result: Map | Sweep) -> np.ndarray:
    """The coordinates whose clusters colour the picture: of the map, or of the frame at SCE's r."""
    if isinstance(result, Map):
        return result.Y
    mark = result.marks.get("SCE")
    return result.map(mark.frame or 0 if mark else 0).Y


def coloring(args: Any) -> dict[str, Any]:
    """The options of colours and names, as :func:`sce.plot.scatter` takes them."""
    same = {key: getattr(args, key) for key in ("palette", "highlight", "names", "theme")}
    return {**same, "cmap": args.colormap}


def check_coloring(args: Any, labels: Any) -> dict[str, Any]:
    """Those options of a command with --plot, checked before its work.

    Parameters
    ----------
    args : parsed arguments
    labels : array or None
        What the picture will be coloured by.
    """
    options = coloring(args)
    given = [name for name, value in options.items() if value not in (None, False, "light")]
    if not given:
        return options
    if not args.plot:
        raise UsageError(f"{as_options(given[0] + '=')} is for the picture; add --plot FILE, or leave it out.")
    from sce.data.labels import as_labels
    from sce.plot.coloring import Style, check_style

    check_style(Style(**options), None if labels is None else as_labels(labels, len(labels), "auto"))
    return options


def draw(result: Map, **options: Any) -> Any:
    """The axes with the map; options are those of :func:`sce.plot.scatter`."""
    from sce.plot import scatter

    return scatter(result.Y, result.labels, legend=result.label_name or True, **options)


def write_picture(ax: Any, path: Path, dpi: int = 150) -> None:
    """Write the figure of an axes object, whole or not at all; the same picture gives the same bytes."""
    import matplotlib as mpl

    kind = path.suffix.lower().lstrip(".")
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
    with mpl.rc_context({"svg.hashsalt": "sce", "svg.fonttype": "none"}), atomic(path) as file:
        ax.figure.savefig(file, format=kind, dpi=dpi, bbox_inches="tight", metadata=dates[kind])
