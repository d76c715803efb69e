"""Seconds of the neighbour search and of whole fits on sparse and on wide data, against scikit-learn and umap-learn.

    SCE_DATA=folder python benchmarks/sparse_and_wide.py                       # everything, this version alone
    SCE_DATA=folder python benchmarks/sparse_and_wide.py --before /tmp/before/src --peers /tmp/peers/bin/python
    SCE_DATA=folder python benchmarks/sparse_and_wide.py --only wide --rounds 5

`--before` is the src folder of another version of sce (git worktree add /tmp/before COMMIT), `--peers` a Python that has
umap-learn; without it this Python is used. All contestants of a case take turns, in fresh processes with as many threads each,
and the best of the rounds counts. A process reports the seconds of a search for 15 neighbours, after an untimed one that
compiles, its recall against scikit-learn's exact search on the same rows, and the seconds of a first and a second fit.
"Fresh process" is the time from the start of Python to the map, with what has been compiled before on disk.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve()
SOURCE = HERE.parent.parent / "src"
NEIGHBORS = 15
WIDE = {"5,000 x 1,536": (5000, 1536), "20,000 x 768": (20_000, 768)}
SPARSE = ("cosine", "euclidean")


def wide_rows(n: int, d: int, dtype: str) -> np.ndarray:
    """Rows like the embeddings of texts: groups on a few dozen directions, and noise in all."""
    rng = np.random.default_rng(0)
    centres = 3 * rng.normal(size=(60, d))
    rows = centres[rng.integers(60, size=n)] + rng.normal(size=(n, 60)) @ rng.normal(size=(60, d))
    return (rows + 2 * rng.normal(size=(n, d))).astype(dtype)


def sparse_rows() -> Any:
    """The texts."""
    from scipy import sparse

    return sparse.load_npz(Path(os.environ["SCE_DATA"]) / "newsgroups_tfidf.npz").tocsr()


def data_of(case: str) -> tuple[Any, str]:
    """The rows of a case and its metric."""
    kind, name, dtype = case.split("|")
    return (sparse_rows(), name) if kind == "sparse" else (wide_rows(*WIDE[name], dtype), "euclidean")


# --------------------------------------------------------------------------------------------------- one fresh process


def timed(function: Any) -> tuple[float, Any]:
    """Seconds, and the result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def by_sce(X: Any, metric: str) -> Any:
    from sce.core.parallel import Team
    from sce.graph.index import nearest_neighbors

    with Team(os.cpu_count() or 1) as team:
        return nearest_neighbors(X, NEIGHBORS, metric=metric, team=team).indices


def by_sklearn(X: Any, metric: str) -> Any:
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=NEIGHBORS, metric=metric, algorithm="brute", n_jobs=-1)
    return model.fit(X).kneighbors(return_distance=False)


def by_umap(X: Any, metric: str) -> Any:
    import umap

    return umap.umap_.nearest_neighbors(X, NEIGHBORS, metric, {}, angular=False, random_state=None)[0]


def fit_sce(X: Any, metric: str) -> Any:
    from sce import SCE

    return SCE(metric=metric, random_state=0).fit(X)


def fit_umap(X: Any, metric: str) -> Any:
    import umap

    return umap.UMAP(metric=metric).fit(X)


SEARCHES = {"sce": by_sce, "before": by_sce, "scikit-learn": by_sklearn, "umap-learn": by_umap}
FITS = {"sce": fit_sce, "before": fit_sce, "umap-learn": fit_umap}


def work(name: str, task: str, case: str) -> dict[str, float]:
    """What a process measures."""
    X, metric = data_of(case)
    if task == "fit":
        first, _ = timed(lambda: FITS[name](X, metric))
        ready = time.time()
        return {"fit": first, "second": timed(lambda: FITS[name](X, metric))[0], "ready": ready}
    SEARCHES[name](X, metric)
    spent = time.process_time()
    seconds, ids = timed(lambda: SEARCHES[name](X, metric))
    spent = time.process_time() - spent
    with_truth = Path(os.environ["SPARSE_AND_WIDE_TRUTH"])
    if name == "scikit-learn":
        np.save(with_truth, ids)
    truth = np.load(with_truth)
    return {"search": seconds, "cpu": spent, "recall": float((ids[:, :, None] == truth[:, None, :]).any(axis=2).mean())}


# ------------------------------------------------------------------------------------------------------------ in turns


def run(name: str, task: str, case: str, arguments: argparse.Namespace) -> dict[str, float]:
    """Measure in a process of its own."""
    python = arguments.peers if name == "umap-learn" else sys.executable
    source = arguments.before if name == "before" else SOURCE
    truth = Path(arguments.folder) / (case.replace(" ", "").replace("|", "-") + ".npy")
    environment = {**os.environ, "SPARSE_AND_WIDE_TRUTH": str(truth), "PYTHONWARNINGS": "ignore"}
    environment["PYTHONPATH"] = "" if name == "umap-learn" else str(source)
    start = time.time()
    command = [python, str(HERE), "--work", name, task, case]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{name} failed: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return {}
    found = json.loads(done.stdout.splitlines()[-1])
    if "ready" in found:
        found["fresh"] = found.pop("ready") - start
    return found


def best(rounds: list[dict[str, float]], key: str, choose: Any = min) -> str:
    """The best of the rounds."""
    values = [found[key] for found in rounds if key in found]
    return f"{choose(values):.3g}" if values else ""


def measure(case: str, arguments: argparse.Namespace) -> None:
    """Print the lines of a case."""
    kind, name, dtype = case.split("|")
    names = ["scikit-learn", "sce", *(["before"] if arguments.before else [])]
    names += ["umap-learn"] if kind == "sparse" else []
    found: dict[str, list[dict[str, float]]] = {each: [] for each in names}
    for number in range(arguments.rounds):
        for each in names:
            tasks = ["search", *(["fit"] if each in FITS else [])]
            for task in tasks:
                if number == 0 and task == "fit":
                    run(each, task, case, arguments)  # compiles
                found[each].append(run(each, task, case, arguments))
    label = f"texts, {name}" if kind == "sparse" else f"{name} {dtype}"
    for each in names:
        values = [best(found[each], key) for key in ("search", "cpu", "recall", "fresh", "second")]
        print(f"| {label} | {each} | {' | '.join(values)} |", flush=True)


def main() -> None:
    """Measure all cases."""
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="the src folder of another version")
    parser.add_argument("--peers", default=sys.executable, help="a Python that has umap-learn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=("sparse", "wide"))
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        print(json.dumps(work(*arguments.work)))
        return
    wide = [f"wide|{name}|{dtype}" for name in WIDE for dtype in ("float32", "float64")]
    cases = [f"sparse|{metric}|" for metric in SPARSE] + wide
    print(
        "| data | method | search s | CPU s | recall | fresh process s | second fit s |\n|---|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as arguments.folder:
        for case in cases:
            if arguments.only in (None, case.split("|")[0]):
                measure(case, arguments)


if __name__ == "__main__":
    main()
