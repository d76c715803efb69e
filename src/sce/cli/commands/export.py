"""`sce export`: from a map to a text table, for spreadsheets and other programs."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

from sce.cli.console import Console
from sce.core.write import atomic, check_writable
from sce.data.labels import date_names
from sce.errors import OutputError
from sce.results.maps import Map, load

_ROWS_PER_WRITE = 10_000


def run(args: Any, console: Console) -> None:
    """Read the map, write one row per point."""
    path = check_writable(args.output or _default(args.map), [".csv", ".tsv"], [args.map])
    result = load(args.map, whole=False)
    columns = _columns(result, clusters=args.clusters)
    with atomic(path) as file:
        _write(file, columns, "\t" if path.suffix.lower() == ".tsv" else ",")
    console.stage("write")
    facts: dict[str, Any] = {"table": str(path), "points": len(result.Y), "columns": list(columns)}
    found = ""
    if args.clusters:
        facts["clusters"] = int(columns["cluster"].max(initial=-1)) + 1
        found = f"; {facts['clusters']} clusters found, {np.mean(columns['cluster'] < 0):.1%} of the points in none"
    console.result(facts, f"{path}: {len(result.Y)} points, columns {', '.join(columns)}{found}")


def _default(path: str) -> str:
    """MAP.csv, unless it exists and is not an export: it may be the data that were embedded."""
    name = Path(f"{Path(path).name.removesuffix('.npz')}.csv")
    if name.is_file():
        with name.open("rb") as file:
            ours = file.readline().startswith(b"id,x")
        if not ours:
            raise OutputError(f"{name} exists and was not exported by sce; choose another name with -o.")
    return str(name)


def _columns(result: Map, *, clusters: bool) -> dict[str, np.ndarray]:
    columns = {"id": result.ids}
    columns |= {name: result.Y[:, k] for k, name in zip(range(result.Y.shape[1]), "xyz", strict=False)}
    if result.labels is not None:
        name = result.label_name or "label"
        labels = date_names(result.labels) if result.labels.dtype.kind == "M" else result.labels
        columns[name if name not in columns and name != "cluster" else f"{name}_label"] = labels
    if clusters:
        from sce.clusters.hdbscan import find_clusters

        columns["cluster"] = find_clusters(result.Y)
    return columns


def _write(file: Any, columns: dict[str, np.ndarray], separator: str) -> None:
    """Write the columns, in blocks of rows; coordinates are written exactly."""
    for start in range(0, len(columns["id"]), _ROWS_PER_WRITE):
        text = io.StringIO()
        writer = csv.writer(text, delimiter=separator, lineterminator="\n")
        if start == 0:
            writer.writerow(columns)
        parts = [values[start : start + _ROWS_PER_WRITE] for values in columns.values()]
        writer.writerows(zip(*(_words(part) for part in parts), strict=True))
        file.write(text.getvalue().encode())


def _words(values: np.ndarray) -> list[Any]:
    """Numbers with as few digits as identify them; missing ones are empty."""
    if values.dtype.kind != "f":
        return values.tolist()
    return ["" if value != value else str(value) for value in values]  # noqa: PLR0124
