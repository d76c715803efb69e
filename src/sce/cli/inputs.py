"""From the options that commands with data share to library calls: what to read, how to prepare it, where to write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sce.cli.commands.plot import PICTURES
from sce.cli.console import Console
from sce.cli.options import Option, UsageError
from sce.core.hints import clipped
from sce.core.write import check_writable
from sce.data.content import in_short
from sce.data.datasets.find import about, is_name
from sce.data.nodes import BY_POSITION, in_order_of_rows
from sce.data.preparation import Preparation
from sce.data.reader import ReadOptions, read_matrix
from sce.data.recipe import Recipe
from sce.data.sniff import check_file
from sce.data.source import NoDataError
from sce.data.table import Table
from sce.errors import InputError, OutputError
from sce.estimator import SCE
from sce.graph.affinity_names import WITH_PERPLEXITY
from sce.results.archive import Kind, refuse_to_replace
from sce.results.graphs import read_graph_table, refuse_to_replace_graph

_READING_KEYS = ("columns", "drop", "keep", "ids", "weights", "array", "transpose", "decimal_comma")
_PREPARING_KEYS = ("missing", "log1p", "normalize", "one_hot", "merge_copies", "pca", "auto")
_KEPT_NAMES = 1000  # of columns, that a result keeps
_PRINTED_NAMES = 10  # of columns, that are printed
_NODE_KEYS = ("ids",)  # those of them that graphs have, too


# --------------------------------------------------------------------------------------------------------- before the work


def check_source_usage(args: Any) -> None:
    """Refuse options on reading, preparing and the graph that contradict each other."""
    if args.data is None and args.graph is None:
        raise UsageError(f"Give a file with data, or a graph with --graph (see sce {args.command} --help).")
    square = matrix_kind(args.affinity, args.metric) is not None
    if args.data is None or square:
        what = "DATA is a square matrix" if square else "there is only a graph"
        allowed = ("array", *_NODE_KEYS) if args.metric == "precomputed" else _NODE_KEYS
        keys = (
            *(key for key in _READING_KEYS if key not in allowed),
            *_PREPARING_KEYS,
            *(() if square else ("keep_data",)),
        )
        _refuse_options(args, keys, f"has no effect where {what}")
    if args.data is not None and is_name(args.data):
        _refuse_options(args, _READING_KEYS, f"has no effect on {args.data}, a data set by name")
    if args.graph is not None:
        _refuse_options(args, ("affinity", "n_neighbors", "perplexity", "metric"), "has no effect with --graph")
    if args.perplexity is not None and args.affinity not in (None, *WITH_PERPLEXITY):
        raise UsageError(f"--perplexity is only for --affinity {' or '.join(WITH_PERPLEXITY)}; leave one of them out.")
    if args.n_neighbors is not None and (args.affinity == "precomputed" or args.perplexity is not None):
        other = "--affinity precomputed" if args.perplexity is None else "--perplexity, which sets their number"
        raise UsageError(f"--n-neighbors has no effect with {other}; leave one of them out.")
    if not 0 <= args.seed < 2**32:
        raise UsageError(f"--seed takes a whole number from 0 to 2**32 - 1, not {args.seed}.")
    recipe_of(args)  # its options are checked


def _refuse_options(args: Any, keys: tuple[str, ...], why: str) -> None:
    for key in keys:
        if getattr(args, key, None) not in (None, False, "refuse"):
            raise UsageError(f"--{key.replace('_', '-')} {why}; leave it out.")


def source_files(args: Any) -> list[str]:
    """The files that are read; no output may replace them."""
    return [path for path in (args.data, args.graph) if path]


def source_stem(args: Any) -> str:
    """The name of the data without its ending, with which the names of outputs begin."""
    name = Path(source_files(args)[0]).name
    return name.removesuffix(".gz").rsplit(".", 1)[0] or name


def check_outputs(args: Any, kind: Kind) -> dict[str, Path]:
    """The files to write, after checking that they can be written; "output" is a file of this kind."""
    what, inputs = kind.what, source_files(args)
    output = args.output or f"{source_stem(args)}.{what}.npz"
    wanted = {"output": (output, (".npz",)), "save_graph": (args.save_graph, (".npz",)), "plot": (args.plot, PICTURES)}
    found: dict[str, Path] = {}
    for key, (path, endings) in wanted.items():
        if path is None:
            continue
        if key == "output" and Path(path).suffix.lower() in PICTURES:
            raise OutputError(f"The {what} must end in .npz; for a picture add --plot {path}")
        found[key] = check_writable(path, endings, inputs)
    if len({path.resolve() for path in found.values()}) < len(found):
        raise OutputError(f"The {what} and the graph cannot have the same name; choose another for one of them.")
    refuse_to_replace(found["output"], kind)
    if "save_graph" in found:
        refuse_to_replace_graph(found["save_graph"])
    return found


def make_model(args: Any, options: list[Option], console: Console) -> SCE:
    """The estimator with the given parameters, without the initial map, which may be a file."""
    return SCE(**given_parameters(args, options, console))


def given_parameters(args: Any, options: list[Option], console: Console) -> dict[str, Any]:
    """The given parameters of :class:`sce.SCE`, without the initial map, which may be a file."""
    given = {option.parameter: getattr(args, option.key) for option in options if option.parameter}
    parameters = {name: value for name, value in given.items() if value is not None and name != "init"}
    return {**parameters, "random_state": args.seed, "verbose": console.verbose}


# ------------------------------------------------------------------------------------------------------------------- data


def recipe_of(args: Any) -> Recipe:
    """What the options say about reading and preparing."""
    reading = {key: getattr(args, key) for key in (*_READING_KEYS, "labels", "header", "edges")}
    if args.data is not None and args.graph is not None:
        reading["edges"] = "no"  # the option is about the graph
    return Recipe(ReadOptions(**reading), Preparation(**{key: getattr(args, key) for key in _PREPARING_KEYS}))


def matrix_kind(affinity: Any, metric: Any) -> str | None:
    """What DATA holds if it is a square matrix: "graph" or "distances"; None if it holds vectors."""
    return "graph" if affinity == "precomputed" else "distances" if metric == "precomputed" else None


def read_source(args: Any, console: Console) -> tuple[Table, Any]:
    """The prepared table, and its graph or None; if there is only a graph, it is the table's X."""
    if args.data is None:
        table = _nodes(args.graph, recipe_of(args), console)
        P = table.X
    else:
        kind = matrix_kind(args.affinity, args.metric)
        try:
            table = read_prepared(args.data, recipe_of(args), console, kind=kind, seed=args.seed, n_jobs=args.n_jobs)
        except NoDataError as error:
            if args.graph is None:
                raise
            raise InputError(
                f"{args.data} has no columns of numbers besides labels and ids; the graph needs none: sce {args.command} "
                f"--graph {args.graph} --labels {args.data}:COLUMN"
            ) from error
        if table.is_graph and kind is None:
            _check_graph_usage(args)
            P = table.X
        else:
            P = None if args.graph is None else _graph_of_rows(args, table)
    console.stage("prepare")
    return table, P


def _nodes(graph: str, recipe: Recipe, console: Console) -> Table:
    """A graph, with names and labels of its nodes."""
    reading = recipe.reading
    table = read_graph_table(graph, edges=reading.edges, labels=reading.labels, ids=reading.ids)
    for note in table.notes:
        console.note(note)
    return table


def _check_graph_usage(args: Any) -> None:
    """Refuse options that have no effect where DATA turns out to be a graph."""
    keys = ("graph", "affinity", "n_neighbors", "perplexity", "metric", *_PREPARING_KEYS, "keep_data")
    why = f"has no effect on {args.data}, which is a graph"
    _refuse_options(args, keys, f"{why} (--edges no reads it as a table)" if args.edges == "auto" else why)


def _graph_of_rows(args: Any, table: Table) -> Any:
    """The graph of --graph, whose nodes are the rows of the table: by their names, or else by their order."""
    nodes = read_graph_table(args.graph, edges=args.edges)
    points, rows = nodes.X.shape[0], table.X.shape[0]
    if nodes.ids is not None and check_file(Path(args.graph)) not in BY_POSITION:
        return in_order_of_rows(nodes, table)
    if points != rows:
        raise InputError(
            f"{args.graph} has {points} points, but {args.data} has {rows} rows; give the graph of these data."
        )
    return nodes.X


def read_prepared(
    data: str, recipe: Recipe, console: Console, *, kind: str | None, seed: int, n_jobs: int | None, again: bool = False
) -> Table:
    """Read DATA, a graph, a square matrix or vectors, and prepare vectors by the recipe.

    `again`: as for a map that there is; then it is too late for advice on how to read and prepare them.
    """
    reading = recipe.reading
    if kind == "graph":
        table = read_graph_table(data, edges=reading.edges, labels=reading.labels or "none", ids=reading.ids)
    elif kind == "distances":
        table = read_matrix(data, array=reading.array, labels=reading.labels, ids=reading.ids)
    else:
        table = recipe.read(data)
    rows, columns = table.X.shape
    if kind is None and hasattr(table.X, "tocsr") and rows == columns and not table.is_graph and not again:
        console.note(f"{data} is a square sparse matrix, used as data; if it is a graph, give it as --graph {data}")
    size = (
        f"a graph of {rows} nodes"
        if table.is_graph
        else f"{rows} row{'s' * (rows != 1)}, {columns} column{'s' * (columns != 1)}"
    )
    console.stage("read", f"Read {data}: {size}")
    if kind is None and not table.is_graph:
        table, _ = recipe.preparation.fit_transform(table, random_state=seed, n_jobs=n_jobs, copy=False)
    if again:
        return table
    for note in table.notes:
        console.note(note)
    if table.used is not None:
        names = in_short(table.used)
        shown = ", ".join(clipped(name) for name in names[:_PRINTED_NAMES])
        console.say(f"Columns used ({len(table.used)}): {shown}{', ...' if len(names) > _PRINTED_NAMES else ''}.")
    return table


def affinity_parameters(table: Table, P: Any) -> dict[str, Any]:
    """The parameters with which the estimator takes the graph, if there is one."""
    if P is None:
        return {}
    return {"affinity": "precomputed" if table.X is P else GivenGraph(P)}


class GivenGraph:
    """A graph in place of a search for neighbours, with a name for the parameters that the map keeps."""

    __name__ = "given graph"

    def __init__(self, P: Any) -> None:
        self.P = P

    def __call__(self, X: Any) -> Any:  # noqa: ARG002
        """The graph; the data are ignored."""
        return self.P


def source_facts(args: Any, table: Table, console: Console) -> dict[str, Any]:
    """Where the data came from and how they were prepared, to be kept in the result."""
    graph = {} if args.graph is None else {"graph": args.graph}
    return {
        "source": table.path.name,
        "columns": table.X.shape[1],
        **({} if table.used is None or len(table.used) > _KEPT_NAMES else {"columns_used": in_short(table.used)}),
        "preparation": {**recipe_of(args).facts(), **graph},
        "notes": [*console.notes, *console.warnings],
    }


def labels_are_classes(args: Any) -> bool:
    """Whether the labels, if they are classes, should appear as clusters."""
    if args.labels is not None or args.data is None or not is_name(args.data):
        return True
    return about(args.data).labels_are_classes


# ------------------------------------------------------------------------------------------------------------------ result


def save_result(result: Any, path: Path, what: str) -> Path:
    """Save a result; if that fails, in the folder for temporary files instead, so that no work is lost."""
    try:
        result.save(path)
    except OutputError as error:
        import tempfile

        try:
            refuge = Path(tempfile.mkdtemp(prefix="sce-")) / path.name
            result.save(refuge)
        except OSError:
            raise error from None
        raise OutputError(f"{error} The {what} was saved as {refuge} instead.") from None
    return path
