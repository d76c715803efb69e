"""How much memory a fit needs beyond its data: a .npy of 2 GB, memory-mapped, in a fresh process.

Usage: python benchmarks/memory.py [images | table | double] [--cosine] [--loaded] [--folder FOLDER]

    images  (650000, 784) float32, the default: wide enough that neighbours are searched on a sketch
    table   (5000000, 100) float32
    double  (2500000, 100) float64

--loaded reads the file into memory instead of mapping it; X itself then counts. The file is written to a temporary folder
(within FOLDER), a piece at a time, and removed at the end. The output has the seconds of each stage and its peaks of resident
memory, both sampled: all of it, mapped pages of the file included, and what belongs to no file ("anonymous"). The last line has
the peak of the whole process as the kernel reports it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

from measured import wrap

SHAPES = {
    "images": ((650_000, 784), np.float32),
    "table": ((5_000_000, 100), np.float32),
    "double": ((2_500_000, 100), np.float64),
}
CLUSTERS, LATENT, PIECE = 100, 20, 10_000
EPOCHS = 5
STAGES = {  # of a fit: the function whose call begins a stage, its name, and that of the stage that begins at its return
    "sce.graph.index:nearest_neighbors": ("neighbours", "affinity"),
    "sce.estimator:lay_out": ("start and coarse maps", "the rest"),
    "sce.core.progress:Reporter.epochs": ("layout", None),  # called when the first stage on all points begins
}


def write(path: Path, shape: tuple[int, int], dtype: type) -> None:
    """Gaussian clusters in a space of 20 dimensions, rotated into that of the columns, with some noise in each column."""
    n, d = shape
    rng = np.random.default_rng(0)
    centres = 3 * rng.standard_normal((CLUSTERS, LATENT), np.float32)
    turn = rng.standard_normal((LATENT, d), np.float32)
    with path.open("wb") as file:
        header = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, n, PIECE):
            size = min(PIECE, n - start)
            latent = centres[rng.integers(CLUSTERS, size=size)] + rng.standard_normal((size, LATENT), np.float32)
            rows = latent @ turn + 0.1 * rng.standard_normal((size, d), np.float32)
            file.write(rows.astype(dtype).tobytes())


def status() -> dict[str, int]:
    """What the kernel reports about this process, in KiB; VmHWM is the peak of VmRSS, as is ru_maxrss."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return {line.split(":")[0]: int(line.split()[1]) for line in lines if line.endswith(" kB")}


class Sampled:
    """The resident memory of this process, sampled stage by stage from a thread of its own."""

    def __init__(self) -> None:
        self.stages: list[list] = []  # name, start, peaks of resident and of anonymous memory in GiB
        self.begin("import and check")
        threading.Thread(target=self._sample, daemon=True).start()

    def begin(self, stage: str) -> None:
        """A stage begins."""
        self.stages.append([stage, time.perf_counter(), 0.0, 0.0])

    def _sample(self) -> None:
        while True:
            now, last = status(), self.stages[-1]
            for place, name in ((2, "VmRSS"), (3, "RssAnon")):
                last[place] = max(last[place], now[name] / 2**20)
            time.sleep(0.01)

    def watch_fit(self) -> None:
        """Tell the stages of a fit apart from now on."""
        for place, stages in STAGES.items():
            wrap(place, lambda function, stages=stages: self._around(function, *stages))

    def _around(self, function, stage: str, then: str | None):
        """The function, whose call begins a stage, and its return the next one, if there is one."""

        def beginning(*args, **options):
            self.begin(stage)
            found = function(*args, **options)
            if then is not None:
                self.begin(then)
            return found

        return beginning

    def figures(self) -> list[tuple[str, float, float, float]]:
        """End the last stage; the name, the seconds and the two peaks of each."""
        self.begin("end")
        return [(name, stop - start, *peaks) for (name, start, *peaks), (_, stop, *_) in pairwise(self.stages)]


def embed(path: Path, metric: str, loaded: bool) -> None:
    """Fit, in this process, and report."""
    sampled = Sampled()
    from sce import SCE

    sampled.watch_fit()
    X = np.load(path) if loaded else np.load(path, mmap_mode="r")
    model = SCE(n_epochs=EPOCHS, random_state=0, metric=metric).fit(X)
    print(f"{'stage':<24}{'seconds':>9}{'resident GiB':>14}{'anonymous GiB':>15}")
    for stage, seconds, resident, anonymous in sampled.figures():
        print(f"{stage:<24}{seconds:>9.1f}{resident:>14.2f}{anonymous:>15.2f}")
    peak, size = 1024 * status()["VmHWM"], path.stat().st_size
    single = X.size * 4
    print(
        f"{X.shape} {X.dtype}, {'loaded' if loaded else 'mapped'}: file {size / 2**30:.2f} GiB, peak {peak / 2**30:.2f} GiB: "
        f"{peak / size:.2f} of the file, {peak / single:.2f} of the data as float32; "
        f"neighbours by {model.neighbor_method_}, recall {model.neighbor_recall_:.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("shape", nargs="?", choices=SHAPES, default="images")
    parser.add_argument("--cosine", action="store_true")
    parser.add_argument("--loaded", action="store_true")
    parser.add_argument("--folder", default=None)
    parser.add_argument("--embed", type=Path, help=argparse.SUPPRESS)  # the fresh process
    options = parser.parse_args()
    if options.embed:
        embed(options.embed, "cosine" if options.cosine else "euclidean", options.loaded)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "big.npy"
        write(path, *SHAPES[options.shape])
        subprocess.run([sys.executable, __file__, *sys.argv[1:], "--embed", str(path)], check=True)


if __name__ == "__main__":
    main()
