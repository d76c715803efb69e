"""Planted clusters: whether those that are there are found, and none where there are none.

Usage: python benchmarks/planted.py [--methods sce umap localmap opentsne] [--seeds 5] [--most-rows 300000]
           [--groups plain ...] [--save FILE]

Gaussian clouds in a few columns of noise, of equal and unequal sizes and widths, rings and moons; and bodies without clusters.
Each is mapped with the defaults of a method; :func:`sce.find_clusters` counts the clusters on the map. A map is right if it has
the planted number of clusters and an AMI of at least 0.95 with them; of a body, if it has at most one cluster. Prints a
table in Markdown. --save FILE keeps a line of JSON for each map, and a later run goes on from there; so maps of several methods
and versions can come together in one table. Needs no data.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lines import keep_line, kept_lines

RIGHT_AMI = 0.95
CLOUDS = 4  # of a plain case
Points = tuple[np.ndarray, np.ndarray]  # X and the planted labels


class Case(NamedTuple):
    """A data set to be made: by whom, and with what."""

    group: str
    rows: int
    columns: int
    make: Callable[..., Points]
    options: dict[str, Any]

    @property
    def title(self) -> str:
        """What is made, in a line."""
        options = ", ".join(f"{name} {value}" for name, value in self.options.items())
        return f"{self.make.__name__}, {self.rows:,} x {self.columns}" + (f", {options}" if options else "")

    def points(self, seed: int) -> Points:
        """X and labels; the same for the same seed."""
        X, y = self.make(np.random.default_rng(seed), self.rows, self.columns, **self.options)
        return np.ascontiguousarray(X), y


def cases() -> Iterator[Case]:
    """All of them."""
    for rows in (300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000):
        for columns in (2, 3, 5, 10, 50):
            yield Case("plain", rows, columns, clouds, {})
    for rows in (1_000, 10_000, 100_000):
        for columns in (2, 10):
            yield from (Case("number", rows, columns, clouds, {"clusters": k}) for k in (2, 8, 20))
        for columns in (2, 5, 10):
            yield Case("sizes", rows, columns, clouds, {"sizes": 20.0})
            yield Case("widths", rows, columns, clouds, {"widths": 3.0})
            yield Case("gap 5", rows, columns, clouds, {"gap": 5.0})
        yield Case("shapes", rows, 2, rings, {})
        yield Case("shapes", rows, 2, moons, {})
        yield Case("shapes", rows, 10, moons, {})
        yield from (Case("bodies", rows, columns, uniform, {}) for columns in (2, 3, 10))
        yield from (Case("bodies", rows, columns, gaussian, {}) for columns in (2, 10))
        yield Case("bodies", rows, 2, ring, {})
        yield Case("bodies", rows, 3, line, {})
        yield Case("bodies", rows, 3, swiss_roll, {})


# ----------------------------------------------------------------------------------------------------- what is planted


def clouds(
    random: np.random.Generator,
    rows: int,
    columns: int,
    clusters: int = CLOUDS,
    gap: float = 6.0,
    sizes: float = 1.0,
    widths: float = 1.0,
) -> Points:
    """Gaussian clouds on a square lattice in the first two columns, neighbours `gap` mean deviations apart.

    `sizes` is the number of points of the largest over that of the smallest; `widths` the deviation of every other cloud.
    """
    side = int(np.ceil(np.sqrt(clusters)))
    across, up = np.divmod(np.arange(clusters), side)
    width = np.where((across + up) % 2 == 1, widths, 1.0)
    centres = np.zeros((clusters, columns))
    centres[:, :2] = gap * (1.0 + widths) / 2.0 * np.column_stack([across, up])
    share = sizes ** (np.arange(clusters) / max(clusters - 1, 1))
    y = np.searchsorted(np.cumsum(share / share.sum()), (np.arange(rows) + 0.5) / rows)
    return random.normal(size=(rows, columns)) * width[y][:, None] + centres[y], y


def rings(random: np.random.Generator, rows: int, columns: int) -> Points:
    """Three rings around one another, 8 deviations apart, with as many points as they are long."""
    y = np.searchsorted(np.cumsum(np.array([1, 2, 3]) / 6), (np.arange(rows) + 0.5) / rows)
    return _on_circles(random, 8.0 * (y + 1.0), columns), y


def moons(random: np.random.Generator, rows: int, columns: int) -> Points:
    """Two half circles of radius 20 that reach into one another; a deviation of 1 in every column."""
    y = np.arange(rows) * 2 // rows
    angle = random.uniform(0.0, np.pi, rows)
    X = random.normal(size=(rows, columns))
    X[:, 0] += 20.0 * np.where(y == 0, np.cos(angle), 1.0 - np.cos(angle))
    X[:, 1] += 20.0 * np.where(y == 0, np.sin(angle), 0.5 - np.sin(angle))
    return X, y


def uniform(random: np.random.Generator, rows: int, columns: int) -> Points:
    """A cube."""
    return random.uniform(size=(rows, columns)), np.zeros(rows, int)


def gaussian(random: np.random.Generator, rows: int, columns: int) -> Points:
    """A single cloud."""
    return random.normal(size=(rows, columns)), np.zeros(rows, int)


def ring(random: np.random.Generator, rows: int, columns: int) -> Points:
    """A ring with a deviation of a tenth of its radius."""
    return _on_circles(random, np.full(rows, 10.0), columns), np.zeros(rows, int)


def line(random: np.random.Generator, rows: int, columns: int) -> Points:
    """A line, a hundred deviations long."""
    X = random.normal(size=(rows, columns))
    X[:, 0] += random.uniform(0.0, 100.0, rows)
    return X, np.zeros(rows, int)


def swiss_roll(random: np.random.Generator, rows: int, columns: int) -> Points:
    """A rolled up rectangle with a little noise."""
    angle = 1.5 * np.pi * (1.0 + 2.0 * random.uniform(size=rows))
    X = 0.1 * random.normal(size=(rows, columns))
    X[:, :3] += np.column_stack([angle * np.cos(angle), angle * np.sin(angle), 21.0 * random.uniform(size=rows)])
    return X, np.zeros(rows, int)


def _on_circles(random: np.random.Generator, radius: np.ndarray, columns: int) -> np.ndarray:
    angle = random.uniform(0.0, 2.0 * np.pi, len(radius))
    X = random.normal(size=(len(radius), columns))
    X[:, 0] += radius * np.cos(angle)
    X[:, 1] += radius * np.sin(angle)
    return X


# ------------------------------------------------------------------------------------------------------------- judging


def judge(case: Case, y: np.ndarray, Y: np.ndarray) -> dict[str, Any]:
    """The number of clusters seen, AMI with the planted ones, and whether that is right."""
    from sklearn.metrics import adjusted_mutual_info_score

    from sce import find_clusters

    found = find_clusters(np.ascontiguousarray(Y, np.float32))
    seen, planted = int(found.max() + 1), int(y.max() + 1)
    if case.group == "bodies":
        return {"seen": seen, "planted": 1, "right": seen <= 1}
    ami = float(adjusted_mutual_info_score(y, found))
    return {"seen": seen, "planted": planted, "ami": ami, "right": seen == planted and ami >= RIGHT_AMI}


def table(lines: list[dict[str, Any]], methods: list[str]) -> None:
    """Maps that are right, of all, by group and method."""
    print("\n| group | " + " | ".join(methods) + " |\n|---" + "|---" * len(methods) + "|")
    for group in dict.fromkeys(line["group"] for line in lines):
        cells = []
        for method in methods:
            right = [line["right"] for line in lines if (line["group"], line["method"]) == (group, method)]
            cells.append(f"{sum(right)} of {len(right)}" if right else "")
        print(f"| {group} | " + " | ".join(cells) + " |")


def measure(method: str, name: str, case: Case, seed: int, threads: int) -> dict[str, Any]:
    """A map of a case, judged."""
    from peer_methods import METHODS

    X, y = case.points(seed)
    begin = time.perf_counter()
    Y = METHODS[method].fit(X, seed, threads)
    seconds = time.perf_counter() - begin
    return {
        "method": name,
        "group": case.group,
        "case": case.title,
        "seed": seed,
        "seconds": seconds,
        **judge(case, y, Y),
    }


def main() -> None:
    """Fit, judge, print."""
    from peer_methods import METHODS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=["sce"], choices=list(METHODS))
    parser.add_argument("--name", help="of the method in the table, such as that of an older version on PYTHONPATH")
    parser.add_argument("--groups", nargs="+", help="only these groups of cases")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--most-rows", type=int, default=300_000)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--save", type=Path, help="a file for a line of JSON for each map; those in it are not made again"
    )
    arguments = parser.parse_args()
    lines = kept_lines(arguments.save, "method", "case", "seed")
    for method in arguments.methods:
        name = arguments.name or method
        for case in cases():
            if case.rows > arguments.most_rows or (arguments.groups and case.group not in arguments.groups):
                continue
            found = []
            for seed in range(arguments.seeds):
                key = name, case.title, seed
                if key not in lines:
                    lines[key] = measure(method, name, case, seed, arguments.threads)
                    keep_line(arguments.save, lines[key])
                found.append(lines[key])
            seen = ", ".join(f"{line['seen']}" + (f" ({line['ami']:.2f})" if "ami" in line else "") for line in found)
            print(
                f"{name}: {case.title}: {sum(line['right'] for line in found)} of {len(found)} right; {seen}",
                flush=True,
            )
    table(list(lines.values()), list(dict.fromkeys(line["method"] for line in lines.values())))


if __name__ == "__main__":
    main()
