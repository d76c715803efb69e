"""GraphML files, by the standard library's expat.

Read by hand because networkx takes 2.8 s of CPU time for a file of 100,000 edges and 20,000 nodes where this module takes 0.5,
because igraph reads GraphML only where it was built with libxml2, and because so nothing needs to be installed.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any
from xml.parsers import expat  # declarations of entities are refused, which are the danger of XML

from sce.data.graph_source import from_nodes_and_edges
from sce.data.source import Request, Source
from sce.errors import InputError

_WHOLE_TYPES, _REAL_TYPES = ("int", "long"), ("float", "double")


def read_graphml(path: Path, request: Request) -> Source:  # noqa: ARG001
    """A .graphml or .graphml.gz file: nodes with their attributes, and edges with the attribute "weight"."""
    content = gzip.decompress(path.read_bytes()) if path.suffix.lower() == ".gz" else path.read_bytes()
    reader = _Reader(path)
    try:
        reader.parser.Parse(content, True)
    except expat.ExpatError as error:
        raise InputError(
            f"{path} is no valid XML: {expat.errors.messages[error.code]} in line {error.lineno}; copy it again or recreate it."
        ) from None
    return from_nodes_and_edges(path, reader.nodes, reader.edges, what="A graph in GraphML")


class _Key:
    """A declared attribute of nodes or edges."""

    def __init__(self, attributes: dict[str, str]) -> None:
        self.name = attributes.get("attr.name") or attributes.get("id", "")
        self.of = attributes.get("for", "all")
        self.kind = attributes.get("attr.type", "string")
        self.default: str | None = None

    def value(self, text: str) -> Any:
        """A value in its type; text where it is not of that type."""
        try:
            return int(text) if self.kind in _WHOLE_TYPES else float(text) if self.kind in _REAL_TYPES else text
        except ValueError:
            return text


class _Reader:
    """Collects nodes and edges while expat goes through the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.nodes: list[tuple[str, dict[str, Any]]] = []
        self.edges: list[tuple[str, str, Any]] = []
        self._keys: dict[str, _Key] = {}
        self._open: list[tuple[str, dict[str, str], dict[str, Any]]] = []  # nodes and edges that are not closed yet
        self._text: list[str] | None = None
        self._key: _Key | None = None
        self._n_graphs = 0
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self._refuse_entity

    def _refuse_entity(self, *_: Any) -> None:
        raise InputError(f"{self._path} declares XML entities, which sce does not open; write it again without them.")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(" ")[2]
        if name in ("node", "edge"):
            self._open.append((name, attributes, {}))
        elif name == "key":
            self._key = self._keys[attributes.get("id", "")] = _Key(attributes)
        elif name == "data":
            self._key, self._text = self._keys.get(attributes.get("key", "")), []
        elif name == "default":
            self._text = []
        elif name == "graph" and not self._open:
            self._n_graphs += 1
            if self._n_graphs > 1:
                raise InputError(f"{self._path} holds several graphs; save each in a file of its own.")
        elif name == "hyperedge":
            raise InputError(f"{self._path} has hyperedges, which join more than two nodes; replace them by edges.")

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, name: str) -> None:
        name = name.rpartition(" ")[2]
        if name in ("data", "default") and self._text is not None:
            text = "".join(self._text).strip()
            self._text = None
            if self._key is not None and name == "default":
                self._key.default = text
            elif self._key is not None and self._open and text:
                self._open[-1][2][self._key.name] = self._key.value(text)
        elif name in ("node", "edge"):
            self._close(*self._open.pop())

    def _close(self, what: str, attributes: dict[str, str], values: dict[str, Any]) -> None:
        for key in self._keys.values():
            if key.default is not None and key.of in (what, "all"):
                values.setdefault(key.name, key.value(key.default))
        if what == "node":
            self.nodes.append((attributes.get("id", ""), values))
        else:
            weight = next((value for name, value in values.items() if name.lower() in ("weight", "edge weight")), None)
            self.edges.append((attributes.get("source", ""), attributes.get("target", ""), weight))
