"""How often noise is said to have real clusters, and how often planted clouds are: maps judged by `sce.quality.assess`.

Usage: python benchmarks/noise.py [run] [--seeds 20] [--save benchmarks/results/noise.jsonl] [--kinds "uniform, 5-d" ...]
       python benchmarks/noise.py table [--save FILE]
       python benchmarks/noise.py planted [--seeds 5] [--save benchmarks/results/planted_quality.jsonl]

The sizes go round: 500, 1,000, 1,500 and 3,000 points. Each case is embedded with the defaults, and its map is assessed with
its graph. A line of JSON is kept for each map; a later run goes on from there. "table" prints, in Markdown, how many have a
real cluster on the map, and for how many the graph has more than one group. "planted" takes Gaussian clouds, whose number is
known: how many groups the graph has, and their AMI with the clouds. Needs no data; 20 minutes on two cores.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score

from lines import keep_line, kept_lines
from sce import SCE
from sce.quality import assess

RESULTS = Path(__file__).parent / "results"
SIZES = (500, 1000, 1500, 3000)
LEAST = {"seen": 0, "real": 0, "groups": 1}  # with more, a map counts


def _uniform(d: int) -> Callable[..., np.ndarray]:
    return lambda random, n: random.uniform(size=(n, d))


def _gaussian(d: int) -> Callable[..., np.ndarray]:
    return lambda random, n: random.normal(size=(n, d))


def _correlated(random: np.random.Generator, n: int) -> np.ndarray:
    """Principal components whose deviations fall as 1/k, mixed."""
    mixing = np.linalg.qr(random.normal(size=(10, 10)))[0]
    return (random.normal(size=(n, 10)) / np.arange(1, 11)) @ mixing


def _sphere(random: np.random.Generator, n: int) -> np.ndarray:
    X = random.normal(size=(n, 3))
    return X / np.linalg.norm(X, axis=1)[:, None]


def _ring(random: np.random.Generator, n: int) -> np.ndarray:
    angle = random.uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)]) + 0.1 * random.normal(size=(n, 2))


def _swiss_roll(random: np.random.Generator, n: int) -> np.ndarray:
    s = 1.5 * np.pi * (1 + 2 * random.uniform(size=n))
    return np.column_stack([s * np.cos(s), 21 * random.uniform(size=n), s * np.sin(s)])


def _torus(random: np.random.Generator, n: int) -> np.ndarray:
    """Flat, in four dimensions: without a border anywhere."""
    a, b = random.uniform(0, 2 * np.pi, (2, n))
    return np.column_stack([np.cos(a), np.sin(a), np.cos(b), np.sin(b)])


def _line(random: np.random.Generator, n: int) -> np.ndarray:
    """A segment in three dimensions, a hundred times longer than it is thick."""
    return np.column_stack([100 * random.uniform(size=n), random.normal(size=(n, 2))])


NOISE: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "uniform, 2-d": _uniform(2),
    "uniform, 3-d": _uniform(3),
    "uniform, 5-d": _uniform(5),
    "uniform, 20-d": _uniform(20),
    "Gaussian, 2-d": _gaussian(2),
    "Gaussian, 5-d": _gaussian(5),
    "Gaussian, 20-d": _gaussian(20),
    "Gaussian, 50-d": _gaussian(50),
    "Gaussian, correlated, 10-d": _correlated,
    "t with 3 degrees of freedom, 5-d": lambda random, n: random.standard_t(3, size=(n, 5)),
    "exponential, 5-d": lambda random, n: random.exponential(size=(n, 5)),
    "lognormal, 5-d": lambda random, n: random.lognormal(size=(n, 5)),
    "Poisson counts of mean 5, 10-d": lambda random, n: random.poisson(5.0, size=(n, 10)).astype(float),
    "binary, 30-d": lambda random, n: random.integers(0, 2, size=(n, 30)).astype(float),
    "Gaussian rounded to halves, 5-d": lambda random, n: np.round(2 * random.normal(size=(n, 5))) / 2,
    "sphere": _sphere,
    "ring, noisy": _ring,
    "Swiss roll": _swiss_roll,
    "torus": _torus,
    "segment, 100 : 1": _line,
}


def noise(kind: str, seed: int) -> np.ndarray:
    """A body without clusters."""
    number = list(NOISE).index(kind)
    return NOISE[kind](np.random.default_rng([number, seed]), SIZES[seed % len(SIZES)])


# ------------------------------------------------------------------------------------------------------------ planted


def planted_cases() -> Iterator[tuple[str, dict[str, Any]]]:
    """Clouds around the corners of a simplex or on a line, for each dimension, number and distance."""
    for count, columns in ((2, 2), (3, 2), (2, 10), (5, 5), (10, 10), (20, 20), (10, 50)):
        for gap in (4, 5, 6, 8, 10):
            yield f"{count} clouds, {columns}-d", {"count": count, "columns": columns, "gap": gap}
    for gap in (6, 8, 10):
        yield "5 clouds, 10-d, sizes 8 : 1", {"count": 5, "columns": 10, "gap": gap, "sizes": 8.0}
        yield "5 clouds, 10-d, widths 3 : 1", {"count": 5, "columns": 10, "gap": gap, "widths": 3.0}


def planted(
    random: np.random.Generator, n: int, count: int, columns: int, gap: float, sizes: float = 1.0, widths: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian clouds whose nearest centres are `gap` mean deviations apart; every other cloud is `widths` times wider."""
    share = sizes ** (np.arange(count) / max(1, count - 1))
    y = np.searchsorted(np.cumsum(share / share.sum()), (np.arange(n) + 0.5) / n)
    width = np.where(np.arange(count) % 2 == 1, widths, 1.0)
    if count <= columns:
        centres = gap * (1 + widths) / 2 * np.eye(columns)[:count] / np.sqrt(2)
    else:  # a row of them
        centres = np.zeros((count, columns))
        centres[:, 0] = gap * (1 + widths) / 2 * np.arange(count)
    return random.normal(size=(n, columns)) * width[y][:, None] + centres[y], y


# ---------------------------------------------------------------------------------------------------------------- work


def assessed(X: np.ndarray) -> dict[str, Any]:
    """A map of X with the defaults, and what is said about it."""
    start = time.perf_counter()
    model = SCE(random_state=0, n_jobs=2).fit(X)
    fit = time.perf_counter() - start
    start = time.perf_counter()
    found = assess(model, X=X, random_state=0, n_jobs=2).clusters
    seconds = time.perf_counter() - start
    return {
        "points": len(X),
        "seen": len(found.names),
        "real": int(found.judgement.real.sum()),
        "groups": found.judgement.n_groups,
        "labels": found.judgement.groups,
        "fit": round(fit, 2),
        "seconds": round(seconds, 2),
    }


def run_noise(path: Path, seeds: int, kinds: list[str]) -> None:
    done = kept_lines(path, "kind", "seed")
    for seed in range(seeds):
        for kind in kinds:
            if (kind, seed) not in done:
                found = assessed(noise(kind, seed))
                del found["labels"]
                keep_line(path, {"kind": kind, "seed": seed, **found})


def noise_table(path: Path) -> None:
    lines = kept_lines(path, "kind", "seed").values()
    print(
        "| noise | seeds | with clusters on the map | with a real one | with groups in the graph |\n|---|---|---|---|---|"
    )
    for kind in [*NOISE, "all"]:
        mine = [line for line in lines if kind in (line["kind"], "all")]
        if mine:
            seen, real, groups = (
                sum(line[name] > least for line in mine) for name, least in (("seen", 0), ("real", 0), ("groups", 1))
            )
            print(f"| {kind} | {len(mine)} | {seen} | {real} | {groups} |")


def run_planted(path: Path, seeds: int) -> None:
    done = kept_lines(path, "case", "gap", "seed")
    for seed in range(seeds):
        for number, (name, options) in enumerate(planted_cases()):
            if (name, options["gap"], seed) in done:
                continue
            X, y = planted(
                np.random.default_rng([number, seed]), max(SIZES[1 + seed % 3], 100 * options["count"]), **options
            )
            found = assessed(X)
            found["ami"] = round(float(adjusted_mutual_info_score(y, found.pop("labels"))), 3)
            keep_line(path, {"case": name, "gap": options["gap"], "seed": seed, "planted": options["count"], **found})


def planted_table(path: Path) -> None:
    lines = kept_lines(path, "case", "gap", "seed").values()
    gaps = sorted({line["gap"] for line in lines})
    print("| planted | " + " | ".join(f"gap {gap}" for gap in gaps) + " |\n|---|" + "---|" * len(gaps))
    for name in dict.fromkeys(line["case"] for line in lines):
        cells = []
        for gap in gaps:
            mine = [line for line in lines if (line["case"], line["gap"]) == (name, gap)]
            counts = ", ".join(f"{line['groups']}" for line in mine)
            cells.append(f"{counts} ({np.mean([line['ami'] for line in mine]):.2f})" if mine else "")
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="run", choices=["run", "table", "planted"])
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--kinds", nargs="+", default=list(NOISE), choices=list(NOISE), metavar="KIND")
    parser.add_argument("--save", type=Path)
    args = parser.parse_args()
    if args.what == "planted":
        path = args.save or RESULTS / "planted_quality.jsonl"
        run_planted(path, args.seeds or 5)
        planted_table(path)
    else:
        path = args.save or RESULTS / "noise.jsonl"
        if args.what == "run":
            run_noise(path, args.seeds or 20, args.kinds)
        noise_table(path)
