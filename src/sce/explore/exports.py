"""What can be taken along: labels as a table, a map with the named clusters as labels, ids of rows, figures of quality.

A cell of text that a spreadsheet would take for a formula gets an apostrophe in front of it in CSV; other formats have types.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sce.core.missing import as_text
from sce.data.labels import Classes, as_labels
from sce.explore.document import Document
from sce.explore.requests import RequestError
from sce.explore.session import Session
from sce.quality import assess
from sce.results.tabular import columns_of, write_table

DOWNLOAD_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "npz": "application/octet-stream",
    "json": "application/json",
}
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_CLUSTER_COLUMN = "cluster"


def names_of_clusters(document: Document) -> np.ndarray:
    """The name of the cluster of each point, empty for none."""
    names = np.array([*(cluster.name for cluster in document.clusters), ""], object)
    return names[document.places()].astype(str)


def defused(values: np.ndarray) -> np.ndarray:
    """Cells of text that no spreadsheet takes for formulas; numbers, also those written as text, stay.

    Examples
    --------
    >>> defused(np.array(["=1+1", "-2.5", "@a", "b"], object)).tolist()
    ["'=1+1", '-2.5', "'@a", 'b']
    """
    if values.dtype.kind not in "OUS":
        return values
    found = as_text(values)
    for row, text in enumerate(found.tolist()):
        if text.lstrip(" ").startswith(_FORMULA_STARTS) and not _is_number(text):
            found[row] = f"'{text}"
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def label_table(session: Session, document: Document, frame: int, form: str) -> bytes:
    """A row for each point: id, coordinates, label, and the name of its cluster."""
    result = session.result
    more = {_CLUSTER_COLUMN: names_of_clusters(document)}
    columns = columns_of(session.coordinates(frame), result.ids, result.labels, result.label_name, more)
    return _table(columns, form)


def row_table(session: Session, rows: np.ndarray, form: str) -> bytes:
    """The numbers and the ids of some rows."""
    ids = session.result.ids[rows]
    if form == "json":
        return json.dumps({"rows": rows.tolist(), "ids": ids.tolist()}, allow_nan=False).encode()
    return _table({"id": ids, "row": rows}, form)


def _table(columns: dict[str, np.ndarray], form: str) -> bytes:
    """A table as a file of its form."""
    if form == "csv":
        head = defused(np.array(list(columns), object)).tolist()
        if len(set(head)) < len(columns):
            head = list(columns)
        columns = {name: defused(values) for name, values in zip(head, columns.values(), strict=True)}
    with tempfile.TemporaryDirectory(prefix="sce-") as folder:
        return write_table(Path(folder) / f"table.{form}", columns).read_bytes()


def map_file(session: Session, document: Document, frame: int) -> bytes:
    """A map whose labels are the named clusters; it keeps the graph and the data that the map keeps."""
    base = session.result.map(frame) if hasattr(session.result, "map") else session.result
    facts = {**base.facts, "named_clusters": document.revision}
    made = replace(base, labels=names_of_clusters(document), label_name=_CLUSTER_COLUMN, facts=facts)
    with tempfile.TemporaryDirectory(prefix="sce-") as folder:
        path = Path(folder) / "named.map.npz"
        made.save(path)
        return path.read_bytes()


def figures_file(name: str, Y: np.ndarray, X: Any, P: Any, labels: np.ndarray, classes: Any, metric: str) -> bytes:
    """The figures that `sce quality` shows of the named clusters, as JSON.

    Parameters
    ----------
    name : str
        Of the map.
    Y, X, P, labels, classes, metric
        As for :func:`sce.quality.assess`.
    """
    is_classes = classes is not None and isinstance(as_labels(classes, len(classes), "auto"), Classes)
    quality = assess(Y, X=X, P=P, classes=np.asarray(classes) if is_classes else None, labels=labels, metric=metric)
    facts: dict[str, Any] = {"map": name, "points": len(Y), "figures": quality.figures(), "story": quality.story()}
    if quality.clusters is not None:
        facts["clusters"] = quality.clusters.facts()
    return json.dumps({**facts, "missing": quality.missing}, ensure_ascii=False).encode()


def check_form(what: str, form: str) -> None:
    """Refuse what cannot be exported."""
    forms = {"labels": ("csv", "parquet"), "map": ("npz",), "rows": ("csv", "json"), "figures": ("json",)}
    if what not in forms:
        raise RequestError(f"what must be one of {', '.join(forms)}.")
    if form not in forms[what]:
        raise RequestError(f"format must be {' or '.join(forms[what])} for {what}.")
