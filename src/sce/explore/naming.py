"""The operations on named clusters: each turns a document into the next one, and undo into the one before.

Nothing here knows files, requests or maps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sce.explore.document import MOST_CLUSTERS, Cluster, Document, assign, recoded, with_cluster
from sce.explore.operations import NamingError, checked_color, checked_made, checked_name, checked_rows


def apply(document: Document, op: Mapping[str, Any]) -> Document:
    """The document after an operation, one revision later.

    Parameters
    ----------
    document : Document
    op : mapping
        "kind" and what it needs; rows are arrays of row numbers.

    Raises
    ------
    NamingError
        If the operation makes no sense here; nothing has changed then.

    Examples
    --------
    >>> one = apply(Document.empty(5), {"kind": "create", "name": "left", "rows": np.array([0, 1]), "made": None})
    >>> two = apply(one, {"kind": "create", "name": "right", "rows": np.array([1, 2]), "made": None})
    >>> two.codes.tolist(), two.note
    ([0, 1, 1, -1, -1], "Took 1 point from 'left'.")
    >>> apply(two, {"kind": "undo"}).codes.tolist()
    [0, 0, -1, -1, -1]
    """
    kind = op.get("kind")
    act = _ACTS.get(kind) if isinstance(kind, str) else None
    if act is None:
        raise NamingError(f"There is no operation {str(kind)[:20]!r}; there are {', '.join(_ACTS)}.")
    return replace(act(document, op), revision=document.revision + 1)


# ------------------------------------------------------------------------------------------------------------ operations


def _create(document: Document, op: Mapping[str, Any]) -> Document:
    rows = checked_rows(op.get("rows"), document.n)
    name = _free_name(document, op.get("name"))
    cluster = Cluster(document.next_id, name, checked_color(op.get("color")), checked_made(op.get("made"), "rows"))
    return assign(document, [(cluster, rows)])


def _rename(document: Document, op: Mapping[str, Any]) -> Document:
    cluster = document.find(op.get("id"))
    return with_cluster(document, cluster._replace(name=_free_name(document, op.get("name"), cluster.id)))


def _recolor(document: Document, op: Mapping[str, Any]) -> Document:
    return with_cluster(document, document.find(op.get("id"))._replace(color=checked_color(op.get("color"))))


def _delete(document: Document, op: Mapping[str, Any]) -> Document:
    cluster = document.find(op.get("id"))
    return assign(document, [], gone=[cluster.id])


def _merge(document: Document, op: Mapping[str, Any]) -> Document:
    ids = op.get("ids")
    if not isinstance(ids, list) or len(ids) < 2 or len({str(each) for each in ids}) < len(ids):
        raise NamingError("merge needs the ids of two or more different clusters.")
    merged = [document.find(each) for each in ids]
    name = _free_name(document, op.get("name"), *ids)
    made = {"tool": "merge", "parent": None, "parents": [_short(document, each) for each in merged]}
    rows = np.flatnonzero(np.isin(document.codes, ids))
    return assign(document, [(Cluster(document.next_id, name, merged[0].color, made), rows)], gone=ids)


def _split(document: Document, op: Mapping[str, Any]) -> Document:
    parent, names = document.find(op.get("id")), op.get("names")
    if not isinstance(names, list) or len(names) != 2:
        raise NamingError("split needs two names: of the rows that are given, and of the others.")
    first, second = (_free_name(document, name, parent.id) for name in names)
    if first == second:
        raise NamingError("The two parts of a cluster need different names.")
    mask = np.zeros(document.n, np.bool_)
    mask[checked_rows(op.get("rows"), document.n)] = True
    inside = document.codes == parent.id
    if not (mask & inside).any() or not (~mask & inside).any():
        raise NamingError(f"The rows must be some of those of {parent.name!r}, and not all.")
    made = {**checked_made(op.get("made"), "rows"), "split_by": "given rows", "parent": parent.id}
    made |= {"tool": "split", "parents": [_short(document, parent)]}
    parts = [
        (Cluster(document.next_id, first, parent.color, made), np.flatnonzero(mask & inside)),
        (
            Cluster(document.next_id + 1, second, None, {**made, "split_by": "the other rows"}),
            np.flatnonzero(inside & ~mask),
        ),
    ]
    return assign(document, parts, gone=[parent.id])


def _set_rows(document: Document, op: Mapping[str, Any]) -> Document:
    cluster = document.find(op.get("id"))
    rows = checked_rows(op.get("rows"), document.n)
    made = {**checked_made(op.get("made"), "rows"), "before": _without_before(cluster.made)}
    return assign(document, [(cluster._replace(made=made), rows)], gone=[cluster.id])


def _start_from_found(document: Document, op: Mapping[str, Any]) -> Document:
    """Replace all clusters by those that were found in the picture; the server has put them into the operation."""
    found = op.get("clusters")
    if not isinstance(found, list) or not 1 <= len(found) <= MOST_CLUSTERS:
        raise NamingError("No clusters were found in this picture, so there is nothing to start from.")
    made = {"tool": "found", "parent": None, "frame": checked_made({"frame": op.get("frame")}, "found")["frame"]}
    new = []
    for number, each in enumerate(found):
        rows = checked_rows(each.get("rows") if isinstance(each, Mapping) else None, document.n)
        new.append((Cluster(document.next_id + number, checked_name(each.get("name")), None, made), rows))
    if len({cluster.name for cluster, _ in new}) < len(new) or len(
        np.unique(np.concatenate([r for _, r in new]))
    ) < sum(len(rows) for _, rows in new):
        raise NamingError("Clusters that were found must have different names and different rows.")
    after = assign(document, new, gone=[cluster.id for cluster in document.clusters])
    n_old = len(document.clusters)
    return replace(after, note=f"Replaced {n_old} cluster{'s' * (n_old > 1)}." if n_old else "")


def _undo(document: Document, op: Mapping[str, Any]) -> Document:  # noqa: ARG001
    if document.past is None:
        raise NamingError("There is nothing to undo.")
    change, rest = document.past
    codes = recoded(document.codes, change.rows, change.old)
    future = (change, document.future)
    return replace(document, codes=codes, clusters=change.clusters_before, past=rest, future=future, note="")


def _redo(document: Document, op: Mapping[str, Any]) -> Document:  # noqa: ARG001
    if document.future is None:
        raise NamingError("There is nothing to redo.")
    change, rest = document.future
    codes = recoded(document.codes, change.rows, change.new)
    past = (change, document.past)
    return replace(document, codes=codes, clusters=change.clusters_after, past=past, future=rest, note="")


_ACTS: dict[str, Callable[[Document, Mapping[str, Any]], Document]] = {
    "create": _create,
    "rename": _rename,
    "recolor": _recolor,
    "delete": _delete,
    "merge": _merge,
    "split": _split,
    "set_rows": _set_rows,
    "start_from_found": _start_from_found,
    "undo": _undo,
    "redo": _redo,
}
OPERATION_FIELDS = {
    "create": ("name", "color", "rows", "made"),
    "rename": ("id", "name"),
    "recolor": ("id", "color"),
    "delete": ("id",),
    "merge": ("ids", "name"),
    "split": ("id", "rows", "names", "made"),
    "set_rows": ("id", "rows", "made"),
    "start_from_found": ("frame", "clusters"),
    "undo": (),
    "redo": (),
}


def without_strangers(op: Mapping[str, Any]) -> dict[str, Any]:
    """An operation with nothing but what it needs, fit to be kept.

    Examples
    --------
    >>> without_strangers({"kind": "delete", "id": 3, "name": "?"})
    {'kind': 'delete', 'id': 3}
    """
    kind = op.get("kind")
    known = OPERATION_FIELDS.get(kind, ()) if isinstance(kind, str) else ()
    found = {"kind": kind, **{name: op[name] for name in known if name in op}}
    if "made" in found:
        found["made"] = checked_made(found["made"], "rows")
    return found


def _free_name(document: Document, name: Any, *own: int) -> str:
    """A name that no other cluster has."""
    name = checked_name(name)
    if any(cluster.name == name and cluster.id not in own for cluster in document.clusters):
        raise NamingError(f"There is a cluster {name!r} already; choose another name.")
    return name


def _short(document: Document, cluster: Cluster) -> dict[str, Any]:
    return {"id": cluster.id, "name": cluster.name, "size": int((document.codes == cluster.id).sum())}


def _without_before(made: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in made.items() if key != "before"}
