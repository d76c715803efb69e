"""`sce doctor`: what this machine has, what is missing for which feature, and how to get it."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from sce.cli.console import Console
from sce.core.memory import free_memory
from sce.core.parallel import available_cores

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "matplotlib", "tqdm")
_LITTLE_MEMORY = 1 << 30  # bytes; a million rows need about as much


class Feature(NamedTuple):
    """What an optional package is for."""

    what: str
    module: str
    package: str
    install: str

    @property
    def version(self) -> str | None:
        """The installed version, or None."""
        if find_spec(self.module) is None:
            return None
        try:
            return metadata.version(self.package)
        except metadata.PackageNotFoundError:
            return "of unknown version"


FEATURES = (
    Feature("Parquet files", "pyarrow", "pyarrow", "pip install 'sce[io]'"),
    Feature(".h5ad files", "anndata", "anndata", "pip install 'sce[scanpy]'"),
    Feature("sce.tl.sce with scanpy", "scanpy", "scanpy", "pip install 'sce[scanpy]'"),
    Feature("graphs of networkx", "networkx", "networkx", "pip install networkx"),
    Feature("graphs of igraph", "igraph", "igraph", "pip install igraph"),
    Feature("data frames of pandas", "pandas", "pandas", "pip install pandas"),
    Feature("data frames of polars", "polars", "polars", "pip install polars"),
    Feature("UMAP in sce compare", "umap", "umap-learn", "pip install 'sce[peers]'"),
    Feature("t-SNE of openTSNE in sce compare", "openTSNE", "openTSNE", "pip install 'sce[peers]'"),
    Feature("PaCMAP and LocalMAP in sce compare", "pacmap", "pacmap", "pip install 'sce[peers]'"),
)


def run(args: Any, console: Console) -> None:
    """Examine, compile if asked to, and report."""
    if args.compile:
        _compile(console)
    facts = examine()
    console.stage("examine")
    console.result(facts, "\n".join(_lines(facts)))


def _compile(console: Console) -> None:
    """Compile what a fit needs, so that the first fit of this environment starts at once."""
    from sce.warm import compile_ahead

    done = compile_ahead()
    console.stage("compile", "Compiled the kernels" if done else "The kernels were compiled already")


def examine() -> dict[str, Any]:
    """What there is, in plain values.

    Examples
    --------
    >>> sorted(examine())
    ['advice', 'browser', 'cores', 'data sets', 'features', 'free memory', 'kernels', 'platform', 'versions']
    """
    from sce.data.datasets.find import cache_folder

    kernels, memory = _kernels(), free_memory()
    features = {feature.what: feature.version or f"missing: {feature.install}" for feature in FEATURES}
    return {
        "versions": {"sce": _own_version(), "Python": platform.python_version(), **_versions()},
        "platform": f"{platform.system()} {platform.machine()}",
        "cores": available_cores(),
        "free memory": None if memory is None else f"{memory / 2**30:.1f} GiB",
        "kernels": kernels,
        "data sets": str(cache_folder()),
        "browser": _browser(),
        "features": features,
        "advice": _advice(kernels, memory),
    }


def _own_version() -> str:
    from sce import __version__

    return __version__


def _versions() -> dict[str, str]:
    return {name: metadata.version(name) for name in _PACKAGES}


def _kernels() -> dict[str, Any]:
    """The folder of compiled kernels, how many there are, and whether they are all that a fit needs."""
    from sce.core.compiled import cache_folder
    from sce.warm import is_compiled

    folder = cache_folder()
    files = [] if folder is None else list(Path(folder).rglob("*.nbc"))
    size = sum(file.stat().st_size for file in files)
    return {"folder": folder, "count": len(files), "MB": round(size / 1e6, 1), "complete": is_compiled()}


def _browser() -> str | None:
    """The browser that pages would be opened in; None where there is none."""
    import webbrowser

    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return None
    return getattr(browser, "name", None) or type(browser).__name__


def _advice(kernels: dict[str, Any], memory: int | None) -> list[str]:
    """What should be done, a sentence each."""
    advice = []
    if kernels["folder"] is None:
        advice.append(
            "No folder for compiled kernels is writable, so each process compiles them anew; set NUMBA_CACHE_DIR to a folder "
            "that is."
        )
    elif not kernels["complete"]:
        advice.append(
            "Some kernels are not compiled yet, so some fit will have to wait; `sce doctor --compile` compiles them now."
        )
    if memory is not None and memory < _LITTLE_MEMORY:
        advice.append("Less than 1 GiB of memory is free; close other programs before embedding a million rows.")
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        advice.append("NUMBA_DISABLE_JIT is set, so nothing is compiled and all is very slow; unset it.")
    return advice


def _lines(facts: dict[str, Any]) -> list[str]:
    """The report for people."""
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    kernels = facts["kernels"]
    kept = (
        "none: no folder is writable"
        if kernels["folder"] is None
        else (f"{kernels['count']} in {kernels['folder']} ({kernels['MB']} MB)")
    )
    width = max(map(len, facts["features"]))
    return [
        f"versions:     {versions}",
        f"machine:      {facts['platform']}, {facts['cores']} cores, {facts['free memory'] or 'unknown'} of memory free",
        f"kernels:      {kept}",
        f"data sets:    {facts['data sets']}",
        f"browser:      {facts['browser'] or 'none found'}",
        "optional:",
        *(f"  {what:<{width}}  {state}" for what, state in facts["features"].items()),
        *(f"Advice: {sentence}" for sentence in facts["advice"]),
        *([] if facts["advice"] else ["All is well."]),
    ]
