"""Edge lists: tables in which each row is an edge. They are recognised, or named by ``edges=``."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sce.core.missing import as_text, is_missing
from sce.core.warn import warn
from sce.data.formats import Request, Source, read_source
from sce.data.graph_source import Links, graph_source
from sce.data.label_files import typed
from sce.data.source import column_of, hint_at
from sce.errors import DataWarning, InputError, ParameterError, SCEError

EDGE_CHOICES = ("auto", "yes", "no")
# Names of columns without case, spaces and signs. Those of the first kind say that the table is a graph; those of the second
# kind do if the two columns also have values in common.
_PLAIN_PAIRS = {
    *(("source", "target"), ("src", "dst"), ("src", "dest"), ("src", "tgt"), ("sourceid", "targetid")),
    *(("sourcenode", "targetnode"), ("sourcename", "targetname"), ("fromnode", "tonode"), ("fromnodeid", "tonodeid")),
    *(("fromid", "toid"), ("node1", "node2"), ("nodea", "nodeb"), ("nodeid1", "nodeid2"), ("vertex1", "vertex2")),
}
_LIKELY_PAIRS = {
    *(("from", "to"), ("source", "destination"), ("head", "tail"), ("ego", "alter"), ("citing", "cited")),
    *(
        ("follower", "followee"),
        ("sender", "receiver"),
        ("sender", "recipient"),
        ("parent", "child"),
        ("u", "v"),
        ("i", "j"),
    ),
}
_NUMBERED = re.compile(r"[a-z]{2,}[1a]")  # protein1 and protein2, id_a and id_b
_PARTNERS = {"1": "2", "a": "b"}
_THIRDS = {"1": "3", "a": "c"}  # a table with feature3 besides feature1 and feature2 is no list of edges
_WEIGHT_NAMES = (
    *(
        "weight",
        "weights",
        "edgeweight",
        "w",
        "strength",
        "similarity",
        "combinedscore",
        "score",
        "count",
        "counts",
        "n",
    ),
    *("value", "frequency"),
)
_EDGE_ATTRIBUTES = frozenset(
    [*_WEIGHT_NAMES, "type", "id", "edgeid", "label", "key", "interval", "timeset", "directed"]
)
_SHARED_NAMES = 0.2  # of the rarer end's names that occur at the other end too, in a list of edges
_DISTINCT_EDGES = 0.9  # of the rows, in a list of edges
_FEWEST_NODES = 10  # of a list of numbers that is taken for edges
_CHARACTERS = re.compile(r"[^a-z0-9]+")


class EdgeColumns(NamedTuple):
    """The columns of an edge list."""

    source: str
    target: str
    weight: str | None


def check_edges(edges: Any) -> None:
    """Refuse what is neither "auto", "yes" or "no" nor the names of two or three columns."""
    names = _listed(edges)
    if edges not in EDGE_CHOICES and not (len(names) in (2, 3) and all(isinstance(name, str) for name in names)):
        raise ParameterError(
            'edges must be "auto", "yes", "no", or two or three columns, of source, target and weight, such as "from,to"; got '
            f"{edges!r}."
        )


def _listed(edges: Any) -> list[Any]:
    """The names in "from,to" or in a list of names."""
    if isinstance(edges, str):
        return [name.strip() for name in next(csv.reader([edges], skipinitialspace=True), [])]
    return list(edges) if isinstance(edges, list) else []


def read_table_or_edges(
    path: str | Path, request: Request, edges: str | Sequence[str], *, is_expected: bool = False
) -> Source:
    """A file as :func:`sce.data.formats.read_source` reads it, or as a graph if it is a list of edges.

    Parameters
    ----------
    path : str or Path
    request : Request
    edges : {"auto", "yes", "no"} or two or three names
        Whether the file is a list of edges; or the columns of source, target and weight.
    is_expected : bool, default=False
        Whether a graph is expected, so that what may be a list of edges is read as one, instead of as a table with a warning.
    """
    whole = request.columns is None and not request.drop and request.array is None
    if edges == "no" or (edges == "auto" and not whole):
        return read_source(path, request)
    if edges != "auto":
        return _read_edges(Path(path), request, None if edges == "yes" else _listed(edges))
    try:
        source = read_source(path, request)
    except SCEError:  # ids such as 1, 2, 3a are no numbers, and need not be
        found = _plain_edges_of_text(path, request)
        if found is None:
            raise
        return found
    columns = None if source.is_graph else _recognised(source, is_expected=is_expected)
    if columns is None:
        return source
    found = _read_edges(source.path, request, [name for name in columns if name])
    found.notes[0] += '; edges="no" reads it as a table'
    return found


def read_edge_file(path: Path, request: Request) -> Source:
    """A text table that is a list of edges by the ending of its name."""
    from sce.data.text import read_text

    return _graph(read_text(path, _as_text(request)), None)


def _as_text(request: Request) -> Request:
    """A request for all columns as they are written."""
    return Request(
        likely=lambda _: True, decimal_comma=request.decimal_comma, header=request.header, array=request.array
    )


def _read_edges(path: Path, request: Request, wanted: list[str] | None) -> Source:
    return _graph(read_source(path, _as_text(request)), wanted)


def _plain_edges_of_text(path: str | Path, request: Request) -> Source | None:
    """The graph of a file that can be read only if its columns are taken as text, and whose names leave no doubt."""
    try:
        source = read_source(path, _as_text(request))
    except SCEError:
        return None
    pair = _pair(list(source.text))
    others = [name for name in source.text if pair and name not in pair]
    if pair is None or _kind(pair) != "plain" or not all(_plain(name) in _EDGE_ATTRIBUTES for name in others):
        return None
    return _graph(source, [*pair, *([weight] if (weight := _weight_name(others)) else [])])


# ---------------------------------------------------------------------------------------------------------- recognition


def _recognised(source: Source, *, is_expected: bool) -> EdgeColumns | None:
    """The columns of a table that is plainly a list of edges; a warning where it may be one."""
    names = [*source.text, *source.extra, *(source.names or [])]
    pair = _pair(names) or _pair_by_values(source)
    first, second = (None, None) if pair is None else (_ends(source, name) for name in pair)
    if pair is None or first is None or second is None:
        return None
    others = [name for name in [*names, *source.unread] if name not in pair]
    known = all(_plain(name) in _EDGE_ATTRIBUTES for name in others)
    kind = _kind(pair)
    columns = EdgeColumns(*pair, _weight_name(others))
    shares = kind != "plain" and first.dtype.kind == second.dtype.kind and _share(first, second) >= _SHARED_NAMES
    if known and (kind == "plain" or (kind == "likely" and shares)):
        return columns
    if not (kind == "plain" or shares) or not _are_distinct(first, second):
        return None
    if known and first.dtype.kind in "OU":
        return columns
    many = len(set(first.tolist()) | set(second.tolist())) >= _FEWEST_NODES
    if is_expected:
        return columns
    if kind is not None or (len(others) <= 1 and many):
        given = ",".join(name for name in columns if name)
        warn(
            f"{source.path} may be a list of edges, from column {pair[0]!r} to {pair[1]!r}, but is read as a table of points; "
            f"edges={given!r} reads it as a graph.",
            DataWarning,
        )
    return None


def _plain(name: str) -> str:
    return _CHARACTERS.sub("", name.lower().removeprefix("#"))


def _pair(names: list[str]) -> tuple[str, str] | None:
    """The two columns whose names are those of the ends of edges."""
    by_name = {_plain(name): name for name in reversed(names)}
    pairs = [*sorted(_PLAIN_PAIRS), *sorted(_LIKELY_PAIRS)]
    numbered = [one for one in by_name if _NUMBERED.fullmatch(one) and one[:-1] + _THIRDS[one[-1]] not in by_name]
    pairs += [(one, one[:-1] + _PARTNERS[one[-1]]) for one in numbered]
    for one, other in pairs:
        if one in by_name and other in by_name:
            return by_name[one], by_name[other]
    return None


def _is_numbered(one: str, other: str) -> bool:
    """Whether names are such as protein1 and protein2."""
    return _NUMBERED.fullmatch(one) is not None and other == one[:-1] + _PARTNERS[one[-1]]


def _kind(pair: tuple[str, str]) -> str | None:
    """How plainly names are those of ends: "plain", "likely" or None."""
    words = (_plain(pair[0]), _plain(pair[1]))
    if words in _PLAIN_PAIRS:
        return "plain"
    return "likely" if words in _LIKELY_PAIRS or _is_numbered(*words) else None


def _pair_by_values(source: Source) -> tuple[str, str] | None:
    """The only two columns of text, or of numbers, in a table of two or three columns."""
    numbers = source.names or []
    if source.unread or source.extra or len(source.text) + len(numbers) > 3:
        return None
    if len(source.text) == 2:
        first, second = source.text
        return first, second
    return (numbers[0], numbers[1]) if not source.text and len(numbers) >= 2 else None


def _ends(source: Source, name: str) -> np.ndarray | None:
    """A column as names of nodes: text, or whole numbers from 0; None if it holds anything else."""
    if name in source.text:
        return typed(source.text[name]) if source.text[name].dtype.kind in "OU" else _whole(source.text[name])
    if source.names and name in source.names:
        return _whole(column_of(source.X, source.names.index(name)))
    return None


def _whole(values: np.ndarray) -> np.ndarray | None:
    if values.dtype.kind not in "iuf" or not (
        np.isfinite(values).all() and (values % 1 == 0).all() and (values >= 0).all()
    ):
        return None
    return values.astype(np.int64)


def _share(first: np.ndarray, second: np.ndarray) -> float:
    """The share of the names at the end with fewer of them that occur at the other end."""
    a, b = set(first.tolist()), set(second.tolist())
    return len(a & b) / min(len(a), len(b))


def _are_distinct(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether hardly any two names are joined twice."""
    pairs = {frozenset(pair) for pair in zip(first.tolist(), second.tolist(), strict=True)}
    return len(pairs) >= _DISTINCT_EDGES * len(first)


def _weight_name(names: list[str]) -> str | None:
    """The column of weights, by its name."""
    found = {_plain(name): name for name in names}
    return next((found[name] for name in _WEIGHT_NAMES if name in found), None)


# ----------------------------------------------------------------------------------------------------------- conversion


def _graph(source: Source, wanted: list[str] | None) -> Source:
    """The graph of a table whose columns are all kept apart; by default the first two are the ends, the third the weight."""
    path, columns = source.path, {**source.text, **source.extra}
    if len(columns) < 2:
        raise InputError(
            f"{path} has {len(columns)} column{'s' * (len(columns) != 1)}; a list of edges needs two, for the two ends."
        )
    chosen = _chosen(path, columns, wanted)
    first, second = (_names(source, name, columns[name]) for name in chosen[:2])
    weights = np.ones(len(first))
    if chosen.weight is not None:
        weights = _weights(source, chosen.weight, columns[chosen.weight])
    names, codes = _numbered(first, second)
    shown = ", ".join(repr(name) for name in chosen if name is not None)
    graph = graph_source(path, names, Links(*codes, weights), what=f"An edge list (columns {shown})")
    unused = [name for name in columns if name not in chosen]
    if unused:
        graph.notes.append(f"Columns that are not used: {', '.join(map(repr, unused))}")
    return graph


def _chosen(path: Path, columns: dict[str, np.ndarray], wanted: list[str] | None) -> EdgeColumns:
    names = list(columns)
    if wanted is not None:
        for name in wanted:
            if name not in columns:
                raise InputError(f"{path} has no column {name!r}; {hint_at(name, names, len(names))}")
        return EdgeColumns(wanted[0], wanted[1], wanted[2] if len(wanted) > 2 else None)
    pair = _pair(names) or (names[0], names[1])
    others = [name for name in names if name not in pair]
    weight = _weight_name(others)
    if weight is None and others and others == names[2:] and all(name.isdecimal() for name in names):  # no header
        weight = others[0] if typed(columns[others[0]]).dtype.kind in "iuf" else None
    return EdgeColumns(*pair, weight)


def _names(source: Source, name: str, values: np.ndarray) -> np.ndarray:
    """The names of nodes in a column, none of them missing; whole numbers or text."""
    if values.dtype.kind in "OU":
        words = as_text([str(value).strip() for value in values.tolist()])
        missing = np.flatnonzero(words == "")
        if len(missing):
            raise InputError(
                f"{source.path} has no name in column {name!r} in {_row(source, int(missing[0]))}; fill it in."
            )
        return words
    found = _whole(values)
    if found is None:
        raise InputError(
            f"Column {name!r} of {source.path} holds numbers that are not whole, so they are no names of nodes."
        )
    return found


def _weights(source: Source, name: str, values: np.ndarray) -> np.ndarray:
    """Weights as numbers, 0 or more."""
    numbers = [_number(value) for value in values.tolist()]
    weights = np.array([np.nan if number is None else number for number in numbers])
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        value = values[bad[0]]
        what = "no weight" if is_missing(value) or value == "" else f"the weight {value!r}"
        raise InputError(
            f"{source.path} has {what} in column {name!r}, {_row(source, int(bad[0]))}; weights are numbers, 0 or more. "
            "Distances are no weights: edges= with two columns leaves them out."
        )
    return weights


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _row(source: Source, number: int) -> str:
    return f"row {number}" if source.first_line is None else f"line {number + source.first_line}"


def _numbered(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """The names of all nodes and the number of each end: whole numbers in ascending order, text as it comes."""
    if first.dtype.kind != second.dtype.kind:
        first, second = as_text(first), as_text(second)
    both = np.stack([first, second], axis=1).ravel()
    numbers = typed(both)
    if numbers.dtype.kind in "iu":
        names, codes = np.unique(numbers, return_inverse=True)
    else:
        place: dict[Any, int] = {}
        codes = np.array([place.setdefault(name, len(place)) for name in both.tolist()], np.int64)
        names = as_text(list(place))
    codes = codes.reshape(-1, 2)
    return names, (codes[:, 0], codes[:, 1])
