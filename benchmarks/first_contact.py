"""What a new user waits for in the first hour, with two versions of sce: the first fit, a new process, sparse, wide, quality.

    git worktree add /tmp/before COMMIT
    python benchmarks/first_contact.py /tmp/before/src
    python benchmarks/first_contact.py /tmp/before/src --only "sparse, shell" "wide" --pairs 1

The versions take turns in fresh processes, with the order swapped in every other pair; medians, and the median of the ratios. A
first fit gets an empty folder for compiled kernels each time. All else runs once before it is timed. The texts of
newsgroups_tfidf, and the cells of cytof_bcrxl, are read from a folder of .npz files named by SCE_DATA.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from side_by_side import HERE, TOUCH

NOISE = (
    "import numpy as np; from sce import SCE; SCE(random_state=0).fit(np.random.default_rng(0).normal(size=({}, {})))"
)
DIGITS = "from sklearn.datasets import load_digits; from sce import SCE; SCE(random_state=0).fit(load_digits().data)"
SPARSE = "import os, scipy.sparse as sp; X = sp.load_npz(os.environ['SCE_DATA'] + '/newsgroups_tfidf.npz'); "
WIDE = "import numpy as np; np.save('wide.npy', np.random.default_rng(0).normal(size=(5000, 1536)).astype(np.float32))"
CELLS = "import os, numpy as np; np.save('cells.npy', np.load(os.environ['SCE_DATA'] + '/cytof_bcrxl.npz')['X'])"
TABLE = "from sklearn.datasets import load_digits; import numpy as np; np.save('digits.npy', load_digits().data)"


class Case(NamedTuple):
    """What is timed: arguments of Python; with an empty folder for kernels each time, or after preparations."""

    timed: Sequence[str]
    before: Sequence[Sequence[str]] = ()
    cold: bool = False


def embed(data: str, *options: str) -> list[str]:
    """The command that embeds a file."""
    return ["-m", "sce", "embed", data, "-o", "map.npz", "--quiet", *options]


def quality(data: str) -> list[str]:
    """The command that judges its map."""
    return ["-m", "sce", "quality", "map.npz", "--data", data, "--quiet"]


CASES = {
    "first fit ever, 344 x 9": Case(["-c", NOISE.format(344, 9)], cold=True),
    "first fit ever, 344 x 9, then 5,000 x 9": Case(
        ["-c", NOISE.format(5000, 9)], [["-c", NOISE.format(344, 9)]], cold=True
    ),
    "first fit ever, digits": Case(["-c", DIGITS], cold=True),
    "digits, new process": Case(["-c", DIGITS]),
    "sparse, 18,760 texts, cosine": Case(
        ["-c", SPARSE + "from sce import SCE; SCE(metric='cosine', random_state=0).fit(X)"]
    ),
    "sparse, shell": Case(embed("texts.npz", "--metric", "cosine"), [["-c", SPARSE + "sp.save_npz('texts.npz', X)"]]),
    "wide, 5,000 x 1,536": Case(embed("wide.npy"), [["-c", WIDE]]),
    "digits, sce embed": Case(embed("digits.npy"), [["-c", TABLE]]),
    "digits, sce quality": Case(quality("digits.npy"), [["-c", TABLE], embed("digits.npy")]),
    "cytof_bcrxl, sce embed": Case(embed("cells.npy"), [["-c", CELLS]]),
    "cytof_bcrxl, sce quality": Case(quality("cells.npy"), [["-c", CELLS], embed("cells.npy")]),
}


def seconds(arguments: Sequence[str], folder: str, environment: dict[str, str]) -> float:
    """The time of a process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, check=True)
    return time.perf_counter() - start


def measure(case: Case, source: Path) -> float:
    """The time of a case with the sources of a version."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
        if case.cold:
            environment["NUMBA_CACHE_DIR"] = folder
        for arguments in case.before:
            seconds(arguments, folder, environment)
        subprocess.run([sys.executable, "-c", TOUCH], check=True)
        return seconds(case.timed, folder, environment)


def turns(run: Callable[[Path], float], before: Path, pairs: int) -> list[tuple[float, float]]:
    """Times of both versions, in turns."""
    found = []
    for k in range(pairs):
        order = (before, HERE) if k % 2 == 0 else (HERE, before)
        times = {source: run(source) for source in order}
        found.append((times[before], times[HERE]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="the src folder of the other version")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=list(CASES), help="names of cases")
    arguments = parser.parse_args()
    print("| | before | now | before / now, median of pairs |\n|---|---|---|---|")
    for name in arguments.only:
        case = CASES[name]
        if not case.cold:
            for source in (arguments.before, HERE):
                measure(case, source)
        pairs = turns(lambda source, case=case: measure(case, source), arguments.before, arguments.pairs)
        old, new = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(first / second for first, second in pairs)
        print(f"| {name} | {old:.2f} s | {new:.2f} s | {ratio:.1f} |", flush=True)


if __name__ == "__main__":
    main()
