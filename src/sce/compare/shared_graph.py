"""P, built once for all methods."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from sce.compare.dataset import Data, fingerprint
from sce.compare.store import Store

GRAPH_MODULES = ("sce.graph.build",)  # whose code, with all that they import, decides P


def make_graph(data: Data, store: Store, settings: Any, say: Callable[[str], Any]) -> Any:
    """P from the folder if it is valid, else built now; also writes comparison.json, which says what is compared."""
    from sce.compare.code import own_code
    from sce.errors import SCEError
    from sce.graph.build import GraphOptions
    from sce.results.graphs import read_graph, write_graph

    options = GraphOptions(affinity="precomputed") if data.P is not None else data.graph or GraphOptions()
    source = data.X if data.P is None else data.P
    made_from = fingerprint(source, repr(asdict(options)), settings.seed, own_code(GRAPH_MODULES))
    old = store.read_comparison().get("graph", {})
    P = None
    if old.get("made_from") == made_from:
        try:
            P = read_graph(store.graph_path)
        except SCEError:
            P = None
        if P is not None and fingerprint(P) == old.get("fingerprint"):
            say(f"P: {P.nnz // 2} edges, made before")
            store.write_comparison({**_describe(data, settings), "graph": old})
            return P
    if old:
        store.graph_path.unlink(missing_ok=True)  # it is ours, even if it is damaged
    start = time.perf_counter()
    P, facts = _build(source, options, settings)
    facts |= {"made_from": made_from, "fingerprint": fingerprint(P), "seconds": time.perf_counter() - start}
    write_graph(P, store.graph_path)
    store.write_comparison({**_describe(data, settings), "graph": facts})
    say(f"P: {P.nnz // 2} edges ({facts['seconds']:.1f} s)")
    return P


def _build(source: Any, options: Any, settings: Any) -> tuple[Any, dict[str, Any]]:
    from sce.core.parallel import Team
    from sce.graph.build import build_affinity

    with Team(settings.n_jobs) as team:
        made = build_affinity(source, options, team, settings.seed)
    words: dict[str, Any] = {"affinity": options.affinity}
    if options.uses_perplexity:
        words["perplexity"] = options.perplexity
    elif options.affinity != "precomputed":
        words["n_neighbors"] = made.n_neighbors
    if options.affinity != "precomputed":
        words["metric"] = options.metric if isinstance(options.metric, str) else "a function"
    return made.P, {
        "options": words,
        "edges": made.P.nnz // 2,
        "neighbors_method": made.neighbors_method,
        "neighbor_recall": made.recall,
        "notes": list(made.notes),
    }


def _describe(data: Data, settings: Any) -> dict[str, Any]:
    """What is compared, and on which machine."""
    return {
        "name": data.name,
        "source": data.source,
        "points": data.n,
        "columns": None if data.X is None else int(data.X.shape[1]),
        "data": fingerprint(data.X if data.X is not None else data.P),
        "classes": None if (found := data.classes()) is None else int(found.max(initial=-1) + 1),
        "seed": settings.seed,
        "n_jobs": settings.n_jobs,
        "time_limit": settings.time_limit,
        "machine": machine(),
    }


def machine() -> str:
    """The machine, in a line."""
    memory = ""
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = f", {os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GB"
    return f"{_processor()}, {os.cpu_count()} cores{memory}, {platform.system()}, Python {platform.python_version()}"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
