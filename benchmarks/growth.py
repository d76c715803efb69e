"""How seconds and memory of each stage grow with the number of rows, from a thousand to millions of the same data.

Usage: SCE_DATA=folder python benchmarks/growth.py [mocap_1m] [--sizes 1000 3000 ...] [--epochs 100] [--folder FOLDER]
       SCE_DATA=folder python benchmarks/growth.py --higgs [--rows 11000000] [--affinity knn] [--folder FOLDER]

Rows are drawn from one data set. If it has too few, they are drawn repeatedly, with a little noise added, and called
synthetic. Each number of rows runs in a fresh process with SCE's defaults, on a memory-mapped .npy in a temporary folder
(within FOLDER). A process that had to compile is run again. Memory is the peak of the resident memory, sampled in each stage,
mapped pages of the file included. The last columns time the sampler alone, with the same steps per point whatever the number
of rows: if the time of a layout were proportional to the number of points, all rows would have the same microseconds per
point.

--higgs takes 11,000,000 x 28 numbers, the shape of HIGGS: rows of higgs_11k with noise, and 5 neighbours. It prints the share
of true neighbours found, by an exact search for a sample of rows, and J against that of a map with twice the steps, both at
the same r, with the attraction exact and the repulsion from a sample of pairs.

Writes growth.md, growth.json and growth.png, or higgs.md and higgs.json, to the folder --out.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from common import require_data
from measured import DONE, brief, machine, markdown, run_fresh
from resampled import write_rows
from sce import datasets
from sce.compare.store import read_json, write_json, write_text

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)
HIGGS = 11_000_000
STAGES = ("neighbours", "affinity", "start and coarse maps", "layout")
BUSY_ABOVE = 0.1  # cores used by other processes
COLORS = ("#4477aa", "#66ccee", "#ccbb44", "#ee6677")
CLAIM = (30_000, 3_000_000, 2.5)  # from and to so many rows the seconds per point grow by less than this factor


def measure(n: int, options: argparse.Namespace, X: Any, job: dict[str, Any]) -> dict[str, Any]:
    """What the fit of n rows took, in a process that compiled nothing."""
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path, result = Path(folder) / "rows.npy", Path(folder) / "result.json"
        synthetic = write_rows(X, n, path)
        job = {**job, "data": str(path), "result": str(result)}
        for _ in range(2):
            print(f"{n:,} rows ...", file=sys.stderr, flush=True)
            ended = run_fresh("growth_worker.py", job, options.threads, options.time_limit)
            facts = read_json(result)
            if ended.status != DONE or not facts["compiled"]:
                break
    return {"rows": n, "synthetic": synthetic, **ended._asdict(), **facts}


def stages(row: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Seconds and GiB of each of the four stages."""
    found = dict.fromkeys(STAGES, (0.0, 0.0))
    for name, seconds, resident, _ in row["stages"]:
        if name in found:
            found[name] = (seconds, resident)
    return found


def per_point(row: dict[str, Any]) -> float:
    """Microseconds per point of the sampler at equal steps."""
    return float(1e6 * row["equal"] / row["rows"])


def growth_table(rows: Sequence[dict[str, Any]], epochs: int) -> str:
    """A line for each number of rows, and whether the claim holds."""
    head = ["rows", *(f"{stage} s (GiB)" for stage in STAGES), "fit s", "peak GiB", "recall", "epochs"]
    head += [f"{epochs} epochs s", "µs a point"]
    lines = []
    for row in rows:
        size = f"{row['rows']:,}{' (synthetic)' if row['synthetic'] else ''}"
        if row["status"] != DONE:
            lines.append([size, f"{row['status']}: {row['reason']}", *["-"] * (len(head) - 2)])
            continue
        cells = [size, *(f"{brief(seconds)} ({gib:.2f})" for seconds, gib in stages(row).values())]
        cells += [brief(row["fit"]), f"{row['peak'] / 2**30:.2f}", f"{row['recall']:.3f}", str(row["epochs"])]
        lines.append([*cells, brief(row["equal"]), brief(per_point(row))])
    return "\n".join([markdown(head, lines), "", *busy_lines(rows), verdict(rows)])


def busy_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each row that was timed on a busy machine."""
    return [
        f"{row['rows']:,} rows: NOT a fair time, other processes kept {row['busy']:.1f} cores busy meanwhile."
        for row in rows
        if row["busy"] > BUSY_ABOVE
    ]


def verdict(rows: Sequence[dict[str, Any]]) -> str:
    """By how much the seconds per point of the layout grow, and whether that is within the claim."""
    first, last, most = CLAIM
    done = {row["rows"]: per_point(row) for row in rows if row["status"] == DONE}
    if first not in done or last not in done:
        return f"The growth from {first:,} to {last:,} rows was not measured."
    ratio = done[last] / done[first]
    return (
        f"From {first:,} to {last:,} rows the seconds per point at equal steps grow {ratio:.2f} times: "
        f"{'less' if ratio < most else 'NOT less'} than {most}."
    )


def picture(rows: Sequence[dict[str, Any]], title: str, path: Path) -> None:
    """Seconds and memory by stage against the number of rows, on logarithmic axes; synthetic rows have hollow marks."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    done = [row for row in rows if row["status"] == DONE]
    if not done:
        return
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    n = [row["rows"] for row in done]
    for place, (panel, what) in enumerate(zip(figure.subplots(1, 2), ("seconds", "GiB resident"), strict=True)):
        for stage, color in zip(STAGES, COLORS, strict=True):
            values = [max(stages(row)[stage][place], 1e-3) for row in done]
            panel.plot(n, values, color=color, label=stage)
            faces = ["white" if row["synthetic"] else color for row in done]
            panel.scatter(n, values, c=faces, edgecolors=color, zorder=3)
        if place == 0:
            top = max(stages(done[-1])[stage][0] for stage in STAGES)
            panel.plot(n, [top * size / n[-1] for size in n], color="0.7", ls=":", label="in proportion to the rows")
            panel.legend(frameon=False)
        panel.set(xscale="log", yscale="log", xlabel="rows (hollow: synthetic)", ylabel=what)
        panel.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title)
    figure.savefig(path, dpi=150)


def grow(options: argparse.Namespace) -> None:
    """Measure all numbers of rows; the table and the picture are rewritten after each."""
    X = datasets.load(options.name).X
    job = {"parameters": {}, "epochs": options.epochs}
    title = f"SCE on {options.name}: {machine()}, {options.threads} threads"
    rows = []
    for n in options.sizes:
        rows.append(measure(n, options, X, job))
        write_text(options.out / "growth.md", f"{title}.\n\n{growth_table(rows, options.epochs)}\n")
        write_json(options.out / "growth.json", rows)
        picture(rows, title, options.out / "growth.png")
    print((options.out / "growth.md").read_text(encoding="utf-8"))


def higgs(options: argparse.Namespace) -> None:
    """Measure data of the shape of HIGGS, and compare with twice the steps."""
    X = datasets.load("higgs_11k").X
    job = {"parameters": {"affinity": options.affinity, "n_neighbors": 5}, "twice": True}
    row = measure(options.rows, options, X, job)
    write_json(options.out / "higgs.json", row)
    if row["status"] != DONE:
        raise SystemExit(f"{row['status']}: {row['reason']}")
    lines = [[stage, brief(seconds), f"{gib:.2f}"] for stage, (seconds, gib) in stages(row).items()]
    lines.append(["fit", brief(row["fit"]), f"{row['peak'] / 2**30:.2f}"])
    more = (row["J"] - row["J_twice"]) / abs(row["J_twice"])
    kind = "synthetic, of HIGGS' shape" if row["synthetic"] else "of higgs_11k"
    text = (
        f"{row['rows']:,} x {X.shape[1]}, {kind}; {machine()}, {options.threads} threads.\n\n"
        f"{markdown(['stage', 'seconds', 'peak GiB'], lines)}\n\n"
        f"Recall {row['recall']:.4f}, by exact search for a sample (the fit's own estimate: {row['own_recall']:.4f}), "
        f"neighbours by {row['method']}.\nJ = {row['J']:.5f} at r = {row['r']:.4f}; with twice the steps {row['J_twice']:.5f} "
        f"(own r {row['r_twice']:.4f}, {brief(row['twice'])} s): {more:+.2%}.\n"
    )
    text += "".join(f"{line}\n" for line in busy_lines([row]))
    write_text(options.out / "higgs.md", text)
    print(text)


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", default="mocap_1m", metavar="data")
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--epochs", type=int, default=100, help="of the sampler at equal steps")
    parser.add_argument("--higgs", action="store_true")
    parser.add_argument("--rows", type=int, default=HIGGS, help="of --higgs")
    parser.add_argument("--affinity", choices=["knn", "entropic"], default="knn", help="of --higgs")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--time-limit", type=float, default=36_000.0, help="seconds for a process")
    parser.add_argument("--folder", help="where to write temporary files")
    parser.add_argument("--out", type=Path, default=Path("out/growth"))
    return parser.parse_args()


if __name__ == "__main__":
    arguments = parse()
    if arguments.higgs or arguments.name != "digits":
        require_data()
    arguments.out.mkdir(parents=True, exist_ok=True)
    (higgs if arguments.higgs else grow)(arguments)
