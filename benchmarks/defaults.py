"""Which defaults show clusters best: settings of sce and the peers' defaults, over several data sets and seeds.

Usage: SCE_DATA=... python benchmarks/defaults.py run --file out/defaults.jsonl --settings NAME ... [--peers] [--seeds 0 1 2]
       SCE_DATA=... python benchmarks/defaults.py table --file out/defaults.jsonl

A setting is written as parameters of SCE, as in "n_neighbors=10,alpha=0.1", or as "defaults". Data sets of more than 30,000
rows are sampled (--whole takes all rows). Every map is judged by the same figures: adjusted mutual information of HDBSCAN's
clusters with the classes (the best over one grid of min_cluster_size), the share of a 15-NN graph inside these clusters less
that of a random relabelling, the share of points whose 15 nearest are of their class, and the share of the 15 nearest
neighbours kept. Results are appended to the file, and what is in it is not measured again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from common import require_data
from sce import SCE, datasets
from sce.clusters.hdbscan import cluster_series
from sce.core.parallel import Team
from sce.graph.build import GraphOptions, build_affinity
from sce.quality.classes import MIN_SAMPLES, class_agreement
from sce.quality.neighbors import neighbors_kept

DATA = ("digits", "coil20", "flow_hipc", "ijcnn", "shuttle", "mnist")
ROWS = 30_000
FIGURES = ("ami", "accuracy", "kept", "inside", "seconds")
GRAPH = ("affinity", "n_neighbors", "perplexity", "metric")


@cache
def load(name: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Vectors and classes; at most `rows` of them, drawn once."""
    if name == "digits":
        from sklearn.datasets import load_digits

        return load_digits(return_X_y=True)
    X, y = datasets.load(name)[:2]
    kept = np.sort(np.random.default_rng(0).permutation(len(X))[:rows])
    return np.ascontiguousarray(X[kept], np.float32), np.unique(y[kept], return_inverse=True)[1]


@cache
def graph(name: str, rows: int, **parameters):
    """P of a data set, and the seconds it took."""
    start = time.perf_counter()
    options = GraphOptions(**parameters)
    with Team(2) as team:
        P = build_affinity(load(name, rows)[0], options, team, seed=0).P
    return P, time.perf_counter() - start


def judge(name: str, rows: int, Y: np.ndarray) -> dict[str, float]:
    """The figures of a map."""
    X, y = load(name, rows)
    agreement = class_agreement(Y, y)
    _, labels = next(cluster_series(Y, [agreement.min_cluster_size], MIN_SAMPLES))
    P = graph(name, rows, affinity="knn", n_neighbors=15)[0].tocoo()
    share = P.data[(labels[P.row] == labels[P.col]) & (labels[P.row] >= 0)].sum()
    sizes = np.bincount(labels[labels >= 0])
    null = (sizes * (sizes - 1.0)).sum() / (len(labels) * (len(labels) - 1.0))
    return {
        **{key: getattr(agreement, key) for key in ("ami", "ari", "accuracy", "silhouette", "covered")},
        "kept": neighbors_kept(X, Y, n_queries=500).recall,
        "inside": float(share - null),
    }


def embed(name: str, rows: int, parameters: dict, seed: int) -> tuple[np.ndarray, float]:
    """Our map; the graph is built once for all settings that share it."""
    P, seconds = graph(name, rows, **{key: value for key, value in parameters.items() if key in GRAPH})
    other = {key: value for key, value in parameters.items() if key not in GRAPH}
    start = time.perf_counter()
    Y = SCE(affinity=lambda _: P, random_state=seed, **other).fit_transform(load(name, rows)[0])
    return Y, seconds + time.perf_counter() - start


def _umap(X: np.ndarray, seed: int) -> np.ndarray:  # noqa: ARG001
    import umap

    return umap.UMAP().fit_transform(X)  # a seed would restrict it to one thread


def _opentsne(X: np.ndarray, seed: int) -> np.ndarray:
    import openTSNE

    return np.asarray(openTSNE.TSNE(random_state=seed, n_jobs=-1).fit(X))


def _pacmap(X: np.ndarray, seed: int) -> np.ndarray:
    import pacmap

    return pacmap.PaCMAP(random_state=seed).fit_transform(X)


PEERS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "umap-learn": _umap,
    "openTSNE": _opentsne,
    "PaCMAP": _pacmap,
}


def parse(setting: str) -> dict:
    """Parameters from their text."""
    pairs = (part.split("=") for part in setting.split(",") if part != "defaults")
    return {key: value if value.isalpha() else float(value) if "." in value else int(value) for key, value in pairs}


def measure(args: argparse.Namespace) -> None:
    rows = 10**9 if args.whole else ROWS
    args.file.parent.mkdir(parents=True, exist_ok=True)
    done = {(r["data"], r["rows"], r["method"], r["seed"]) for r in records(args.file)}
    methods = [*(list(PEERS) if args.peers else []), *args.settings]
    for name in args.data:
        for method in methods:
            for seed in args.seeds:
                if (name, rows, method, seed) in done:
                    continue
                X = load(name, rows)[0]
                start = time.perf_counter()
                if method in PEERS:
                    Y = np.asarray(PEERS[method](X, seed), np.float64)
                    seconds = time.perf_counter() - start
                else:
                    Y, seconds = embed(name, rows, parse(method), seed)
                record = {"data": name, "rows": rows, "method": method, "seed": seed, "seconds": seconds}
                record |= judge(name, rows, Y)
                with args.file.open("a") as file:
                    file.write(json.dumps(record) + "\n")
                print({k: round(v, 3) if isinstance(v, float) else v for k, v in record.items()}, flush=True)


def records(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def table(args: argparse.Namespace) -> None:
    """A table for each figure, with a row per method, ordered by mean, and a column per data set."""
    rows = 10**9 if args.whole else ROWS
    found = [r for r in records(args.file) if r["rows"] == rows and r["data"] in args.data]
    methods = sorted({r["method"] for r in found})
    for figure in args.figures:
        print(f"\n| {figure} | " + " | ".join(args.data) + " | mean |\n|" + "---|" * (len(args.data) + 2))
        lines = []
        for method in methods:
            cells = [[r[figure] for r in found if r["method"] == method and r["data"] == name] for name in args.data]
            means = [np.mean(c) if c else np.nan for c in cells]
            lines.append((np.mean(means), method, means))
        for mean, method, means in sorted(lines, key=lambda line: -np.nan_to_num(line[0], nan=-1)):
            print(f"| {method} | " + " | ".join(f"{m:.3f}" for m in means) + f" | {mean:.3f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--file", type=Path, default=Path("out/defaults.jsonl"))
    parser.add_argument("--settings", nargs="*", default=[])
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--data", nargs="*", default=DATA)
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--figures", nargs="*", default=FIGURES)
    parser.add_argument("--whole", action="store_true", help="all rows of every data set")
    args = parser.parse_args()
    require_data()
    {"run": measure, "table": table}[args.what](args)
