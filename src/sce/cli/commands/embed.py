"""`sce embed`: from a data file to a map."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sce.cli.catalog import COMMANDS
from sce.cli.commands.plot import check_coloring, draw, write_picture
from sce.cli.console import Console
from sce.cli.inputs import (
    affinity_parameters,
    check_outputs,
    check_source_usage,
    make_model,
    read_source,
    save_result,
    source_facts,
    source_files,
)
from sce.cli.options import UsageError, nearest
from sce.data.formats import read_source as read_file
from sce.data.table import Table
from sce.errors import InputError
from sce.estimator import SCE, check_parameters
from sce.layout.scale_names import rules_with
from sce.layout.start import STARTS
from sce.results.annotated import MAP_KEY, check_h5ad_output, described, write_h5ad
from sce.results.graphs import write_graph
from sce.results.maps import MAP_KIND, Map, load

_EMBED_OPTIONS = next(command for command in COMMANDS if command.name == "embed").options


def run(args: Any, console: Console) -> None:
    """Read, prepare, embed, write."""
    console.stage("start")
    _check_usage(args)
    outputs = check_outputs(args, MAP_KIND)
    cells = None if args.write_h5ad is None else check_h5ad_output(args.write_h5ad, source_files(args)[0])
    model = make_model(args, _EMBED_OPTIONS, console)
    check_parameters(model)
    table, P = read_source(args, console)
    colors = check_coloring(args, table.labels)
    model.set_params(**affinity_parameters(table, P), init=_start(args, table.X.shape[0]))
    model.fit(table.X, sample_weight=table.weights)
    console.stage("embed")
    result = _map(args, model, table, console)
    written = save_result(result, outputs["output"], "map")
    if args.save_graph:
        write_graph(model.affinity_, outputs["save_graph"])
    if args.plot:
        write_picture(draw(result, **colors), outputs["plot"])
    if cells is not None:
        Y = result.Y if result.point_of_row is None else result.Y[result.point_of_row]
        used = model.get_params(deep=False) | {"init": args.init or "auto", "array": args.array or "X", "verbose": None}
        write_h5ad(source_files(args)[0], cells, Y, described(used, result.r, model.n_epochs_))
        console.say(f"{args.write_h5ad}: the cells with the map in obsm['{MAP_KEY}']")
    console.stage("write")
    _report(args, result, model, written, console)


# --------------------------------------------------------------------------------------------------------- before the work


def _check_usage(args: Any) -> None:
    check_source_usage(args)
    if args.write_h5ad is not None:
        _check_h5ad_usage(args)
    if args.alpha is not None and args.scale not in (None, *rules_with("alpha")):
        raise UsageError(f"--alpha is only for --scale {' or '.join(rules_with('alpha'))}; leave one of them out.")
    if args.init and args.init not in STARTS and Path(args.init).suffix.lower() not in (".npy", ".npz"):
        near = nearest(args.init, STARTS)
        raise UsageError(
            f"--init takes {', '.join(STARTS)}, an .npy or a map, not {args.init!r}{near} (see sce embed --help)."
        )


def _check_h5ad_usage(args: Any) -> None:
    """Refuse to put a map beside cells that are not there, or not one row each."""
    source = source_files(args)[0]
    if not source.lower().endswith(".h5ad"):
        raise UsageError(f"--write-h5ad copies an .h5ad file, which {source} is not; leave it out.")
    if args.transpose or args.missing == "drop":
        other = "--transpose" if args.transpose else "--missing drop"
        raise UsageError(
            f"--write-h5ad needs a point for each cell, which {other} does not give; leave one of them out."
        )


def _start(args: Any, n: int) -> Any:
    """The initial map by name, or coordinates from a file."""
    init = args.init or "auto"
    if init in STARTS:
        return init
    Y = load(init, whole=False).Y if init.lower().endswith(".npz") else np.array(read_file(init).X)
    wanted = args.n_components or 2
    if Y.shape[1] != wanted:
        raise InputError(
            f"{init} has {Y.shape[1]} columns, but the map will have {wanted} dimensions; see --n-components."
        )
    if len(Y) != n:
        raise InputError(
            f"{init} has {len(Y)} points, but there are {n} rows to embed; give an initial map of these data."
        )
    return Y


# ------------------------------------------------------------------------------------------------------------------ result


def _map(args: Any, model: SCE, table: Table, console: Console) -> Map:
    parameters = {"init": args.init or "auto"}  # not the coordinates themselves
    return Map.from_model(
        model,
        labels=table.labels,
        ids=table.ids,
        label_name=table.label_name,
        parameters=parameters,
        facts=source_facts(args, table, console),
        P=model.affinity_ if args.keep_graph else None,
        X=table.X if args.keep_data else None,
        point_of_row=table.point_of_row,
    )


def _report(args: Any, result: Map, model: SCE, path: Path, console: Console) -> None:
    n, d = result.Y.shape
    loss = float(model.history_["loss"][-1]) if model.n_epochs_ else None
    facts = {
        "map": str(path),
        "plot": args.plot,
        "graph": args.save_graph,
        "points": n,
        "dimensions": d,
        "r": result.r,
        "loss": loss,
        "label_name": result.label_name,
        **{key: result.facts[key] for key in ("n_epochs", "stop_reason", "neighbor_method", "neighbor_recall")},
    }
    look = f"look at {args.plot}" if args.plot else f"draw it with: sce plot {path}"
    console.result(facts, f"{path}: {n} point{'s' * (n != 1)}, r = {result.r:.4g}; {look}")
