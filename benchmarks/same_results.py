"""Whether two versions of sce give the same bytes: hashes of many varied fits, sweeps, clusterings and quality reports.

    python benchmarks/same_results.py out/new.json
    PYTHONPATH=/path/to/an/older/src python benchmarks/same_results.py out/old.json
    python benchmarks/same_results.py out/new.json --against out/old.json    # compares, computes nothing that is there

Only public names are used, so that any version can run it. Data sets are read from a folder of .npz files named by SCE_DATA;
without it the cases that need one are left out. All of them take some five minutes on two cores.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

Result = dict[str, Any]
CASES: dict[str, Callable[[], Result]] = {}


def case(function: Callable[[], Result]) -> Callable[[], Result]:
    CASES[function.__name__] = function
    return function


def digest(value: Any) -> str:
    """A hash of an array, a sparse matrix, a number, a text, or lists and dictionaries of them."""
    return hashlib.sha256(b"".join(_pieces(value))).hexdigest()[:16]


def _pieces(value: Any) -> Iterator[bytes]:
    if sparse.issparse(value):
        for part in (value.indptr.astype(np.int64), value.indices.astype(np.int64), value.data):
            yield from _pieces(part)
    elif isinstance(value, np.ndarray) and value.dtype != object:
        yield f"{value.dtype}{value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, dict):
        for name in sorted(value):
            yield str(name).encode()
            yield from _pieces(value[name])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _pieces(item)
    else:
        yield repr(value.item() if isinstance(value, np.generic) else value).encode()


# ---------------------------------------------------------------------------------------------------------------- data


@cache
def digits() -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_digits

    return load_digits(return_X_y=True)


@cache
def named(name: str) -> tuple[Any, np.ndarray | None]:
    folder = os.environ.get("SCE_DATA")
    if not folder:
        raise LookupError("SCE_DATA is not set")
    if name.endswith("tfidf"):
        return sparse.load_npz(Path(folder) / f"{name}.npz"), None
    with np.load(Path(folder) / f"{name}.npz") as file:
        return file["X"], file["y"] if "y" in file.files else None


def fit(X: Any, sample_weight: Any = None, **parameters: Any) -> Result:
    from sce import SCE

    model = SCE(**{"random_state": 0, **parameters}).fit(X, sample_weight=sample_weight)
    return {
        "Y": model.embedding_,
        "P": model.affinity_,
        "r": model.scale_,
        "history": model.history_,
        "stop": model.stop_reason_,
        "recall": model.neighbor_recall_,
    }


def knn_graph(X: np.ndarray, k: int = 10) -> Any:
    from sklearn.neighbors import kneighbors_graph

    G = kneighbors_graph(X, k)
    return G.maximum(G.T)


# ------------------------------------------------------------------------------------------------------ fits of digits


for _name, _parameters in {
    "default": {},
    "seed_7_one_thread": {"random_state": 7, "n_jobs": 1},
    "3_dimensions": {"n_components": 3},
    "1_dimension": {"n_components": 1},
    "1_dimension_sampler": {"n_components": 1, "optimizer": "sampler"},
    "knn": {"affinity": "knn"},
    "perplexity_30": {"perplexity": 30.0},
    "sampler": {"optimizer": "sampler", "alpha": 0.5, "n_epochs": 60},
    "sampler_3d_random": {"optimizer": "sampler", "n_components": 3, "init": "random"},
    "sampler_tolerance": {"optimizer": "sampler", "tol": 0.02, "n_repulsive": 3, "learning_rate": (1.0, 0.1)},
    "gradient": {"optimizer": "gradient"},
    "gradient_few": {"optimizer": "gradient", "n_epochs": 37, "scale": 300.0},
    "tsne": {"scale": "sne"},
    "exaggerated": {"scale": "sne", "exaggeration": 4.0},
    "fixed_r": {"scale": 100.0},
    "collapse": {"scale": 0.05},
    "alpha_1": {"alpha": 1.0},
    "alpha_0": {"alpha": 0.0, "tol": 0.01},
    "cosine": {"metric": "cosine"},
    "manhattan": {"metric": "manhattan"},
    "correlation": {"metric": "correlation"},
    "chebyshev": {"metric": "chebyshev"},
    "spectral": {"init": "spectral", "n_epochs": 50},
}.items():
    CASES[f"digits_{_name}"] = lambda parameters=_parameters: fit(digits()[0], **parameters)


@case
def digits_float32_weights() -> Result:
    X, y = digits()
    return fit(X.astype(np.float32), sample_weight=1.0 + y)


@case
def digits_given_start() -> Result:
    start = fit(digits()[0])["Y"]
    return fit(digits()[0], init=start, optimizer="gradient", scale=30.0)


@case
def digits_given_start_sampler() -> Result:
    start = np.random.default_rng(0).normal(size=(1797, 2))
    return fit(digits()[0], init=start, optimizer="sampler")


@case
def digits_stopped() -> Result:
    return fit(digits()[0], callback=lambda epoch, *_: epoch == 20)


@case
def digits_sparse() -> Result:
    return fit(sparse.csr_matrix(digits()[0]))


@case
def digits_graph() -> Result:
    return fit(knn_graph(digits()[0]), affinity="precomputed")


@case
def digits_graph_sampler_3d() -> Result:
    return fit(knn_graph(digits()[0]), affinity="precomputed", optimizer="sampler", n_components=3)


@case
def digits_distances() -> Result:
    X = digits()[0][:600]
    return fit(np.sqrt(((X[:, None] - X[None]) ** 2).sum(2)), metric="precomputed")


@case
def components() -> Result:
    rng = np.random.default_rng(1)
    parts = [knn_graph(rng.normal(size=(size, 3)), 5) for size in (700, 400, 300, 60)]
    return fit(sparse.block_diag(parts).tocsr(), affinity="precomputed")


@case
def noise_with_copies() -> Result:
    X = np.random.default_rng(2).normal(size=(6000, 5))
    return fit(np.concatenate([X, np.repeat(X[:40], 50, axis=0)]))


@case
def few_points() -> Result:
    return fit(np.random.default_rng(3).normal(size=(12, 3)), n_neighbors=4)


# ------------------------------------------------------------------------------------------------- fits of other data


for _name, _data, _parameters in (
    ("coil20", "coil20", {}),
    ("coil20_correlation_gradient", "coil20", {"metric": "correlation", "optimizer": "gradient"}),
    ("usps", "usps", {}),
    ("pendigits", "pendigits", {}),
    ("pendigits_r_50", "pendigits", {"scale": 50.0}),
    ("worm", "worm_neuron_pca50", {"metric": "cosine"}),
    ("higgs_knn", "higgs_11k", {"affinity": "knn", "n_neighbors": 5, "n_components": 3}),
    ("newsgroups", "newsgroups_svd100", {"metric": "cosine"}),
    ("flow_1d", "flow_hipc", {"n_components": 1}),
    ("shuttle_perplexity_30", "shuttle", {"perplexity": 30.0}),
    ("http_copies", "adbench_http", {}),
    ("mnist", "mnist", {}),
    ("mnist_10nn_alpha_half", "mnist", {"affinity": "knn", "n_neighbors": 10, "alpha": 0.5}),
    ("ijcnn", "ijcnn", {}),
):
    CASES[_name] = lambda data=_data, parameters=_parameters: fit(named(data)[0], **parameters)


@case
def sparse_text() -> Result:
    return fit(named("newsgroups_tfidf")[0].tocsr()[:2000], metric="cosine")


@case
def flow_weights() -> Result:
    X, y = named("flow_hipc")
    return fit(X, sample_weight=1.0 + np.asarray(y) % 3)


@case
def mocap_600k() -> Result:
    return fit(named("mocap_1m")[0][:600_000].astype(np.float32), n_neighbors=8)


# ------------------------------------------------------------------------------------ sweeps, clusterings and quality


def _sweep(**parameters: Any) -> Result:
    from sce import sweep

    X, y = digits()
    found = sweep(X, labels=y, random_state=0, **parameters)
    return {
        "frames": found.frames,
        "log10_r": found.log10_r,
        "marks": {name: tuple(mark) for name, mark in found.marks.items()},
        "figures": found.figures,
        "iterations": found.facts["n_iterations"],
    }


@case
def sweep_r() -> Result:
    return _sweep(log10_r=[-1, 0, 0.5, 1, 2, 3, 4.5])


@case
def sweep_alpha() -> Result:
    return _sweep(alphas=[0.0, 0.1, 0.5, 1.0])


@case
def sweep_afresh() -> Result:
    return _sweep(log10_r=[0, 1, 2], afresh=True)


@case
def clusters() -> Result:
    from sce import find_clusters

    rng = np.random.default_rng(4)
    flat = np.concatenate([rng.normal(size=(500, 2)) + 9 * np.array([k % 3, k // 3]) for k in range(7)])
    return {
        "digits": find_clusters(fit(digits()[0])["Y"]),
        "flat": find_clusters(flat.astype(np.float32)),
        "line": find_clusters(flat[:, :1]),
        "space": find_clusters(np.column_stack([flat, rng.normal(size=len(flat))])),
        "tied": find_clusters(np.round(flat, 1)),
    }


def _quality(X: np.ndarray, y: np.ndarray) -> Result:
    from sce import SCE, find_clusters, quality

    models = [SCE(random_state=seed).fit(X) for seed in (0, 1)]
    report = quality.assess(models[0].embedding_, X=X, P=models[0].affinity_, classes=y, random_state=0)
    able = quality.clusterability(models[0].affinity_, random_state=0)
    labels = [find_clusters(model) for model in models]
    same = quality.stability([model.embedding_ for model in models], labels=labels)
    verdicts = [] if report.clusters is None else report.clusters.lines()
    return {
        **{f"figure {name}": value for name, value in report.figures().items()},
        "clusters": "\n".join(verdicts),
        "clusterability": [*able.figures().values(), str(able.advice)],
        "stability": same.figures(),
    }


@case
def quality_digits() -> Result:
    return _quality(*digits())


@case
def quality_usps() -> Result:
    X, y = named("usps")
    return _quality(X, np.asarray(y))


@case
def quality_pendigits() -> Result:
    X, y = named("pendigits")
    return _quality(X, np.asarray(y))


# ------------------------------------------------------------------------------------------------------------- the run


def run(path: Path, wanted: list[str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(path.read_text()) if path.exists() else {}
    for name, function in CASES.items():
        if name in found or (wanted and name not in wanted):
            continue
        start = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = function()
        except LookupError as error:
            print(f"{name:<32} left out: {error}")
            continue
        found[name] = {part: digest(value) for part, value in result.items()}
        path.write_text(json.dumps(found, indent=1))
        print(f"{name:<32} {time.perf_counter() - start:6.1f} s  {digest(found[name])}", flush=True)
    return found


def compare(new: dict[str, dict[str, str]], old: dict[str, dict[str, str]]) -> int:
    different = 0
    for name in old.keys() & new.keys():
        parts = [part for part in old[name] if new[name].get(part) != old[name][part]]
        if parts:
            different += 1
            print(f"{name}: different in {', '.join(parts)}")
    print(f"{len(old.keys() & new.keys()) - different} of {len(old.keys() & new.keys())} cases are equal")
    return 1 if different else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, help="a JSON file of hashes; what is in it is not computed again")
    parser.add_argument("--against", type=Path, help="compare with the hashes of another version")
    parser.add_argument("--only", nargs="*", default=[], help="names of cases")
    arguments = parser.parse_args()
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    found = run(arguments.output, arguments.only)
    return compare(found, json.loads(arguments.against.read_text())) if arguments.against else 0


if __name__ == "__main__":
    sys.exit(main())
