"""From the options that all commands with data share to a table and a graph: read, check, prepare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sce.cli.commands.plot import PICTURES
from sce.cli.console import Talk
from sce.cli.options import Option, UsageError, nearest
from sce.core.parallel import Team, resolve_n_jobs
from sce.core.write import check_writable
from sce.data.formats import Request, read
from sce.data.label_files import read_labels
from sce.data.preparation import Preparation, prepare
from sce.data.table import Table, Wanted, read_table
from sce.errors import InputError, OutputError
from sce.estimator import SCE
from sce.results.archive import Kind, refuse_to_replace
from sce.results.graphs import read_graph, refuse_to_replace_graph

_READING = ("columns", "drop", "ids", "weights", "array", "transpose", "decimal_comma")
_PREPARING = ("missing", "log1p", "normalize", "one_hot", "pca")


# --------------------------------------------------------------------------------------------------------- before the work


def check_source_usage(args: Any) -> None:
    """Refuse options on reading, preparing and the graph that contradict each other."""
    if args.data is None and args.graph is None:
        raise UsageError(f"Give a file with data, or a graph with --graph (see sce {args.command} --help).")
    square = _is_square(args)
    if args.data is None or square:
        what = "DATA is a square matrix" if square else "there is only a graph"
        allowed = ("array",) if args.metric == "precomputed" else ()
        keys = (*(key for key in _READING if key not in allowed), *_PREPARING, *(() if square else ("keep_data",)))
        _refuse_options(args, keys, f"means nothing where {what}")
    if is_named(args):
        _refuse_options(args, _READING, f"means nothing for {args.data}, a data set by name")
    if args.graph is not None:
        _refuse_options(args, ("affinity", "n_neighbors", "perplexity", "metric"), "means nothing beside --graph")
    if args.perplexity is not None and args.affinity not in (None, "entropic"):
        raise UsageError("--perplexity goes with --affinity entropic; leave one of them out.")
    if args.n_neighbors is not None and (args.affinity == "precomputed" or args.perplexity is not None):
        other = "--affinity precomputed" if args.perplexity is None else "--perplexity, which sets their number"
        raise UsageError(f"--n-neighbors means nothing beside {other}; leave one of them out.")
    if args.pca is not None and args.pca < 0:
        raise UsageError(f"--pca takes a number of components, 1 or more, or 0 for none; not {args.pca}.")
    if not 0 <= args.seed < 2**32:
        raise UsageError(f"--seed takes a whole number from 0 to 2**32 - 1, not {args.seed}.")


def source_files(args: Any) -> list[str]:
    """The files that are read, which none that is written may replace."""
    return [path for path in (args.data, args.graph) if path]


def source_stem(args: Any) -> str:
    """The name of the data without its ending: the beginning of the names of what is written."""
    name = Path(source_files(args)[0]).name
    return name.removesuffix(".gz").rsplit(".", 1)[0] or name


def check_outputs(args: Any, kind: Kind) -> dict[str, Path]:
    """The files to write, "output" being of a kind, once it is known that they can be."""
    what, inputs = kind.what, source_files(args)
    output = args.output or f"{source_stem(args)}.{what}.npz"
    wanted = {"output": (output, (".npz",)), "save_graph": (args.save_graph, (".npz",)), "plot": (args.plot, PICTURES)}
    found: dict[str, Path] = {}
    for key, (path, endings) in wanted.items():
        if path is None:
            continue
        if key == "output" and Path(path).suffix.lower() in PICTURES:
            raise OutputError(f"The {what} ends in .npz; for a picture add --plot {path}")
        found[key] = check_writable(path, endings, inputs)
    if len({path.resolve() for path in found.values()}) < len(found):
        raise OutputError(f"The {what} and the graph cannot have the same name; choose another for one of them.")
    refuse_to_replace(found["output"], kind)
    if "save_graph" in found:
        refuse_to_replace_graph(found["save_graph"])
    return found


def make_model(args: Any, options: list[Option], talk: Talk) -> SCE:
    """The estimator with the parameters that were given; the start, which may be a file, is left out."""
    return SCE(**given_parameters(args, options, talk))


def given_parameters(args: Any, options: list[Option], talk: Talk) -> dict[str, Any]:
    """The parameters of :class:`sce.SCE` that were given, all but the start, which may be a file."""
    given = {option.parameter: getattr(args, option.key) for option in options if option.parameter}
    parameters = {name: value for name, value in given.items() if value is not None and name != "init"}
    return {**parameters, "random_state": args.seed, "verbose": talk.verbose}


def _is_square(args: Any) -> bool:
    """Whether DATA is a graph or distances."""
    return "precomputed" in (args.affinity, args.metric)


def is_named(args: Any) -> bool:
    """Whether DATA is the name of a data set; a file of that name comes first, a folder does not."""
    if args.data is None or Path(args.data).suffix or Path(args.data).is_file():
        return False
    from sce import datasets

    names = datasets.names()
    if args.data not in names and not Path(args.data).exists() and nearest(args.data, names):
        raise InputError(f"There is neither a file nor a data set {args.data!r}{nearest(args.data, names)}")
    return args.data in names


def _refuse_options(args: Any, keys: tuple[str, ...], why: str) -> None:
    for key in keys:
        if getattr(args, key, None) not in (None, False, "refuse"):
            raise UsageError(f"--{key.replace('_', '-')} {why}; leave it out.")


# ------------------------------------------------------------------------------------------------------------------- data


def read_source(args: Any, talk: Talk) -> tuple[Table, Any]:
    """The table, prepared, and the graph of --graph or None; where there is only a graph, the table's X is it."""
    P = None if args.graph is None else read_graph(args.graph)
    if args.data is None:
        table = Table(Path(args.graph), P, None)
        _take_labels(args, table)
    else:
        table = _read_data(args, talk)
        _prepare(args, table, talk)
        _check_length(args, P, table)
    talk.stage("prepare")
    return table, P


def affinity_parameters(args: Any, P: Any) -> dict[str, Any]:
    """What to set on the estimator so that it takes the graph of --graph, or nothing where there is none."""
    if P is None:
        return {}
    return {"affinity": "precomputed" if args.data is None else GivenGraph(P)}


class GivenGraph:
    """A graph in the place of a search for neighbours; has a name to be kept in the map."""

    __name__ = "given graph"

    def __init__(self, P: Any) -> None:
        self.P = P

    def __call__(self, X: Any) -> Any:  # noqa: ARG002
        """The graph, whatever the data."""
        return self.P


def source_facts(args: Any, table: Table, talk: Talk) -> dict[str, Any]:
    """Where the data came from and what was done to them, to be kept in the file that is written."""
    preparation = {key: getattr(args, key) for key in (*_PREPARING, *_READING, "labels", "graph")}
    return {
        "source": table.path.name,
        "columns": table.X.shape[1],
        "preparation": {key: value for key, value in preparation.items() if value and value != "refuse"},
        "notes": [*talk.notes, *talk.warnings],
    }


def _read_data(args: Any, talk: Talk) -> Table:
    """The table of a file; a square matrix where the graph or the distances are given as data."""
    if _is_square(args):
        X = read_graph(args.data) if args.affinity == "precomputed" else read(args.data, Request(array=args.array)).X
        table = Table(Path(args.data), X, None)
        _take_labels(args, table)
    elif is_named(args):
        table = _read_named(args)
    else:
        options = {key: getattr(args, key) for key in (*_READING, "labels")}
        table = read_table(args.data, Wanted(**{**options, "drop": args.drop or [], "header": args.header}))
    if not _is_square(args) and hasattr(table.X, "tocsr") and table.X.shape[0] == table.X.shape[1]:
        talk.note(
            f"{args.data} is a square sparse matrix, taken as data; if it is a graph, give it as --graph {args.data}"
        )
    talk.stage("read", f"Read {args.data}: {table.X.shape[0]} rows, {table.X.shape[1]} columns")
    return table


def _read_named(args: Any) -> Table:
    from sce import datasets

    X, y = datasets.load(args.data)
    table = Table(Path(args.data), X, None)
    if args.labels is None and y is not None:
        table.labels, table.label_name = y, datasets.about(args.data).labels
    _take_labels(args, table)
    return table


def labels_are_classes(args: Any) -> bool:
    """Whether the labels, if they are classes at all, are such as one expects to see as clusters."""
    from sce import datasets

    return args.labels is not None or not is_named(args) or datasets.about(args.data).labels_are_classes


def _take_labels(args: Any, table: Table) -> None:
    """Labels in another file, as those of a graph always are."""
    if args.labels not in (None, "none"):
        table.labels, table.label_name = read_labels(args.labels, table.X.shape[0], table.path)


def _prepare(args: Any, table: Table, talk: Talk) -> None:
    if not _is_square(args):
        options = Preparation(**{key: getattr(args, key) for key in _PREPARING})
        with Team(resolve_n_jobs(args.n_jobs)) as team:
            prepare(table, options, team, args.seed)
    for note in table.notes:
        talk.note(note)


def _check_length(args: Any, P: Any, table: Table) -> None:
    if P is not None and P.shape[0] != table.X.shape[0]:
        raise InputError(
            f"{args.graph} has {P.shape[0]} points, but {args.data} has {table.X.shape[0]} rows; give the graph of these data."
        )


# ------------------------------------------------------------------------------------------------------------------ result


def save_result(result: Any, path: Path, what: str) -> Path:
    """Save a result; where that fails at this late hour, in the folder for temporary files, so that no work is lost."""
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
