"""Pages for `explorers.py`: each shows one map, from a server of its own or from a file, and says how it was started."""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

WAIT = 300  # seconds for a server to answer

# Run by the Python of jupyter-scatter: the state of its widget as the browser would receive it, beside the widget's own script.
SCATTER = """
import json, pathlib, shutil, sys
import jscatter, numpy as np, pandas as pd
table, folder = pd.read_parquet(sys.argv[1]), pathlib.Path(sys.argv[2])
label = table.columns[-1]
table[label] = table[label].astype(str).astype("category")
options = dict(data=table, x="x", y="y", height=690, **({"color_by": label} if table[label].nunique() <= 60 else {}))
state = jscatter.Scatter(**options).widget.get_state()
plain, held = {}, {}
for name, value in state.items():
    if name in ("_esm", "_css", "layout"):
        continue
    if isinstance(value, dict) and "view" in value:
        (folder / f"{name}.bin").write_bytes(bytes(value["view"]))
        held[name] = {"dtype": value["dtype"], "shape": value["shape"]}
    else:
        plain[name] = value
as_json = lambda one: one.item() if isinstance(one, np.generic) else one.tolist()
(folder / "state.json").write_text(json.dumps({"plain": plain, "held": held}, default=as_json))
for name in ("bundle.js", "bundle.css"):
    shutil.copy(pathlib.Path(jscatter.__file__).parent / name, folder / name)
"""
SCATTER_PAGE = """<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="bundle.css"><link rel="icon" href="data:,">
<body style="margin:0"><div id="here"></div><script type="module">
import widget from "./bundle.js";
const { plain, held } = await (await fetch("state.json")).json();
for (const [name, facts] of Object.entries(held)) {
  plain[name] = { ...facts, view: new DataView(await (await fetch(`${name}.bin`)).arrayBuffer()) };
}
const heard = {};
const model = {
  get: (name) => plain[name],
  set: (name, value) => { plain[name] = value; for (const each of heard[`change:${name}`] ?? []) each(); },
  on: (name, each) => { (heard[name] ??= []).push(each); },
  off: (name, each) => { heard[name] = (heard[name] ?? []).filter((other) => other !== each); },
  save_changes() {}, send() {}, widget_manager: {},
};
await widget.render({ model, el: document.getElementById("here") });
</script>"""


class Page(NamedTuple):
    """A page that shows a map: what it is called, where it is, and how it says that it is complete."""

    name: str
    address: str
    ready: str | None = None  # a selector
    file: Path | None = None  # what the browser reads instead of asking a server


Opener = Callable[[], Iterator[Page]]


@contextmanager
def sce_explore(source: Path) -> Iterator[Page]:
    """`sce explore` with a map."""
    command = [sys.executable, "-m", "sce", "explore", str(source), "--no-browser"]
    with _running(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            found = re.search(r"http://\S+/\?token=\S+", line)
            if found:
                yield Page("sce explore", found.group(), "body[data-ready]")
                return
        raise RuntimeError(f"sce explore {source} ended.")


@contextmanager
def sce_file(source: Path, folder: Path) -> Iterator[Page]:
    """The page in one file that `sce plot` writes."""
    path = folder / f"{source.name.removesuffix('.npz')}.html"
    subprocess.run([sys.executable, "-m", "sce", "plot", str(source), "-o", str(path)], check=True, capture_output=True)
    yield Page("sce plot -o map.html", path.resolve().as_uri(), "body[data-ready]", path)


@contextmanager
def atlas(command: Path, table: Path) -> Iterator[Page]:
    """Embedding Atlas with the coordinates of a table."""
    version = subprocess.run([str(command), "--version"], check=True, capture_output=True, text=True).stdout
    number = re.search(r"\d+\.\d+\.\d+", version)
    port = _free_port()
    options = ["--x", "x", "--y", "y", "--disable-projection", "--host", "127.0.0.1", "--port", str(port)]
    with _running([str(command), str(table), *options, "--no-auto-port"], stdout=subprocess.DEVNULL):
        yield Page(f"Embedding Atlas {number.group() if number else '?'}", _answering(f"http://127.0.0.1:{port}/"))


@contextmanager
def scatter(python: Path, table: Path, folder: Path) -> Iterator[Page]:
    """The widget of jupyter-scatter in a plain page, without Jupyter: its script, its state, and what anywidget gives it."""
    place = folder / f"scatter_{table.stem}"
    place.mkdir(exist_ok=True)
    subprocess.run([str(python), "-c", SCATTER, str(table), str(place)], check=True, capture_output=True)
    (place / "index.html").write_text(SCATTER_PAGE)
    code = "import importlib.metadata as m; print(m.version('jupyter-scatter'))"
    version = subprocess.run([str(python), "-c", code], check=True, capture_output=True, text=True).stdout.strip()
    port = _free_port()
    command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(place)]
    with _running(command, stdout=subprocess.DEVNULL):
        yield Page(f"jupyter-scatter {version}", _answering(f"http://127.0.0.1:{port}/"))


@contextmanager
def _running(command: list[str], **options: object) -> Iterator[subprocess.Popen]:
    process = subprocess.Popen(command, stderr=subprocess.STDOUT, **options)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=30)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _answering(address: str) -> str:
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(address, timeout=5).close()
            return address
        time.sleep(0.3)
    raise RuntimeError(f"Nothing answers at {address}.")
