"""From vectors to a map, against the field: each method with its defaults, in fresh processes, with the same threads.

Usage: [SCE_DATA=folder] python benchmarks/peers.py [digits mnist ...] [--methods sce umap ...] [--seeds 1] [--neighbors]
       [--rows N] [--threads N] [--time-limit 1800] [--out out/peers] [--retry]

Needs the extra [peers], and the packages trimap and phate for these two; for a method that is not installed there is a line
that says how to install it. SCE_DATA is a folder of .npz files; digits need none. Each method first runs once, the peers on at
most 20,000 rows, to fill its caches. Then there is a process for each seed, with a fit and, if that took less than five
minutes, a second fit in the same process. The tables have

- import and compilation: the time of a fresh process before the fit, and what its first fit takes beyond its second;
- neighbours and graph, layout, the rest: stages of the second fit;
- the whole fresh process up to the map of its first fit, its CPU seconds and its peak memory, as the kernel reports it;
- a warm fit, the second in the process;
- a remark where other processes kept more than a tenth of a core busy: such times do not count;
- figures of quality of the map of the first fit (see peer_figures.py); medians of times and means of figures over seeds.

--neighbors also times the search for the 15 nearest alone, ours and pynndescent's. The output folder has table.md, peers.json
and peers.png, and keeps all results: nothing is measured twice with the same code, versions, threads and machine.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from common import require_data
from measured import DONE, FAILED, HERE, TOO_SLOW, machine, run_fresh
from peer_figures import Data, figures, recall
from peer_methods import EVERY, METHODS, NEIGHBORS
from peer_table import picture, summarize, tables
from sce.compare.code import meaning, own_code
from sce.compare.dataset import fingerprint
from sce.compare.store import read_json, write_json, write_text
from sce.quality.check import sampled

DATA = ("digits", "shuttle", "mnist", "ijcnn", "cytof_bcrxl", "mocap_1m")
MISSING = "not installed"
CACHE_FILLING_ROWS = 20_000  # at most, in the run that fills the caches of a peer
SECOND_FIT_BELOW = 300.0  # seconds of the first fit
ONE_SEED_ABOVE = 120.0  # seconds of a fit
PAPER = ("shuttle", "ijcnn")  # where sce is also measured with the paper's similarities
BENEATH = ("numpy", "numba", "scikit-learn")  # whose versions also matter
# Modules of sce whose code, with all that they import, decides a measurement of sce and the figures of a map.
OWN_MODULES = ("sce.estimator", "sce.graph.index")
JUDGING_MODULES = ("sce.clusters.hdbscan", "sce.graph.build", "sce.quality.report")


class Bench:
    """Measures the methods on one data set, and keeps the results."""

    def __init__(self, data: Data, options: argparse.Namespace, folder: Path) -> None:
        self.data, self.options = data, options
        self.vectors = folder / "vectors.npy"
        np.save(self.vectors, data.X)
        self.few = folder / "few.npy"
        np.save(self.few, data.X[sampled(len(data.X), CACHE_FILLING_ROWS, 0)])
        self.kept = Path(options.out) / data.name
        self.kept.mkdir(parents=True, exist_ok=True)
        self.content = fingerprint(data.X)
        self.judged = fingerprint(self.content, own_code(JUDGING_MODULES), _code("peer_figures.py"))
        self._started: set[str] = set()

    def records(self, name: str) -> Iterator[dict[str, Any]]:
        """A record for each seed, up to the first that did not finish or took long."""
        for seed in range(self.options.seeds):
            record = self.record(name, seed)
            yield record
            if record["status"] != DONE or record["facts"]["first"] > ONE_SEED_ABOVE:
                return

    def record(self, name: str, seed: int) -> dict[str, Any]:
        """The record of a method and a seed: the one kept, or a new one."""
        path = self.kept / f"{name}-{seed}.json"
        method = EVERY[name]
        empty = {"data": self.data.name, "method": name, "seed": seed, "facts": {}, "figures": {}, "versions": {}}
        if find_spec(method.module) is None:
            how = f"pip install {method.package}"
            return {**empty, "status": MISSING, "reason": how}
        state = self.state(name, seed)
        record = read_json(path)
        if record.get("state") != state or self.again(record):
            record = {**empty, "versions": state["versions"], "state": state, **self.measure(name, seed)}
            write_json(path, record)
        if record["status"] == DONE and record.get("judged") != self.judged:
            made = np.load(self.map_path(name, seed))
            record["figures"] = recall(self.data, made) if name in NEIGHBORS else figures(self.data, made)
            record["judged"] = self.judged
            write_json(path, record)
        return record

    def state(self, name: str, seed: int) -> dict[str, Any]:
        """All that a measurement depends on."""
        package = EVERY[name].package
        own = own_code(OWN_MODULES) if package == "sce" else ""
        return {
            "data": self.content,
            "method": name,
            "seed": seed,
            "threads": self.options.threads,
            "versions": {one: metadata.version(one) for one in (package, *BENEATH)}
            | {"python": sys.version.split()[0]},
            "code": fingerprint(own, _code("peer_methods.py"), _code("peer_worker.py"), _code("measured.py")),
            "machine": machine(),
        }

    def again(self, record: dict[str, Any]) -> bool:
        """Whether to try again what did not finish."""
        longer = record["status"] == TOO_SLOW and self.options.time_limit > record["time_limit"]
        return longer or (self.options.retry and record["status"] != DONE)

    def measure(self, name: str, seed: int) -> dict[str, Any]:
        """Run the method, twice if it has not run before, and read what it took."""
        print(f"{self.data.name}: {name}, seed {seed} ...", file=sys.stderr, flush=True)
        result = self.vectors.with_name("result.json")
        job = {"method": name, "seed": seed, "data": str(self.vectors), "result": str(result)}
        job["map"] = str(self.map_path(name, seed))
        limits = self.options.threads, self.options.time_limit
        result.unlink(missing_ok=True)
        if name not in self._started:
            first = (
                self.vectors if EVERY[name].package == "sce" else self.few
            )  # ours takes other code paths for few rows
            ended = run_fresh("peer_worker.py", {**job, "data": str(first), "again_below": 0.0}, *limits)
            self._started.add(name)
            if ended.status != DONE:
                return {"status": ended.status, "reason": ended.reason, "time_limit": self.options.time_limit}
            result.unlink()
        ended = run_fresh("peer_worker.py", {**job, "again_below": SECOND_FIT_BELOW}, *limits)
        facts = read_json(result)
        if not facts:
            return {"status": ended.status or FAILED, "reason": ended.reason, "time_limit": self.options.time_limit}
        facts["busy"] = ended.busy
        return {"status": DONE, "reason": ended.reason, "facts": facts, "time_limit": self.options.time_limit}

    def map_path(self, name: str, seed: int) -> Path:
        """Where the map of a method, or the neighbours that it found, are kept."""
        return self.kept / f"{name}-{seed}.npy"


def _code(script: str) -> str:
    return meaning((HERE / script).read_text(encoding="utf-8"))


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    """The rows of all data sets and methods; the tables and the picture are rewritten after each."""
    rows: list[dict[str, Any]] = []
    for name in options.names:
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(Data(name, options.rows, options.threads), options, Path(folder))
            methods = options.methods or [one for one in METHODS if one != "sce30" or name in PAPER]
            for method in [*methods, *(NEIGHBORS if options.neighbors else ())]:
                rows.append(summarize(list(bench.records(method))))
                write(rows, options)
    return rows


def write(rows: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Write table.md, peers.json and peers.png."""
    about = f"{machine()}; {options.threads} threads; Python {sys.version.split()[0]}; seeds: {options.seeds}."
    write_text(options.out / "table.md", f"{about}\n\n{tables(rows)}")
    write_json(options.out / "peers.json", {"about": about, "rows": rows})
    picture(rows, options.out / "peers.png")


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=DATA, metavar="data")
    parser.add_argument("--methods", nargs="*", choices=METHODS, help="all by default")
    parser.add_argument(
        "--seeds", type=int, default=1, help="how many; a method that takes more than two minutes gets one"
    )
    parser.add_argument("--neighbors", action="store_true", help="also time the search for neighbours alone")
    parser.add_argument("--rows", type=int, help="the most rows of a data set, for trials")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--time-limit", type=float, default=1800.0, help="seconds for a fit")
    parser.add_argument("--retry", action="store_true", help="try again what did not finish")
    parser.add_argument("--out", type=Path, default=Path("out/peers"))
    return parser.parse_args()


if __name__ == "__main__":
    arguments = parse()
    if set(arguments.names) - {"digits"}:
        require_data()
    measure(arguments)
    print((arguments.out / "table.md").read_text(encoding="utf-8"))
