"""Put comparisons into docs/comparison.md: the pictures and a table for each data set, after its text.

Usage: python benchmarks/compared.py FOLDER [--page docs/comparison.md]

FOLDER is the output of `sce compare NAME -o FOLDER --blocks`, for one data set or several; their sections of the page are
replaced, the others stay. The text before the sections is written by hand.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from PIL import Image

from measured import markdown
from sce.compare.store import Row, Status, Store

SETS = ("shuttle", "ijcnn", "mnist", "mocap_120k", "cytof_bcrxl", "flow_hipc", "higgs_11k")  # in the order of the page
HEAD = ["method", "on", "r", "clusters seen", "of them real", "P inside them (by chance)"]
LABELS, KEPT = ["AMI", "accuracy"], ["neighbours kept"]
COLORS = 64  # of a picture


def line(row: Row, labels: bool) -> list[str]:
    """The cells of a method."""
    on = "P" if row.takes == "graph" else "vectors"
    if row.status != Status.DONE:
        return [row.title, on, f"{row.status}: {row.reason}", *[""] * (len(HEAD) - 3 + 2 * labels + 1)]
    found = row.values
    cells = [row.title, on, repulsion(found.get("r"))]
    cells += [
        f"{found['n_clusters']:.0f}",
        f"{found['n_real']:.0f}",
        f"{found['share']:.3f} ({found['share_null']:.3f})",
    ]
    cells += [f"{found[name]:.3f}" for name in ("ami", "accuracy") if labels]
    return [*cells, f"{found['neighbors_kept']:.3f}"]


def repulsion(r: float | None) -> str:
    """r, if the method has one."""
    return "" if r is None else f"{r:,.0f}" if r >= 1000 else f"{r:.3g}"


def section(folder: Path, name: str, images: Path) -> str:
    """The part of the page about a data set; also writes its pictures, with few colours."""
    store = Store(folder, name)
    facts = store.read_comparison()
    shown = []
    for kind in ("", "-blocks"):
        target = images / f"compare_{name}{kind.replace('-', '_')}.png"
        with Image.open(folder / f"{name}{kind}.png") as picture:
            picture.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE).save(target, optimize=True)
        shown.append(f"![](images/{target.name})")
    labels = facts["classes"] is not None
    table = markdown(HEAD + (LABELS if labels else []) + KEPT, [line(row, labels) for row in store.rows()])
    size = f"{facts['points']:,} x {facts['columns']}"
    return "\n\n".join([f"## {title(name)}, {size}", *shown, table]) + "\n"


def title(name: str) -> str:
    """The data set's name as the paper writes it."""
    return name.upper() if name in ("shuttle", "ijcnn", "mnist") else name


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page", type=Path, default=Path("docs/comparison.md"))
    options = parser.parse_args()
    text, *sections = options.page.read_text(encoding="utf-8").split("\n## ")
    before = {part.split(",")[0]: "## " + part.strip() + "\n" for part in sections}
    images = options.page.parent / "images"
    parts = [
        section(options.folder, name, images)
        if (options.folder / f"{name}.png").exists()
        else before.get(title(name), "")
        for name in SETS
    ]
    options.page.write_text("\n\n".join([text.rstrip(), *filter(None, parts)]), encoding="utf-8")


if __name__ == "__main__":
    main()
