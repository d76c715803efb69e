"""`sce export`: from a map to a table, for spreadsheets, notebooks and other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sce.cli.console import Console
from sce.cli.options import UsageError
from sce.core.write import check_writable
from sce.errors import OutputError
from sce.results.maps import load
from sce.results.tabular import TABLE_FILES, columns_of, write_table


def run(args: Any, console: Console) -> None:
    """Read the map, write one row per point."""
    if args.table is not None and args.output is not None:
        raise UsageError(f"The table is named twice, {args.table} and --output {args.output}; leave one of them out.")
    path = check_writable(args.table or args.output or _default(args.map), TABLE_FILES, [args.map])
    result = load(args.map, whole=False)
    more = {}
    if args.clusters:
        from sce.clusters.hdbscan import find_clusters

        more["cluster"] = find_clusters(result.Y)
    columns = columns_of(result.Y, result.ids, result.labels, result.label_name, more)
    write_table(path, columns)
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
