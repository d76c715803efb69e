"""`sce sweep`: from a data file to maps over a range of r."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sce.cli.catalog import COMMANDS
from sce.cli.commands.plot import check_coloring, write_picture
from sce.cli.console import Console
from sce.cli.inputs import (
    affinity_parameters,
    check_outputs,
    check_source_usage,
    given_parameters,
    labels_are_classes,
    read_source,
    save_result,
    source_facts,
)
from sce.cli.options import UsageError
from sce.estimator import SCE, check_parameters
from sce.results.graphs import write_graph
from sce.results.sweeps import SWEEP_KIND, Sweep
from sce.sweeping import check_values, sweep

_SWEEP_OPTIONS = next(command for command in COMMANDS if command.name == "sweep").options


def run(args: Any, console: Console) -> None:
    """Read, prepare, embed for each r, write."""
    console.stage("start")
    check_source_usage(args)
    alphas = args.alpha if isinstance(args.alpha, list) else None
    _check_usage(args, alphas)
    outputs = check_outputs(args, SWEEP_KIND)
    parameters = given_parameters(args, _SWEEP_OPTIONS, console)
    if args.alpha is not None and alphas is None:
        parameters["alpha"] = args.alpha
    check_parameters(SCE(**parameters))
    table, P = read_source(args, console)
    colors = check_coloring(args, table.labels)
    result = sweep(
        table.X,
        args.log10_r,
        alphas=alphas,
        afresh=args.afresh,
        labels=table.labels,
        score_labels=labels_are_classes(args),
        ids=table.ids,
        sample_weight=table.weights,
        keep_graph=True,
        **{**parameters, **affinity_parameters(table, P)},
    )
    console.stage("sweep")
    graph = result.P
    result.P = graph if args.keep_graph else None
    result.label_name = table.label_name
    result.point_of_row = table.point_of_row
    result.facts |= source_facts(args, table, console)
    written = save_result(result, outputs["output"], SWEEP_KIND.what)
    if args.save_graph:
        write_graph(graph, outputs["save_graph"])
    if args.plot:
        from sce.plot import series

        write_picture(series(result, **colors), outputs["plot"])
    console.stage("write")
    _report(args, result, written, console)


def _check_usage(args: Any, alphas: list[float] | None) -> None:
    if alphas is not None and args.log10_r is not None:
        raise UsageError("A sweep is over --log10-r or over several --alpha; leave one of them out.")
    check_values(args.log10_r, alphas)


def _report(args: Any, result: Sweep, path: Path, console: Console) -> None:
    n_maps, n, d = result.frames.shape
    facts = {
        "sweep": str(path),
        "plot": args.plot,
        "graph": args.save_graph,
        "maps": n_maps,
        "points": n,
        "dimensions": d,
        "log10_r": [round(float(value), 6) for value in result.log10_r],
        "alpha": None if result.alphas is None else result.alphas.tolist(),
        "marks": {name: mark._asdict() for name, mark in result.marks.items()},
        "label_name": result.label_name,
        **{key: result.facts[key] for key in ("neighbor_method", "neighbor_recall")},
    }
    marks = ", ".join(f"{name} chooses r = {mark.r:.4g}" for name, mark in result.marks.items())
    look = f"look at {args.plot}" if args.plot else f"draw it with: sce plot {path}"
    console.result(facts, f"{path}: {n_maps} maps of {n} points; {marks}; {look}")
