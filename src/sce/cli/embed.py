"""`sce embed`: a file of data to a map."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sce.cli.commands import COMMANDS
from sce.cli.options import UsageError
from sce.cli.plot import PICTURES, draw, write_picture
from sce.cli.talk import Talk
from sce.errors import InputError, OutputError
from sce.estimator import SCE, check_parameters
from sce.files import Request, read
from sce.files.graphs import read_graph, write_graph
from sce.files.table import Table, read_labels, read_table, take_column
from sce.files.write import check_writable
from sce.maps import Map, load, refuse_to_replace
from sce.parallel import Team, resolve_n_jobs
from sce.prepare import Preparation, prepare

_OPTIONS = next(command for command in COMMANDS if command.name == "embed").options
_OF_VECTORS = ("columns", "drop", "ids", "weights", "array", "transpose", "log1p", "normalize", "one_hot", "pca")


def run(args: Any, talk: Talk) -> None:
    """Read, prepare, embed, write."""
    talk.stage("start")
    _check_usage(args)
    outputs = _check_outputs(args)
    model = _model(args, talk)
    check_parameters(model)
    P = None if args.graph is None else read_graph(args.graph)
    table = None if args.data is None else _read_data(args, talk)
    weights = _take_weights(args, table)
    if table is None:
        table = _table_of_graph(args, P)
        model.set_params(affinity="precomputed")
    else:
        _check_length(args, P, table)
        _prepare(args, table, talk)
        if P is not None:
            model.set_params(affinity=_Given(P))
    talk.stage("prepare")
    model.set_params(init=_start(args, table.X.shape[0]))
    model.fit(table.X, sample_weight=weights)
    talk.stage("embed")
    result = _map(args, model, table, talk)
    written = _save(result, outputs["output"])
    if args.save_graph:
        write_graph(model.affinity_, outputs["save_graph"])
    if args.plot:
        write_picture(draw(result), outputs["plot"])
    talk.stage("write")
    _tell(args, result, model, written, talk)


class _Given:
    """A graph in the place of a search for neighbours; has a name to be kept in the map."""

    __name__ = "given graph"

    def __init__(self, P: Any) -> None:
        self.P = P

    def __call__(self, X: Any) -> Any:  # noqa: ARG002
        return self.P


# --------------------------------------------------------------------------------------------------------- before the work


def _check_usage(args: Any) -> None:
    if args.data is None and args.graph is None:
        raise UsageError("Give a file with data, or a graph with --graph (see sce embed --help).")
    if args.data is None:
        for key in _OF_VECTORS:
            if getattr(args, key):
                raise UsageError(f"--{key.replace('_', '-')} needs a file with data, and there is only a graph.")
    if args.graph is not None:
        for key in ("affinity", "n_neighbors", "perplexity", "metric"):
            if getattr(args, key) is not None:
                raise UsageError(
                    f"--{key.replace('_', '-')} means nothing where the graph is given by --graph; leave it out."
                )
    if args.pca is not None and args.pca < 0:
        raise UsageError(f"--pca takes a number of components, 1 or more, or 0 for none; not {args.pca}.")
    if not 0 <= args.seed < 2**32:
        raise UsageError(f"--seed takes a whole number from 0 to 2**32 - 1, not {args.seed}.")


def _check_outputs(args: Any) -> dict[str, Path]:
    """The files to write, once it is known that they can be."""
    inputs = [path for path in (args.data, args.graph) if path]
    output = args.output or f"{_stem(inputs[0])}.map.npz"
    wanted = {"output": (output, (".npz",)), "save_graph": (args.save_graph, (".npz",)), "plot": (args.plot, PICTURES)}
    found: dict[str, Path] = {}
    for key, (path, kinds) in wanted.items():
        if path is None:
            continue
        if key == "output" and Path(path).suffix.lower() in PICTURES:
            raise OutputError(f"The map ends in .npz; for a picture add --plot {path}")
        found[key] = check_writable(path, kinds, inputs)
    if len({path.resolve() for path in found.values()}) < len(found):
        raise OutputError("The map and the graph cannot have the same name; choose another for one of them.")
    refuse_to_replace(found["output"])
    return found


def _stem(path: str) -> str:
    name = Path(path).name
    return name.removesuffix(".gz").rsplit(".", 1)[0] or name


def _model(args: Any, talk: Talk) -> SCE:
    given = {option.parameter: getattr(args, option.key) for option in _OPTIONS if option.parameter}
    parameters = {name: value for name, value in given.items() if value is not None and name != "init"}
    return SCE(**parameters, random_state=args.seed, verbose=talk.verbose)


# ------------------------------------------------------------------------------------------------------------------- data


def _read_data(args: Any, talk: Talk) -> Table:
    """The table of a file; a square matrix where the graph or the distances are given as data."""
    if "precomputed" in (args.affinity, args.metric):
        X = read_graph(args.data) if args.affinity == "precomputed" else read(args.data, Request(array=args.array)).X
        table = Table(Path(args.data), X, None)
        if args.labels not in (None, "none"):
            table.labels, table.label_name = read_labels(args.labels, X.shape[0], args.data)
    else:
        table = read_table(
            args.data,
            columns=args.columns,
            drop=args.drop,
            labels=args.labels,
            ids=args.ids,
            array=args.array,
            transpose=args.transpose,
            decimal_comma=args.decimal_comma,
        )
    talk.stage("read", f"Read {args.data}: {table.X.shape[0]} rows, {table.X.shape[1]} columns")
    return table


def _take_weights(args: Any, table: Table | None) -> np.ndarray | None:
    if args.weights is None or table is None:
        return None
    values = take_column(table, args.weights)
    if values is None:
        values, _ = read_labels(args.weights, table.X.shape[0], table.path)
    if values.dtype.kind not in "buif":
        raise InputError(f"--weights {args.weights} holds text; weights are numbers, 0 or more.")
    return values.astype(np.float64)


def _table_of_graph(args: Any, P: Any) -> Table:
    table = Table(Path(args.graph), P, None)
    if args.labels not in (None, "none"):
        table.labels, table.label_name = read_labels(args.labels, P.shape[0], args.graph)
    return table


def _check_length(args: Any, P: Any, table: Table) -> None:
    if P is not None and P.shape[0] != table.X.shape[0]:
        raise InputError(
            f"{args.graph} has {P.shape[0]} points, but {args.data} has {table.X.shape[0]} rows; give the graph of these data."
        )


def _prepare(args: Any, table: Table, talk: Talk) -> None:
    if "precomputed" not in (args.affinity, args.metric):
        options = Preparation(args.missing, args.log1p, args.normalize, args.one_hot, args.pca)
        with Team(resolve_n_jobs(args.n_jobs)) as team:
            prepare(table, options, team, args.seed)
    for note in table.notes:
        talk.note(note)


def _start(args: Any, n: int) -> Any:
    """The start by name, or coordinates from a file."""
    from sce.cli.options import nearest
    from sce.layout.initialize import STARTS

    init = args.init or "auto"
    if init in STARTS:
        return init
    if Path(init).suffix.lower() not in (".npy", ".npz"):
        raise UsageError(
            f"--init takes {', '.join(STARTS)}, an .npy or a map, not {init!r}{nearest(init, STARTS)} (see sce embed --help)."
        )
    Y = load(init).Y if init.lower().endswith(".npz") else np.array(read(init).X)
    if len(Y) != n:
        raise InputError(f"{init} has {len(Y)} points, but there are {n} rows to embed; give the start of these data.")
    return Y


# ------------------------------------------------------------------------------------------------------------------ result


def _map(args: Any, model: SCE, table: Table, talk: Talk) -> Map:
    preparation = {key: getattr(args, key) for key in ("missing", "log1p", "normalize", "one_hot", "pca")}
    preparation |= {key: getattr(args, key) for key in ("columns", "drop", "weights", "array", "transpose", "graph")}
    facts = {
        "source": table.path.name,
        "columns": table.X.shape[1],
        "preparation": {key: value for key, value in preparation.items() if value and value != "refuse"},
        "notes": [*talk.notes, *talk.warnings],
    }
    parameters = {"init": args.init or "auto"}  # not the coordinates themselves
    return Map.from_model(
        model,
        labels=table.labels,
        ids=table.ids,
        label_name=table.label_name,
        parameters=parameters,
        facts=facts,
        P=model.affinity_ if args.keep_graph else None,
        X=table.X if args.keep_data else None,
    )


def _save(result: Map, path: Path) -> Path:
    """Save the map; where that fails at this late hour, in the folder for temporary files, so that no work is lost."""
    try:
        result.save(path)
    except OutputError as error:
        import tempfile

        refuge = Path(tempfile.mkdtemp(prefix="sce-")) / path.name
        try:
            result.save(refuge)
        except OutputError:
            refuge.parent.rmdir()
            raise error from None
        raise OutputError(f"{error} The map was saved as {refuge} instead.") from None
    return path


def _tell(args: Any, result: Map, model: SCE, path: Path, talk: Talk) -> None:
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
    talk.result(facts, f"{path}: {n} points, r = {result.r:.4g}; {look}")
