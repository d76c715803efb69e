"""`sce compare`: many methods on the same data, as in the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sce.cli.console import Talk
from sce.cli.inputs import check_source_usage, is_named, labels_are_classes, read_source, source_stem
from sce.cli.options import UsageError
from sce.compare.dataset import Data
from sce.compare.methods import choose
from sce.compare.run import compare
from sce.compare.store import DONE, Row
from sce.compare.tables import record
from sce.errors import InputError
from sce.graph.build import GraphOptions

_GRAPH = ("affinity", "n_neighbors", "perplexity", "metric")


def run(args: Any, talk: Talk) -> None:
    """Read, compare, say where the report is."""
    talk.stage("start")
    check_source_usage(args)
    if args.weights is not None:
        raise UsageError("--weights means nothing to the other methods; leave it out.")
    if not args.time_limit > 0:
        raise UsageError(f"--time-limit takes a number of seconds above 0, not {args.time_limit:g}.")
    choose(args.methods)
    data = _data(args, talk)
    rows = compare(
        data,
        args.output,
        args.methods,
        time_limit=args.time_limit,
        random_state=args.seed,
        n_jobs=args.n_jobs,
        retry=args.retry,
        blocks=args.blocks,
        say=talk.say,
    )
    talk.stage("compare")
    _tell(args, data, rows, talk)


def _data(args: Any, talk: Talk) -> Data:
    """The data that were asked for, and how P is to be made."""
    options = _graph_options(args)
    table, P = read_source(args, talk)
    X = None if args.data is None or args.affinity == "precomputed" else table.X
    if args.metric == "precomputed":
        raise InputError("The other methods take vectors or a graph, not distances; make a graph of them first.")
    named = is_named(args)
    return Data(
        name=source_stem(args),
        X=X,
        P=P if X is not None or args.data is None else table.X,
        labels=table.labels,
        kind="classes" if named and args.labels is None else "auto",
        are_classes=labels_are_classes(args),
        graph=options,
        source=_described(args, named=named),
    )


def _graph_options(args: Any) -> GraphOptions:
    """What was asked for; where nothing was, the paper's choice for its data sets."""
    from sce import datasets

    given = {name: getattr(args, name) for name in _GRAPH if getattr(args, name) is not None}
    if not given and args.graph is None and is_named(args):
        given = dict(datasets.about(args.data).similarities)
    return GraphOptions(**given)


def _described(args: Any, *, named: bool) -> str:
    from sce import datasets

    return datasets.about(args.data).summary if named else Path(str(args.data or args.graph)).name


def _tell(args: Any, data: Data, rows: list[Row], talk: Talk) -> None:
    folder = Path(args.output)
    facts = {
        "report": str(folder / "report.html"),
        "figure": str(folder / f"{data.name}.png"),
        "table": str(folder / "table.csv"),
        "rows": [record(data.name, row) for row in rows],
    }
    done = sum(row.status == DONE for row in rows)
    left = "" if done == len(rows) else f", {len(rows) - done} not, and the report says why"
    talk.result(facts, f"{folder / 'report.html'}: {done} methods on {data.name}{left}")
