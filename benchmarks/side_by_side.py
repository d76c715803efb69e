"""Two versions of sce side by side: alternating runs in fresh processes, and the median of the ratios of their times.

    git worktree add /tmp/before COMMIT
    python benchmarks/side_by_side.py /tmp/before/src
    python benchmarks/side_by_side.py /tmp/before/src --only mocap_1m --pairs 3

Each case runs once for either version first, untimed, so that both have compiled their kernels. Before every run a process
touches more memory than the run needs: a virtual machine may have to fetch pages from its host, which takes up to a second and
hits whichever run comes first. Data sets are read from a folder of .npz files named by SCE_DATA.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

TOUCH = f"import numpy as np; np.ones({3 << 26})"  # 1.5 GiB
HERE = Path(__file__).resolve().parent.parent / "src"
FIT = "import os, time, numpy as np; from sce import SCE; X = np.load(os.environ['SCE_DATA'] + '/{data}.npz')['X']; "
SECOND = (
    "SCE(random_state=0).fit(X); t = time.perf_counter(); SCE(random_state=0).fit(X); print(time.perf_counter() - t)"
)
DIGITS = "from sklearn.datasets import load_digits; from sce import SCE; SCE(random_state=0).fit(load_digits().data)"
# Name: arguments of Python. What a process prints last is taken for the time, if it prints a number.
CASES = {
    "import sce": ["-c", "import sce"],
    "sce --help": ["-m", "sce", "--help"],
    "digits, new process": ["-c", DIGITS],
    "mnist, new process": ["-c", FIT.format(data="mnist") + "SCE(random_state=0).fit(X)"],
    "mnist, second fit": ["-c", FIT.format(data="mnist") + SECOND],
    "mocap_1m": ["-c", FIT.format(data="mocap_1m") + "SCE(random_state=0).fit(X.astype(np.float32))"],
}


def seconds(arguments: list[str], source: Path) -> float:
    """The time of a process, or what it prints last."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    subprocess.run([sys.executable, "-c", TOUCH], check=True)
    start = time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=True)
    taken = time.perf_counter() - start
    try:
        return float(done.stdout.split()[-1])
    except (IndexError, ValueError):
        return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="the src folder of the other version")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument(
        "--only", nargs="*", default=[name for name in CASES if name != "mocap_1m"], help="names of cases"
    )
    arguments = parser.parse_args()
    print("| | before | now | ratio, median of pairs | from | to |\n|---|---|---|---|---|---|")
    for name in arguments.only:
        for source in (arguments.before, HERE):
            seconds(CASES[name], source)
        pairs = []
        for k in range(arguments.pairs):
            order = (arguments.before, HERE) if k % 2 == 0 else (HERE, arguments.before)
            times = {source: seconds(CASES[name], source) for source in order}
            pairs.append((times[arguments.before], times[HERE]))
        ratios = [now / before for before, now in pairs]
        old, new = (statistics.median(column) for column in zip(*pairs, strict=True))
        middle, least, most = statistics.median(ratios), min(ratios), max(ratios)
        print(f"| {name} | {old:.3f} s | {new:.3f} s | {middle:.3f} | {least:.2f} | {most:.2f} |", flush=True)


if __name__ == "__main__":
    main()
