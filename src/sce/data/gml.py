"""GML files: nested lists of keys and values.

Read by hand because networkx takes 3.2 s of CPU time for a file of 100,000 edges and 20,000 nodes where this module takes 1.2,
and refuses files whose labels are not all different.
"""

from __future__ import annotations

import gzip
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sce.data.graph_source import from_nodes_and_edges
from sce.data.source import Request, Source
from sce.errors import InputError

_WEIGHT_KEYS = ("weight", "value")  # "value" in Newman's collection
_TOKEN = re.compile(r'\s*(?:([A-Za-z_]\w*)|([-+]?[0-9.][-+0-9.eE]*)|([\[\]])|"([^"]*)"|#[^\n]*)\s*')

_GML_NAME, _GML_NUMBER, _GML_BRACKET, _GML_QUOTED = 1, 2, 3, 4  # the groups of a token


def read_gml(path: Path, request: Request) -> Source:  # noqa: ARG001
    """A .gml or .gml.gz file: nodes with their attributes, and edges with the attribute "weight" or "value"."""
    content = gzip.decompress(path.read_bytes()) if path.suffix.lower() == ".gz" else path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")  # GML is ASCII by its definition, and Latin-1 in practice
    graphs = [value for key, value in _parsed(path, text) if key == "graph" and isinstance(value, list)]
    if len(graphs) != 1:
        raise InputError(
            f"{path} holds {len(graphs) or 'no'} graph{'s' * (len(graphs) > 1)}; give a GML file with one."
        )
    nodes, edges = [], []
    for key, value in graphs[0]:
        if key in ("node", "edge") and isinstance(value, list):
            plain = {name: item for name, item in value if not isinstance(item, list)}
            if key == "node":
                nodes.append((_end_of(path, plain, "id", key), {n: v for n, v in plain.items() if n != "id"}))
            else:
                weight = next((plain[name] for name in _WEIGHT_KEYS if name in plain), None)
                edges.append((_end_of(path, plain, "source", key), _end_of(path, plain, "target", key), weight))
    return from_nodes_and_edges(path, nodes, edges, what="A graph in GML")


def _end_of(path: Path, values: dict[str, Any], name: str, what: str) -> str:
    if name not in values:
        raise InputError(f"{path} has {'an' if what == 'edge' else 'a'} {what} without {name!r}; recreate the file.")
    return str(values[name])


def _parsed(path: Path, text: str) -> list[tuple[str, Any]]:
    """The keys and values at the top; a list is a list of keys and values itself."""
    top: list[tuple[str, Any]] = []
    lists, key = [top], None
    for place, kind, word in _words(path, text):
        if kind == "[" and key is not None:
            lists.append([])
            lists[-2].append((key, lists[-1]))
            key = None
        elif kind == "]" and key is None and len(lists) > 1:
            lists.pop()
        elif kind == "name" and key is None:
            key = word
        elif kind in ("name", "value") and key is not None:
            lists[-1].append((key, word))
            key = None
        else:
            where = f"line {_line(text, place)}"
            raise InputError(f"{path} has {word!r} in {where}, where GML has a key or a value; recreate the file.")
    if len(lists) > 1 or key is not None:
        raise InputError(f"{path} ends in the middle of a list; it is truncated: copy it again or recreate it.")
    return top


def _words(path: Path, text: str) -> Iterator[tuple[int, str, Any]]:
    """(place, kind, word) of each word; kinds are "name", "value" and the two brackets."""
    place = len(text) - len(text.lstrip())
    for found in _TOKEN.finditer(text):
        if found.start() > place:
            break
        place = found.end()
        kind = found.lastindex
        if kind == _GML_NAME:
            yield found.start(), "name", found[_GML_NAME]
        elif kind == _GML_NUMBER:
            yield found.start(), "value", _number(found[_GML_NUMBER])
        elif kind == _GML_BRACKET:
            yield found.start(), found[_GML_BRACKET], found[_GML_BRACKET]
        elif kind == _GML_QUOTED:
            quoted = found[_GML_QUOTED]
            yield found.start(), "value", html.unescape(quoted) if "&" in quoted else quoted
    if place < len(text):
        raise InputError(
            f"{path} has {text[place]!r} in line {_line(text, place)}, which is no GML; recreate the file."
        )


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _number(text: str) -> Any:
    """A number; text where it is none, such as 1.2.3."""
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        return text
