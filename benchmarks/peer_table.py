"""The tables and the picture of peers.py, from its records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

from measured import DONE, brief, markdown
from peer_methods import GRAPH, LAYOUT, METHODS, NEIGHBORS

OURS = "sce"
PARTS = {"start": "import and compilation", "graph": "neighbours and graph", "rest": "the rest", "layout": "layout"}
COLORS = {"start": "#bbbbbb", "graph": "#4477aa", "rest": "#ccbb44", "layout": "#ee6677"}
TIMES = ("process", "warm", "warm_cpu", "cpu", "peak", "import", "busy", *PARTS)
BUSY_ABOVE = 0.1  # cores used by other processes
FIGURES = {
    "accuracy": "15-NN accuracy",
    "kept": "15 nearest kept",
    "ami": "AMI",
    "covered": "covered",
    "together": "same trial",
    "clusters": "clusters seen",
    "inside": "P inside them",
    "chance": "by chance",
}
BILLION = 1e9
WIDEST_BAR = 8.0  # of the picture, in medians of all bars


def parts(facts: dict[str, Any]) -> dict[str, float | None]:
    """The stages of a fresh process, which add up to its whole time but for chance differences between two fits.

    Import and compilation is everything before the fit, plus what the first fit takes beyond the second; the other stages are
    those of the second fit. If there is no second fit, they include compilation.
    """
    stages = facts.get("warm_stages", facts["first_stages"])
    fit = facts.get("warm", facts["first"])
    graph, layout = stages.get(GRAPH), stages.get(LAYOUT)
    rest = None if graph is None or layout is None else max(0.0, fit - graph - layout)
    start = facts["import"] + max(0.0, facts["first"] - fit)
    return {"start": start, "graph": graph, "rest": rest, "layout": layout}


def summarize(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One row from the records of all seeds: medians of times, means and standard deviations of figures."""
    done = [record for record in records if record["status"] == DONE]
    first = records[0] if not done else done[0]
    row = {name: first[name] for name in ("data", "method", "status", "reason", "versions")} | {"seeds": len(done)}
    for name in TIMES:
        values = [{**one["facts"], **parts(one["facts"])}.get(name) for one in done]
        known = [value for value in values if value is not None]
        row[name] = median(known) if known else None
    for name in {name for one in done for name in one["figures"]}:
        found = [float(one["figures"][name]) for one in done]
        row[name] = [mean(found), stdev(found) if len(found) > 1 else 0.0]
    return row


def tables(rows: Sequence[dict[str, Any]]) -> str:
    """For each data set a table of times, one of figures, and a line for each method that did not finish."""
    text = []
    for data in dict.fromkeys(row["data"] for row in rows):
        own = [row for row in rows if row["data"] == data and row["method"] in METHODS]
        done = [row for row in own if row["status"] == DONE]
        if done:
            text += [f"## {data}", "", _times(done), "", _figures(done)]
        text += [
            "",
            *(f"- {METHODS[row['method']].title}: {row['status']}, {row['reason']}" for row in own if row not in done),
        ]
        text += [line for row in done for line in _remarks(row, METHODS[row["method"]].title)]
        text.append("")
    searched = [row for row in rows if row["method"] in NEIGHBORS]
    return "\n".join([*text, *([_neighbors(searched), ""] if searched else [])])


def _remarks(row: dict[str, Any], title: str) -> list[str]:
    """What makes the times of a row unfair: other processes at work, or a fit that spent most of its time waiting."""
    remark = f"- {title}: NOT a fair time,"
    lines = []
    if (row["busy"] or 0.0) > BUSY_ABOVE:
        lines.append(f"{remark} other processes kept {row['busy']:.1f} cores busy meanwhile")
    for wall, cpu, name in (("process", "cpu", "fresh process"), ("warm", "warm_cpu", "warm fit")):
        if row[wall] is not None and row[wall] > 1.0 + 2.0 * row[cpu]:
            lines.append(f"{remark} the {name} took {brief(row[wall])} s but only {brief(row[cpu])} CPU s: it waited")
    return lines


def _times(rows: Sequence[dict[str, Any]]) -> str:
    """Seconds and memory; in brackets the ratio to ours."""
    ours = next((row for row in rows if row["method"] == OURS), None)
    head = ["method", *(f"{title} s" for title in PARTS.values())]
    head += ["fresh process s", "warm fit s", "CPU s", "peak GB"]
    lines = []
    for row in rows:
        cells = [METHODS[row["method"]].title, *(brief(row[name]) for name in PARTS if name != "layout")]
        for name, unit in (("layout", 1.0), ("process", 1.0), ("warm", 1.0), ("cpu", 1.0), ("peak", BILLION)):
            cells.append(_against(row[name], None if ours is None else ours[name], unit))
        lines.append(cells)
    return markdown(head, lines)


def _against(value: float | None, ours: float | None, unit: float) -> str:
    if value is None:
        return "-"
    ratio = f" ({value / ours:.1f}x)" if ours else ""
    return f"{brief(value / unit)}{ratio}"


def _figures(rows: Sequence[dict[str, Any]]) -> str:
    """Figures of quality, with standard deviations where there are several seeds."""
    names = [name for name in FIGURES if any(name in row for row in rows)]
    lines = []
    for row in rows:
        cells = [METHODS[row["method"]].title, str(row["seeds"])]
        for name in names:
            value, spread = row.get(name, (None, 0.0))
            digits = 1 if name == "clusters" else 3
            text = "-" if value is None else f"{value:.{digits}f}"
            cells.append(f"{text} ± {spread:.{digits}f}" if row["seeds"] > 1 and value is not None else text)
        lines.append(cells)
    return markdown(["method", "seeds", *(FIGURES[name] for name in names)], lines)


def _neighbors(rows: Sequence[dict[str, Any]]) -> str:
    """The search for the 15 nearest alone: ours in a fresh process against pynndescent's second search in a process."""
    head = ["data", "by", "fresh process s", "first search s", "warm search s", "recall"]
    lines = []
    for row in rows:
        cells = [row["data"], NEIGHBORS[row["method"]].title]
        if row["status"] == DONE:
            begun = row["process"] - row["import"]
            cells += [brief(row["process"]), brief(begun), brief(row["warm"]), f"{row['recall'][0]:.4f}"]
        else:
            cells += [row["status"], row["reason"], "-", "-"]
        lines.append(cells)
    return "\n".join(["## The 15 nearest neighbours", "", markdown(head, lines), "", *_verdicts(rows)])


def _verdicts(rows: Sequence[dict[str, Any]]) -> list[str]:
    """For each data set, whether our fresh process takes no longer than the warm search, at a recall of at least 0.95."""
    lines = [line for row in rows for line in _remarks(row, f"{row['data']}, {row['method']}")]
    found = {(row["data"], row["method"]): row for row in rows if row["status"] == DONE}
    for data in dict.fromkeys(row["data"] for row in rows):
        ours, other = found.get((data, "sce-neighbors")), found.get((data, "pynndescent"))
        if ours and other and other["warm"] is not None:
            holds = ours["process"] <= other["warm"] and ours["recall"][0] >= 0.95
            lines.append(
                f"- {data}: our whole fresh process takes {ours['process'] / other['warm']:.2f} of pynndescent's warm search, "
                f"with a recall of {ours['recall'][0]:.3f}: {'no longer' if holds else 'NOT within the claim'}"
            )
    return lines


# -------------------------------------------------------------------------------------------------------------- picture


def picture(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Bars of seconds by stage: a panel per data set, a bar per method; bars that would dwarf the others are cut."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    mine = [row for row in rows if row["method"] in METHODS and row["status"] == DONE]
    names = list(dict.fromkeys(row["data"] for row in mine))
    if not names:
        return
    columns = min(len(names), 2)
    lines = -(-len(names) // columns)
    most = max(sum(row["data"] == name for row in mine) for name in names)
    figure = Figure(figsize=(6.2 * columns, lines * (0.9 + 0.36 * most) + 0.6), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    for panel, name in zip(panels, names, strict=False):
        _panel(panel, name, [row for row in mine if row["data"] == name])
    for panel in panels[len(names) :]:
        panel.set_visible(False)
    handles = [_patch(COLORS[part], title) for part, title in PARTS.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=2 * columns, frameon=False)
    figure.savefig(path, dpi=150)


def _patch(color: str, title: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(color=color, label=title)


def _panel(panel: Any, name: str, rows: Sequence[dict[str, Any]]) -> None:
    totals = [sum(row[part] or 0.0 for part in PARTS) for row in rows]
    edge = min(max(totals), WIDEST_BAR * median(totals)) * 1.15
    for place, (row, total) in enumerate(zip(rows, totals, strict=True)):
        left = 0.0
        for part in PARTS:
            seconds = row[part] or 0.0
            panel.barh(place, seconds, left=left, color=COLORS[part], height=0.7)
            left += seconds
        cut = total > edge
        shown = f"{brief(row['process'])} s"
        panel.text(
            edge * 0.99 if cut else total + edge * 0.01, place, f"{shown} >" if cut else shown, va="center",
            ha="right" if cut else "left", fontsize=9, fontweight="bold" if row["method"] == OURS else "normal",
        )  # fmt: skip
    panel.set_yticks(range(len(rows)), [METHODS[row["method"]].title for row in rows])
    panel.invert_yaxis()
    panel.set_xlim(0, edge)
    panel.set_title(name, loc="left", fontweight="bold")
    panel.set_xlabel("seconds in a fresh process")
    panel.spines[["top", "right"]].set_visible(False)
