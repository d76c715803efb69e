"""`sce compare`: many methods on the same data, as in the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sce.cli.console import Console
from sce.cli.inputs import check_source_usage, labels_are_classes, read_source, source_stem
from sce.cli.options import UsageError
from sce.compare.dataset import Data
from sce.compare.methods import choose
from sce.compare.run import compare
from sce.compare.store import Row, Status
from sce.compare.tables import record
from sce.data.datasets.find import about, is_name
from sce.errors import InputError
from sce.graph.build import GraphOptions

_GRAPH_KEYS = ("affinity", "n_neighbors", "perplexity", "metric")


def run(args: Any, console: Console) -> None:
    """Read, compare, print where the report is."""
    console.stage("start")
    check_source_usage(args)
    if args.weights is not None:
        raise UsageError("--weights has no effect on the other methods; leave it out.")
    if not args.time_limit > 0:
        raise UsageError(f"--time-limit takes a number of seconds above 0, not {args.time_limit:g}.")
    choose(args.methods)
    data = _data(args, console)
    rows = compare(
        data,
        args.output,
        args.methods,
        time_limit=args.time_limit,
        random_state=args.seed,
        n_jobs=args.n_jobs,
        retry=args.retry,
        blocks=args.blocks,
        say=console.say,
    )
    console.stage("compare")
    _report(args, data, rows, console)


def _data(args: Any, console: Console) -> Data:
    """The data, and how to compute P."""
    options = _graph_options(args)
    table, P = read_source(args, console)
    X = None if table.X is P or args.affinity == "precomputed" else table.X
    if args.metric == "precomputed":
        raise InputError(
            "The other methods take vectors or a graph, not distances; build a graph from the distances first."
        )
    named = args.data is not None and is_name(args.data)
    return Data(
        name=source_stem(args),
        X=X,
        P=P if X is not None or table.X is P else table.X,
        labels=table.labels,
        kind="classes" if named and args.labels is None else "auto",
        are_classes=labels_are_classes(args),
        graph=options,
        source=_described(args, named=named),
    )


def _graph_options(args: Any) -> GraphOptions:
    """The given options; if there are none, the paper's choice for its data sets."""
    given = {name: getattr(args, name) for name in _GRAPH_KEYS if getattr(args, name) is not None}
    if not given and args.graph is None and args.data is not None and is_name(args.data):
        given = dict(about(args.data).similarities)
    return GraphOptions(**given)


def _described(args: Any, *, named: bool) -> str:
    return about(args.data).summary if named else Path(str(args.data or args.graph)).name


def _report(args: Any, data: Data, rows: list[Row], console: Console) -> None:
    folder = Path(args.output)
    facts = {
        "report": str(folder / "report.html"),
        "figure": str(folder / f"{data.name}.png"),
        "table": str(folder / "table.csv"),
        "rows": [record(data.name, row) for row in rows],
    }
    done = sum(row.status == Status.DONE for row in rows)
    left = "" if done == len(rows) else f"; {len(rows) - done} failed, and the report says why"
    console.result(facts, f"{folder / 'report.html'}: {done} methods on {data.name}{left}")
