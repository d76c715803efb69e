"""`sce info`: what a map file holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.cli.talk import Talk
from sce.maps import Map, load
from sce.missing import is_missing


def run(args: Any, talk: Talk) -> None:
    """Read the map and say what is in it."""
    result = load(args.map)
    facts = describe(result)
    text = "\n".join(f"{name + ':':<13}{_shown(value)}" for name, value in facts.items() if value not in (None, [], {}))
    talk.stage("read")
    talk.result({"map": args.map, **facts}, f"{args.map}\n{text}")


def describe(result: Map) -> dict[str, Any]:
    """What a map holds, in plain values."""
    low, high = result.Y.min(axis=0), result.Y.max(axis=0)
    loss = result.history.get("loss", np.array([]))
    facts = result.facts
    return {
        "points": len(result.Y),
        "dimensions": result.Y.shape[1],
        "extent": [round(float(size), 3) for size in high - low],
        "r": result.r if np.isfinite(result.r) else None,
        "loss": round(float(loss[-1]), 5) if len(loss) and np.isfinite(loss[-1]) else None,
        "epochs": facts.get("n_epochs"),
        "ended by": facts.get("stop_reason"),
        "neighbours": _neighbours(facts),
        "labels": _labels(result),
        "rows": _rows(result),
        "data": facts.get("source"),
        "preparation": facts.get("preparation"),
        "parameters": {
            k: v for k, v in result.parameters.items() if v is not None and k not in ("verbose", "callback")
        },
        "also holds": [name for name in ("P", "X") if getattr(result, name) is not None],
        "notes": facts.get("notes"),
    }


def _neighbours(facts: dict[str, Any]) -> str | None:
    method, recall = facts.get("neighbor_method"), facts.get("neighbor_recall")
    return f"{method}, recall {recall:.3f}" if isinstance(recall, float) else method


def _labels(result: Map) -> str | None:
    if result.labels is None:
        return None
    name = f"{result.label_name}: " if result.label_name else ""
    lost = np.array([is_missing(value) for value in result.labels.tolist()])
    values, counts = np.unique(result.labels[~lost], return_counts=True)
    name += f"{lost.sum()} rows without, " if lost.any() else ""
    if result.labels.dtype.kind == "f" and len(values):
        return f"{name}{len(values)} different numbers from {values[0]:g} to {values[-1]:g}"
    shown = ", ".join(f"{value} ({count})" for value, count in zip(values[:10], counts[:10], strict=True))
    return f"{name}{len(values)} classes: {shown}{', ...' if len(values) > 10 else ''}"


def _rows(result: Map) -> str:
    return f"{result.ids[0]} ... {result.ids[-1]}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={item}" for name, item in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
