"""Labels in a file of their own, by FILE or FILE:COLUMN; the names by which labels are recognised."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from sce.data.arrays import is_sparse, labels_first, npz_shapes, plain_values, refuse_pickle
from sce.data.dates import read_dates
from sce.data.formats import Request, Source, read_source
from sce.data.kinds import FILE_KINDS
from sce.data.merging import values_of_points
from sce.data.sniff import check_file, reading
from sce.data.source import column_of, hint_at
from sce.errors import InputError

LABEL_NAMES = frozenset(
    [
        *("label", "labels", "class", "classes", "target", "species", "category", "group"),
        *("cluster", "clusters", "cell_type", "celltype"),
    ]
)
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")


def typed(values: np.ndarray) -> np.ndarray:
    """Convert text to numbers or dates if all of it is that and nothing is lost: 007, or 1.10 beside 1.1, stay text.

    Examples
    --------
    >>> typed(np.array(["1", "2"])), typed(np.array(["1.5", ""])), typed(np.array(["a", "1"])), typed(np.array(["01"]))
    (array([1, 2]), array([1.5, nan]), array(['a', '1'], dtype='<U1'), array(['01'], dtype='<U2'))
    """
    if values.dtype.kind in "OU":
        words = values.tolist()
        different = {word for word in words if word}
        if not different or not all(map(_DECIMAL.fullmatch, different)):
            dates = read_dates(values).dates
            return values if dates is None else dates
        if all(map(_WHOLE.fullmatch, different)) and all(words):
            return np.array([int(word) for word in words], np.int64)
        if len({float(word) for word in different}) < len(different):
            return values
        values = np.array([float(word) if word else np.nan for word in words])
    if values.dtype.kind != "f" or not np.isfinite(values).all() or not (values % 1 == 0).all():
        return values
    return values.astype(np.int64) if np.abs(values).max(initial=0) < 2**53 else values


def read_label_file(
    spec: str, n: int, of: str | Path, what: str = "labels", point_of_row: np.ndarray | None = None
) -> tuple[np.ndarray, str]:
    """Labels from FILE or FILE:COLUMN, one for each of n rows, and their name.

    Errors call them `what`, and the file with the rows `of`. If those are what was kept of more rows, of which `point_of_row`
    has the places, the file may also have a label for each of the latter.
    """
    sizes = [n] if point_of_row is None else [n, len(point_of_row)]
    path, column = split_spec(spec)
    kind = check_file(path)
    with reading(path, kind):
        if kind == ".npy":
            refuse_pickle(path)
            values, name = plain_values(path, "The array", np.load(path, allow_pickle=False)), path.stem
        elif kind == ".npz" and not is_sparse(npz_shapes(path)):
            values, name = _of_npz(path, column, what)
        else:
            request = Request([column] if column and kind != ".h5ad" else None, apart=(column,) if column else ())
            values, name = _of_table(read_source(path, request), column, what)
            if (
                len(values) + 1 in sizes and len(values) not in sizes and column is None
            ):  # the first value may have been taken for a header
                values, _ = _of_table(read_source(path, replace(request, header="no")), None, what)
    if len(values) not in sizes:
        rows = "rows" if point_of_row is None else f"points, of {len(point_of_row)} rows"
        raise InputError(f"{path} has {len(values)} {what}, but {of} has {n} {rows}; give one per row.")
    values = typed(values)
    return values if point_of_row is None or len(values) == n else values_of_points(values, point_of_row), name


def split_spec(spec: str) -> tuple[Path, str | None]:
    """The file and the column of FILE or FILE:COLUMN; an existing file may have a colon in its name."""
    path = Path(spec)
    if path.exists() or ":" not in spec:
        return path, None
    head, _, column = spec.rpartition(":")
    known = any(head.lower().removesuffix(".gz").endswith(kind) for kind in FILE_KINDS) or Path(head).is_dir()
    return (Path(head), column) if known else (path, None)


def _of_npz(path: Path, wanted: str | None, what: str) -> tuple[np.ndarray, str]:
    """The requested array, or the one that most likely holds labels."""
    shapes = npz_shapes(path)
    lists = sorted((name for name, shape in shapes.items() if len(shape) == 1), key=labels_first)
    if wanted is not None and wanted not in shapes:
        raise InputError(f"{path} has no array {wanted!r}; {hint_at(wanted, list(shapes), len(shapes))}")
    if wanted is None and (not lists or (len(lists) > 1 and labels_first(lists[0]) == labels_first("?"))):
        found = f"several arrays that may be {what}" if lists else f"no array with one value per row for {what}"
        choose = f"choose one with {what}={f'{path}:{lists[0]}'!r}" if lists else "give another file"
        raise InputError(f"{path} has {found} ({', '.join(shapes)}); {choose}.")
    name = wanted or lists[0]
    with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
        return plain_values(path, name, file[name]), name


def _of_table(source: Source, wanted: str | None, what: str) -> tuple[np.ndarray, str]:
    """The requested column, or the only one, or the one whose name suggests labels."""
    names = [*source.text, *source.extra, *(source.names or [])]
    if wanted is None:
        found = [name for name in names if name.lower() in LABEL_NAMES]
        if len(names) > 1 and len(found) != 1:
            last = (source.names or names)[-1] if not source.text else list(source.text)[-1]
            raise InputError(
                f"{source.path} has {len(names)} columns; choose one with {what}={f'{source.path}:{last}'!r}."
            )
        wanted = found[0] if found else names[0]
    if wanted in source.text:
        return source.text[wanted], wanted
    if wanted in source.extra:
        return source.extra[wanted], wanted
    if source.names is None or wanted not in source.names:
        raise InputError(f"{source.path} has no column {wanted!r}; {hint_at(wanted, names, len(names))}")
    return column_of(source.X, source.names.index(wanted)), wanted
