"""Which defaults show clusters best: settings of sce over the data sets by which they are chosen, and seeds.

Usage: SCE_DATA=folder python benchmarks/defaults.py run --file out/defaults.jsonl --settings NAME ... [--seeds 0 1 2]
       SCE_DATA=folder python benchmarks/defaults.py table --file out/defaults.jsonl

A setting is written as parameters of SCE, as in "n_neighbors=10,alpha=0.1", or as "defaults". Data sets of more than 30,000
rows are sampled (--whole takes all rows). Every map is judged by the same figures: adjusted mutual information of HDBSCAN's
clusters with the classes (the best over one grid of min_cluster_size), the share of points whose 15 nearest are of their class,
the share of a 15-NN graph inside these clusters less that of a random relabelling, and the share of the 15 nearest neighbours
kept. Results are appended to the file, and what is in it is not measured again. The table has the AMI by data set, then means.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from common import require_data
from groups import GROUPS
from lines import keep_line, kept_lines
from sce import SCE, datasets
from sce.clusters.hdbscan import cluster_series
from sce.core.parallel import Team
from sce.graph.build import GraphOptions, build_affinity
from sce.quality.classes import MIN_SAMPLES, class_agreement
from sce.quality.neighbors import neighbors_kept

ROWS = 30_000
FIGURES = ("ami", "accuracy", "inside", "kept")  # whose means are in the table
KEY = ("data", "rows", "method", "seed")
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


def parse(setting: str) -> dict:
    """Parameters from their text."""
    pairs = (part.split("=") for part in setting.split(",") if part != "defaults")
    return {key: value if value.isalpha() else float(value) if "." in value else int(value) for key, value in pairs}


def measure(args: argparse.Namespace) -> None:
    """Fit and judge what is not in the file yet."""
    rows = 10**9 if args.whole else ROWS
    args.file.parent.mkdir(parents=True, exist_ok=True)
    done = kept_lines(args.file, *KEY)
    wanted = [(name, rows, method, seed) for name in args.data for method in args.settings for seed in args.seeds]
    for key in wanted:
        if key in done:
            continue
        name, _, method, seed = key
        Y, seconds = embed(name, rows, parse(method), seed)
        record = dict(zip(KEY, key, strict=True)) | {"seconds": seconds} | judge(name, rows, Y)
        keep_line(args.file, record)
        print({k: round(v, 3) if isinstance(v, float) else v for k, v in record.items()}, flush=True)


def table(args: argparse.Namespace) -> None:
    """A row per setting: the AMI on each data set, and the means of all figures; the highest mean AMI first."""
    rows = 10**9 if args.whole else ROWS
    found = [line for line in kept_lines(args.file, *KEY).values() if line["rows"] == rows]

    def mean(figure: str, method: str, names: Sequence[str]) -> float:
        by_set = [[r[figure] for r in found if (r["method"], r["data"]) == (method, name)] for name in names]
        return float(np.mean([np.mean(values) if values else np.nan for values in by_set]))

    head = ["", *args.data, *(f"{figure}, mean" for figure in FIGURES)]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    methods = {r["method"] for r in found}
    for method in sorted(methods, key=lambda method: -np.nan_to_num(mean("ami", method, args.data), nan=-1)):
        cells = [mean("ami", method, [name]) for name in args.data]
        cells += [mean(figure, method, args.data) for figure in FIGURES]
        print(f"| `{method}` | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--file", type=Path, default=Path("out/defaults.jsonl"))
    parser.add_argument("--settings", nargs="*", default=["defaults"])
    parser.add_argument("--data", nargs="*", default=GROUPS["choosing"])
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--whole", action="store_true", help="all rows of every data set")
    args = parser.parse_args()
    require_data()
    {"run": measure, "table": table}[args.what](args)
