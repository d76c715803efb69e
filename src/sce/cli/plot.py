"""`sce plot`: a map to a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sce.cli.options import UsageError
from sce.cli.talk import Talk
from sce.files.write import atomic, check_writable
from sce.maps import Map, load

PICTURES = (".png", ".svg", ".pdf")


def run(args: Any, talk: Talk) -> None:
    """Read the map, draw it, write the picture."""
    if not 1 <= args.width <= 100 or not 10 <= args.dpi <= 2000 or args.width * args.dpi > 20_000:
        raise UsageError("--width takes 1 to 100 inches and --dpi 10 to 2000, at most 20,000 dots together.")
    path = check_writable(args.output or f"{Path(args.map).name.removesuffix('.npz')}.png", PICTURES, [args.map])
    result = load(args.map, whole=False)
    _choose_labels(result, args)
    ax = draw(result, kind=args.kind, size=args.size, opacity=args.opacity, title=args.title, width=args.width)
    write_picture(ax, path, args.dpi)
    talk.stage("draw")
    facts = {"plot": str(path), "points": len(result.Y), "label_name": result.label_name}
    by = f" by {result.label_name}" if result.labels is not None and result.label_name else ""
    talk.result(facts, f"{path}: {len(result.Y)} points{', coloured' + by if result.labels is not None else ''}")


def _choose_labels(result: Map, args: Any) -> None:
    """Put the labels asked for into the map."""
    if args.labels == "none":
        result.labels = result.label_name = None
    elif args.labels == "clusters":
        from sce.clusters import find_clusters

        result.labels, result.label_name = find_clusters(result.Y), "clusters"
    elif args.labels is not None:
        from sce.files.labels import read_labels

        result.labels, result.label_name = read_labels(args.labels, len(result.Y), args.map)


def draw(result: Map, **options: Any) -> Any:
    """The axes with the map; the options are those of :func:`sce.plot.scatter`."""
    from sce.plot import scatter

    return scatter(result.Y, result.labels, legend=result.label_name or True, **options)


def write_picture(ax: Any, path: Path, dpi: int = 150) -> None:
    """Write the figure of some axes, whole or not at all; the same picture gives the same bytes."""
    import matplotlib as mpl

    kind = path.suffix.lower().lstrip(".")
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
    with mpl.rc_context({"svg.hashsalt": "sce", "svg.fonttype": "none"}), atomic(path) as file:
        ax.figure.savefig(file, format=kind, dpi=dpi, bbox_inches="tight", metadata=dates[kind])
