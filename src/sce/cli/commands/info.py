"""`sce info`: a description of a map or a sweep file."""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.cli.console import Console
from sce.core.hints import clipped
from sce.core.missing import is_missing
from sce.data.labels import date_names
from sce.loading import load
from sce.results.maps import Map
from sce.results.sweeps import Sweep


def run(args: Any, console: Console) -> None:
    """Read the file and describe it."""
    opened = load(args.map)
    facts = describe_sweep(opened) if isinstance(opened, Sweep) else describe(opened)
    text = "\n".join(f"{name + ':':<13}{_shown(value)}" for name, value in facts.items() if value not in (None, [], {}))
    console.stage("read")
    console.result({"map": args.map, **facts}, f"{args.map}\n{text}")


def describe(result: Map) -> dict[str, Any]:
    """The content of a map, in plain values."""
    low, high = result.Y.min(axis=0), result.Y.max(axis=0)
    loss = result.history.get("loss", np.array([]))
    return {
        "points": len(result.Y),
        "dimensions": result.Y.shape[1],
        "extent": [round(float(size), 3) for size in high - low],
        "r": result.r if np.isfinite(result.r) else None,
        "loss": round(float(loss[-1]), 5) if len(loss) and np.isfinite(loss[-1]) else None,
        "epochs": result.facts.get("n_epochs"),
        "ended by": result.facts.get("stop_reason"),
        **_origin(result),
        "also holds": [name for name in ("P", "X") if getattr(result, name) is not None],
        "notes": result.facts.get("notes"),
    }


def describe_sweep(result: Sweep) -> dict[str, Any]:
    """The content of a sweep, in plain values."""
    n_maps, n, d = result.frames.shape
    return {
        "maps": n_maps,
        "points": n,
        "dimensions": d,
        "log10 r": [round(float(value), 4) for value in result.log10_r],
        "alpha": None if result.alphas is None else result.alphas.tolist(),
        "chosen r": {name: float(f"{mark.r:.4g}") for name, mark in result.marks.items()},
        "figures": list(result.figures),
        **_origin(result),
        "also holds": ["P"] if result.P is not None else [],
        "notes": result.facts.get("notes"),
    }


def _origin(result: Map | Sweep) -> dict[str, Any]:
    """Where a map or a sweep came from."""
    facts = result.facts
    return {
        "neighbours": _neighbours(facts),
        "labels": _labels(result),
        "rows": _rows(result),
        "data": facts.get("source"),
        "columns": facts.get("columns_used", facts.get("columns")),
        "preparation": facts.get("preparation"),
        "parameters": {
            k: v for k, v in result.parameters.items() if v is not None and k not in ("verbose", "callback")
        },
    }


def _neighbours(facts: dict[str, Any]) -> str | None:
    method, recall = facts.get("neighbor_method"), facts.get("neighbor_recall")
    return f"{method}, recall {recall:.3f}" if isinstance(recall, float) else method


def _labels(result: Map | Sweep) -> str | None:
    if result.labels is None:
        return None
    name = f"{result.label_name}: " if result.label_name else ""
    lost = np.array([is_missing(value) for value in result.labels.tolist()])
    values, counts = np.unique(result.labels[~lost], return_counts=True)
    name += f"{lost.sum()} rows without a label, " if lost.any() else ""
    if result.labels.dtype.kind == "M" and len(values):
        first, *_, last = date_names(values[[0, -1]])
        return f"{name}{len(values)} distinct dates from {first} to {last}"
    if result.labels.dtype.kind == "f" and len(values):
        return f"{name}{len(values)} distinct numbers from {values[0]:g} to {values[-1]:g}"
    shown = ", ".join(f"{clipped(value)} ({count})" for value, count in zip(values[:10], counts[:10], strict=True))
    return f"{name}{len(values)} classes: {shown}{', ...' if len(values) > 10 else ''}"


def _rows(result: Map | Sweep) -> str:
    of = "" if result.point_of_row is None else f" (of {len(result.point_of_row)} rows of the data)"
    return f"{clipped(result.ids[0])} ... {clipped(result.ids[-1])}{of}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={item}" for name, item in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
