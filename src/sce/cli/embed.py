"""`sce embed`: a file of data to a map."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sce.cli.commands import COMMANDS
from sce.cli.options import UsageError, nearest
from sce.cli.plot import PICTURES, draw, write_picture
from sce.cli.talk import Talk
from sce.errors import InputError, OutputError
from sce.estimator import SCE, check_parameters
from sce.files import Request, read
from sce.files.graphs import read_graph, refuse_to_replace_graph, write_graph
from sce.files.labels import read_labels
from sce.files.table import Table, Wanted, read_table
from sce.files.write import check_writable
from sce.layout.initialize import STARTS
from sce.maps import Map, load, refuse_to_replace
from sce.parallel import Team, resolve_n_jobs
from sce.prepare import Preparation, prepare

_OPTIONS = next(command for command in COMMANDS if command.name == "embed").options
_READING = ("columns", "drop", "ids", "weights", "array", "transpose", "decimal_comma")
_PREPARING = ("missing", "log1p", "normalize", "one_hot", "pca")


def run(args: Any, talk: Talk) -> None:
    """Read, prepare, embed, write."""
    talk.stage("start")
    _check_usage(args)
    outputs = _check_outputs(args)
    model = _model(args, talk)
    check_parameters(model)
    P = None if args.graph is None else read_graph(args.graph)
    table = _table_of_graph(args, P) if args.data is None else _read_data(args, talk)
    if args.data is None:
        model.set_params(affinity="precomputed")
    else:
        _prepare(args, table, talk)
        _check_length(args, P, table)
        if P is not None:
            model.set_params(affinity=_Given(P))
    talk.stage("prepare")
    model.set_params(init=_start(args, table.X.shape[0]))
    model.fit(table.X, sample_weight=table.weights)
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
    square = _is_square(args)
    if args.data is None or square:
        what = "DATA is a square matrix" if square else "there is only a graph"
        allowed = ("array",) if args.metric == "precomputed" else ()
        keys = (*(key for key in _READING if key not in allowed), *_PREPARING, *(() if square else ("keep_data",)))
        _refuse_options(args, keys, f"means nothing where {what}")
    if args.graph is not None:
        _refuse_options(args, ("affinity", "n_neighbors", "perplexity", "metric"), "means nothing beside --graph")
    if args.perplexity is not None and args.affinity != "entropic":
        raise UsageError("--perplexity goes with --affinity entropic; add that, or leave it out.")
    if args.n_neighbors is not None and args.affinity not in (None, "knn"):
        raise UsageError("--n-neighbors goes with --affinity knn; leave one of them out.")
    if args.alpha is not None and args.scale not in (None, "sce"):
        raise UsageError("--alpha goes with --scale sce; leave one of them out.")
    if args.pca is not None and args.pca < 0:
        raise UsageError(f"--pca takes a number of components, 1 or more, or 0 for none; not {args.pca}.")
    if not 0 <= args.seed < 2**32:
        raise UsageError(f"--seed takes a whole number from 0 to 2**32 - 1, not {args.seed}.")
    if args.init and args.init not in STARTS and Path(args.init).suffix.lower() not in (".npy", ".npz"):
        near = nearest(args.init, STARTS)
        raise UsageError(
            f"--init takes {', '.join(STARTS)}, an .npy or a map, not {args.init!r}{near} (see sce embed --help)."
        )


def _is_square(args: Any) -> bool:
    """Whether DATA is a graph or distances."""
    return "precomputed" in (args.affinity, args.metric)


def _refuse_options(args: Any, keys: tuple[str, ...], why: str) -> None:
    for key in keys:
        if getattr(args, key) not in (None, False, "refuse"):
            raise UsageError(f"--{key.replace('_', '-')} {why}; leave it out.")


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
    if "save_graph" in found:
        refuse_to_replace_graph(found["save_graph"])
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
    if _is_square(args):
        X = read_graph(args.data) if args.affinity == "precomputed" else read(args.data, Request(array=args.array)).X
        table = Table(Path(args.data), X, None)
        _take_labels(args, table)
    else:
        options = {key: getattr(args, key) for key in (*_READING, "labels")}
        table = read_table(args.data, Wanted(**{**options, "drop": args.drop or [], "header": args.header}))
    if not _is_square(args) and hasattr(table.X, "tocsr") and table.X.shape[0] == table.X.shape[1]:
        talk.note(
            f"{args.data} is a square sparse matrix, taken as data; if it is a graph, give it as --graph {args.data}"
        )
    talk.stage("read", f"Read {args.data}: {table.X.shape[0]} rows, {table.X.shape[1]} columns")
    return table


def _take_labels(args: Any, table: Table) -> None:
    """Labels of a square matrix, which are always in another file."""
    if args.labels not in (None, "none"):
        table.labels, table.label_name = read_labels(args.labels, table.X.shape[0], table.path)


def _table_of_graph(args: Any, P: Any) -> Table:
    table = Table(Path(args.graph), P, None)
    _take_labels(args, table)
    return table


def _check_length(args: Any, P: Any, table: Table) -> None:
    if P is not None and P.shape[0] != table.X.shape[0]:
        raise InputError(
            f"{args.graph} has {P.shape[0]} points, but {args.data} has {table.X.shape[0]} rows; give the graph of these data."
        )


def _prepare(args: Any, table: Table, talk: Talk) -> None:
    if not _is_square(args):
        options = Preparation(**{key: getattr(args, key) for key in _PREPARING})
        with Team(resolve_n_jobs(args.n_jobs)) as team:
            prepare(table, options, team, args.seed)
    for note in table.notes:
        talk.note(note)


def _start(args: Any, n: int) -> Any:
    """The start by name, or coordinates from a file."""
    init = args.init or "auto"
    if init in STARTS:
        return init
    Y = load(init, whole=False).Y if init.lower().endswith(".npz") else np.array(read(init).X)
    wanted = args.n_components or 2
    if Y.shape[1] != wanted:
        raise InputError(
            f"{init} has {Y.shape[1]} columns, but the map is to have {wanted} dimensions; see --n-components."
        )
    if len(Y) != n:
        raise InputError(f"{init} has {len(Y)} points, but there are {n} rows to embed; give the start of these data.")
    return Y


# ------------------------------------------------------------------------------------------------------------------ result


def _map(args: Any, model: SCE, table: Table, talk: Talk) -> Map:
    preparation = {key: getattr(args, key) for key in (*_PREPARING, *_READING, "graph")}
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

        try:
            refuge = Path(tempfile.mkdtemp(prefix="sce-")) / path.name
            result.save(refuge)
        except OSError:
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
